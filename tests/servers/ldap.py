"""A real OpenLDAP server on loopback, with its own configuration and database in a private folder."""

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.leftovers import cleared_up
from tests.needs import needs
from tests.waiting import wait_until

BASE = "dc=example,dc=org"
READER, PASSWORD = f"cn=reader,{BASE}", "Zebra-canary-418"
_SCHEMAS = ("core", "cosine", "nis", "inetorgperson", "msuser")
_NEW_CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
_FOR = "subjectAltName=DNS:localhost"
# Only in pages does it return more than 500 entries.
_CONFIG = """
{includes}
pidfile {folder}/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
{tls}
database mdb
suffix "{base}"
rootdn "cn=root,{base}"
directory {folder}/data
maxsize 268435456
sizelimit size.soft=500 size.hard=500
limits users size.prtotal=unlimited
access to attrs=userPassword by anonymous auth
access to * by dn.exact="{reader}" read
"""


@dataclass
class Ldap:
    """A running server."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.port}/{BASE}"

    @property
    def certificate(self) -> Path:
        """What a client of "localhost" has to trust."""
        return self.folder / "certificate.pem"

    @property
    def group_file(self) -> Path:
        """Where the number of the server's process group is written while it runs."""
        return self.folder / "group"

    def start(self) -> None:
        config = str(self.folder / "slapd.conf")
        url = f"ldap://127.0.0.1:{self.port}/"
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/slapd", "-d", "0", "-f", config, "-h", url],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.group_file.write_text(str(self.process.pid))
        wait_until(self._listens, "slapd listens")

    def _listens(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def kill(self) -> None:
        """Kill the server at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.group_file.unlink(missing_ok=True)
            self.process.wait()
            self.process = None


@contextmanager
def running_ldap(entries: Iterable[str]) -> Iterator[Ldap]:
    """Start a server with these entries below its base (LDIF) and a certificate; skip without one."""
    needs("slapd", "slapadd", "openssl", folders=("/usr/sbin",))
    folder = Path(tempfile.mkdtemp(prefix="phiscan-ldap-"))
    (folder / "data").mkdir()
    certificate, secret = folder / "certificate.pem", folder / "secret.pem"
    subprocess.run(
        [*_NEW_CERTIFICATE.split(), "-addext", _FOR, "-out", certificate, "-keyout", secret],
        check=True,
        capture_output=True,
    )
    tls = f"TLSCertificateFile {certificate}\nTLSCertificateKeyFile {secret}"
    includes = "\n".join(f"include /etc/ldap/schema/{name}.schema" for name in _SCHEMAS)
    given = {"includes": includes, "folder": folder, "base": BASE, "reader": READER, "tls": tls}
    (folder / "slapd.conf").write_text(_CONFIG.format(**given))
    top = f"dn: {BASE}\nobjectClass: domain\ndc: example\n"
    reader = (
        f"dn: {READER}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n"
        f"cn: reader\nuserPassword: {PASSWORD}\n"
    )
    (folder / "entries.ldif").write_text("\n".join((top, reader, *entries)))
    command = ["/usr/sbin/slapadd", "-q", "-f", folder / "slapd.conf", "-l", folder / "entries.ldif"]
    with cleared_up(folder, "sh", "-c", 'kill -s KILL -- "-$(cat "$0")"', folder / "group"):
        added = subprocess.run(command, capture_output=True, text=True, check=False)
        assert added.returncode == 0, added.stderr
        server = Ldap(folder, _free_port())
        try:
            server.start()
            yield server
        finally:
            server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
