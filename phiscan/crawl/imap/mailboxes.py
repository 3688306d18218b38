"""Mailboxes of an IMAP server as folders: their paths, their users, and who may read them.

Source: RFC 3501 5.1 (names, modified UTF-7), RFC 2342 (namespaces), RFC 4314 (access control lists).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from phiscan.crawl.location import escaped

_NO_MESSAGES = (b"\\noselect", b"\\nonexistent")
_GROUP = re.compile(r"!?\$|group[=:]")
# Who may read, of the identifiers that are no names.
_NOBODY = {"anyone": "everyone", "anonymous": "everyone", "authenticated": "group authenticated"}


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A folder of messages: the name that its server knows, its place below the root, and its user."""

    name: bytes
    path: bytes
    owner: str


def list_mailboxes(client: Any, base: str, user: str) -> Iterator[Mailbox]:
    """Yield the mailboxes of all namespaces that have messages and lie below a path, in no order."""
    others = client.namespace().other if client.has_capability("NAMESPACE") else None
    for flags, delimiter, name in client.list_folders():
        raw = name if isinstance(name, bytes) else str(name).encode()
        whole = path_of(raw, delimiter)
        below = whole.removeprefix(base)
        is_inside = not base or (whole.startswith(base) and below[:1] in {"", "/"})
        if is_inside and not any(flag.lower() in _NO_MESSAGES for flag in flags):
            path = below.lstrip("/").encode("utf-8", "surrogateescape")
            yield Mailbox(raw, path, _owner(raw, others or (), user))


def _owner(name: bytes, others: Iterable[tuple[bytes, str]], user: str) -> str:
    """Return the user of a mailbox: in the namespaces of other users, the next part of its name."""
    for prefix, delimiter in others:
        if prefix and name.startswith(prefix):
            return name[len(prefix) :].split(delimiter.encode())[0].decode("utf-8", "replace")
    return user


def path_of(name: bytes, delimiter: bytes | None) -> str:
    """Return the place of a mailbox, its parts decoded; one that is no valid modified UTF-7 as it is.

    >>> path_of(b"INBOX.&AOk-t&AOk-.a/b", b"."), path_of(b"50%.&bad", b".")
    ('INBOX/été/a%2Fb', '50%25/%26bad')
    """
    return "/".join(map(_shown, name.split(delimiter) if delimiter else [name]))


def _shown(part: bytes) -> str:
    from imapclient.imap_utf7 import decode, encode  # noqa: PLC0415 (an optional part)

    try:
        text = decode(part)
        if encode(text) == part:
            return escaped(text)
    except (UnicodeError, ValueError):
        pass
    return escaped(part.decode("ascii", "surrogateescape")).replace("&", "%26")


def readers_of(rights: Iterable[tuple[bytes, bytes]], owner: str) -> tuple[str, ...]:
    """Return who may read a mailbox from its access control list; those excluded are "not ...".

    >>> readers_of([(b"anyone", b"lr"), (b"$staff", b"lrs"), (b"-bo", b"r"), (b"eve", b"l")], "ann")
    ('everyone', 'group staff', 'not user bo')
    """
    readers = []
    for identifier, letters in rights:
        who = identifier.decode("utf-8", "replace")
        denied = "not " if who.startswith("-") else ""
        who = who.removeprefix("-").removeprefix("user=")
        name = _GROUP.sub("", who, count=1) if _GROUP.match(who) else ""
        name = f"group {name}" if name else f"user {owner if who in {'owner', '#owner'} else who}"
        if b"r" in letters:
            readers.append(denied + _NOBODY.get(who, name))
    return tuple(dict.fromkeys(readers))
