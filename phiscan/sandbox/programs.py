"""Helper programs (tesseract, readpst, mdbtools...), run for workers in sandboxes of their own.

A worker may start no program. It sends the name of a job, the job's values and an open file to the program
process of its scan, which builds the command and runs it, and reads no documents. Without a program process,
programs are started from the calling process. Pictures are read by tesserocr (``ocr_program``) where it is
installed and can be imported, else by tesseract.

The scan starts it as ``python -m phiscan.sandbox.programs DESCRIPTOR MEMORY_BYTES FILE_BYTES``. It forks a
child for each worker, which runs one program after the other.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from phiscan.sandbox import channel
from phiscan.sandbox.isolation import SYSTEM, lower_limit, restrict
from phiscan.sandbox.layers import namespaces, privileges, seccomp
from phiscan.sandbox.scratch_folder import scratch
from phiscan.sandbox.service import environment, read_secret

INPUT, FOLDER = "{input}", "{folder}"
MOST_QUESTION_BYTES = 64 * 1024
_MOST_ANSWER_BYTES = 16 * 1024**2
_VALUE = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_+-]{0,799}")  # never an option
_HEX = {"table_hex": "table"}  # values that may be any text, sent in hexadecimal digits: the name of a table
_MOST_OUTPUT_BYTES = 64 * 1024**2
_STDIN = 0
_MARGIN_S = 15.0  # beyond the program's own time, until the request times out
_MOST_FILES = 100_000
_MODELS = (  # folders of the models of tesseract
    *("/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata"),
    *("/usr/share/tesseract-ocr/tessdata", "/usr/share/tessdata", "/usr/local/share/tessdata"),
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
        ("stdin", "stdout", "-l", "{languages}", "--psm", "3", "--dpi", "200", "tsv"),
    ),
    "orientation": Job("tesseract", ("stdin", "stdout", "--psm", "0", "--dpi", "200")),
    "readpst": Job("readpst", ("-q", "-r", "-8", "-j", "0", "-o", FOLDER, INPUT)),
    "mdb-tables": Job("mdb-tables", ("-1", INPUT)),
    "mdb-system-tables": Job("mdb-tables", ("-S", "-1", INPUT)),
    "mdb-export": Job(
        "mdb-export",
        (*("-b", "{binary}", "-D", "%Y-%m-%d", "-T", "%Y-%m-%d %H:%M:%S"), INPUT, "--", "{table}"),
    ),
    "wpd2text": Job("wpd2text", (INPUT,)),
    "wps2text": Job("wps2text", (INPUT,)),
}


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of one program, in bytes."""

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
    installed: frozenset[str] | None = None  # jobs whose program was there; None = it can be looked for


def is_installed(job: str) -> bool:
    """Return whether the program of a job is installed."""
    if _Connection.installed is not None:
        return job in _Connection.installed
    return shutil.which(JOBS[job].program) is not None


def ask_at(folder: str) -> None:
    """Connect to the program process that listens in ``folder``, if there is one.

    What is installed is looked up now: an isolated process sees no programs.
    """
    _Connection.channel = _Connection.installed = None
    _Connection.installed = frozenset(job for job in JOBS if is_installed(job))
    with suppress(OSError):
        _Connection.channel = channel.connect(folder, channel.PROGRAMS)


def run(job: str, descriptor: int | None, seconds: float, **values: str) -> Finished:
    """Run a helper program on an open file, whose position must be its start, or on no file.

    Args:
        job: a name in ``JOBS``.
        descriptor: the file, also the program's standard input.
        seconds: of wall clock.
        values: for the fields in the arguments of the job.

    Raises:
        subprocess.TimeoutExpired: it took longer.
        OSError: it cannot be started.
    """
    if _Connection.channel is None:
        return execute(job, values, descriptor, seconds)
    head = json.dumps({"job": job, "values": values, "seconds": seconds}).encode()
    connection = _Connection.channel
    connection.settimeout(seconds + _MARGIN_S)
    try:
        channel.send(connection, head, [] if descriptor is None else [descriptor])
        return _receive(connection, job, seconds)
    except (TimeoutError, EOFError):
        # A late reply would be taken for that to the next request.
        connection.close()
        raise subprocess.TimeoutExpired(job, seconds) from None


