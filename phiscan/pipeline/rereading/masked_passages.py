"""A document and its findings to its strongest passages as masked prose, for the page of an item.

The passages with the most identity and health evidence close together come first. Words of the allow list
are shown, a finding is its type only, and everything else is one mask of fixed length: what leaves the
confined process holds no value. Nothing of it is stored.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, islice
from typing import Final

from phiscan.decision.passages import runs, units_of
from phiscan.health.term_lexicon import Lexicon, load_lexicon
from phiscan.model import Document, EntityType
from phiscan.patients.risk import TableRisk, table_risks
from phiscan.pipeline.rereading.allow_list import AllowList, load_allow_list

MASK: Final = "▒▒▒"
N_PASSAGES: Final = 8
MAX_TABLES: Final = 20
MAX_PASSAGE_CHARS: Final = 900
MIN_PASSAGE_CHARS: Final = 240  # a shorter one is shown with the lines around it
MAX_TERM_CHARS: Final = 400_000  # of a longer text, only this much is searched for health terms
_PER_CHAR: Final = 0.0008  # what a character costs a passage: of two alike, the shorter one is stronger
_ALONE: Final = 0.05  # the weight of identity without health, and of health without identity

# How much a finding says about who somebody is; a type that is not named here counts little.
_IDENTITY: Final[dict[EntityType, float]] = {
    EntityType.PERSON: 2.0,
    EntityType.HEALTH_CARD: 3.0,
    EntityType.MRN: 3.0,
    EntityType.HEALTH_PLAN: 3.0,
    EntityType.SSN: 2.0,
    EntityType.SIN: 2.0,
    EntityType.PASSPORT: 2.0,
    EntityType.DRIVER_LICENSE: 2.0,
    EntityType.DATE_OF_BIRTH: 2.0,
    EntityType.PHONE: 0.6,
    EntityType.EMAIL: 0.6,
    EntityType.STREET_ADDRESS: 0.8,
}
_OTHER_IDENTITY: Final = 0.15
_ROLE_FACTOR: Final = 0.2  # of a person named as author, staff or the like

Found = tuple[int, int, EntityType, bool]
"""Start and end of a finding, its type, and whether the person is named for a role."""
Region = tuple[int, int]


class Kind(StrEnum):
    """What a piece of masked prose is."""

    TEXT = "text"  # words of the allow list, blanks and punctuation
    MASK = "mask"
    FINDING = "finding"
    TERM = "term"  # a health term


@dataclass(frozen=True, slots=True)
class MaskedPiece:
    """One piece; ``text`` is empty for a finding, of which only type and position are said."""

    kind: Kind
    text: str = ""
    position: int | None = None
    entity_type: EntityType | None = None


@dataclass(frozen=True, slots=True)
class MaskedPassage:
    """One passage ``[start, end)`` of the text, and where it is in the document."""

    locator: str
    start: int
    end: int
    pieces: tuple[MaskedPiece, ...]


@dataclass(frozen=True, slots=True)
class MaskedProse:
    """The strongest passages of a file, the strongest first."""

    content_hash: str
    n_chars: int
    passages: tuple[MaskedPassage, ...]
    tables: tuple[TableRisk, ...] = ()  # how easily the people of its tables are distinguished, in counts


def masked_prose(document: Document, found: Sequence[Found], *, beginning: int = 0) -> MaskedProse:
    """Return the strongest passages of a document, masked.

    Args:
        document: the file, read again.
        found: what was found when it was examined, in the order in which it is stored.
        beginning: return one passage instead, so many characters from the beginning of the text.
    """
    lexicon, allowed = load_lexicon(), load_allow_list()
    placed = [(one, at) for at, one in enumerate(found) if one[0] < one[1] <= len(document.text)]
    placed.sort(key=lambda item: item[0][:2])
    terms = list(health_terms(document.text, [one for one, _ in placed], lexicon, allowed))
    chosen = (
        [(0, min(beginning, len(document.text)))]
        if beginning
        else strongest(document.text, [one for one, _ in placed], terms)
    )
    return MaskedProse(
        document.content_hash,
        len(document.text),
        tuple(
            MaskedPassage(
                document.locate(start) if document.text else "",
                start,
                end,
                tuple(_joined(_pieces(document.text, (start, end), placed, terms, allowed))),
            )
            for start, end in chosen
        ),
        () if beginning else tuple(islice(table_risks(document), MAX_TABLES)),
    )


def health_terms(text: str, found: Sequence[Found], lexicon: Lexicon, allowed: AllowList) -> Iterator[Region]:
    """Yield where health terms are; of a long text, those near the findings only.

    A single capitalised word that is a name as well ("Parkinson") may be somebody's, and is left out.
    """
    for low, high in _searched(len(text), found):
        hits = lexicon.both.match(text[low:high])[0]
        for start, end in zip(hits.starts.tolist(), hits.ends.tolist(), strict=True):
            word = text[low + start : low + end]
            if (
                word[:1].isupper()
                and " " not in word
                and not allowed.is_allowed(word)
                and allowed.is_name(word)
            ):
                continue
            if sum(char.isdigit() for char in word) <= 1:  # "type 2 diabetes", no number of anybody
                yield low + start, low + end


def _searched(n_chars: int, found: Sequence[Found]) -> list[Region]:
    if n_chars <= MAX_TERM_CHARS:
        return [(0, n_chars)]
    # Evenly spread windows that begin at a finding; a long list of patients has evidence everywhere.
    n_windows = 20
    size = MAX_TERM_CHARS // n_windows
    starts = [one[0] for one in found] or [0]
    regions: list[Region] = []
    for number in range(n_windows):
        low = max(0, starts[number * len(starts) // n_windows] - MIN_PASSAGE_CHARS)
        if not regions or low >= regions[-1][1]:
            regions.append((low, min(n_chars, low + size)))
    return regions


def strongest(text: str, found: Sequence[Found], terms: Sequence[Region]) -> list[Region]:
    """Return the passages to show, the strongest first; without evidence, the beginning of the text."""
    starts, ends = units_of(text)
    if not len(starts):
        return []
    places = [*(one[0] for one in found), *(start for start, _ in terms)]
    evidence = _Evidence(found, terms)
    scored = sorted(
        ((evidence.score(low, high), low, high) for low, high in runs(starts, ends, places)),
        key=lambda one: (-one[0], one[1]),
    )
    lows, highs = starts.tolist(), ends.tolist()
    chosen: list[Region] = []
    for _, low, high in scored:
        region = _with_context(lows, highs, low, min(high, low + MAX_PASSAGE_CHARS))
        if all(region[1] <= begin or end <= region[0] for begin, end in chosen):
            chosen.append(region)
            if len(chosen) == N_PASSAGES:
                break
    if not chosen:
        chosen.append(_with_context(lows, highs, lows[0], highs[0]))
    return chosen


class _Evidence:
    """Sums of evidence up to each place, so that a passage is scored by two look-ups."""

    def __init__(self, found: Sequence[Found], terms: Sequence[Region]) -> None:
        self._found = [one[0] for one in found]
        self._identity = [0.0, *accumulate(_weight(one) for one in found)]
        self._terms = [start for start, _ in terms]

    def score(self, low: int, high: int) -> float:
        """Return how strongly a passage joins identity and health, less for every character."""
        first, last = bisect_left(self._found, low), bisect_left(self._found, high)
        identity = math.log1p(self._identity[last] - self._identity[first])
        health = math.log1p(bisect_left(self._terms, high) - bisect_left(self._terms, low))
        return identity * health + _ALONE * (identity + health) - _PER_CHAR * (high - low)


def _weight(found: Found) -> float:
    weight = _IDENTITY.get(found[2], _OTHER_IDENTITY)
    return weight * _ROLE_FACTOR if found[3] else weight


def _with_context(lows: Sequence[int], highs: Sequence[int], low: int, high: int) -> Region:
    """Grow a short passage by the lines after and before it."""
    first, last = bisect_right(lows, low) - 1, min(bisect_left(highs, high), len(highs) - 1)
    while high - low < MIN_PASSAGE_CHARS and (first > 0 or last + 1 < len(highs)):
        if last + 1 < len(highs):
            last += 1
            high = min(highs[last], low + MAX_PASSAGE_CHARS)
        if first > 0 and high - low < MIN_PASSAGE_CHARS:
            first -= 1
            low = lows[first]
    return low, high


def _pieces(
    text: str,
    region: Region,
    placed: Sequence[tuple[Found, int]],
    terms: Sequence[Region],
    allowed: AllowList,
) -> Iterator[MaskedPiece]:
    """Yield the pieces of a region; where findings overlap, the first one is named."""
    start, end = region
    at = start
    for (begin, stop, entity_type, _), position in placed:
        if stop <= at or begin >= end:
            continue
        yield from _prose(text, at, max(at, begin), terms, allowed)
        yield MaskedPiece(Kind.FINDING, "", position, entity_type)
        at = min(stop, end)
    yield from _prose(text, at, end, terms, allowed)


def _prose(
    text: str, start: int, end: int, terms: Sequence[Region], allowed: AllowList
) -> Iterator[MaskedPiece]:
    """Yield the pieces of a stretch without findings."""
    at = start
    for begin, stop in terms[bisect_left(terms, (start, 0)) :]:
        if begin >= end:
            break
        if begin < at or stop > end:
            continue
        yield from _words(text[at:begin], allowed)
        yield MaskedPiece(Kind.TERM, text[begin:stop])
        at = stop
    yield from _words(text[at:end], allowed)


def _words(text: str, allowed: AllowList) -> Iterator[MaskedPiece]:
    for piece, is_shown in allowed.pieces(text):
        yield MaskedPiece(Kind.TEXT, piece) if is_shown else MaskedPiece(Kind.MASK, MASK)


def _joined(pieces: Iterator[MaskedPiece]) -> Iterator[MaskedPiece]:
    """Join neighbouring text, and masks with only blanks between them, so that none tells a length."""
    kept: list[MaskedPiece] = []
    for piece in pieces:
        kinds = [one.kind for one in kept[-2:]]
        if piece.kind is Kind.TEXT and kinds[-1:] == [Kind.TEXT]:
            kept[-1] = MaskedPiece(Kind.TEXT, kept[-1].text + piece.text)
        elif piece.kind is Kind.MASK and kinds[-1:] == [Kind.MASK]:
            continue
        elif (
            piece.kind is Kind.MASK and kinds == [Kind.MASK, Kind.TEXT] and not kept[-1].text.strip(" \t.,-")
        ):
            kept.pop()
        else:
            kept.append(piece)
    yield from kept
