"""Patient records to the arrays of an index: hashed in worker processes, then sorted with numpy.

The records are in memory only, in chunks of a few thousand; only keyed hashes are written.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.errors import InputError
from phiscan.patients.chance import RARE_HOLDERS, SURROUNDING
from phiscan.patients.hashing import Hasher
from phiscan.patients.index import Hashes, make_filter
from phiscan.patients.normalise import shape_of
from phiscan.patients.records import RARE, Kind, PatientKeys, PatientRecord, keys_of

N_AT_ONCE: Final = 2_000  # records that one worker hashes at a time
MOST_SHAPES: Final = 64
_KINDS: Final = list(Kind)
_MOST_REGIONS: Final = 60_000
_COUNTED: Final = ("birth", "postal", "phone", "street", "email", "account")


@dataclass(slots=True)
class Hashed:
    """The hashes of a chunk of records, with the index of the record of each."""

    n_records: int = 0
    keys: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    parts: list[int] = field(default_factory=list)  # name pairs and words of names
    pairs: list[tuple[int, int, int, int]] = field(default_factory=list)  # pair, its two words, record
    counted: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    identities: list[int] = field(default_factory=list)  # hash of the first record or card number; 0 = none
    former: list[int] = field(default_factory=list)  # the same under the previous key
    given: list[int] = field(default_factory=list)  # opaque numbers of the list; 0 = none
    regions: list[str] = field(default_factory=list)
    canaries: list[int] = field(default_factory=list)  # indices of records
    shapes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


class _Worker:
    """The hashers of this process."""

    hasher: Hasher
    former: Hasher | None = None


def _start(hasher: Hasher, former: Hasher | None) -> None:
    _Worker.hasher, _Worker.former = hasher, former


def _hash(records: Sequence[PatientRecord]) -> Hashed:
    return hash_records(records, _Worker.hasher, _Worker.former)


def hash_records(records: Sequence[PatientRecord], hasher: Hasher, former: Hasher | None) -> Hashed:
    """Return the hashed match keys of a chunk of records."""
    found = Hashed(n_records=len(records))
    for row, record in enumerate(records):
        keys = keys_of(record)
        by_kind: dict[Kind, list[int]] = defaultdict(list)
        for kind, value in keys.keys():  # noqa: SIM118 (no mapping)
            by_kind[kind].append(hasher.match_key(kind, value))
        for kind, hashes in by_kind.items():
            found.keys += hashes
            found.rows += [row] * len(hashes)
            found.kinds[kind.value] += len(hashes)
        numbers = by_kind[Kind.RECORD][:1] or by_kind[Kind.CARD][:1]
        found.identities.append(numbers[0] if numbers else 0)
        found.former.append(_identity(keys, former) if former else 0)
        found.given.append(record.number or 0)
        found.regions.append(record.region)
        if record.is_canary:
            found.canaries.append(row)
        words = {token: hasher.part("token", token) for token in keys.tokens}
        found.parts += words.values()
        for pair in keys.pairs:
            first, _, second = pair.partition(" ")
            hashed = hasher.part("pair", pair)
            found.parts.append(hashed)
            if first in words and second in words:
                found.pairs.append((hashed, words[first], words[second], row))
        for name in _COUNTED:
            found.counted[name] += [hasher.part(name, value) for value in keys.parts[name][:1]]
        found.counted["family"] += [hasher.part("token", token) for token in keys.families[:1]]
        found.shapes[Kind.RECORD].update(map(shape_of, keys.records))
        found.shapes[Kind.CARD].update(map(shape_of, keys.cards))
    return found


def _identity(keys: PatientKeys, hasher: Hasher) -> int:
    for kind, values in ((Kind.RECORD, keys.records), (Kind.CARD, keys.cards)):
        if values:
            return hasher.match_key(kind, values[0])
    return 0


@dataclass(slots=True)
class Gathered:
    """The hashes of a whole list, in arrays; rows count through all its files, from 0."""

    keys: Hashes
    rows: npt.NDArray[np.uint32]
    parts: Hashes
    counts: npt.NDArray[np.uint32]
    identities: Hashes
    former: Hashes
    given: npt.NDArray[np.uint32]
    regions: npt.NDArray[np.uint16]
    region_names: list[str]
    canaries: npt.NDArray[np.uint32]
    kinds: Mapping[str, int]
    shapes: Mapping[str, Sequence[str]]
    collisions: Mapping[str, float]

    @property
    def n_rows(self) -> int:
        """The number of records."""
        return len(self.identities)


def gather(
    records: Iterable[PatientRecord],
    hasher: Hasher,
    *,
    former: Hasher | None = None,
    n_workers: int = 1,
    may_be_empty: bool = False,
) -> Gathered:
    """Return the hashes of all records; with more than one worker, in worker processes.

    Raises:
        InputError: there are no records and there must be some, or too many different regions.
    """
    total, arrays = Hashed(), _Arrays()
    regions: dict[str, int] = {"": 0}
    codes = [np.zeros(0, np.uint16)]
    for part in _hashed(records, hasher, former, n_workers):
        arrays.add(part, total.n_records)
        for region in part.regions:
            regions.setdefault(region, len(regions))
        if len(regions) > _MOST_REGIONS:
            message = f"region: expected states or provinces, got more than {_MOST_REGIONS} different ones"
            raise InputError(message)
        codes.append(np.array([regions[region] for region in part.regions], np.uint16))
        total.n_records += part.n_records
        total.kinds.update(part.kinds)
        for name, shapes in part.shapes.items():
            total.shapes[name].update(shapes)
    if not total.n_records and not may_be_empty:
        message = "the patient list holds no patient"
        raise InputError(message)
    parts, counts = np.unique(arrays.joined("parts", np.uint64), return_counts=True)
    rare, rare_rows = _rare_names(arrays.joined("pairs", np.uint64), parts, counts, total.n_records)
    total.kinds[Kind.RARE_NAME.value] = len(rare)
    return Gathered(
        keys=np.concatenate([arrays.joined("keys", np.uint64), rare]),
        rows=np.concatenate([arrays.joined("rows", np.uint32), rare_rows]),
        parts=parts,
        counts=counts.astype(np.uint32),
        identities=arrays.joined("identities", np.uint64),
        former=arrays.joined("former", np.uint64),
        given=arrays.joined("given", np.uint32),
        regions=np.concatenate(codes),
        region_names=list(regions),
        canaries=arrays.joined("canaries", np.uint32),
        kinds=dict(total.kinds),
        shapes={name: _shapes(found) for name, found in total.shapes.items()},
        collisions={name: collision(arrays.joined(name, np.uint64)) for name in (*_COUNTED, "family")},
    )


def _rare_names(
    pairs: Hashes, parts: Hashes, counts: npt.NDArray[np.int64], n_patients: int
) -> tuple[Hashes, npt.NDArray[np.uint32]]:
    """Return the match keys of the rare names, with the rows of their patients."""
    hashed, first, second, rows = pairs.reshape(-1, 4).T
    if not len(hashed):
        return hashed, rows.astype(np.uint32)
    n_pair, n_first, n_second = (counts[parts.searchsorted(some)] for some in (hashed, first, second))
    rare = (n_pair == 1) & (n_first * n_second * SURROUNDING <= RARE_HOLDERS * n_patients)
    return hashed[rare] ^ np.uint64(RARE), rows[rare].astype(np.uint32)


class _Arrays:
    """Collects the lists of hashed parts as arrays."""

    def __init__(self) -> None:
        self._found: dict[str, list[npt.NDArray[Any]]] = defaultdict(list)

    def add(self, part: Hashed, n_before: int) -> None:
        for name in ("keys", "parts", "identities", "former"):
            self._found[name].append(np.array(getattr(part, name), np.uint64))
        pairs = np.array(part.pairs, np.uint64).reshape(-1, 4)
        pairs[:, 3] += np.uint64(n_before)
        self._found["pairs"].append(pairs.ravel())
        self._found["given"].append(np.array(part.given, np.uint32))
        for name in ("rows", "canaries"):
            self._found[name].append(np.array(getattr(part, name), np.uint32) + np.uint32(n_before))
        for name, hashes in part.counted.items():
            self._found[name].append(np.array(hashes, np.uint64))

    def joined(self, name: str, kind: type) -> npt.NDArray[Any]:
        return np.concatenate([np.zeros(0, kind), *self._found.pop(name, [])])


def _shapes(found: Counter[str]) -> list[str]:
    """Return the shapes of numbers, or none if there are too many: then every number is looked up."""
    return sorted(found) if len(found) <= MOST_SHAPES else []


def collision(hashes: Hashes) -> float:
    """Return the collision probability of two patients' values: the unbiased sum of the squared shares.

    >>> collision(np.array([1, 1, 2, 3], np.uint64)), collision(np.zeros(0, np.uint64))
    (0.16666666666666666, 0.0)
    """
    n = len(hashes)
    if n < 2:  # noqa: PLR2004 (a pair)
        return 0.0
    counts = np.unique(hashes, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def _hashed(
    records: Iterable[PatientRecord], hasher: Hasher, former: Hasher | None, n_workers: int
) -> Iterator[Hashed]:
    waiting = iter(records)
    chunks = iter(lambda: list(islice(waiting, N_AT_ONCE)), [])
    first = list(islice(chunks, 2))
    if n_workers == 1 or len(first) < 2:  # noqa: PLR2004 (one part needs no processes)
        for chunk in (*first, *chunks):
            yield hash_records(chunk, hasher, former)
        return
    context = get_context("fork")  # the key goes to the workers through memory alone
    with ProcessPoolExecutor(n_workers, context, _start, (hasher, former)) as pool:
        running: deque[Future[Hashed]] = deque(pool.submit(_hash, chunk) for chunk in first)
        for chunk in chunks:
            running.append(pool.submit(_hash, chunk))
            if len(running) > 2 * n_workers:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def row_numbers(gathered: Gathered, known: npt.NDArray[np.uint32], last: int) -> npt.NDArray[np.uint32]:
    """Return the opaque number of each row: known, given by the list, or new; rows of one patient share it.

    Rows with one record number (or card number) are one patient. ``known``: 0 = not known; new numbers begin
    above ``last``, in the order of the rows: in a first build the number is that of the row.
    """
    rows = np.arange(gathered.n_rows, dtype=np.uint32)
    numbers = np.where(known > 0, known, gathered.given)
    fresh = np.flatnonzero(numbers == 0)
    numbers[fresh] = (np.uint32(last + 1) + (rows[fresh] if last == 0 else np.arange(len(fresh)))).astype(
        np.uint32
    )
    has_identity = np.flatnonzero(gathered.identities != 0)
    _, first, inverse = np.unique(gathered.identities[has_identity], return_index=True, return_inverse=True)
    numbers[has_identity] = numbers[has_identity][first][inverse]
    return numbers.astype(np.uint32)


def sorted_keys(keys: Hashes, numbers: npt.NDArray[np.uint32]) -> tuple[Hashes, npt.NDArray[np.uint32]]:
    """Return keys in ascending order with their numbers; duplicates of one patient are dropped."""
    order = np.lexsort((numbers, keys)) if len(keys) < 1 << 16 else np.argsort(keys, kind="stable")
    keys, numbers = keys[order], numbers[order]
    if len(keys):
        new = np.ones(len(keys), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]) | (numbers[1:] != numbers[:-1])
        keys, numbers = keys[new], numbers[new]
    return keys, numbers


def arrays_of(gathered: Gathered, numbers: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the index of a list."""
    keys, holders = sorted_keys(gathered.keys, numbers[gathered.rows])
    patients, first = np.unique(numbers, return_index=True)
    return {
        "hashes": keys,
        "numbers": holders,
        "filter": make_filter(keys),
        "part_hashes": gathered.parts,
        "part_counts": gathered.counts,
        "patients": patients,
        "regions": gathered.regions[first],
        "canaries": np.unique(numbers[gathered.canaries]),
    }
