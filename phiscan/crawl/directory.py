"""Accounts and groups, of an LDAP directory or of this machine, numbered; their names only as keyed hashes.

Every name, number, SID and DN is kept as an HMAC under the key of the home folder.
"""

from __future__ import annotations

import grp
import json
import pwd
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from phiscan.hasher import KeyHasher

DISABLED, EXPIRED, SERVICE = "disabled", "expired", "service"  # states of accounts that are no readers
_KEY_BYTES = 16
_FIRST_PERSON, _NOBODY = 1000, 65534  # user numbers of this machine: accounts of its services are below


@dataclass(frozen=True, slots=True)
class Entry:
    """An account or a group as it was read."""

    names: tuple[
        str, ...
    ]  # "user NAME", "user uid 7", "group gid 7", "account SID", "dn DN"; shown: the first
    is_group: bool = False
    state: str = ""  # of an account
    members: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # that it says it belongs to


@dataclass(slots=True)
class Group:
    """The members of a group: accounts and groups by number, accounts that are missing by key."""

    accounts: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    n_foreign: int = 0  # that may be groups elsewhere


@dataclass(frozen=True, slots=True)
class Directory:
    """All accounts and groups by number; ``keys``: the number of an account, -1 - that of a group."""

    made: datetime
    states: Sequence[str]
    groups: Sequence[Group]
    keys: Mapping[str, int]
    names: Sequence[str] = ()  # of the accounts; in memory only, where names were asked for

    def accounts_of(self, number: int) -> tuple[set[int], set[str], int]:
        """Return the accounts, missing accounts and number of foreign members of a group and groups in it."""
        found, missing, n_foreign = set[int](), set[str](), 0
        seen = {number}
        queue = [number]
        for one in queue:  # grows while it is read
            group = self.groups[one]
            found.update(group.accounts)
            missing.update(group.missing)
            n_foreign += group.n_foreign
            new = [inner for inner in group.groups if inner not in seen]
            seen.update(new)
            queue += new
        return found, missing, n_foreign

    def write(self, path: Path) -> None:
        """Write the directory without names into a private file."""
        groups = [[one.accounts, one.groups, one.missing, one.n_foreign] for one in self.groups]
        parts = {"made": self.made.isoformat(), "states": list(self.states), "groups": groups}
        draft = path.with_suffix(".new")
        draft.touch(0o600)
        draft.write_text(json.dumps({**parts, "keys": dict(self.keys)}), encoding="ascii")
        draft.replace(path)


def read_cached(path: Path) -> Directory | None:
    """Return the directory that was last written, or None."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text(encoding="ascii"))
        groups = [Group(*one) for one in kept["groups"]]
        return Directory(datetime.fromisoformat(kept["made"]), kept["states"], groups, kept["keys"])
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
    known: dict[str, int] = {}
    states: list[str] = []
    shown: list[str] = []
    groups: list[Group] = []
    linked: list[tuple[int, Entry]] = []
    twice: set[str] = set()
    for one in entries:
        number = -1 - len(groups) if one.is_group else len(states)
        if one.is_group:
            groups.append(Group())
        else:
            states.append(one.state)
            shown.append(one.names[0].partition(" ")[2])
        for name in dict.fromkeys(one.names):
            if known.setdefault(name.casefold(), number) != number:
                twice.add(name.casefold())
        linked.append((number, one))
    for name in twice:
        del known[name]
    for number, one in linked:
        for name in one.members:
            _join(groups[-1 - number], name.casefold(), known, key, base)
        for name in one.groups:
            if (of := known.get(name.casefold(), 0)) < 0:
                (groups[-1 - of].accounts if number >= 0 else groups[-1 - of].groups).append(
                    number if number >= 0 else -1 - number
                )
    return Directory(made, states, groups, dict(zip(keys_of(key, known), known.values(), strict=True)), shown)


def _join(group: Group, name: str, known: Mapping[str, int], key: bytes, base: str) -> None:
    number = known.get(name)
    if number is None:
        is_account = name.startswith("user ") or (base and name.endswith(f",{base}"))
        if is_account:
            group.missing += keys_of(key, [name])
        else:
            group.n_foreign += 1
    elif number >= 0:
        group.accounts.append(number)
    else:
        group.groups.append(-1 - number)


def read_local() -> Iterator[Entry]:
    """Yield the accounts and groups of this machine (NSS)."""
    for one in pwd.getpwall():
        is_person = _FIRST_PERSON <= one.pw_uid != _NOBODY
        names = (f"user {one.pw_name}", f"user uid {one.pw_uid}")
        yield Entry(names, state="" if is_person else SERVICE, groups=(f"group gid {one.pw_gid}",))
    for group in grp.getgrall():
        members = tuple(f"user {name}" for name in group.gr_mem)
        yield Entry((f"group {group.gr_name}", f"group gid {group.gr_gid}"), is_group=True, members=members)
