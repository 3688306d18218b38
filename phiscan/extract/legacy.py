"""Legacy Word and PowerPoint through catdoc and catppt, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess

from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink
from phiscan.extract.ocr import die_with_parent
from phiscan.model import FailReason

PROGRAMS = {"application/msword": "catdoc", "application/vnd.ms-powerpoint": "catppt"}


class LegacyOfficeExtractor:
    """Read DOC and PPT."""

    media_types = frozenset(PROGRAMS)

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the text that the external reader gives, then properties."""
        from phiscan.extract.ole import is_encrypted, properties_text  # noqa: PLC0415

        if is_encrypted(content.data):
            raise ExtractError(FailReason.ENCRYPTED)
        is_word = content.data.find("WordDocument".encode("utf-16-le")) >= 0
        program = PROGRAMS["application/msword" if is_word else "application/vnd.ms-powerpoint"]
        sink.add(external_text(program, content.data), content.locator)
        sink.add(properties_text(content.data), content.place("properties"))


def external_text(program: str, data: bytes) -> str:
    """Return what ``program`` prints for a file in memory: it never lies on a disk.

    Raises:
        ExtractError: unsupported (the program is missing), corrupt or timed_out.
    """
    path = shutil.which(program)
    if not path:
        raise ExtractError(FailReason.UNSUPPORTED, f"needs {program}, which is not installed")
    descriptor = os.memfd_create("phiscan")
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        done = subprocess.run(
            [path, "-dutf-8", f"/proc/self/fd/{descriptor}"],
            capture_output=True,
            pass_fds=(descriptor,),
            timeout=30,
            check=False,
            preexec_fn=die_with_parent,
        )
    except subprocess.TimeoutExpired:
        raise ExtractError(FailReason.TIMED_OUT, program) from None
    finally:
        os.close(descriptor)
    text = done.stdout.decode("utf-8", "replace").replace("\f", "\n")
    if done.returncode and not text.strip():
        raise ExtractError(FailReason.CORRUPT, f"{program} gave nothing")
    return text
