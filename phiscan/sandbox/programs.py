"""Helper programs (tesseract, catdoc, sleuthkit...), run for workers in sandboxes of their own.

A worker may start no program. It sends the name of a job, the job's values and an open file to the program
process of its scan (``program_process``), which builds the command and runs it; pictures go on to the OCR
process (``phiscan.sandbox.ocr``). Without a program process, both are started from the calling process.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phiscan.sandbox import channel
from phiscan.sandbox.isolation import restrict
from phiscan.sandbox.layers import namespaces, privileges, seccomp
from phiscan.sandbox.ocr import messages, ocr_client
from phiscan.sandbox.scratch_folder import scratch

NAME = "programs"  # of the socket
VMWARE_LINK = "image.vmdk"
_LINKS = {"ewf": "image.E{:02d}", "vmdk": VMWARE_LINK}
INPUT, FOLDER = "{input}", "{folder}"
MOST_QUESTION_BYTES = 64 * 1024
_MOST_ANSWER_BYTES = 16 * 1024**2
_VALUE = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_+-]{0,799}")  # never an option
_HEX = {"table_hex": "table"}  # values that may be any text, sent in hexadecimal digits: the name of a table
_MOST_OUTPUT_BYTES = 64 * 1024**2
_MARGIN_S = 15.0  # beyond the program's own time, until the request times out
_MOST_FILES = 100_000
_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"),
    *("/usr/share", "/usr/local/share", "/etc/ld.so.cache", "/etc/localtime", "/etc/catdocrc"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/proc/self", "/proc/meminfo", "/proc/cpuinfo"),
    "/sys/devices/system/cpu",
)

_LOADERS = ("lib64/ld-*.so*", "lib/ld-*.so*", "lib/*/ld-*.so*")  # what the kernel starts a program with


@dataclass(frozen=True, slots=True)
class Job:
    """A command that workers may request: a program, and its arguments with fields for values and files."""

    program: str
    arguments: tuple[str, ...]


JOBS: Mapping[str, Job] = {
    "languages": Job("tesseract", ("--list-langs",)),
    "ocr": Job(
        "tesseract",
        ("stdin", "stdout", "-l", "{languages}", "--psm", "{segmentation}", "--dpi", "200", "tsv"),
    ),
    "orientation": Job("tesseract", ("stdin", "stdout", "--psm", "0", "--dpi", "200")),
    "catdoc": Job("catdoc", ("-dutf-8", INPUT)),
    "catppt": Job("catppt", ("-dutf-8", INPUT)),
    "readpst": Job("readpst", ("-q", "-r", "-8", "-j", "0", "-o", FOLDER, INPUT)),
    "mdb-tables": Job("mdb-tables", ("-1", INPUT)),
    "mdb-system-tables": Job("mdb-tables", ("-S", "-1", INPUT)),
    "mdb-export": Job(
        "mdb-export",
        (*("-b", "{binary}", "-D", "%Y-%m-%d", "-T", "%Y-%m-%d %H:%M:%S"), INPUT, "--", "{table}"),
    ),
    "wpd2text": Job("wpd2text", (INPUT,)),
    "wps2text": Job("wps2text", (INPUT,)),
    "mmls": Job("mmls", ("-i", "{kind}", INPUT)),
    "fls": Job("fls", ("-i", "{kind}", "-o", "{offset}", "-r", "-p", "-l", "-F", INPUT)),
    "icat": Job("icat", ("-r", "-s", "-i", "{kind}", "-o", "{offset}", INPUT, "{inode}")),
}


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of one program or OCR process, in bytes."""

    memory_bytes: int = 4 * 1024**3
    file_bytes: int = 4 * 1024**3


@dataclass(slots=True)
class Finished:
    """The result of a program: exit status, output, and the files that it wrote, open and unlinked."""

    status: int
    output: bytes = field(repr=False)
    files: list[tuple[str, int]] = field(default_factory=list, repr=False)

    def close(self) -> None:
        """Close the files."""
        channel.close_all([descriptor for _, descriptor in self.files])
        self.files.clear()


class _Connection:
    """The connection to the program process; None = programs are started from this process."""

    channel: socket.socket | None = None


def is_installed(job: str) -> bool:
    """Return whether the program of a job is installed."""
    return shutil.which(JOBS[job].program) is not None


def ask_at(folder: str) -> None:
    """Connect to the program process that listens in ``folder``, if there is one."""
    _Connection.channel = None
    with suppress(OSError):
        _Connection.channel = channel.connect(folder, NAME)


