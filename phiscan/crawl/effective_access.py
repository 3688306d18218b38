"""Who can read a file: its rights, the rights of its parent folders and its share's permission together.

A set of people is known between two bounds: those who surely have a right, and those who may have it. What is
not known (a group elsewhere, a folder that cannot be asked) widens the bounds and is never guessed. Those who
administer a server can always read what is on it, and are not counted. An account that cannot sign in counts
as nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from phiscan.config import AccessTable
from phiscan.crawl.directory import MISSING, Directory, keys_of
from phiscan.crawl.location import is_url, parse_url
from phiscan.crawl.posix_access import TRAVERSE, who_may
from phiscan.crawl.share import RefusedError, UnansweredError
from phiscan.errors import InputError
from phiscan.model import SourceFile

EVERYONE = frozenset({"everyone", "group Authenticated Users", "group NETWORK", "user ANONYMOUS LOGON"})
_NOT_COUNTED = frozenset(
    {
        *("user root", "user uid 0", "user SYSTEM", "user LOCAL SERVICE", "user NETWORK SERVICE"),
        *("group Administrators", "group Backup Operators", "group INTERACTIVE"),
        *("user CREATOR OWNER", "group CREATOR GROUP"),  # for what is created in a folder
    }
)
_GUEST = " (guest)"
_POSIX_ORDER = {"user": 0, "group": 2}  # in which the system looks at them; those excluded come after each

NO_DIRECTORY, OPEN, NOT_TOLD = "no_directory", "open", "not_told"  # reasons why no number is known
GROUP, ACCOUNT, SHARE, PARENTS = "group", "account", "share", "parents"  # what widens the bounds


class People(NamedTuple):
    """Accounts as bits of a number (negative: all others too): who has a right surely, and who perhaps."""

    sure: int
    possible: int
    notes: frozenset[str] = frozenset()  # why the two differ

    def both(self, other: People) -> People:
        """Return who has both rights."""
        sure, possible = self.sure & other.sure, self.possible & other.possible
        matter = (one.notes for one in (self, other) if one.possible & ~one.sure & possible & ~sure)
        return People(sure, possible, frozenset().union(*matter))

    def either(self, other: People) -> People:
        """Return who has one of both rights."""
        return People(self.sure | other.sure, self.possible | other.possible, self.notes | other.notes)

    @property
    def low(self) -> int | None:
        """The number of people, at least; None: nobody is known."""
        return None if self.possible < 0 and not self.sure else self.sure.bit_count()

    @property
    def high(self) -> int | None:
        """The number of people, at most; None: not known."""
        return None if self.possible < 0 else self.possible.bit_count()


NOBODY, ANYBODY = People(0, 0), People(-1, -1)


class Accounts:
    """The accounts to which rights refer: of a directory, those that rights name besides, of this machine.

    ``groups`` are the members of groups of a server, ``local`` who is meant by a name of this machine. A
    service has users of its own: one who is not in the directory is somebody all the same.
    """

    def __init__(
        self,
        directory: Directory | None,
        key: bytes,
        groups: Mapping[str, Sequence[str]],
        local: Mapping[str, Sequence[str]] | None = None,
        *,
        is_service: bool = False,
    ) -> None:
        """Take the directory; without one, it is not known who everyone is: a share has users elsewhere."""
        self._directory = directory or Directory(datetime.now(UTC), (), (), {})
        self._key, self._groups, self._local = key, groups, local or {}
        self.is_service = is_service
        self._is_told = is_service or not (directory or local)  # every user who is named exists
        self.states = self._directory.states
        self.active = _mask(number for number, state in enumerate(self.states) if not state)
        self.outside = _mask(number for number, state in enumerate(self.states) if state == MISSING)
        self.inactive = (1 << len(self.states)) - 1 - self.active - self.outside
        self._names = dict(enumerate(self._directory.names))
        self._n_all = len(self.states)
        self._people = dict.fromkeys(EVERYONE, ANYBODY) | dict.fromkeys(_NOT_COUNTED, NOBODY)

    def shown(self, people: int) -> list[str]:
        """Return the names of accounts, where names were asked for; else their numbers."""
        return sorted(self._names.get(number, f"no. {number}") for number in bits_of(people))

    def people(self, name: str) -> People:
        """Return who is "everyone", a user, a group or a SID."""
        if name not in self._people:
            self._people[name] = _unknown(GROUP)  # of a group that is in itself
            self._people[name] = self._resolved(name)
        return self._people[name]

    def _resolved(self, name: str) -> People:
        meant = self._groups.get(name, self._local.get(name, (name,)))
        here = None if tuple(meant) == (name,) else self.admitted(meant)
        kind, _, text = name.partition(" ")
        bare = text.rpartition("\\")[2]  # DOMAIN\name
        keys, numbers = keys_of(self._key, (name, f"{kind} {bare}")), self._directory.keys
        number = next((numbers[one] for one in keys if one in numbers), None)
        if here is not None and (number is None or name in self._groups):
            return here
        if number is None:
            if kind != "user":
                return _unknown(GROUP if kind == "group" else ACCOUNT)
            number = self._n_all
            self._n_all += 1
            self.outside |= 1 << number
            self._names[number] = text
        if number < 0:
            members, is_complete = self._directory.accounts_of(number)
            may = _mask(members)
            notes = ([ACCOUNT] if may & self.outside else []) + ([] if is_complete else [GROUP])
            found = People(may & ~self.outside, may if is_complete else -1, frozenset(notes))
        else:
            bit = 1 << number
            is_sure = self._is_told or name in self._local or name.endswith(_GUEST) or not bit & self.outside
            found = People(bit, bit) if is_sure else People(0, bit, frozenset({ACCOUNT}))
        if here is None or here[:2] == found[:2]:
            return found
        # This machine and the directory each have one of this name: either may be meant.
        doubt = {GROUP if number < 0 else ACCOUNT}
        sure, possible = here.sure & found.sure, here.possible | found.possible
        return People(sure, possible, here.notes | found.notes | doubt)

    def admitted(self, entries: Iterable[str]) -> People:
        """Return whom an access list admits: of several entries about somebody the first one applies."""
        low = high = barred = maybe_barred = 0
        notes = set[str]()
        for entry in entries:
            name = entry.removeprefix("not ")
            sure, possible, unknown = self.people(name)
            notes |= unknown
            if name == entry:
                low |= sure & ~maybe_barred
                high |= possible & ~barred
            else:
                maybe_barred |= possible & ~low
                barred |= sure & ~high
        return People(low, high, frozenset(notes if low != high else ()))


class EffectiveAccess:
    """Computes who can read files; the rights of each folder are asked once."""

    def __init__(
        self,
        directory: Directory | None,
        local: Mapping[str, Sequence[str]],
        key: bytes,
        settings: AccessTable,
        who_may_enter: Callable[[bytes, bytes], Sequence[str]],
    ) -> None:
        """Take the directory, who is meant by names of this machine, and what asks who may enter a folder."""
        self._here = Accounts(directory, key, settings.groups, local)
        self._smb = Accounts(directory, key, settings.groups)
        self._service = Accounts(directory, key, settings.groups, is_service=True)
        self._shares = {
            parse_url(name).root if is_url(name) else name.encode("utf-8", "surrogateescape"): tuple(who)
            for name, who in settings.shares.items()
        }
        self._smb_traverse = settings.smb_traverse
        self._who_may_enter = who_may_enter
        self._folder = cache(self._asked_folder)

    def accounts_for(self, root: bytes) -> Accounts:
        """Return the accounts to which the rights on a root refer."""
        if not is_url(root):
            return self._here
        return self._smb if root.startswith(b"smb://") else self._service

    def reach(self, source: SourceFile) -> People:
        """Return who can read a file, by the rights that it had when it was examined."""
        accounts = self.accounts_for(source.root)
        entries = rights_of(source)
        if not entries and (is_url(source.root) or source.mode & 0o444):
            return _unknown(NOT_TOLD)
        if accounts.is_service and EVERYONE & {*entries}:
            return _unknown(OPEN)
        people = accounts.admitted(entries)
        if not accounts.is_service:
            people = people.both(self._parents(source.root, source.path.rpartition(b"/")[0]))
        people = people.both(self._share(source))
        if people.possible < 0 and not accounts.active:
            return _unknown(NO_DIRECTORY)
        # "Everyone" means those of the directory, and of others only whom the file itself names.
        counted = accounts.active
        for entry in entries:
            named = accounts.people(entry.removeprefix("not "))
            counted |= accounts.outside & max(0, named.sure if people.sure < 0 else named.possible)
        return people.both(People(counted, counted))

    def left(self, source: SourceFile) -> Iterator[tuple[str, str]]:
        """Yield the state and the name of each account with a right to a file that cannot sign in any more.

        Of those that the directory still has the name is its number, or the name where names were asked for.
        """
        accounts = self._smb if is_url(source.root) else self._here  # users of a service may have left, too
        entries = [entry for entry in rights_of(source) if entry not in EVERYONE]
        for number in bits_of(accounts.admitted(entries).sure & accounts.inactive):
            yield accounts.states[number], accounts.shown(1 << number)[0]
        for entry in entries:
            if ACCOUNT in accounts.people(entry).notes and not entry.startswith(("not ", "group ")):
                yield MISSING, entry

    def _share(self, source: SourceFile) -> People:
        """Return whom the permission of the share admits."""
        path = source.root + b"/" + source.path + b"/"
        inside = [name for name in self._shares if path.startswith(name.rstrip(b"/") + b"/")]
        if inside:
            return self.accounts_for(source.root).admitted(self._shares[max(inside, key=len)])
        return _unknown(SHARE) if source.root.startswith(b"smb://") else ANYBODY

    def _parents(self, root: bytes, folder: bytes) -> People:
        """Return who may go through a folder and all its parents, of a local one up to the file system's."""
        if is_url(root) and self._smb_traverse == "bypassed":
            return ANYBODY
        top, below = (root, folder) if is_url(root) else (b"/", root + b"/" + folder)
        parts = [part for part in below.split(b"/") if part]
        found = ANYBODY
        for depth in range(len(parts) + 1):
            found = found.both(self._folder(top, b"/".join(parts[:depth])))
        if is_url(root) and self._smb_traverse != "checked":
            return People(found.sure, -1, found.notes | {PARENTS})
        return found

    def _asked_folder(self, root: bytes, folder: bytes) -> People:
        try:
            if not is_url(root):
                return self._here.admitted(in_posix_order(who_may(root + folder, TRAVERSE)))
            entries = self._who_may_enter(root, folder)
        except (OSError, ValueError, InputError, RefusedError, UnansweredError):
            entries = ()
        return self.accounts_for(root).admitted(entries) if entries else _unknown(PARENTS)


