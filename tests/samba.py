"""A real Samba server on loopback, started by scripts/start-samba.sh in a private folder."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.leftovers import cleared_up
from tests.needs import needs

SCRIPT = Path(__file__).parents[1] / "scripts/start-samba.sh"
PASSWORD = "Zebra-canary-417"


@dataclass
class Samba:
    """A running server and its folder."""

    folder: Path
    port: int
    user: str = ""
    audits: bool = False
    process: subprocess.Popen[bytes] | None = None

    @property
    def share(self) -> Path:
        return self.folder / "share"

    @property
    def group_file(self) -> Path:
        """Where the number of the server's process group is written while it runs."""
        return self.folder / "group"

    @property
    def url(self) -> str:
        return f"smb://127.0.0.1:{self.port}/share"

    @property
    def environment(self) -> dict[str, str]:
        """Return what signs in, with little patience."""
        return {
            "PHISCAN_SMB_USERNAME": self.user,
            "PHISCAN_SMB_PASSWORD": PASSWORD,
            "PHISCAN_SHARES_ATTEMPTS": "3",
            "PHISCAN_SHARES_RETRY_S": "0.05",
        }

    def start(self) -> None:
        self.process = subprocess.Popen(
            [str(SCRIPT), str(self.folder), str(self.port), *(["audit"] if self.audits else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.group_file.write_text(str(self.process.pid))
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(PASSWORD.encode() + b"\n")
        self.process.stdin.close()
        self.user = self.process.stdout.readline().decode().strip()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        message = f"smbd does not listen: {(self.folder / 'samba/out').read_text()}"
        raise AssertionError(message)

    def kill(self) -> None:
        """Kill the server and the processes of its connections at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.group_file.unlink(missing_ok=True)
            self.process.wait()
            self.process = None


@contextmanager
def running_samba(*, audits: bool = False) -> Iterator[Samba]:
    """Start a server; skip without one. ``audits``: with shares whose use is logged, for two users."""
    needs("smbd", "pdbedit", folders=("/usr/sbin",))
    if audits and not list(Path("/usr/lib").glob("*/samba/vfs/full_audit.so")):
        needs("full_audit.so")  # Samba's module, no program
    # Not below pytest's own folder: the user that signs in could not enter it.
    folder = Path(tempfile.mkdtemp(prefix="phiscan-samba-"))
    folder.chmod(0o755)
    samba = Samba(folder, _free_port(), audits=audits)
    with cleared_up(folder, "sh", "-c", 'kill -s KILL -- "-$(cat "$0")"', samba.group_file):
        try:
            samba.start()
            yield samba
        finally:
            samba.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