def run(job: str, descriptor: int | tuple[int, ...] | None, seconds: float, **values: str) -> Finished:
    """Run a helper program on an open file, whose position must be its start, or on no file.

    Args:
        job: a name in ``JOBS``.
        descriptor: the file, also the program's standard input; or the segments of a disk image.
        seconds: of wall clock.
        values: for the fields in the arguments of the job.

    Raises:
        subprocess.TimeoutExpired: it took longer.
        OSError: it cannot be started.
    """
    opened = _as_tuple(descriptor)
    if _Connection.channel is None:
        return execute(job, values, opened, seconds)
    head = json.dumps({"job": job, "values": values, "seconds": seconds}).encode()
    connection = _Connection.channel
    connection.settimeout(seconds + _MARGIN_S)
    try:
        channel.send(connection, head, opened)
        return _receive(connection, job, seconds)
    except (TimeoutError, EOFError):
        # A late reply would be taken for that to the next request.
        connection.close()
        raise subprocess.TimeoutExpired(job, seconds) from None


def _as_tuple(descriptors: int | Sequence[int] | None) -> tuple[int, ...]:
    if descriptors is None:
        return ()
    return (descriptors,) if isinstance(descriptors, int) else tuple(descriptors)


def _receive(connection: socket.socket, job: str, seconds: float) -> Finished:
    data, descriptors = channel.receive(connection, _MOST_ANSWER_BYTES)
    try:
        answer: dict[str, Any] = json.loads(data)
        if "refused" in answer:
            raise OSError(answer["refused"])
        if answer["status"] is None:
            raise subprocess.TimeoutExpired(job, seconds)
        output = _read(descriptors[0])
    finally:
        channel.close_all(descriptors)
    finished = Finished(int(answer["status"]), output)
    for _ in range(int(answer["n_files"])):
        name, files = channel.receive(connection, MOST_QUESTION_BYTES)
        finished.files.append((name.decode("utf-8", "replace"), files[0]))
    return finished


def answer(connection: socket.socket, limits: ProgramLimits) -> None:
    """Serve the requests of one worker until it closes the connection; the other side of ``run``."""
    while True:
        data, descriptors = channel.receive(connection, MOST_QUESTION_BYTES)
        finished: Finished | None = None
        try:
            question = json.loads(data)
            seconds = float(question["seconds"])
            finished = execute(question["job"], question["values"], descriptors, seconds, limits)
            _send(connection, finished)
        except subprocess.TimeoutExpired:
            channel.send(connection, json.dumps({"status": None}).encode())
        except (OSError, ValueError, KeyError, TypeError) as error:
            channel.send(connection, json.dumps({"refused": type(error).__name__}).encode())
        finally:
            channel.close_all(descriptors)
            if finished is not None:
                finished.close()


def _send(connection: socket.socket, finished: Finished) -> None:
    held = channel.in_memory(finished.output)
    try:
        head = {"status": finished.status, "n_files": len(finished.files)}
        channel.send(connection, json.dumps(head).encode(), [held])
    finally:
        os.close(held)
    for name, descriptor in finished.files:
        channel.send(connection, name.encode("utf-8", "replace"), [descriptor])


def execute(
    job: str,
    values: Mapping[str, str],
    descriptors: int | Sequence[int] | None,
    seconds: float,
    limits: ProgramLimits | None = None,
) -> Finished:
    """Build the command of a job and run it in a sandbox of its own; pictures go to the OCR process.

    The first of the descriptors, if there is one, is the program's standard input.

    Raises:
        subprocess.TimeoutExpired: it took longer than ``seconds``.
        OSError: it cannot be started.
        ValueError: no such job, or a value that could be something else.
    """
    wanted = JOBS.get(job)
    if wanted is None or not all(_VALUE.fullmatch(value) for value in values.values()):
        message = "no such job, or not one of its values"
        raise ValueError(message)
    limits = limits or ProgramLimits()
    opened = _as_tuple(descriptors)
    if job in messages.JOBS and opened and "languages" in values:
        client = ocr_client.client_of(limits.memory_bytes)
        if (read := client.read(job, opened[0], seconds, values["languages"])) is not None:
            return Finished(*read)
    program = shutil.which(wanted.program)
    if program is None:
        raise FileNotFoundError(wanted.program)
    with scratch() as folder:
        held = {"input": _input(opened, values.get("kind"), folder)} if opened else {}
        places = {**_plain(values), **held, "folder": folder}
        command = [program, *(part.format_map(places) for part in wanted.arguments)]
        writable = [folder] if FOLDER in wanted.arguments else []
        readable = [folder] if held.get("input", "").startswith(folder) else []  # the link lies there
        if not writable:  # it writes to its output alone
            limits = replace(limits, file_bytes=min(limits.file_bytes, _MOST_OUTPUT_BYTES))
        sandbox = _Sandbox(program, opened, readable, writable, seconds, limits)
        # A file in memory, which the kernel keeps to the limit; a pipe would be read without an end.
        output = os.memfd_create("output", os.MFD_CLOEXEC)
        try:
            done = subprocess.run(
                command,
                stdin=opened[0] if opened else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                pass_fds=opened,
                timeout=max(seconds, 0.01),
                check=False,
                env=_environment(folder),
                preexec_fn=sandbox.enter,
            )
            return Finished(done.returncode, _read(output), list(_written(Path(folder))))
        finally:
            os.close(output)