def _receive(connection: socket.socket, job: str, seconds: float) -> Finished:
    data, descriptors = channel.receive(connection, _MOST_ANSWER_BYTES)
    try:
        answer: dict[str, Any] = json.loads(data)
        if "refused" in answer:
            raise OSError(answer["refused"])
        if answer["status"] is None:
            raise subprocess.TimeoutExpired(job, seconds)
        output = channel.read_whole(descriptors[0])
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
            finished = execute(
                question["job"], question["values"], next(iter(descriptors), None), seconds, limits
            )
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
    descriptor: int | None,
    seconds: float,
    limits: ProgramLimits | None = None,
) -> Finished:
    """Build the command of a job and run it in a sandbox of its own.

    The open file of the descriptor, if there is one, is also the program's standard input.

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
    opened = () if descriptor is None else (descriptor,)
    program = shutil.which(wanted.program)
    if program is None:
        raise FileNotFoundError(wanted.program)
    with scratch() as folder:
        held = {"input": f"/proc/self/fd/{opened[0]}"} if opened else {}
        places = {**_plain(values), **held, "folder": folder}
        needed = _by_tesserocr(job, values)
        command = [program, *(part.format_map(places) for part in wanted.arguments)]
        if needed:
            command = [os.path.realpath(sys.executable), "-ISB", *needed]
        writable = [folder] if FOLDER in wanted.arguments else []
        if not writable:  # it writes to its output alone
            limits = replace(limits, file_bytes=min(limits.file_bytes, _MOST_OUTPUT_BYTES))
        sandbox = _Sandbox(command[0], opened, needed[:2], writable, seconds, limits)
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
                env=environment() | {"OMP_THREAD_LIMIT": "1", "HOME": folder, "TMPDIR": folder},
                preexec_fn=sandbox.enter,
            )
            return Finished(done.returncode, channel.read_whole(output), list(_written(Path(folder))))
        finally:
            os.close(output)


def _by_tesserocr(job: str, values: Mapping[str, str]) -> list[str]:
    """Return script and arguments that read a picture by tesserocr; none where it fails or a model lacks."""
    languages = {"ocr": values.get("languages", ""), "orientation": "osd"}.get(job, "")
    found = importlib.util.find_spec("tesserocr") if languages else None
    names = [f"{language}.traineddata" for language in languages.split("+")]
    places = [Path(os.environ.get("TESSDATA_PREFIX", "")), *map(Path, _MODELS)]
    models = next((place for place in places if all((place / name).is_file() for name in names)), None)
    if found is None or found.origin is None or models is None:
        return []
    script, place = Path(__file__).with_name("ocr_program.py"), Path(found.origin)
    place = place.parents[bool(found.submodule_search_locations)]
    return [str(script), str(place), str(models), languages] if _has_tesserocr(str(place)) else []


@lru_cache(maxsize=4)
def _has_tesserocr(place: str) -> bool:
    """Tell whether a program of its own can import tesserocr: what it needs may be missing or damaged."""
    command = [sys.executable, "-ISBc", "import sys; sys.path.append(sys.argv[1]); import tesserocr", place]
    return subprocess.run(command, check=False, capture_output=True, timeout=_MARGIN_S).returncode == 0


def _plain(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values with those in hexadecimal digits decoded; none of them holds a NUL."""
    return {
        _HEX.get(name, name): bytes.fromhex(value).replace(b"\0", b"").decode("utf-8", "replace")
        if name in _HEX
        else value
        for name, value in values.items()
    }


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
    needed: list[str]  # what it reads besides
    writable: list[str]
    seconds: float
    limits: ProgramLimits

    def enter(self) -> None:
        """Isolate the calling process, before it executes the program, as far as the kernel allows."""
        parent = os.getppid()
        namespaces.enter()
        lower_limit(resource.RLIMIT_CORE, 0)
        lower_limit(resource.RLIMIT_CPU, int(self.seconds) + 2)
        lower_limit(resource.RLIMIT_AS, self.limits.memory_bytes)
        lower_limit(resource.RLIMIT_FSIZE, self.limits.file_bytes)
        place = Path(os.path.realpath(self.program))
        beside = [str(place.parent.parent / name) for name in ("lib", "share")]
        data = [path for path in [os.environ.get("TESSDATA_PREFIX", "")] if path]
        given = [*self.needed, *(f"/proc/self/fd/{descriptor}" for descriptor in self.descriptors)]
        loaders = [str(path) for pattern in _LOADERS for path in Path("/").glob(pattern)]
        executable = (str(place), *loaders)
        restrict(
            [*SYSTEM, "/proc/self", *beside, *data, *given],
            [*self.writable, "/dev/null"],
            executable,
            nobody_needs=[str(place), *data, *given],
            # Its folder is its own, and gone with it.
            owned=tuple(self.writable),
        )
        with suppress(OSError):
            privileges.die_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        with suppress(OSError):
            seccomp.install(os.getpid(), seccomp.Purpose(may_execute=True))


def main(number: int, limits: ProgramLimits) -> None:
    """Serve on an inherited listening socket until the scan ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children whose workers have ended are not waited for
    try:
        read_secret(_STDIN)
    except EOFError:
        return
    listener = socket.socket(fileno=number)
    while True:
        ready, _, _ = select.select([number, _STDIN], [], [])
        if _STDIN in ready and not os.read(_STDIN, 1):
            return
        if number not in ready:
            continue
        connection, _ = listener.accept()
        if os.fork() == 0:
            os._exit(_serve(connection, listener, limits))
        connection.close()


def _serve(connection: socket.socket, listener: socket.socket, limits: ProgramLimits) -> int:
    parent = os.getppid()
    listener.close()
    os.close(_STDIN)
    os.open(os.devnull, os.O_RDONLY)  # takes its number, so that this process does not keep the pipe open
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with suppress(OSError):
        privileges.die_with_parent(signal.SIGKILL)
        privileges.gain_nothing_by_exec()
    if os.getppid() != parent:
        return 1
    with suppress(OSError, EOFError):
        answer(connection, limits)
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]), ProgramLimits(int(sys.argv[2]), int(sys.argv[3])))
