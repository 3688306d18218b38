"""Text windows to bags of features: health concepts, kinds of concept, and cues of a person's record.

A document is cut into overlapping windows, so that one clinic letter in a file of 300 pages is not
averaged away. Each window is a bag with three blocks: health concepts (``dx:hypertension``), kinds of
concept (``kind:dx``) and cue classes (``cue:report``), all sublinear counts. A concept that is negated or
belongs to a relative counts as ``neg:`` or ``fam:`` in addition to its plain count: what a patient denies is
still a clinical statement about that patient, while a leaflet denies nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.health.term_lexicon import Lexicon
from phiscan.health.terms import Hits

WINDOW_CHARS: Final = 2400
STRIDE_CHARS: Final = 1200
NEGATION_CHARS: Final = 60  # scope of a negation ("denies")
FAMILY_CHARS: Final = 120  # scope of "family history"
NEAR_CHARS: Final = 80  # scope of a pronoun or title
MARGIN_CHARS: Final = 300  # of a window before its first and after its last health term
# Cues that modify the health terms after them: the feature such a term adds, and the cue's scope.
_MODIFIERS: Final = {
    "cue:negated": ("neg:any", NEGATION_CHARS),
    "cue:family": ("fam:any", FAMILY_CHARS),
    "cue:third": ("near:third", NEAR_CHARS),
    "cue:my": ("near:first", NEAR_CHARS),
    "cue:first": ("near:first", NEAR_CHARS),
    "cue:your": ("near:your", NEAR_CHARS),
    "cue:title": ("near:title", NEAR_CHARS),
}
_RECORD: Final = frozenset({"cue:record", "cue:code"})
_TITLES: Final = frozenset({"mr", "mrs", "ms"})
_SENTENCE_END: Final = frozenset(".;!?\n")
_BLANK: Final = re.compile(r"_{3,}|\.{4,}")
_AMOUNT: Final = re.compile(r"\$\s?\d|\d\s?\$")
_SCOPES: Final = dict(_MODIFIERS.values())
BLOCKS: Final = ("cue:", "kind:", "neg:", "fam:", "near:")  # features that are no health concepts


@dataclass(frozen=True, slots=True)
class Reading:
    """The health terms and the cues of one document."""

    health: Hits
    cues: Hits
    cue_names: tuple[str, ...]  # the class of each cue
    modifiers: Mapping[str, tuple[bool, ...]]  # by modifier (negated, near "she"): a flag per term
    n_chars: int
    blanks: tuple[int, ...] = ()  # offsets of the blanks of a form
    amounts: tuple[int, ...] = ()  # offsets of amounts of money


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a document and its bag of features: name to count."""

    start: int
    end: int
    counts: dict[str, int]

    @property
    def n_concepts(self) -> int:
        """The number of different health concepts in the window."""
        return len([name for name in self.counts if not name.startswith(BLOCKS)])

    def count(self, name: str) -> int:
        """How often a feature occurs."""
        return self.counts.get(name, 0)


def read(text: str, lexicon: Lexicon) -> Reading:
    """Return the health terms and cues of a text, matched in one pass."""
    health, cues = lexicon.both.match(text)
    names = [lexicon.cue_names[index] for index in cues.terms.tolist()]
    modifying: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        if name in _MODIFIERS:
            modifying.setdefault(_MODIFIERS[name][0], []).append(index)
        elif name == "cue:person" and text[int(cues.ends[index]) - 1] in "sS":
            # Folding maps "patients" to "patient"; the plural describes no individual person.
            names[index] = "cue:people"
    return Reading(
        health,
        cues,
        tuple(names),
        {mark: _in_scope(text, health, cues.ends[found], _SCOPES[mark]) for mark, found in modifying.items()},
        n_chars=len(text),
        blanks=_offsets(_BLANK, text) if "___" in text or "...." in text else (),
        amounts=_offsets(_AMOUNT, text) if "$" in text else (),
    )


