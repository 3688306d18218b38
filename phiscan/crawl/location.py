"""Parse the location of a root: a local folder or a URL; a URL with a password is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from phiscan.errors import InputError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_MAX_PORT = 65535
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed URL; names are not percent-encoded."""

    scheme: str
    host: str  # server or bucket
    port: int  # 0 = the scheme's own
    path: tuple[str, ...]

    @property
    def server(self) -> str:
        """The host, an IPv6 address in brackets, and the port if it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host

    @property
    def root(self) -> bytes:
        """The URL in normal form, as raw bytes."""
        return "/".join((f"{self.scheme}://{self.server}", *self.path)).encode("utf-8", "surrogateescape")


def is_url(root: str | bytes) -> bool:
    """Return whether a root is a URL rather than the path of a folder.

    >>> is_url("smb://files/research"), is_url("/mnt/research"), is_url(b"s3://bucket")
    (True, False, True)
    """
    text = root if isinstance(root, str) else root.decode("utf-8", "surrogateescape")
    return _URL.match(text) is not None


def is_protected(url: str) -> bool:
    """Return whether a URL is an https address, or one of this machine, without a user in it."""
    try:
        parts = urlsplit(url)
        is_named = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:  # brackets that do not close, a port that is none
        return False
    return is_named and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK))


def parse_url(url: str) -> Location:
    """Parse the URL of a root.

    Raises:
        InputError: it has a password or a user in it (they are not repeated), or no server.

    >>> parse_url("SMB://Files:4445/research/2026/").root
    b'smb://files:4445/research/2026'
    >>> parse_url("sftp://[2001:DB8::1]:22/x").host
    '2001:db8::1'
    """
    match = _URL.match(url)
    if match is None:
        raise InputError(url, "expected a URL")
    scheme = match.group(1).lower()
    authority, _, rest = url[match.end() :].partition("/")
    if "@" in authority:
        message = (
            f"{scheme}://: expected a URL without user and password, which others can see on a command line; "
            "name them in the environment or in a file (docs/reference/shares.md)"
        )
        raise InputError(message)
    path = tuple(part for part in rest.split("/") if part)
    try:
        parts = urlsplit(f"//{authority}")
        found = Location(scheme, parts.hostname or "", parts.port or 0, path)
    except ValueError:  # brackets that do not close, a port that is none
        found = Location(scheme, "", 0, path)
    if not found.host or found.server.lower() != authority.lower().removesuffix(":"):
        raise InputError(url, f"expected {scheme}://NAME/..., with a port from 1 to {_MAX_PORT} or none")
    if any(part in {".", ".."} for part in path):
        raise InputError(url, "expected a path without . and ..")
    return found


def escaped(name: str) -> str:
    """Return a name as one part of a path: %, /, zero, and a whole "." or ".." are escaped, as in a URL.

    >>> escaped("a/b 5%"), escaped("."), escaped("")
    ('a%2Fb 5%25', '%2E', '%')
    """
    if name in {"", ".", ".."}:
        return name.replace(".", "%2E") or "%"
    return name.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")


def unescaped(part: str) -> str:
    """Return the name that ``escaped`` made a part of a path."""
    part = "" if part == "%" else part
    return part.replace("%2E", ".").replace("%2F", "/").replace("%00", "\0").replace("%25", "%")
