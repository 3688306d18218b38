"""Best paths of the tagger to spans of text, and properties of a span in its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from phiscan.screen.ner.features import Stream
from phiscan.screen.ner.tokens import Ints
from phiscan.screen.ner.viterbi import Floats
from phiscan.text.intervals import line_bounds

ADDRESS: Final = "ADR"
PERSON: Final = "PER"
_SEPARATORS, _CELL_REACH = ",;|\t\n\r", 4
_LINE_REACH = 300
_MAX_CODE = 5  # letters of an abbreviation of a province, a plan or a degree


class Tagged(NamedTuple):
    """A name on a path: offsets, kind, probability, and whether it is on the second path alone."""

    start: int
    end: int
    kind: str
    score: float
    second: bool  # only the second path has it


@dataclass(frozen=True, eq=False)
class LabelKinds:
    """The BIO labels as arrays: the kind of each, and whether it begins a name."""

    names: tuple[str, ...]
    of: Ints  # (L,) the number of each label's kind; -1 for no name
    begins: npt.NDArray[np.bool_]
    members: Floats  # (L, kinds) 1 where a label is of a kind

    @classmethod
    def read(cls, labels: Iterable[str]) -> LabelKinds:
        """Return the kinds of labels such as ``B-PER``."""
        labels = tuple(labels)
        kinds = [label[2:] for label in labels]
        names = tuple(sorted(set(kinds) - {""}))
        of = np.array([names.index(k) if k else -1 for k in kinds], dtype=np.int64)
        begins = np.array([label.startswith("B") for label in labels])
        return cls(names, of, begins, (of[:, None] == np.arange(len(names))[None]).astype(np.float32))


def named(stream: Stream, best: Ints, share: Floats, kinds: LabelKinds, *, second: bool) -> Iterator[Tagged]:
    """Yield the names of a path in text order.

    ``best``: (n,) the label of every token of the units; ``share``: (n, kinds) the probability of each kind.
    """
    inside = np.flatnonzero(best)
    if not len(inside):
        return
    share = share[inside]
    kind = kinds.of[best[inside]]
    first = np.zeros(len(best), dtype=bool)
    first[stream.units.starts] = True
    is_start = (np.diff(inside) > 1) | (kind[1:] != kind[:-1])
    is_start |= kinds.begins[best[inside]][1:] | first[inside][1:]
    begins = np.concatenate(([0], np.flatnonzero(is_start) + 1))
    ends = np.concatenate((begins[1:], [len(inside)]))
    scores = np.add.reduceat(share[np.arange(len(inside)), kind], begins) / (ends - begins)
    tokens = stream.units.index[inside]
    lows = stream.offsets[tokens[begins]]
    highs = stream.offsets[tokens[ends - 1]] + stream.sizes[tokens[ends - 1]]
    rows = zip(lows.tolist(), highs.tolist(), kind[begins].tolist(), scores.tolist(), strict=True)
    for low, high, number, score in rows:
        yield Tagged(low, high, kinds.names[number], score, second)


def joined(text: str, spans: Iterable[Tagged]) -> Iterator[Tagged]:
    """Yield spans; parts of one street address, "12", "elm street", are one."""
    previous: Tagged | None = None
    for span in spans:
        if previous is not None:
            if _are_one_address(text, previous, span):
                previous = previous._replace(end=span.end, score=max(previous.score, span.score))
                continue
            yield previous
        previous = span
    if previous is not None:
        yield previous


def _are_one_address(text: str, first: Tagged, second: Tagged) -> bool:
    alike = first.kind == second.kind == ADDRESS and first.second == second.second
    return alike and text[first.end : second.start] in {" ", ", ", ","}


def is_cell(text: str, start: int, end: int) -> bool:
    """Tell whether a name fills a field between separators or ends of lines."""
    before = text[max(0, start - _CELL_REACH) : start].rstrip(' "')
    after = text[end : end + _CELL_REACH].lstrip(' "')
    return (not before or before[-1] in _SEPARATORS) and (not after or after[0] in _SEPARATORS)


def line_around(text: str, start: int, end: int) -> str:
    """Return what is around a span in its line, without the span."""
    low, high = line_bounds(text, start, end, _LINE_REACH)
    return text[low:start] + " " + text[end:high]


def n_codes(text: str, places: list[tuple[int, int]]) -> int:
    """Return how many words after a comma are short capitals: "Ann Roy, NB", "Ann Roy, AB PHN".

    ``places``: of the words of a name. A name in capitals has none: "ROY, ANN".
    """
    words = [text[start:end] for start, end in places]
    for number in range(1, len(words)):
        if "," in text[places[number - 1][1] : places[number][0]]:
            tail = words[number:]
            short = all(word.isupper() and 1 < len(word) <= _MAX_CODE for word in tail)
            return len(tail) if short and not any(word.isupper() for word in words[:number]) else 0
    return 0