def rights_of(source: SourceFile) -> tuple[str, ...]:
    """Return the access list of a file in the order in which its system looks at it."""
    owner = "account" if source.owner.startswith("S-1-") else "user"
    named = tuple(f"{owner} {source.owner}" if one == "user OWNER RIGHTS" else one for one in source.readers)
    return named if is_url(source.root) else in_posix_order(named)


def in_posix_order(entries: Iterable[str]) -> tuple[str, ...]:
    """Return entries with users first, then groups, each followed by those excluded, then everyone.

    >>> in_posix_order(["everyone", "group a", "user b", "not user c"])
    ('user b', 'not user c', 'group a', 'everyone')
    """

    def rank(entry: str) -> int:
        name = entry.removeprefix("not ")
        return _POSIX_ORDER.get(name.partition(" ")[0], 4) + (name != entry)

    return tuple(sorted(entries, key=rank))


def _unknown(reason: str) -> People:
    return People(0, -1, frozenset({reason}))


def _mask(numbers: Iterable[int]) -> int:
    """Return accounts as bits, in a time that grows with their number only."""
    known = set(numbers)
    digits = bytearray(b"0" * (max(known, default=0) + 1))
    for number in known:
        digits[-1 - number] = ord("1")
    return int(digits, 2)


def bits_of(people: int) -> list[int]:
    """Return the numbers of accounts."""
    return [number for number, digit in enumerate(reversed(f"{people:b}")) if digit == "1"]
