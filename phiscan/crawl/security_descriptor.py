"""Owner and readers of a file from its Windows security descriptor.

Source: [MS-DTYP] 2.4.6 SECURITY_DESCRIPTOR, 2.4.5 ACL, 2.4.4 ACE, 2.4.2 SID, 2.4.2.4 well-known SIDs.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

_HEADER = struct.Struct("<BBHIIII")
_ACL = struct.Struct("<BBHHH")
_ACE = struct.Struct("<BBHI")  # type, flags, size, mask
_DACL_PRESENT = 0x0004
_INHERIT_ONLY = 0x08  # for objects created in a folder, not for the folder itself
_ALLOWED, _DENIED, _ALLOWED_CALLBACK = 0, 1, 9
MAY_READ = 0x00000001 | 0x10000000 | 0x80000000  # read data; generic all; generic read
MAY_TRAVERSE = 0x00000020 | 0x10000000 | 0x20000000  # traverse; generic all; generic execute
_WELL_KNOWN = {
    "S-1-1-0": "everyone",
    "S-1-3-0": "user CREATOR OWNER",
    "S-1-3-1": "group CREATOR GROUP",
    "S-1-3-4": "user OWNER RIGHTS",
    "S-1-5-2": "group NETWORK",
    "S-1-5-4": "group INTERACTIVE",
    "S-1-5-7": "user ANONYMOUS LOGON",
    "S-1-5-11": "group Authenticated Users",
    "S-1-5-18": "user SYSTEM",
    "S-1-5-19": "user LOCAL SERVICE",
    "S-1-5-20": "user NETWORK SERVICE",
    "S-1-5-32-544": "group Administrators",
    "S-1-5-32-545": "group Users",
    "S-1-5-32-546": "group Guests",
    "S-1-5-32-551": "group Backup Operators",
}
# The last part of a SID of a domain, where it is the same in every domain.
_OF_DOMAIN = {
    "500": "user Administrator",
    "501": "user Guest",
    "512": "group Domain Admins",
    "513": "group Domain Users",
    "514": "group Domain Guests",
    "515": "group Domain Computers",
}
_DOMAIN_SID = re.compile(r"(S-1-5-21-\d+-\d+-\d+)-(\d+)")
_UNIX_SID = re.compile(r"S-1-22-([12])-(\d+)")


def access_of(descriptor: bytes, right: int = MAY_READ) -> tuple[str, tuple[str, ...]]:
    """Return the owner, and who has a right, of a self-relative security descriptor.

    Readers are "everyone", "user NAME", "group NAME", or "account SID" where the name is not known; denied
    accounts are "not ...", before the accounts that they precede. A damaged descriptor yields no names.
    """
    try:
        _, _, control, owner_at, _, _, dacl_at = _HEADER.unpack_from(descriptor)
        owner = name_of(sid_of(descriptor, owner_at)) if owner_at else ""
        if not control & _DACL_PRESENT or not dacl_at:
            return _bare(owner), ("everyone",)  # no access control list: everyone may read
        return _bare(owner), tuple(dict.fromkeys(_readers(descriptor, dacl_at, right)))
    except struct.error:
        return "", ()


def _readers(descriptor: bytes, at: int, right: int) -> Iterator[str]:
    n_entries = _ACL.unpack_from(descriptor, at)[3]
    at += _ACL.size
    for _ in range(n_entries):
        kind, flags, size, mask = _ACE.unpack_from(descriptor, at)
        if size < _ACE.size:
            break
        if mask & right and not flags & _INHERIT_ONLY:
            if kind in {_ALLOWED, _ALLOWED_CALLBACK}:
                yield name_of(sid_of(descriptor, at + _ACE.size))
            elif kind == _DENIED:
                yield f"not {name_of(sid_of(descriptor, at + _ACE.size))}"
        at += size


def sid_of(data: bytes, at: int = 0) -> str:
    """Return the text of a binary SID."""
    revision, n_parts = struct.unpack_from("<BB", data, at)
    authority = int.from_bytes(data[at + 2 : at + 8], "big")
    parts = struct.unpack_from(f"<{n_parts}I", data, at + 8)
    return "-".join(("S", str(revision), str(authority), *map(str, parts)))


def name_of(sid: str) -> str:
    """Return the display name of an account; a group of a domain with its domain, as others have it, too.

    >>> name_of("S-1-1-0"), name_of("S-1-22-2-100"), name_of("S-1-5-21-1-2-3-513")
    ('everyone', 'group gid 100', 'group Domain Users (S-1-5-21-1-2-3)')
    >>> name_of("S-1-5-21-1-2-3-1104")
    'account S-1-5-21-1-2-3-1104'
    """
    if sid in _WELL_KNOWN:
        return _WELL_KNOWN[sid]
    unix = _UNIX_SID.fullmatch(sid)
    if unix:
        kind, number = unix.groups()
        return f"user uid {number}" if kind == "1" else f"group gid {number}"
    domain, rid = found.groups() if (found := _DOMAIN_SID.fullmatch(sid)) else ("", "")
    name = _OF_DOMAIN.get(rid, f"account {sid}")
    return f"{name} ({domain})" if name.startswith("group ") else name


def _bare(owner: str) -> str:
    """Return the owner without the kind of account.

    >>> _bare("group Administrators"), _bare("account S-1-5-21-1-2-3-1104")
    ('Administrators', 'S-1-5-21-1-2-3-1104')
    """
    kind, _, name = owner.partition(" ")
    return name if kind in {"user", "group", "account"} else owner
