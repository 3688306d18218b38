"""Servers of the tests end with the test run, also with one that is killed, and leave no folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The pipe is open as long as somebody holds its other end: the test run, and nobody else.
_CLEAR = 'cat >/dev/null; folder=$1; shift; "$@"; rm -rf -- "$folder"'


@contextmanager
def cleared_up(folder: Path, *stop: str | Path) -> Iterator[None]:
    """Run a command and remove a folder, when the block ends or when this process dies in it.

    A process of its own session does that, which outlives SIGKILL of the test run and of its group.
    """
    command: list[str | Path] = ["sh", "-c", _CLEAR, "sh", folder, *stop]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        yield  # Popen closes the pipe at the end of the block, and waits
