"""A real Apache with mod_dav on loopback, with a password, optionally over TLS."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needs import needs
from tests.servers.certificate import make_certificate
from tests.servers.process import Server, new_server

USER, PASSWORD = "phiscan-reader", "Zebra-canary-417"
_MODULES = "mpm_event authn_core authn_file authz_core authz_user auth_basic alias dav dav_fs"
_CONFIG = """
ServerRoot "{folder}"
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
ErrorLog "{folder}/error.log"
DefaultRuntimeDir "{folder}"
{modules}
DavLockDB "{folder}/locks"
AllowEncodedSlashes On
{user}
{tls}
Alias "/dav" "{share}"
<Directory "{share}">
  Dav On
  AuthType Basic
  AuthName files
  AuthUserFile "{folder}/passwords"
  Require valid-user
  {options}
</Directory>
"""


@contextmanager
def running_apache(*, tls: bool = False, options: str = "") -> Iterator[Server]:
    """Start a server of the folder ``share``; skip without one. ``options``: lines for that folder."""
    programs = needs("apache2", "openssl", folders=("/usr/sbin",))
    modules = Path("/usr/lib/apache2/modules")
    names = _MODULES.split() + (["ssl", "socache_shmcb"] if tls else [])
    with new_server("apache") as server:
        if tls:
            make_certificate(server.folder)
        hashed = ["openssl", "passwd", "-apr1", "-stdin"]
        made = subprocess.run(hashed, input=PASSWORD, check=True, capture_output=True, text=True)
        (server.folder / "passwords").write_text(f"{USER}:{made.stdout.strip()}\n")
        config = server.folder / "apache.conf"
        files = [f'{server.folder}/{name}"' for name in ("certificate.pem", "key.pem")]
        certificate = f'SSLEngine on\nSSLCertificateFile "{files[0]}\nSSLCertificateKeyFile "{files[1]}'
        config.write_text(
            _CONFIG.format(
                folder=server.folder,
                share=server.share,
                port=server.port,
                modules="\n".join(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names),
                user="" if os.geteuid() else "User daemon\nGroup daemon",
                tls=certificate if tls else "",
                options=options,
            )
        )
        if os.geteuid() == 0:
            shutil.chown(server.folder, "daemon", "daemon")
        server.command = [programs["apache2"], "-f", str(config), "-D", "FOREGROUND"]
        server.url = f"{'davs' if tls else 'dav'}://127.0.0.1:{server.port}/dav"
        ca_file = str(server.folder / "certificate.pem") if tls else ""
        server.signs_in("WEBDAV", USERNAME=USER, PASSWORD=PASSWORD, CA_FILE=ca_file)
        server.start()
        yield server
