"""A real Dovecot server on loopback, with its users in a file and their mail in Maildirs."""

import base64
import hashlib
import hmac
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.needs import needs
from tests.servers.certificate import make_certificate
from tests.servers.process import Server, free_port, new_server

USER, OTHER, PASSWORD = "ann", "bo", "Zebra-canary-417"
_KEY = b"a key that signs the tokens of a test"
_OWNER = "mail"  # a user of every Debian system
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{folder}/certificate.pem
ssl_key = <{folder}/key.pem
ssl_dh =
auth_mechanisms = plain login xoauth2
auth_failure_delay = 0
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = maildir:{folder}/share/%u:INDEX={folder}/index/%u
mail_plugins = acl
mail_max_userip_connections = 50
default_client_limit = 1000
namespace inbox {{
  inbox = yes
  separator = .
}}
namespace users {{
  type = shared
  prefix = Others.%%u.
  separator = .
  location = maildir:{folder}/share/%%u:INDEX={folder}/index/%u/of-%%u
  list = children
  subscriptions = no
}}
plugin {{
  acl = vfile
  acl_shared_dict = file:{folder}/shared-mailboxes
}}
protocol imap {{
  mail_plugins = acl imap_acl
}}
passdb {{
  driver = passwd-file
  args = {folder}/users
  mechanisms = plain login
}}
passdb {{
  driver = oauth2
  mechanisms = xoauth2
  args = {folder}/oauth2
}}
userdb {{
  driver = static
  args = uid={owner} gid={owner} home={folder}/home/%u
}}
service imap-login {{
  inet_listener imap {{
    port = {plain}
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
}}
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap {{
  process_limit = 100
}}
"""
_OAUTH2 = """
introspection_mode = local
local_validation_key_dict = fs:posix:prefix={folder}/keys/
username_attribute = sub
"""


@dataclass
class Dovecot:
    """A running server: ``server.url`` with TLS, ``plain_url`` with STARTTLS."""

    server: Server
    plain_url: str

    @property
    def certificate(self) -> str:
        return str(self.server.folder / "certificate.pem")

    def add(self, folder: str, name: str, data: bytes, *, user: str = USER) -> Path:
        """Write a message into a Maildir; a folder below the inbox begins with a dot."""
        place = self.server.share / user / folder
        for part in ("cur", "new", "tmp"):
            (place / part).mkdir(parents=True, exist_ok=True)
        path = place / "cur" / f"{name},S={len(data)},W={len(data)}:2,"
        path.write_bytes(data)
        for one in (place.parent, place, *place.iterdir(), path):
            shutil.chown(one, _OWNER)
        return path


@contextmanager
def running_dovecot() -> Iterator[Dovecot]:
    """Start a server with two users; skip without one."""
    programs = needs("dovecot", folders=("/usr/sbin",))
    if os.geteuid() != 0:
        pytest.skip("dovecot separates its processes by users only if root starts it")
    with new_server("dovecot") as server:
        folder, plain = server.folder, free_port()
        make_certificate(folder)
        users = (f"{user}:{{PLAIN}}{PASSWORD}::::::\n" for user in (USER, OTHER))
        (folder / "users").write_text("".join(users))
        (folder / "oauth2").write_text(_OAUTH2.format(folder=folder))
        key = folder / "keys/default/HS256/default"
        key.parent.mkdir(parents=True)
        key.write_bytes(base64.b64encode(_KEY))
        names = {"folder": folder, "owner": _OWNER, "port": server.port, "plain": plain}
        (folder / "config").write_text(_CONFIG.format(**names))
        for name in ("index", "home"):
            (folder / name).mkdir(mode=0o777)
        for name in (".", "index", "home"):
            shutil.chown(folder / name, _OWNER)
        server.command = [programs["dovecot"], "-F", "-c", str(folder / "config")]
        server.url = f"imaps://127.0.0.1:{server.port}"
        ca_file = str(folder / "certificate.pem")
        server.signs_in("IMAP", USERNAME=USER, PASSWORD=PASSWORD, CA_FILE=ca_file)
        server.start()
        yield Dovecot(server, f"imap://127.0.0.1:{plain}")


def new_token(user: str = USER) -> str:
    """Return a token that the server accepts for a user."""
    now = int(time.time())
    claims = {"sub": user, "iat": now, "exp": now + 600, "scope": "mail"}
    parts = [_encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    seal = hmac.new(_KEY, ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join((*parts, _encoded(seal)))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
