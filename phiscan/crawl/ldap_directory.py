"""Accounts and groups of an LDAP directory (OpenLDAP, Active Directory); referrals are not followed.

Source: RFC 2307; RFC 2696 (pages); [MS-ADTS] 3.1.1.3.1.3.3 (ranges of values), 2.2.16 (userAccountControl).
"""

from __future__ import annotations

import ipaddress
import re
import ssl
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from phiscan.config import DirectoryTable, SharesTable
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.directory import DISABLED, EXPIRED, Entry
from phiscan.crawl.location import parse_url
from phiscan.crawl.smb.security_descriptor import name_of, sid_of
from phiscan.errors import InputError

_PAGE = 500
_ACCOUNTS = (
    "(|(objectClass=posixAccount)(objectClass=inetOrgPerson)(&(objectClass=user)(!(objectClass=computer))))"
)
_GROUPS = (
    "(|(objectClass=group)(objectClass=posixGroup)(objectClass=groupOfNames)(objectClass=groupOfUniqueNames))"
)
_MEMBERS = ("member", "uniqueMember", "memberUid")
_ASKED = (
    *("uid", "cn", "sAMAccountName", "mail", "userPrincipalName", "uidNumber", "gidNumber", "objectSid"),
    *("primaryGroupID", "memberOf", "userAccountControl", "accountExpires", "shadowExpire", "nsAccountLock"),
    "pwdAccountLockedTime",
)
_SWITCHED_OFF = 0x2  # of userAccountControl
_NEVER = 2**63 - 1  # of accountExpires
_1601 = datetime(1601, 1, 1, tzinfo=UTC)
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{2})")
_AROUND = re.compile(r"\s*([,=+])\s*")
_Values = Mapping[str, Sequence[bytes]]


def read_ldap(settings: DirectoryTable, shares: SharesTable, now: datetime) -> tuple[list[Entry], str]:
    """Return the accounts and groups of the directory, and its base.

    Raises:
        InputError: it cannot be reached or read, or refuses the credentials; names it.
    """
    try:
        import ldap3  # noqa: PLC0415 (an optional part)
        from ldap3.core.exceptions import LDAPException  # noqa: PLC0415
    except ImportError:
        message = "directory.url: needs the package ldap3; expected phiscan installed with [ldap]"
        raise InputError(message) from None
    location = parse_url(settings.url)
    base = "/".join(location.path)
    if location.scheme not in {"ldap", "ldaps"} or not base:
        message = f"directory.url: {settings.url}: expected ldaps://SERVER/BASE or ldap://SERVER/BASE"
        raise InputError(message)
    granted = credentials_of(settings.url.encode(), shares)
    is_tls = location.scheme == "ldaps"
    timeout_s = max(1, round(shares.timeout_s))  # the library takes whole numbers only
    try:
        tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=granted.ca_file or None)
        given: dict[str, Any] = {"use_ssl": is_tls, "tls": tls, "get_info": ldap3.NONE}
        port = location.port or (636 if is_tls else 389)
        with ldap3.Connection(
            ldap3.Server(location.host, port, connect_timeout=timeout_s, **given),
            granted.username or None,
            granted.password or None,
            authentication=ldap3.SIMPLE if granted.username else ldap3.ANONYMOUS,
            auto_bind=ldap3.AUTO_BIND_NO_TLS
            if is_tls or _is_loopback(location.host)
            else ldap3.AUTO_BIND_TLS_BEFORE_BIND,
            receive_timeout=timeout_s,
            auto_referrals=False,
            check_names=False,
            read_only=True,
            raise_exceptions=True,
        ) as connection:
            return list(_entries(connection, base, settings, now)), _dn(base)
    except (LDAPException, OSError) as error:
        message = f"{settings.url}: the directory cannot be read: {_reason(error)}"
        raise InputError(message) from None