def windows(reading: Reading, lexicon: Lexicon) -> list[Window]:
    """Cut a reading into windows of WINDOW_CHARS every STRIDE_CHARS; a short text is one window.

    Windows without any health term and without any cue of a record or a billing code are left out.
    """
    marks = marks_of(reading, lexicon)
    n_windows = max(1, -(-(reading.n_chars - WINDOW_CHARS) // STRIDE_CHARS) + 1)
    h_low, h_high = _bounds(reading.health.starts, n_windows)
    found: list[Window] = []
    for index in range(n_windows):
        start, end = index * STRIDE_CHARS, min(index * STRIDE_CHARS + WINDOW_CHARS, reading.n_chars)
        inside = range(h_low[index], h_high[index])
        if inside:
            # Text far from any health term (the rest of a book, a mail's header) is no evidence about it.
            start = max(start, int(reading.health.starts[inside[0]]) - MARGIN_CHARS)
            end = min(end, int(reading.health.ends[inside[-1]]) + MARGIN_CHARS)
        counts = _cue_counts(reading, start, end)
        if not inside and _RECORD.isdisjoint(counts):
            continue
        counts.update(chain.from_iterable(marks[h_low[index] : h_high[index]]))
        found.append(Window(start, end, dict(counts)))
    return found


def bag(reading: Reading, marks: Sequence[tuple[str, ...]], start: int, end: int) -> dict[str, int]:
    """Return the bag of features of ``[start, end)``; ``marks`` are those of ``marks_of``."""
    counts = _cue_counts(reading, start, end)
    low, high = reading.health.starts.searchsorted((start, end)).tolist()
    counts.update(chain.from_iterable(marks[low:high]))
    return dict(counts)


def _cue_counts(reading: Reading, start: int, end: int) -> Counter[str]:
    """Return the counts of cue classes, blanks of forms and amounts of money in ``[start, end)``."""
    counts = Counter(reading.cue_names[slice(*reading.cues.starts.searchsorted((start, end)).tolist())])
    for name, offsets in (("cue:blank", reading.blanks), ("cue:money", reading.amounts)):
        if offsets and (n_offsets := sum(start <= offset < end for offset in offsets)):
            counts[name] = n_offsets
    return counts


def _offsets(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    return tuple(match.start() for match in pattern.finditer(text))


def marks_of(reading: Reading, lexicon: Lexicon) -> list[tuple[str, ...]]:
    """Return the features of each health term: its concept, its kind, and its modifiers."""
    marks: list[tuple[str, ...]] = [lexicon.marks[index] for index in reading.health.terms.tolist()]
    for name, flags in reading.modifiers.items():
        if True in flags:
            marks = [(*mark, name) if flag else mark for mark, flag in zip(marks, flags, strict=True)]
    return marks


def _bounds(starts: npt.NDArray[np.int64], n_windows: int) -> tuple[list[int], list[int]]:
    lows = np.arange(n_windows) * STRIDE_CHARS
    return starts.searchsorted(lows).tolist(), starts.searchsorted(lows + WINDOW_CHARS).tolist()


def _in_scope(text: str, health: Hits, ends: npt.NDArray[np.int64], scope: int) -> tuple[bool, ...]:
    """Return for each health term whether a cue ends within ``scope`` before it, in the same sentence."""
    if not len(health.starts):
        return ()
    before = ends[np.maximum(ends.searchsorted(health.starts, side="right") - 1, 0)]
    distance = health.starts - before
    near = (distance >= 0) & (distance <= scope)
    for index in near.nonzero()[0].tolist():
        at = int(before[index])
        # The full stop of "Mrs." ends no sentence.
        at += text.startswith(".", at) and text[max(at - 3, 0) : at].strip().lower() in _TITLES
        near[index] = _SENTENCE_END.isdisjoint(text[at : health.starts[index]])
    return tuple(near.tolist())