def _plain(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values with those in hexadecimal digits decoded; none of them holds a NUL."""
    return {
        _HEX.get(name, name): bytes.fromhex(value).replace(b"\0", b"").decode("utf-8", "replace")
        if name in _HEX
        else value
        for name, value in values.items()
    }


def _input(descriptors: Sequence[int], kind: str | None, folder: str) -> str:
    """Return the path of the open file, or of the first of several links to segments.

    The links have the names by which the libraries know an image, and find its further segments.
    """
    path = f"/proc/self/fd/{descriptors[0]}"
    if kind not in ("ewf", "vmdk") and len(descriptors) == 1:
        return path
    links = [
        Path(folder, _LINKS.get(kind or "", "image.{:03d}").format(number))
        for number in range(1, len(descriptors) + 1)
    ]
    for link, descriptor in zip(links, descriptors, strict=True):
        link.symlink_to(f"/proc/self/fd/{descriptor}")
    return str(links[0])


def _environment(folder: str) -> dict[str, str]:
    kept = {"PATH", "LANG", "LC_ALL", "TESSDATA_PREFIX"}
    found = {name: value for name, value in os.environ.items() if name in kept}
    return found | {"OMP_THREAD_LIMIT": "1", "HOME": folder, "TMPDIR": folder}


def _written(folder: Path) -> list[tuple[str, int]]:
    """Open what lies in a folder, in the order of the names, and return it by its path below the folder.

    No link is followed, also none that takes the place of a file or folder meanwhile: a program that was
    taken over may have left a process, and this one may open what that may not.
    """
    found: list[tuple[Path, int]] = []
    for place, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        folders.sort()
        for name in sorted(names):
            if len(found) == _MOST_FILES:
                break
            if (opened := open_regular(name, descriptor)) is not None:
                found.append((Path(place, name).relative_to(folder), opened))
    return [(str(path), opened) for path, opened in sorted(found)]


def open_regular(name: str, folder: int) -> int | None:
    """Open a file of an open folder for reading; None = it is a link, a device, a pipe, or gone."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return None
    return opened


@dataclass(frozen=True, slots=True)
class _Sandbox:
    """Limits and access rules of one program."""

    program: str
    descriptors: tuple[int, ...]
    readable: list[str]
    writable: list[str]
    seconds: float
    limits: ProgramLimits

    def enter(self) -> None:
        """Isolate the calling process, before it executes the program, as far as the kernel allows."""
        parent = os.getppid()
        namespaces.enter()
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_CPU, int(self.seconds) + 2)
        _limit(resource.RLIMIT_AS, self.limits.memory_bytes)
        _limit(resource.RLIMIT_FSIZE, self.limits.file_bytes)
        place = Path(os.path.realpath(self.program))
        beside = [str(place.parent.parent / name) for name in ("lib", "share")]
        data = [path for path in [os.environ.get("TESSDATA_PREFIX", "")] if path]
        given = [f"/proc/self/fd/{descriptor}" for descriptor in self.descriptors]
        loaders = [str(path) for pattern in _LOADERS for path in Path("/").glob(pattern)]
        executable = (str(place), *loaders)
        restrict(
            [*_SYSTEM, *beside, *data, *given, *self.readable],
            [*self.writable, "/dev/null"],
            executable,
            nobody_needs=[str(place), *data, *given],
            # Its folder is its own, and gone with it.
            owned=(*self.readable, *self.writable),
        )
        with suppress(OSError):
            privileges.die_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        with suppress(OSError):
            seccomp.install(os.getpid(), may_execute=True)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _read(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    data = bytearray(size)
    view = memoryview(data)
    at = 0
    while at < size and (n_bytes := os.preadv(descriptor, [view[at:]], at)):
        at += n_bytes
    return bytes(data[:at])
