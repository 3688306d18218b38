"""A script for the administrator of a share that restricts or moves confirmed files; phiscan never runs it.

Without ``--apply`` (``-Apply``) it only says what it would do. Before each action it compares the SHA-256 of
the file with that of the content that was confirmed. Each file is one line, whatever its name: bytes that are
no printable character are escapes, and the script prints numbers, never names.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from blake3 import blake3

from phiscan.crawl import is_url

MAX_BYTES = 4 * 1024**3  # read for one script
_CHUNK = 1 << 20
_SH_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("'")}
_SH_NAME = _SH_PLAIN.union(b"'")
_QUOTES = frozenset("\u2018\u2019\u201a\u201b")  # PowerShell reads each of them as an apostrophe
Kind = Literal["sh", "ps1"]
Action = Literal["restrict", "move"]


@dataclass(frozen=True, slots=True)
class Target:
    """A file of the script: its number, raw path, content as it was confirmed (BLAKE3), SHA-256."""

    number: int
    path: bytes
    content_hash: str
    sha256: str = ""


def hashed(targets: Iterable[tuple[Target, bytes]]) -> Iterator[tuple[Target, str]]:
    """Yield files with their SHA-256, or why one is left out; ``targets``: each with its share."""
    left = MAX_BYTES
    for one, share in targets:
        if is_url(share):
            yield one, "on a share that is not mounted here"
            continue
        try:
            descriptor = os.open(one.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (OSError, ValueError):
            yield one, "cannot be read here"
            continue
        with os.fdopen(descriptor, "rb") as stream:
            info = os.fstat(descriptor)
            left -= info.st_size
            if not stat.S_ISREG(info.st_mode) or left < 0:
                yield one, "too much to read for one script" if left < 0 else "no file any more"
                continue
            known, sent = blake3(), hashlib.sha256()
            while chunk := stream.read(_CHUNK):
                known.update(chunk)
                sent.update(chunk)
        if known.hexdigest() != one.content_hash:
            yield one, "changed since it was confirmed"
        else:
            yield Target(one.number, one.path, one.content_hash, sent.hexdigest()), ""


def quoted_sh(name: bytes) -> str:
    r"""Return a file name as one word of a POSIX shell, on one line.

    >>> print(quoted_sh(b"a'$(b)`"), quoted_sh(b"-x"), quoted_sh(b"100%" + bytes([10])))
    'a'\''$(b)`' '-x' "$(printf %b '100%\0012.')"
    """
    if _SH_NAME.issuperset(name):
        return "'" + name.decode("ascii").replace("'", "'\\''") + "'"
    plain = _SH_PLAIN - set(b"\\")
    # The full stop keeps line feeds at the end; the script removes it.
    escaped = "".join(chr(byte) if byte in plain else f"\\0{byte:03o}" for byte in name)
    return f"\"$(printf %b '{escaped}.')\""


def quoted_ps(name: str) -> str:
    """Return a text as an expression of PowerShell, on one line.

    >>> print(quoted_ps("a'b$c"), quoted_ps("x" + chr(10)), quoted_ps(chr(0x2019)))
    'a''b$c' (-join [char[]](120,10)) (-join [char[]](8217))
    """
    if name.isprintable() and not _QUOTES & set(name):
        return "'" + name.replace("'", "''") + "'"
    units = name.encode("utf-16-le", "surrogatepass")
    codes = (str(units[at] + 256 * units[at + 1]) for at in range(0, len(units), 2))
    return f"(-join [char[]]({','.join(codes)}))"


def script(
    kind: Kind, action: Action, files: Iterable[tuple[Target, str]], *, to: str = "", head: Iterable[str] = ()
) -> bytes:
    """Return the script as UTF-8: of each file an action, or a comment that says why it is left out.

    Args:
        kind: POSIX shell or PowerShell.
        action: ``restrict``: only the owner (and administrators) may open the file; or ``move`` it.
        files: the files as ``hashed`` returns them.
        to: the folder that files are moved to, each under its number and name.
        head: lines that say who made it, when and why.
    """
    is_sh, moves, lines = kind == "sh", action == "move", []
    for one, problem in files:
        name = one.path.rpartition(b"/")[2] if moves else b""
        if problem:
            lines.append(f"# {one.number}: left out: {problem}")
        elif is_sh:
            path, base = ((int(not _SH_NAME.issuperset(word)), quoted_sh(word)) for word in (one.path, name))
            lines.append(f"act {one.number} {one.sha256} {path[0]} {path[1]} {base[0]} {base[1]}")
        else:
            path_ps, base_ps = (quoted_ps(os.fsdecode(word)) for word in (one.path, name))
            lines.append(f"Act {one.number} '{one.sha256}' {path_ps} {base_ps}")
    comments = [f"# {' '.join(line.split())}" for line in head]
    where = to if moves else ""
    if is_sh:
        settings = [f"action={action}", *([f"to={quoted_sh(os.fsencode(where))}"] if moves else [])]
    else:
        settings = ["param([switch]$Apply)", f"$Action = '{action}'", f"$To = {quoted_ps(where)}"]
    text = resources.files("phiscan.web").joinpath(f"remedy.{kind}").read_text(encoding="utf-8")
    begin, _, rest = text.partition("@HEAD@")
    middle, _, end = rest.partition("@FILES@")
    whole = "\n".join([*comments, *settings]).join([begin, middle]) + "\n".join(lines) + end
    return whole.encode() if is_sh else codecs.BOM_UTF8 + whole.replace("\n", "\r\n").encode()