def _reason(error: Exception) -> str:
    """Return what went wrong, in words of this program: a server's text may quote a name."""
    reasons = {
        "LDAPInvalidCredentialsResult": "it refuses the user or the password",
        "LDAPPasswordIsMandatoryError": "a user without a password",
        "LDAPNoSuchObjectResult": "it has no such base",
        "LDAPInsufficientAccessRightsResult": "this user may not read it",
        "LDAPSizeLimitExceededResult": "it returns only a part of its entries to this user",
        "LDAPStartTLSError": "it offers no trusted TLS",
        "LDAPSocketOpenError": "no connection",
    }
    name = type(error).__name__
    return reasons.get(name) or f"no complete answer ({name})"


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _entries(connection: Any, base: str, settings: DirectoryTable, now: datetime) -> Iterator[Entry]:
    chosen = (settings.name_attribute,) if settings.name_attribute else ()
    members = (settings.member_attribute,) if settings.member_attribute else _MEMBERS
    titles = chosen or ("uid", "sAMAccountName")
    for dn, values in _search(connection, base, settings.account_filter or _ACCOUNTS, [*_ASKED, *chosen]):
        named = _named("user", values, (*titles, "mail", "userPrincipalName"), "uid")
        domains = [sid.rpartition("-")[0] for sid in _sids(values)]
        main = [name_of(f"{domain}-{rid}") for domain in domains for rid in _texts(values, "primaryGroupID")]
        groups = (
            *(f"dn {_dn(text)}" for text in _texts(values, "memberOf")),
            *(f"group gid {text}" for text in _texts(values, "gidNumber")),
            *main,
        )
        yield Entry((*named, f"dn {_dn(dn)}"), state=_state(values, now), groups=groups)
    titles = chosen or ("cn", "sAMAccountName")
    asked = [*_ASKED, *chosen, *members]
    for dn, values in _search(connection, base, settings.group_filter or _GROUPS, asked):
        inside = (
            f"user {text}" if name.casefold() == "memberuid" else f"dn {_dn(text)}"
            for name in members
            for text in _texts(values, name)
        )
        groups = tuple(f"dn {_dn(text)}" for text in _texts(values, "memberOf"))
        named = _named("group", values, titles, "gid")
        yield Entry((*named, f"dn {_dn(dn)}"), is_group=True, members=tuple(inside), groups=groups)


def _named(kind: str, values: _Values, titles: Sequence[str], number: str) -> list[str]:
    """Return the names by which rights refer to an account or a group."""
    return [
        *(f"{kind} {text}" for title in titles for text in _texts(values, title)),
        *(f"{kind} {number} {text}" for text in _texts(values, f"{number}Number")),
        *map(name_of, _sids(values)),
    ]


def _sids(values: _Values) -> list[str]:
    with suppress(struct.error):
        return [sid_of(sid) for sid in values.get("objectsid", ())]
    return []


def _search(connection: Any, base: str, query: str, asked: list[str]) -> Iterator[tuple[str, _Values]]:
    """Yield the DN and the attributes of each entry, read in pages; names of attributes in lower case."""
    from ldap3 import DEREF_NEVER  # noqa: PLC0415 (an optional part)

    given: Any = {"dereference_aliases": DEREF_NEVER, "attributes": asked, "paged_size": _PAGE}
    found = list(connection.extend.standard.paged_search(base, query, generator=True, **given))
    for one in found:
        if one["type"] == "searchResEntry":
            values = {name.casefold(): list(got) for name, got in one["raw_attributes"].items()}
            yield one["dn"], _whole(connection, one["dn"], values)


def _whole(connection: Any, dn: str, values: dict[str, list[bytes]]) -> _Values:
    """Return the attributes with all their values: of a large group a server sends them range by range."""
    from ldap3 import BASE  # noqa: PLC0415 (an optional part)

    for ranged in [name for name in values if ";range=" in name]:
        name, _, limits = ranged.partition(";range=")
        whole = values.pop(ranged)
        while not limits.endswith("*"):
            first = int(limits.partition("-")[2]) + 1
            connection.search(dn, "(objectClass=*)", BASE, attributes=[f"{name};range={first}-*"])
            answers = [one["raw_attributes"] for one in connection.response if "raw_attributes" in one]
            more = {key: got for one in answers for key, got in one.items() if ";range=" in key}
            if not more:
                break
            key, got = next(iter(more.items()))
            whole += got
            limits = key.rpartition(";range=")[2]
        values[name] = [*values.get(name, ()), *whole]
    return values


def _texts(values: _Values, name: str) -> list[str]:
    return [value.decode("utf-8", "surrogateescape") for value in values.get(name.casefold(), ())]


def _dn(text: str) -> str:
    r"""Return a DN in the form in which it is compared.

    >>> _dn("CN=Ann\\2C Roy, OU=Staff,dc=example")
    'cn=ann\\,roy,ou=staff,dc=example'
    """
    plain = _ESCAPED.sub(lambda found: "\\" + chr(int(found[1], 16)), text)
    return _AROUND.sub(r"\1", plain.strip()).casefold()


def _state(values: _Values, now: datetime) -> str:
    """Return whether an account is disabled or expired; "" = it can sign in."""
    numbers = {
        name: int(text)
        for name in ("userAccountControl", "accountExpires", "shadowExpire")
        for text in _texts(values, name)[:1]
        if re.fullmatch(r"-?\d{1,19}", text)
    }
    locks = [*_texts(values, "nsAccountLock"), *_texts(values, "pwdAccountLockedTime")]
    if numbers.get("userAccountControl", 0) & _SWITCHED_OFF or {"TRUE", "true", "000001010000Z"} & {*locks}:
        return DISABLED
    ends = numbers.get("accountExpires", 0)
    if 0 < ends < _NEVER and _1601 + timedelta(microseconds=min(ends // 10, 2**57)) <= now:
        return EXPIRED
    day = numbers.get("shadowExpire", -1)
    return EXPIRED if 0 <= day <= (now - datetime(1970, 1, 1, tzinfo=UTC)).days else ""
