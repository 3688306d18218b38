"""Who can read a file: its rights, the rights of its parent folders and its share's permission together.

A set of people is known between two bounds: those who surely have a right, and those who may have it. What is
not known (a group elsewhere, a folder that cannot be asked) widens the bounds and is never guessed. Those who
administer a server can always read what is on it, and are not counted. An account that cannot sign in counts
as nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from phiscan.config import AccessTable
from phiscan.crawl.directory import SERVICE, Directory, keys_of
from phiscan.crawl.location import is_url, parse_url
from phiscan.crawl.posix_access import TRAVERSE, who_may
from phiscan.crawl.share_errors import RefusedError, UnansweredError
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


class Bounds(NamedTuple):
    """Accounts as bits of a number (negative: all others too): who has a right surely, and who perhaps."""

    sure: int
    possible: int

    def both(self, other: Bounds) -> Bounds:
        """Return who has both rights."""
        return Bounds(self.sure & other.sure, self.possible & other.possible)

    def either(self, other: Bounds) -> Bounds:
        """Return who has one of both rights."""
        return Bounds(self.sure | other.sure, self.possible | other.possible)


NOBODY, ANYBODY, UNKNOWN = Bounds(0, 0), Bounds(-1, -1), Bounds(0, -1)


@dataclass(frozen=True, slots=True)
class Reach:
    """Who can read some files; ``unknown``: the reasons, of the files of which it is not known at all."""

    people: Bounds = NOBODY
    notes: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()

    def with_files(self, other: Reach) -> Reach:
        """Return who can read a file of these or of others."""
        return Reach(self.people.either(other.people), self.notes | other.notes, self.unknown | other.unknown)

    @property
    def low(self) -> int | None:
        """The number of people, at least; None: nobody is known."""
        n = self.people.sure.bit_count()
        return None if self.unknown and not n else n

    @property
    def high(self) -> int | None:
        """The number of people, at most."""
        return None if self.unknown else self.people.possible.bit_count()


class Accounts:
    """The accounts of a directory and, for folders of this machine, of the machine."""

    def __init__(
        self,
        directory: Directory | None,
        key: bytes,
        groups: Mapping[str, Sequence[str]],
        local: Directory | None = None,
    ) -> None:
        """Take the directories, and the members of groups that no directory has."""
        self.directory: Directory | None = directory or local
        self._local: Directory | None = local if directory else None
        self._key, self._groups = key, groups
        states = self.directory.states if self.directory else ()
        self.active = _mask(number for number, state in enumerate(states) if not state)
        self.inactive = (1 << len(states)) - 1 - self.active
        self._outside: dict[str, int] = {}  # accounts that are not in the directory, by key
        self._titles: dict[int, str] = {}
        self._bounds: dict[tuple[str, bool], tuple[Bounds, frozenset[str]]] = {}
        self._of_local: dict[int, int] = {}
        for one, number in self._local.keys.items() if self.directory and self._local else ():
            there = self.directory.keys.get(one, -1) if self.directory else -1
            if number >= 0 and there >= 0:
                self._of_local[number] = 1 << there
            elif number >= 0 and number not in self._of_local:
                is_person = self._local is not None and not self._local.states[number]
                bit = self._of_local[number] = self._added(one) if is_person else 0
                if self._local and is_person:
                    self._titles[bit.bit_length() - 1] = self._local.names[number]

    @property
    def outside(self) -> int:
        """The accounts that are not in the directory."""
        return sum(self._outside.values())

    def shown(self, bit: int) -> str:
        """Return the name of an account, where names were asked for; else its number."""
        names = self.directory.names if self.directory else ()
        return names[bit] if bit < len(names) else self._titles.get(bit, f"no. {bit}")

    def _added(self, key: str) -> int:
        n_inside = len(self.directory.states) if self.directory else 0
        return self._outside.setdefault(key, 1 << (n_inside + len(self._outside)))

    def bounds(self, name: str, *, is_sure: bool) -> tuple[Bounds, frozenset[str]]:
        """Return the accounts of "everyone", a user, a group or a SID, and what is not known of them.

        ``is_sure``: a user who is not in the directory is somebody all the same (of a service with users of
        its own).
        """
        if (name, is_sure) not in self._bounds:
            self._bounds[name, is_sure] = UNKNOWN, frozenset({GROUP})  # of a group that is in itself
            self._bounds[name, is_sure] = self._resolved(name, is_sure=is_sure)
        return self._bounds[name, is_sure]

    def _resolved(self, name: str, *, is_sure: bool) -> tuple[Bounds, frozenset[str]]:
        if name in EVERYONE or name in _NOT_COUNTED:
            return (ANYBODY if name in EVERYONE else NOBODY), frozenset()
        if name in self._groups:
            return self.admitted(self._groups[name], is_sure=is_sure)
        kind, _, text = name.partition(" ")
        bare = text.rpartition("\\")[2]  # DOMAIN\name
        key, *others = keys_of(self._key, dict.fromkeys((name, f"{kind} {bare}")))
        for one in (key, *others):
            for directory in filter(None, (self.directory, self._local)):
                if one in directory.keys:
                    return self._known(directory, directory.keys[one])
        if kind != "user":
            return UNKNOWN, frozenset({GROUP if kind == "group" else ACCOUNT})
        bit = self._added(key)
        self._titles[bit.bit_length() - 1] = text
        if is_sure or self.directory is None or name.endswith(_GUEST):
            return Bounds(bit, bit), frozenset()
        return Bounds(0, bit), frozenset({ACCOUNT})

    def _known(self, directory: Directory, number: int) -> tuple[Bounds, frozenset[str]]:
        is_local = directory is self._local
        if number >= 0:
            bit = self._of_local[number] if is_local else 1 << number
            return Bounds(bit, bit), frozenset()
        accounts, missing, n_foreign = directory.accounts_of(-1 - number)
        sure = sum({self._of_local[one] for one in accounts}) if is_local else _mask(accounts)
        may = sure | sum({self._added(one) for one in missing})
        notes = {ACCOUNT: bool(missing), GROUP: n_foreign > 0}
        found = frozenset(note for note, holds in notes.items() if holds)
        return Bounds(sure, -1 if n_foreign else may), found

    def admitted(self, entries: Iterable[str], *, is_sure: bool = False) -> tuple[Bounds, frozenset[str]]:
        """Return whom an access list admits: of several entries about somebody the first one applies."""
        low = high = barred = maybe_barred = 0
        notes = set[str]()
        for entry in entries:
            name = entry.removeprefix("not ")
            (sure, possible), unknown = self.bounds(name, is_sure=is_sure)
            notes |= unknown
            if name == entry:
                low |= sure & ~maybe_barred
                high |= possible & ~barred
            else:
                maybe_barred |= possible & ~low
                barred |= sure & ~high
        return Bounds(low, high), frozenset(notes if low != high else ())


class EffectiveAccess:
    """Computes who can read files; the rights of each folder are asked once."""

    def __init__(
        self,
        directory: Directory | None,
        local: Directory,
        key: bytes,
        settings: AccessTable,
        who_may_enter: Callable[[bytes, bytes], Sequence[str]],
    ) -> None:
        """Take the directories, permissions of shares, and what asks who may enter a folder of a root."""
        self._here = Accounts(directory, key, settings.groups, local)
        self._there = Accounts(directory, key, settings.groups)
        self._shares = {
            parse_url(name).root if is_url(name) else name.encode("utf-8", "surrogateescape"): tuple(who)
            for name, who in settings.shares.items()
        }
        self._smb_traverse = settings.smb_traverse
        self._who_may_enter = who_may_enter
        self._folders: dict[tuple[bytes, bytes], tuple[Bounds, frozenset[str]]] = {}

    def accounts_for(self, root: bytes) -> Accounts:
        """Return the accounts to which the rights on a root refer."""
        return self._there if is_url(root) else self._here

    def reach(self, source: SourceFile) -> Reach:
        """Return who can read a file, by the rights that it had when it was examined."""
        accounts = self.accounts_for(source.root)
        is_smb, is_local = source.root.startswith(b"smb://"), not is_url(source.root)
        entries = rights_of(source)
        if not entries and not (is_local and not source.mode & 0o444):
            return Reach(unknown=frozenset({NOT_TOLD}))
        if not (is_smb or is_local) and EVERYONE & {*entries}:
            return Reach(unknown=frozenset({OPEN}))
        own, notes = accounts.admitted(entries, is_sure=not (is_smb or is_local))
        people, unknown = own, set(notes)
        if is_smb or is_local:
            parents, of_parents = self._parents(source.root, source.path.rpartition(b"/")[0])
            if is_smb and self._smb_traverse != "checked":
                parents = parents._replace(possible=-1)
                parents = ANYBODY if self._smb_traverse == "bypassed" else parents
            limited = people.both(parents)
            unknown |= of_parents if limited != people else set()
            unknown |= {PARENTS} if limited.sure != people.sure and parents.possible == -1 else set()
            people = limited
        share = self._share_of(source.root + b"/" + source.path)
        if share is not None or is_smb:
            by_share, of_share = (UNKNOWN, frozenset({SHARE})) if share is None else accounts.admitted(share)
            people, unknown = people.both(by_share), unknown | of_share
        if people.possible < 0 and not accounts.active:
            return Reach(unknown=frozenset({NO_DIRECTORY}))
        # "Everyone" means those of the directory, and of others only whom the file itself names.
        named = NOBODY
        for entry in entries:
            about, _ = accounts.bounds(entry.removeprefix("not "), is_sure=not (is_smb or is_local))
            named = named.either(Bounds(max(0, about.sure), max(0, about.possible)))
        others = accounts.outside & (named.sure if people.sure < 0 else named.possible)
        counted = people.both(Bounds(accounts.active | others, accounts.active | others))
        return Reach(counted, frozenset(unknown if counted.sure != counted.possible else ()))

    def left(self, source: SourceFile) -> Iterator[tuple[str, str]]:
        """Yield the state and the name of each account with a right to a file that cannot sign in any more.

        Of those that the directory still has the name is its number, or the name where names were asked for.
        """
        accounts = self.accounts_for(source.root)
        states = accounts.directory.states if accounts.directory else ()
        for entry in rights_of(source):
            if entry.startswith("not ") or entry in EVERYONE:
                continue
            (sure, _), notes = accounts.bounds(entry, is_sure=False)
            for number in bits_of(sure & accounts.inactive):
                if states[number] == SERVICE:
                    continue
                yield states[number], accounts.shown(number)
            if ACCOUNT in notes and not entry.startswith("group "):
                yield "missing", entry

    def _share_of(self, path: bytes) -> tuple[str, ...] | None:
        inside = [name for name in self._shares if (path + b"/").startswith(name.rstrip(b"/") + b"/")]
        return self._shares[max(inside, key=len)] if inside else None

    def _parents(self, root: bytes, folder: bytes) -> tuple[Bounds, frozenset[str]]:
        """Return who may go through a folder and all its parents, of a local one up to the file system's."""
        if not is_url(root):
            root, folder = b"/", b"/".join((root, folder)).strip(b"/")
        chain = [b""]
        for part in filter(None, folder.split(b"/")):
            chain.append(chain[-1] + b"/" + part if chain[-1] else part)
        found, notes = ANYBODY, frozenset[str]()
        for one in chain:
            if (root, one) not in self._folders:
                self._folders[root, one] = self._folder(root, one)
            bounds, unknown = self._folders[root, one]
            found, notes = found.both(bounds), notes | unknown
        return found, notes

    def _folder(self, root: bytes, folder: bytes) -> tuple[Bounds, frozenset[str]]:
        accounts = self.accounts_for(root)
        try:
            if is_url(root):
                entries = self._who_may_enter(root, folder)
            else:
                entries = in_posix_order(who_may(root + folder, TRAVERSE))
                return accounts.admitted(entries)
        except (OSError, ValueError, InputError, RefusedError, UnansweredError):
            return UNKNOWN, frozenset({PARENTS})
        return accounts.admitted(entries) if entries else (UNKNOWN, frozenset({PARENTS}))


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


def _mask(numbers: Iterable[int]) -> int:
    bits = bytearray()
    for number in numbers:
        if number >> 3 >= len(bits):
            bits.extend(bytes((number >> 3) + 1 - len(bits)))
        bits[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(bits, "little")


def bits_of(mask: int) -> Iterator[int]:
    """Yield the accounts of a set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
