"""A server program of the tests: a private folder, a port on loopback, killed with everything it started."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest

from tests.leftovers import cleared_up
from tests.waiting import wait_until


@dataclass
class Server:
    """A server whose folder ``share`` can be read at ``url`` with the variables of ``environment``."""

    folder: Path
    port: int
    url: str = ""
    command: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    given: str = ""  # on standard input
    process: subprocess.Popen[bytes] | None = None

    @property
    def share(self) -> Path:
        return self.folder / "share"

    @property
    def group_file(self) -> Path:
        """Where the number of the server's process group is written while it runs."""
        return self.folder / "group"

    def signs_in(self, scheme: str, **values: str) -> None:
        """Set the variables that sign in, and little patience."""
        self.environment = {f"PHISCAN_{scheme}_{name}": value for name, value in values.items()}
        self.environment |= {"PHISCAN_SHARES_ATTEMPTS": "3", "PHISCAN_SHARES_RETRY_S": "0.05"}

    def write(self, name: str, text: str = "x") -> Path:
        """Write a file of the share, and the folders above."""
        path = self.share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def ready(self, patch: pytest.MonkeyPatch) -> Self:
        """Return the server, running, with an empty share, and set the environment that signs in."""
        for entry in self.share.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        if self.process is None:
            self.start()
        for name, value in self.environment.items():
            patch.setenv(name, value)
        return self

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )
        assert self.process.stdin is not None
        self.process.stdin.write(self.given.encode())
        self.process.stdin.close()
        self.group_file.write_text(str(self.process.pid))
        wait_until(self._listens, f"{self.command[0]} listens, else see {self.folder / 'log'}")

    def kill(self) -> None:
        """Kill the server and the processes of its connections at once."""
        if self.process is not None:
            space, own = _mount_space(Path(f"/proc/{self.process.pid}")), _mount_space(Path("/proc/self"))
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.group_file.unlink(missing_ok=True)
            self.process.wait()
            self.process = None
            if space not in {"", own}:  # the server's own, whose other processes end a little later
                wait_until(lambda: space not in map(_mount_space, Path("/proc").iterdir()), "sessions ended")

    def _listens(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


def _mount_space(process: Path) -> str:
    try:
        return str((process / "ns/mnt").readlink())
    except OSError:  # no process, or one that ended
        return ""


@contextmanager
def new_server(name: str) -> Iterator[Server]:
    """Yield a server to be described and started, with an empty folder ``share``; kill it at the end."""
    # Not below pytest's own folder: the user that signs in could not enter it.
    folder = Path(tempfile.mkdtemp(prefix=f"phiscan-{name}-"))
    folder.chmod(0o755)
    server = Server(folder, free_port())
    server.share.mkdir()
    with cleared_up(folder, "sh", "-c", 'kill -s KILL -- "-$(cat "$0")"', server.group_file):
        try:
            yield server
        finally:
            server.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
