"""Accounts and groups of an LDAP directory (OpenLDAP, Active Directory) and of this machine.

Of the directory every name, number, SID and DN is kept as an HMAC under the key of the home folder. Referrals
are not followed. Source: RFC 2307; RFC 2696 (pages); [MS-ADTS] 2.2.16 (userAccountControl).
"""

from __future__ import annotations

import grp
import json
import pwd
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from phiscan.config import DirectoryTable, SharesTable
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.location import LOOPBACK, parse_url
from phiscan.crawl.share import optional
from phiscan.crawl.smb import name_of, sid_of
from phiscan.errors import InputError
from phiscan.hasher import KeyHasher

DISABLED, EXPIRED, MISSING = "disabled", "expired", "missing"  # states of accounts; "" = it can sign in
_KEY_BYTES = 16
_FIRST_PERSON, _NOBODY = 1000, 65534  # user numbers of this machine: accounts of its services are below

_PAGE = 500
_ACCOUNTS = (
    "(|(objectClass=posixAccount)(objectClass=inetOrgPerson)(&(objectClass=user)(!(objectClass=computer))))"
)
_GROUPS = (
    "(|(objectClass=group)(objectClass=posixGroup)(objectClass=groupOfNames)(objectClass=groupOfUniqueNames))"
)
_MEMBERS = ["member", "uniqueMember", "memberUid"]
_ASKED = (
    *("mail", "userPrincipalName", "uidNumber", "gidNumber", "objectSid", "primaryGroupID", "memberOf"),
    *("userAccountControl", "accountExpires", "shadowExpire", "nsAccountLock", "pwdAccountLockedTime"),
)
_SWITCHED_OFF = 0x2  # of userAccountControl
_1601_TO_1970_S, _DAY_S = 11_644_473_600, 86_400
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{2})")
_AROUND = re.compile(r"\s*([,=+])\s*")
_REASONS = {  # in words of this program: a server's text may quote a name
    "LDAPInvalidCredentialsResult": "it refuses the user or the password",
    "LDAPPasswordIsMandatoryError": "a user without a password",
    "LDAPNoSuchObjectResult": "it has no such base",
    "LDAPInsufficientAccessRightsResult": "this user may not read it",
    "LDAPSizeLimitExceededResult": "it returns only a part of its entries to this user",
    "LDAPStartTLSError": "it offers no trusted TLS",
    "LDAPSocketOpenError": "no connection",
}
_Values = Mapping[str, Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Entry:
    """An account or a group as it was read."""

    # "user NAME", "user uid 7", "group gid 7", "account SID", "dn DN"; shown is the first
    names: tuple[str, ...]
    is_group: bool = False
    state: str = ""  # of an account
    members: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # that it says it belongs to


@dataclass(frozen=True, slots=True)
class Directory:
    """All accounts and groups by number: of an account from 0 up, of a group from -1 down."""

    made: datetime
    states: Sequence[str]
    groups: Sequence[Sequence[int | None]]  # members; None: one that may be a group elsewhere
    keys: Mapping[str, int]
    names: Sequence[str] = ()  # of the accounts; in memory only, where names were asked for

    def accounts_of(self, number: int) -> tuple[set[int], bool]:
        """Return the accounts of a group and of all groups in it, and whether these are all."""
        seen: set[int | None] = {number}
        queue = [number]
        for one in queue:  # grows while it is read
            new = set(self.groups[-1 - one]) - seen
            seen |= new
            queue += [inner for inner in new if inner is not None and inner < 0]
        return {one for one in seen if one is not None and one >= 0}, None not in seen

    def write(self, path: Path) -> None:
        """Write the directory without names into a private file.

        Raises:
            InputError: it cannot be written; what it held stays.
        """
        draft = path.with_suffix(".new")
        kept = {one: getattr(self, one) for one in ("made", "states", "groups", "keys")}
        try:
            draft.touch(0o600)
            draft.write_text(json.dumps(kept, default=str), encoding="ascii")
            draft.replace(path)
        except OSError as error:
            raise InputError(path, f"cannot be written: {error.strerror}") from None


def read_cached(path: Path) -> Directory | None:
    """Return the directory that was last written, or None."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text(encoding="ascii"))
        return Directory(**{**kept, "made": datetime.fromisoformat(kept["made"])})
    return None


def keys_of(key: bytes, names: Iterable[str]) -> list[str]:
    """Return the HMAC of each name of an account or group; letter case does not matter."""
    messages = [f"directory\0{name.casefold()}".encode("utf-8", "surrogatepass") for name in names]
    return [digest[:_KEY_BYTES].hex() for digest in KeyHasher(key).identities(messages)]


def directory_of(entries: Iterable[Entry], key: bytes, made: datetime, base: str = "") -> Directory:
    """Number the entries that were read, and resolve who belongs to which group.

    A name of several entries names none of them. A member that is missing below ``base`` is an account that
    was removed; any other one that is not there may be a group.
    """
    read = list(entries)
    accounts = [(one.names[0].partition(" ")[2], one.state) for one in read if not one.is_group]
    groups: list[list[int | None]] = [[] for one in read if one.is_group]
    numbers, of_groups = count(), count(-1, -1)
    numbered = [(next(of_groups if one.is_group else numbers), one) for one in read]
    named = {(name.casefold(), number) for number, one in numbered for name in one.names}
    n_entries = Counter(name for name, _ in named)
    known = {name: number for name, number in sorted(named) if n_entries[name] == 1}
    for number, one in numbered:
        for name in map(str.casefold, one.members):
            if name not in known and (name.startswith("user ") or (base and name.endswith(f",{base}"))):
                known[name] = len(accounts)
                accounts.append((name.partition(" ")[2], MISSING))
            groups[-1 - number].append(known.get(name))
        for name in map(str.casefold, one.groups):
            if (group := known.get(name, 0)) < 0:
                groups[-1 - group].append(number)
    keys = dict(zip(keys_of(key, known), known.values(), strict=True))
    return Directory(made, [state for _, state in accounts], groups, keys, [name for name, _ in accounts])


def read_local() -> dict[str, tuple[str, ...]]:
    """Return who is meant by each account and group of this machine (NSS): by one of a service, nobody."""
    found: dict[str, tuple[str, ...]] = {}
    of_group: dict[int, list[str]] = {}  # whose primary group it is
    for account in pwd.getpwall():
        name = f"user {account.pw_name}"
        found[name] = (name,) if _FIRST_PERSON <= account.pw_uid != _NOBODY else ()
        of_group.setdefault(account.pw_gid, []).append(name)
    for group in grp.getgrall():
        members = [f"user {name}" for name in group.gr_mem]
        found[f"group {group.gr_name}"] = (*members, *of_group.get(group.gr_gid, ()))
    return found


def read_ldap(settings: DirectoryTable, shares: SharesTable, now: datetime) -> tuple[list[Entry], str]:
    """Return the accounts and groups of the directory, and its base.

    Raises:
        InputError: it cannot be reached or read, or refuses the credentials; names it.
    """
    import ssl  # noqa: PLC0415 (slow to load)

    with optional("directory.url", "ldap3", "ldap"):
        import ldap3  # noqa: PLC0415 (an optional part)
        from ldap3.core.exceptions import LDAPException  # noqa: PLC0415
    location = parse_url(settings.url)
    base = "/".join(location.path)
    if location.scheme not in {"ldap", "ldaps"} or not base:
        message = f"directory.url: {settings.url}: expected ldaps://SERVER/BASE or ldap://SERVER/BASE"
        raise InputError(message)
    granted = credentials_of(settings.url.encode(), shares)
    is_private = location.scheme == "ldaps" or location.host in LOOPBACK
    timeout_s = max(1, round(shares.timeout_s))  # the library takes whole numbers only
    try:
        server = ldap3.Server(
            f"{location.scheme}://{location.server}",
            tls=ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=granted.ca_file or None),
            get_info=ldap3.NONE,
            connect_timeout=timeout_s,
        )
        with ldap3.Connection(
            server,
            granted.username or None,
            granted.password or None,
            auto_bind=ldap3.AUTO_BIND_NO_TLS if is_private else ldap3.AUTO_BIND_TLS_BEFORE_BIND,
            receive_timeout=timeout_s,
            auto_referrals=False,
            check_names=False,
            read_only=True,
            raise_exceptions=True,
        ) as connection:
            return list(_entries(connection, base, settings, now)), _dn(base)
    except (LDAPException, OSError) as error:
        name = type(error).__name__
        reason = _REASONS.get(name, f"no complete answer ({name})")
        raise InputError(settings.url, f"the directory cannot be read: {reason}") from None


def _entries(connection: Any, base: str, settings: DirectoryTable, now: datetime) -> Iterator[Entry]:
    """Yield the accounts, then the groups; the library joins large values, which are sent in ranges."""
    chosen = [settings.name_attribute] if settings.name_attribute else []
    members = [settings.member_attribute] if settings.member_attribute else _MEMBERS
    for is_group, query, titles in (
        (False, settings.account_filter or _ACCOUNTS, chosen or ["uid", "sAMAccountName"]),
        (True, settings.group_filter or _GROUPS, chosen or ["cn", "sAMAccountName"]),
    ):
        for one in connection.extend.standard.paged_search(
            base,
            query,
            attributes=[*_ASKED, *titles, *members],
            dereference_aliases="NEVER",
            paged_size=_PAGE,
            generator=False,
        ):
            if one["type"] == "searchResEntry":
                yield _entry(one["dn"], one["raw_attributes"], titles, members, now, is_group=is_group)


def _entry(
    dn: str, values: _Values, titles: list[str], members: list[str], now: datetime, *, is_group: bool
) -> Entry:
    kind, number = ("group", "gid") if is_group else ("user", "uid")
    sids: list[str] = []
    with suppress(struct.error):
        sids = [sid_of(sid) for sid in values.get("objectSid", ())]
    domains = [sid.rpartition("-")[0] for sid in sids]
    names = (
        *(f"{kind} {text}" for text in _texts(values, *titles, "mail", "userPrincipalName")),
        *(f"{kind} {number} {text}" for text in _texts(values, f"{number}Number")),
        *(name_of(sid) for sid in sids),
        *(name_of(sid).partition(" (")[0] for sid in sids),  # as the configuration may name it
        f"dn {_dn(dn)}",
    )
    inside = (
        f"user {text}" if name.casefold() == "memberuid" else f"dn {_dn(text)}"
        for name in members
        for text in _texts(values, name)
    )
    groups = (
        *(f"dn {_dn(text)}" for text in _texts(values, "memberOf")),
        *(f"group gid {text}" for text in _texts(values, "gidNumber")),
        *(name_of(f"{domain}-{rid}") for domain in domains for rid in _texts(values, "primaryGroupID")),
    )
    return Entry(names, is_group, _state(values, now), tuple(inside), groups)


def _texts(values: _Values, *names: str) -> list[str]:
    found = (value for name in names for value in values.get(name, ()))
    return [value.decode("utf-8", "surrogateescape") for value in found]


def _dn(text: str) -> str:
    r"""Return a DN in the form in which it is compared.

    >>> _dn("CN=Ann\\2C Roy, OU=Staff,dc=example")
    'cn=ann\\,roy,ou=staff,dc=example'
    """
    plain = _ESCAPED.sub(lambda found: "\\" + chr(int(found[1], 16)), text)
    return _AROUND.sub(r"\1", plain.strip()).casefold()


def _state(values: _Values, now: datetime) -> str:
    """Return whether an account is disabled or expired; "" = it can sign in."""
    control, ticks, day = (
        int(text) if re.fullmatch(r"-?\d{1,19}", text) else -1
        for name in ("userAccountControl", "accountExpires", "shadowExpire")
        for text in (*_texts(values, name), "")[:1]
    )
    locks = {*_texts(values, "nsAccountLock", "pwdAccountLockedTime")}
    if (control > 0 and control & _SWITCHED_OFF) or {"TRUE", "true", "000001010000Z"} & locks:
        return DISABLED
    expires_s = [ticks / 10**7 - _1601_TO_1970_S] if ticks > 0 else []
    expires_s += [day * _DAY_S] if day >= 0 else []
    return EXPIRED if any(end <= now.timestamp() for end in expires_s) else ""
