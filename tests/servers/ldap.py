"""A real OpenLDAP server on loopback, with its own configuration and database in a private folder."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tests.needs import needs
from tests.servers.certificate import make_certificate
from tests.servers.process import Server, new_server

BASE = "dc=example,dc=org"
READER, PASSWORD = f"cn=reader,{BASE}", "Zebra-canary-418"
_SCHEMAS = ("core", "cosine", "nis", "inetorgperson", "msuser")
# Only in pages does it return more than 500 entries.
_CONFIG = """
{includes}
pidfile {folder}/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile {folder}/certificate.pem
TLSCertificateKeyFile {folder}/key.pem
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


@contextmanager
def running_ldap(entries: Iterable[str]) -> Iterator[Server]:
    """Start a server with these entries below its base (LDIF) and a certificate; skip without one.

    A client of "localhost" has to trust the folder's ``certificate.pem``.
    """
    programs = needs("slapd", "slapadd", folders=("/usr/sbin",))
    with new_server("ldap") as server:
        folder = server.folder
        (folder / "data").mkdir()
        make_certificate(folder)
        includes = "\n".join(f"include /etc/ldap/schema/{name}.schema" for name in _SCHEMAS)
        given = {"includes": includes, "folder": folder, "base": BASE, "reader": READER}
        (folder / "slapd.conf").write_text(_CONFIG.format(**given))
        top = f"dn: {BASE}\nobjectClass: domain\ndc: example\n"
        reader = (
            f"dn: {READER}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n"
            f"cn: reader\nuserPassword: {PASSWORD}\n"
        )
        (folder / "entries.ldif").write_text("\n".join((top, reader, *entries)))
        command = [programs["slapadd"], "-q", "-f", folder / "slapd.conf", "-l", folder / "entries.ldif"]
        added = subprocess.run(command, capture_output=True, text=True, check=False)
        assert added.returncode == 0, added.stderr
        config, address = str(folder / "slapd.conf"), f"ldap://127.0.0.1:{server.port}/"
        server.command = [programs["slapd"], "-d", "0", "-f", config, "-h", address]
        server.url = address + BASE
        server.start()
        yield server
