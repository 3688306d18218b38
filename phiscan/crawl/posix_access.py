"""Owner and readers of a file of this machine: mode bits, and its access control list where it has one.

Source: acl(5); the extended attribute's layout: linux/posix_acl_xattr.h.
"""

from __future__ import annotations

import grp
import os
import pwd
import struct
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from phiscan.model import SourceFile

_ATTRIBUTE = b"system.posix_acl_access"
_VERSION = struct.Struct("<I")
_KNOWN_VERSION = 2
_ENTRY = struct.Struct("<HHI")  # kind, rights, number of the user or group
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
READ, TRAVERSE = 4, 1  # rights
_LIMITED = frozenset({_USER, _GROUP_OBJ, _GROUP})  # by the mask
_N_NAMES = 65_536


class _Entry(NamedTuple):
    """One line of an access control list."""

    kind: int
    rights: int
    number: int


def with_access(source: SourceFile) -> SourceFile:
    """Return the crawled file with its owner and its readers, by its own rights; folders may restrict more.

    Called for files that are about to be read, not for every crawled file: changed rights change the ctime,
    and so the file is read again.
    """
    try:
        readers = who_may(source.absolute)
    except (OSError, ValueError):  # vanished: opening it reports that
        readers = ()
    return replace(source, owner=_user(source.uid), readers=readers)


def who_may(path: bytes, right: int = READ) -> tuple[str, ...]:
    """Return who has a right to a file or folder by its own mode bits or access control list.

    Raises:
        OSError, ValueError: it is not there.
    """
    state = os.stat(path, follow_symlinks=False)  # noqa: PTH116 (raw bytes)
    try:
        entries = _unpack(os.getxattr(path, _ATTRIBUTE, follow_symlinks=False))
    except (OSError, struct.error):
        entries = _of_mode(state.st_mode)
    return _admitted(entries, _user(state.st_uid), _group(state.st_gid), right)


def _of_mode(mode: int) -> list[_Entry]:
    return [
        _Entry(_USER_OBJ, mode >> 6 & 7, 0),
        _Entry(_GROUP_OBJ, mode >> 3 & 7, 0),
        _Entry(_OTHER, mode & 7, 0),
    ]


def _unpack(packed: bytes) -> list[_Entry]:
    """Return the entries of an access control list, with the mask applied where it limits them."""
    (version,) = _VERSION.unpack_from(packed)
    if version != _KNOWN_VERSION:
        message = "an access control list of another version"
        raise struct.error(message)
    entries = [_Entry(*fields) for fields in _ENTRY.iter_unpack(packed[_VERSION.size :])]
    mask = next((entry.rights for entry in entries if entry.kind == _MASK), 7)
    return [
        entry._replace(rights=entry.rights & mask) if entry.kind in _LIMITED else entry for entry in entries
    ]


def _admitted(entries: list[_Entry], owner: str, group: str, right: int = READ) -> tuple[str, ...]:
    """Return who has a right: everyone first, then groups, then users, then whom a narrower entry excludes.

    >>> _admitted(_of_mode(0o640), "ann", "ward")
    ('group ward', 'user ann')
    >>> _admitted(_of_mode(0o604), "ann", "ward")
    ('everyone', 'user ann', 'not group ward')
    """
    users, groups, others = [], [], []
    for entry in entries:
        sign = "" if entry.rights & right else "not "
        if entry.kind == _OTHER and not sign:
            others.append("everyone")
        elif entry.kind in {_GROUP_OBJ, _GROUP}:
            groups.append(f"{sign}group {group if entry.kind == _GROUP_OBJ else _group(entry.number)}")
        elif entry.kind in {_USER_OBJ, _USER}:
            users.append(f"{sign}user {owner if entry.kind == _USER_OBJ else _user(entry.number)}")
    admitted = [[name for name in names if not name.startswith("not ")] for names in (groups, users)]
    excluded = [name for name in groups if others and name.startswith("not ")]
    excluded += [name for name in users if (others or admitted[0]) and name.startswith("not ")]
    return tuple(dict.fromkeys([*others, *admitted[0], *admitted[1], *excluded]))


@lru_cache(_N_NAMES)
def _user(uid: int) -> str:
    """Return a user's name, or its number if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return f"uid {uid}"


@lru_cache(_N_NAMES)
def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except (KeyError, OverflowError):
        return f"gid {gid}"
