"""A real OpenSSH server on loopback, with users of its own, in namespaces of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.needs import needs
from tests.servers.process import Server, new_server

USER, PASSWORD, UID = "phiscan-reader", "Zebra-canary-417", 60417
GROUP, GID = "phiscan-ward", 60418
# The files of users are other ones in the server's namespaces, where it finds the folder that it insists on.
_START = """
for name in passwd shadow group; do mount --bind "$0/etc/$name" "/etc/$name"; done
mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "$1" -D -e -f "$0/etc/sshd_config"
"""
_CONFIG = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/etc/host_key
AuthorizedKeysFile {folder}/etc/authorized_keys
PidFile none
UsePAM no
StrictModes no
MaxStartups 200
LogLevel ERROR
Subsystem sftp internal-sftp
"""


@contextmanager
def running_sshd() -> Iterator[Server]:
    """Start a server whose user reads ``share``; skip without one."""
    programs = needs("sshd", "ssh-keygen", "unshare", "openssl", folders=("/usr/sbin",))
    if os.geteuid() != 0:
        pytest.skip("sshd lets other users in only if root starts it")
    with new_server("sshd") as server:
        etc = server.folder / "etc"
        etc.mkdir()
        key = new_key(etc / "host_key")
        new_key(etc / "user_key")
        (etc / "user_key.pub").rename(etc / "authorized_keys")
        _write_users(etc)
        config = _CONFIG.format(port=server.port, folder=server.folder)
        (etc / "sshd_config").write_text(config)
        os.chown(server.share, UID, GID)
        # Sessions leave the server's process group, but not its namespace, which ends with it.
        unshare = [programs["unshare"], "--mount", "--pid", "--fork", "--kill-child"]
        server.command = [*unshare, "sh", "-c", _START, str(server.folder), programs["sshd"]]
        server.url = f"sftp://127.0.0.1:{server.port}{server.share}"
        server.signs_in("SFTP", USERNAME=USER, PASSWORD=PASSWORD, HOST_KEY=key)
        server.start()
        yield server


def new_key(path: Path) -> str:
    """Make a pair of keys; return its fingerprint."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    printed = subprocess.run(["ssh-keygen", "-l", "-f", path], check=True, capture_output=True, text=True)
    return printed.stdout.split()[1]


def _write_users(etc: Path) -> None:
    """Write the users of the server: those of this machine, and the one that signs in."""
    made = ["openssl", "passwd", "-6", "-stdin"]
    password = subprocess.run(made, input=PASSWORD, check=True, capture_output=True, text=True).stdout.strip()
    added = {
        "passwd": f"{USER}:x:{UID}:{GID}::/:/bin/sh\n",
        "shadow": f"{USER}:{password}:20000:0:99999:7:::\n",
        "group": f"{GROUP}:x:{GID}:\n",
    }
    for name, line in added.items():
        (etc / name).write_text((Path("/etc") / name).read_text() + line)
    (etc / "shadow").chmod(0o600)
