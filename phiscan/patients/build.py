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
from phiscan.patients.index import Hashes
from phiscan.patients.normalise import shape_of
from phiscan.patients.records import RARE, Hasher, Kind, PatientRecord, keys_of

N_AT_ONCE: Final = 2_000  # records that one worker hashes at a time
MOST_SHAPES: Final = 64
_MOST_REGIONS: Final = 60_000
_COUNTED: Final = ("birth", "postal", "phone", "street", "email", "account")
_ROWS: Final = ("rows", "canaries", "pair_rows")  # columns that hold indices of records
_COLUMNS: Final = (
    *("keys", *_ROWS, "parts"),  # match keys; name pairs and words of names
    *("pairs", "first", "second"),  # name pairs with their two words
    *("identities", "former", "given"),  # by record, 0 = none: see Gathered
    *(*_COUNTED, "family"),
)


@dataclass(slots=True)
class Hashed:
    """The hashes of a chunk of records, by column, with the index of the record of each."""

    n_records: int
    columns: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _COLUMNS})
    kinds: Counter[str] = field(default_factory=Counter)
    regions: list[str] = field(default_factory=list)
    shapes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def hash_records(records: Sequence[PatientRecord], hasher: Hasher, former: Hasher | None) -> Hashed:
    """Return the hashed match keys of a chunk of records."""
    found = Hashed(len(records))
    columns = found.columns
    for row, record in enumerate(records):
        keys = keys_of(record)
        by_kind: dict[Kind, list[int]] = defaultdict(list)
        for kind, value in keys.keys():  # noqa: SIM118 (no mapping)
            by_kind[kind].append(hasher.match_key(kind, value))
        for kind, hashes in by_kind.items():
            columns["keys"] += hashes
            columns["rows"] += [row] * len(hashes)
            found.kinds[kind.value] += len(hashes)
        first_of = [(Kind.RECORD, value) for value in keys.records[:1]]
        first_of += [(Kind.CARD, value) for value in keys.cards[:1]]
        columns["identities"].append(by_kind[first_of[0][0]][0] if first_of else 0)
        columns["former"].append(former.match_key(*first_of[0]) if former and first_of else 0)
        columns["given"].append(record.number or 0)
        found.regions.append(record.region)
        columns["canaries"] += [row] * record.is_canary
        words = {token: hasher.part("token", token) for token in keys.tokens}
        columns["parts"] += words.values()
        for pair in keys.pairs:
            first, _, second = pair.partition(" ")
            hashed = hasher.part("pair", pair)
            columns["parts"].append(hashed)
            if first in words and second in words:
                named = zip(("pairs", "first", "second"), (hashed, words[first], words[second]), strict=True)
                for name, one in (*named, ("pair_rows", row)):
                    columns[name].append(one)
        for name in _COUNTED:
            columns[name] += [hasher.part(name, value) for value in keys.parts[name][:1]]
        columns["family"] += [hasher.part("token", token) for token in keys.families[:1]]
        found.shapes[Kind.RECORD].update(map(shape_of, keys.records))
        found.shapes[Kind.CARD].update(map(shape_of, keys.cards))
    return found


@dataclass(slots=True)
class Gathered:
    """The hashes of a whole list, in arrays; rows count through all its files, from 0."""

    keys: Hashes
    rows: npt.NDArray[np.uint32]
    parts: Hashes
    counts: npt.NDArray[np.uint32]
    identities: Hashes  # hash of the first record or card number; 0 = none
    former: Hashes  # the same under the previous key
    given: npt.NDArray[np.uint32]  # opaque numbers of the list; 0 = none
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
    total = Hashed(0)
    found: dict[str, list[Hashes]] = {name: [np.zeros(0, np.uint64)] for name in _COLUMNS}
    regions: dict[str, int] = {"": 0}
    codes = [np.zeros(0, np.uint16)]
    for part in _hashed(records, hasher, former, n_workers):
        for name, values in part.columns.items():
            offset = np.uint64(total.n_records if name in _ROWS else 0)
            found[name].append(np.array(values, np.uint64) + offset)
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
    columns = {name: np.concatenate(found.pop(name)) for name in _COLUMNS}
    parts, counts = np.unique(columns["parts"], return_counts=True)
    n_pair, n_first, n_second = (
        counts[parts.searchsorted(columns[name])] for name in ("pairs", "first", "second")
    )
    is_rare = (n_pair == 1) & (n_first * n_second * SURROUNDING <= RARE_HOLDERS * total.n_records)
    rare = columns["pairs"][is_rare] ^ np.uint64(RARE)
    return Gathered(
        keys=np.concatenate([columns["keys"], rare]),
        rows=np.concatenate([columns["rows"], columns["pair_rows"][is_rare]]).astype(np.uint32),
        parts=parts,
        counts=counts.astype(np.uint32),
        identities=columns["identities"],
        former=columns["former"],
        given=columns["given"].astype(np.uint32),
        regions=np.concatenate(codes),
        region_names=list(regions),
        canaries=columns["canaries"].astype(np.uint32),
        kinds={**total.kinds, Kind.RARE_NAME.value: len(rare)},
        # With too many shapes every number is looked up.
        shapes={
            name: sorted(shapes) if len(shapes) <= MOST_SHAPES else []
            for name, shapes in total.shapes.items()
        },
        collisions={name: collision(columns[name]) for name in (*_COUNTED, "family")},
    )


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
    # Records and the key go to the workers through memory alone.
    with ProcessPoolExecutor(n_workers, get_context("fork")) as pool:
        running: deque[Future[Hashed]] = deque()
        for chunk in (*first, *chunks):
            running.append(pool.submit(hash_records, chunk, hasher, former))
            if len(running) > 2 * n_workers:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def row_numbers(gathered: Gathered, known: npt.NDArray[np.uint32], last: int) -> npt.NDArray[np.uint32]:
    """Return the opaque number of each row: known, given by the list, or new; rows of one patient share it.

    Rows with one record number (or card number) are one patient. ``known``: 0 = not known; new numbers begin
    above ``last``, in the order of the rows: in a first build the number is that of the row.
    """
    numbers = np.where(known > 0, known, gathered.given)
    fresh = np.flatnonzero(numbers == 0)
    numbers[fresh] = last + 1 + (fresh if last == 0 else np.arange(len(fresh)))
    has_identity = np.flatnonzero(gathered.identities != 0)
    _, first, inverse = np.unique(gathered.identities[has_identity], return_index=True, return_inverse=True)
    numbers[has_identity] = numbers[has_identity][first][inverse]
    return numbers.astype(np.uint32)


def sorted_keys(keys: Hashes, numbers: npt.NDArray[np.uint32]) -> tuple[Hashes, npt.NDArray[np.uint32]]:
    """Return keys in ascending order with their numbers; duplicates of one patient are dropped."""
    order = np.lexsort((numbers, keys))
    keys, numbers = keys[order], numbers[order]
    is_new = np.ones(len(keys), np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (numbers[1:] != numbers[:-1])
    return keys[is_new], numbers[is_new]


def arrays_of(gathered: Gathered, numbers: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the index of a list."""
    keys, holders = sorted_keys(gathered.keys, numbers[gathered.rows])
    patients, first = np.unique(numbers, return_index=True)
    return {
        "hashes": keys,
        "numbers": holders,
        "part_hashes": gathered.parts,
        "part_counts": gathered.counts,
        "patients": patients,
        "regions": gathered.regions[first],
        "canaries": np.unique(numbers[gathered.canaries]),
    }
