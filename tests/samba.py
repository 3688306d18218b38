"""A real Samba server on loopback, started by scripts/start-samba.sh in a private folder."""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needs import needs
from tests.servers.process import Server, new_server

SCRIPT = Path(__file__).parents[1] / "scripts/start-samba.sh"
PASSWORD = "Zebra-canary-417"


@contextmanager
def running_samba(*, audits: bool = False) -> Iterator[Server]:
    """Start a server; skip without one. ``audits``: with shares whose use is logged, for two users."""
    needs("smbd", "pdbedit", folders=("/usr/sbin",))
    if audits and not list(Path("/usr/lib").glob("*/samba/vfs/full_audit.so")):
        needs("full_audit.so")  # Samba's module, no program
    with new_server("samba") as server:
        server.command = [str(SCRIPT), str(server.folder), str(server.port), *(["audit"] if audits else [])]
        server.given = f"{PASSWORD}\n"
        server.url = f"smb://127.0.0.1:{server.port}/share"
        user = getpass.getuser() if os.geteuid() else "daemon"
        server.signs_in("SMB", USERNAME=user, PASSWORD=PASSWORD)
        server.start()
        yield server
