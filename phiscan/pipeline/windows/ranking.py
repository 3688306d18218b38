"""Rank the windows of a long text by one cheap pass over all of it: where would a record of a patient stand?

A passage scores by its health concepts and the cues of a record, each weighted by its inverse document
frequency over the windows of the same file, so that one clinical row among 50,000 rows of stock comes first,
and then by how many kinds of identifiers stand among them. A window scores as its strongest passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phiscan.health.classifier import PERSON_CUES
from phiscan.health.term_lexicon import Lexicon
from phiscan.screen import Screener
from phiscan.screen.rules.recognizer import PatternRecognizer
from phiscan.screen.rules.scanner import AfterLabel

PASSAGE_CHARS = 500
_STRIDE = PASSAGE_CHARS // 2
N_EXAMINED = 30  # lines and passages that are examined by themselves
_N_LINES = 3  # of one passage
_MOST_LINE_CHARS = 400
_N_PASSAGES = 400  # the strongest, in which identifiers are looked for
_CUE_WEIGHT = 0.5
_EPSILON = 0.05  # a concept that is in every window still counts a little
_MOST_KINDS = 4  # of identifiers that raise a score
_RECORD_CUES = frozenset({"cue:record", "cue:code"})
_FULL_NAME = re.compile(r"\b[A-ZÀ-Þ][a-zß-ÿ'’-]+,? (?:[A-Z]\.? )?[A-ZÀ-Þ][a-zß-ÿ'’-]+")  # noqa: RUF001 (names)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Where a record of a patient is most likely to stand, the likeliest first."""

    windows: tuple[int, ...]  # indices of windows whose score is above 0
    passages: tuple[tuple[int, int], ...]  # ranges of the strongest passages: a line, and what is around it


def rank_windows(
    text: str, ranges: Sequence[tuple[int, int]], lexicon: Lexicon, screener: Screener
) -> Ranking:
    """Rank the windows of a text, and find its strongest passages."""
    health, cues = lexicon.both.match(text)
    concepts, kinds = _numbers_of(lexicon)
    starts = np.array([start for start, _ in ranges], dtype=np.int64)
    n_passages = len(text) // _STRIDE + 1
    weights, total = _weights(health.starts, concepts[health.terms], starts, n_passages)
    cued = kinds[cues.terms]
    is_reaching = cued >= 0
    total = total + _CUE_WEIGHT * _weights(cues.starts[is_reaching], cued[is_reaching], starts, n_passages)[1]
    strongest = np.lexsort((np.arange(n_passages), -total))[:_N_PASSAGES]
    strongest = strongest[total[strongest] > 0]
    total[strongest] *= 1 + _identifier_kinds(text, strongest, screener)
    scores = np.zeros(len(ranges))
    owner = np.maximum(starts.searchsorted(np.arange(n_passages) * _STRIDE, side="right") - 1, 0)
    np.maximum.at(scores, owner, total)
    order = np.lexsort((np.arange(len(scores)), -scores)).tolist()
    by_score = strongest[np.lexsort((strongest, -total[strongest]))].tolist()
    return Ranking(
        tuple(index for index in order if scores[index] > 0),
        tuple(_passages(text, by_score, health.starts, weights)),
    )


def _passages(text: str, by_score: Sequence[int], places: Ints, weights: Floats) -> Iterator[tuple[int, int]]:
    """Yield the lines of the rarest concepts of the strongest passages, and these passages as wholes."""
    taken: set[int] = set()
    found: dict[tuple[int, int], None] = {}
    for passage in by_score:
        start = passage * _STRIDE
        low, high = np.searchsorted(places, (start, start + PASSAGE_CHARS)).tolist()
        for index in (low + np.argsort(-weights[low:high], kind="stable")[:_N_LINES]).tolist():
            found.setdefault(_line(text, int(places[index])))
        if low < high and taken.isdisjoint((passage - 1, passage, passage + 1)):
            taken.add(passage)
            found.setdefault((_start(text, start), min(start + PASSAGE_CHARS, len(text))))
        if len(found) >= N_EXAMINED:
            break
    yield from list(found)[:N_EXAMINED]


def _line(text: str, at: int) -> tuple[int, int]:
    """Return the line at ``at``, of a long one the sentence."""
    low, high = max(0, at - PASSAGE_CHARS), min(len(text), at + PASSAGE_CHARS)
    for mark in ("\n", ". "):
        start, end = text.rfind(mark, low, at), text.find(mark, at, high)
        if start >= 0 and end >= 0 and end - start <= _MOST_LINE_CHARS:
            return start + len(mark), end + 1
    return _start(text, max(0, at - _MOST_LINE_CHARS // 2)), min(len(text), at + _MOST_LINE_CHARS // 2)


def _start(text: str, at: int) -> int:
    """Return the first beginning of a word from ``at`` on."""
    found = text.find(" ", at, at + _MOST_LINE_CHARS // 2) if at else -1
    return found + 1 if found >= 0 else at


def _weights(places: Ints, kinds: Ints, starts: Ints, n_passages: int) -> tuple[Floats, Floats]:
    """Return the inverse document frequency at each place, and each passage's sum over its kinds."""
    total = np.zeros(n_passages)
    if not len(places):
        return np.zeros(0), total
    n_kinds = int(kinds.max()) + 1
    owner = starts.searchsorted(places, side="right") - 1
    frequency = np.bincount(np.unique(owner * n_kinds + kinds) % n_kinds, minlength=n_kinds)
    weight = np.log(len(starts) / np.maximum(frequency, 1)) + _EPSILON
    passage = places // _STRIDE
    both = np.concatenate([passage * n_kinds + kinds, np.maximum(passage - 1, 0) * n_kinds + kinds])
    pairs = np.unique(both)
    np.add.at(total, pairs // n_kinds, weight[pairs % n_kinds])
    return weight[kinds], total


def _identifier_kinds(text: str, passages: Ints, screener: Screener) -> Floats:
    """Count the kinds of identifiers in each passage: shapes, labels with a value, and a full name."""
    pieces = [text[at * _STRIDE : at * _STRIDE + PASSAGE_CHARS] for at in passages.tolist()]
    kinds: list[set[object]] = [{"name"} if _FULL_NAME.search(piece) else set() for piece in pieces]
    ends = np.cumsum([len(piece) + 1 for piece in pieces], dtype=np.int64)
    joined = "\n".join(pieces)
    for recognizer in _patterns(screener):
        for place in recognizer.places(joined):
            if place.following is not AfterLabel.NOTHING:
                found = kinds[int(ends.searchsorted(place.start, side="right"))]
                found.add(place.rules or tuple(item.entity_type for item in place.evidence))
    return np.array([min(len(found), _MOST_KINDS) for found in kinds], dtype=np.float64)


def _patterns(screener: Screener) -> Iterable[PatternRecognizer]:
    return (one for one in screener.recognizers if isinstance(one, PatternRecognizer))


def _numbers_of(lexicon: Lexicon) -> tuple[Ints, Ints]:
    """Return a number for the concept of each term, and for the class of each cue that counts (-1: none)."""
    concepts: dict[str, int] = {}
    of_terms = [concepts.setdefault(concept, len(concepts)) for concept, _ in lexicon.marks]
    classes = {name: number for number, name in enumerate(sorted(PERSON_CUES | _RECORD_CUES))}
    of_cues = [classes.get(name, -1) for name in lexicon.cue_names]
    return np.array(of_terms, dtype=np.int64), np.array(of_cues, dtype=np.int64)
