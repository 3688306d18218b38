"""The process that recognises text in pictures: it opens no documents, has no network and starts nothing.

Started by ``ocr_client`` as ``python -m phiscan.sandbox.ocr.ocr_process DESCRIPTOR MEMORY_BYTES LANGUAGES
LIBRARY...``. It loads the first library that works and its models, gives up all rights, reports that it is
ready and reads one picture after the other until its client hangs up.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

from phiscan.sandbox import channel
from phiscan.sandbox.confinement import fall_silent, limit_memory, lower_limit
from phiscan.sandbox.isolation import allow_processor, restrict
from phiscan.sandbox.layers import namespaces, privileges, seccomp
from phiscan.sandbox.ocr import messages
from phiscan.sandbox.ocr.messages import OcrReply, OcrRequest
from phiscan.sandbox.ocr.tesseract_library import Greymap, Tesseract, data_folder

EXIT_NO_LIBRARY = 69
_MOST_DESCRIPTORS = 32
_MOST_PROCESSOR_S = 4 * 3600  # of the whole process; its client replaces it long before


def main(number: int, memory_bytes: int, languages: str, libraries: Sequence[str]) -> int:
    """Serve on an inherited connected socket until the other side hangs up; return the exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    fall_silent()
    folder = data_folder(languages)
    tesseract = None if folder is None else _first_loaded(libraries, folder, languages)
    if folder is None or tesseract is None:
        return EXIT_NO_LIBRARY
    connection = socket.socket(fileno=number)
    _isolate(folder, memory_bytes, parent)
    channel.send(connection, messages.pack(OcrReply(messages.OK, tesseract.version)))
    with suppress(OSError, EOFError, ValueError):
        while True:
            _serve_one(connection, tesseract)
    return 0


def _first_loaded(libraries: Sequence[str], folder: str, languages: str) -> Tesseract | None:
    for library in libraries:
        with suppress(OSError):
            return Tesseract(library, folder, languages)
    return None


def _isolate(folder: str, memory_bytes: int, parent: int) -> None:
    """Give up everything but reading the models: the libraries are loaded."""
    namespaces.enter()
    limits = {
        resource.RLIMIT_CORE: 0,  # a core dump holds a page
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _MOST_DESCRIPTORS,
        resource.RLIMIT_CPU: _MOST_PROCESSOR_S,
    }
    for kind, value in limits.items():
        lower_limit(kind, value)
    limit_memory(memory_bytes)
    restrict([folder], [os.devnull], nobody_needs=[folder])
    with suppress(OSError):  # becoming another user forgets it
        privileges.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    with suppress(OSError):
        seccomp.install(os.getpid())


def _serve_one(connection: socket.socket, tesseract: Tesseract) -> None:
    data, descriptors = channel.receive(connection, messages.MOST_REQUEST_BYTES)
    try:
        request = messages.unpack(OcrRequest, data)
        allow_processor(request.seconds)
        reply = _read(request.job, descriptors[0], tesseract)
    except IndexError:
        reply = OcrReply(messages.NOT_READ)
    finally:
        channel.close_all(descriptors)
    channel.send(connection, messages.pack(reply))


def _read(job: str, descriptor: int, tesseract: Tesseract) -> OcrReply:
    try:
        picture = Greymap.parse(_contents(descriptor))
        if job == "orientation":
            return OcrReply(messages.OK, f"Rotate: {tesseract.rotation(picture)}\n")
        return OcrReply(messages.OK, tesseract.words_table(picture))
    except MemoryError:
        return OcrReply(messages.NO_MEMORY)
    except (OSError, ValueError):
        return OcrReply(messages.NOT_READ)


def _contents(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    parts: list[bytes] = []
    at = 0
    while at < size and (part := os.pread(descriptor, size - at, at)):
        parts.append(part)
        at += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
