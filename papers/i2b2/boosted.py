"""Boosted decision trees over tokens (Szarvas 1, 2, 3): numbers, lexical triggers and trusted header names.

AdaBoost over trees split by information gain replaces AdaBoost over C4.5. Lower-case words that no training
record has inside PHI are left out of learning and are never PHI; that halves the tokens.
Source: Uzuner, Luo & Szolovits (2007), "Submissions"; Freund & Schapire (1997).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from papers.i2b2.corpus import NAMED_TYPES, TYPES
from papers.i2b2.features import HEADER_LINES, dictionaries, shape, templates
from papers.i2b2.tokens import OUTSIDE, TokenizedRecord, from_types
from phiscan.metrics.deidentification.spans import LabelledSpan

Floats = npt.NDArray[np.float32]
_LISTS = ("first_names", "last_names", "towns", "ordinary_words", "medical")
_TEMPLATES = ("date", "mmdd", "month", "phone", "unit", "year", "age", "initial", "slash")
_WINDOW = (-3, -2, -1, 1, 2, 3)
_RARE = 3


@dataclass
class BoostedRecognizer:
    """Boosted trees; ``voters`` models vote; ``trusted`` adds features of the header's words."""

    name: str
    trusted: bool = False
    voters: int = 1
    all_triggers: bool = False
    trees: int = 10
    depth: int = 12
    seed: int = 0
    shapes_: dict[str, int] = field(default_factory=dict, repr=False)
    triggers_: dict[tuple[int, str], dict[str, float]] = field(default_factory=dict, repr=False)
    inside_: frozenset[str] = field(default=frozenset(), repr=False)
    counts_: Counter[str] = field(default_factory=Counter, repr=False)
    models_: list[Any] = field(default_factory=list, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> BoostedRecognizer:
        """Train on labelled records."""
        self.counts_ = Counter(word for record in records for word in record.words)
        self.inside_ = frozenset(
            word
            for record in records
            for word, label in zip(record.words, record.labels, strict=True)
            if label != OUTSIDE
        )
        common = Counter(shape(word) for word, n in self.counts_.items() for _ in range(min(n, 5)))
        self.shapes_ = {name: number + 1 for number, (name, _) in enumerate(common.most_common(120))}
        self.triggers_ = _triggers(records, _WINDOW if self.all_triggers else (-1, 1))
        rows, kinds = [], []
        for record in records:
            wanted = self._candidates(record)
            rows.append(self._numbers(record)[wanted])
            kinds += [record.labels[index][2:] or OUTSIDE for index in wanted]
        table = np.vstack(rows)
        self.models_ = [
            AdaBoostClassifier(
                DecisionTreeClassifier(
                    criterion="entropy",
                    max_depth=self.depth,
                    min_samples_leaf=2,
                    max_features=0.5,
                    random_state=self.seed + voter,
                ),
                n_estimators=self.trees,
                random_state=self.seed + voter,
            ).fit(table, kinds)
            for voter in range(self.voters)
        ]
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record; a marked phrase is marked wherever else the record has it."""
        for record in records:
            wanted = self._candidates(record)
            types = [OUTSIDE] * len(record.words)
            if len(wanted):
                table = self._numbers(record)[wanted]
                votes = [model.predict(table) for model in self.models_]
                for row, index in enumerate(wanted):
                    types[index] = Counter(str(vote[row]) for vote in votes).most_common(1)[0][0]
            _repeat(record, types)
            yield from_types(record, types)

    def _candidates(self, record: TokenizedRecord) -> list[int]:
        return [
            index
            for index, word in enumerate(record.words)
            if not (word.islower() and word.isalpha()) or word in self.inside_
        ]

    def _numbers(self, record: TokenizedRecord) -> Floats:
        own = np.array([self._of_word(word) for word in record.words], dtype=np.float32)
        near = own[:, :6]
        n_lines = record.lines[-1] + 1 if record.lines else 0
        places = np.array(
            [(line, min(n_lines - line, 20)) for line in record.lines], dtype=np.float32
        ).reshape(-1, 2)
        shifted = [_shift(near, offset) for offset in (-2, -1, 1, 2)]
        parts = [own, places, *shifted, self._strengths(record)]
        if self.trusted:
            parts.append(_trusted(record))
        return np.hstack(parts)

    def _of_word(self, word: str) -> list[float]:
        fits, lists = templates(word), dictionaries(word)
        upper = sum(map(str.isupper, word))
        return [
            self.shapes_.get(shape(word), 0),
            len(word),
            upper / len(word),
            sum(map(str.isdigit, word)),
            len(word) - sum(map(str.isalnum, word)),
            len(lists),
            min(self.counts_[word], 50),
            min(self.counts_[word.lower()], 50),
            *(name in fits for name in _TEMPLATES),
            *(name in lists for name in _LISTS),
        ]

    def _strengths(self, record: TokenizedRecord) -> Floats:
        table = np.zeros((len(record.words), 2 * len(TYPES)), dtype=np.float32)
        for (offset, word), shares in self._triggers_in(record).items():
            for position, kinds in ((position, shares) for position in word):
                for column, kind in enumerate(TYPES):
                    cell = column + (0 if offset < 0 else len(TYPES))
                    table[position, cell] = max(table[position, cell], kinds.get(kind, 0.0))
        return table

    def _triggers_in(self, record: TokenizedRecord) -> dict[tuple[int, tuple[int, ...]], dict[str, float]]:
        found: dict[tuple[int, tuple[int, ...]], dict[str, float]] = {}
        lower = [word.lower() for word in record.words]
        for position in range(len(lower)):
            for offset in _WINDOW:
                other = position + offset
                if 0 <= other < len(lower):
                    shares = self.triggers_.get((offset, lower[other]))
                    if shares is not None:
                        found[offset, (position,)] = shares
        return found


def _triggers(
    records: Sequence[TokenizedRecord], window: Sequence[int]
) -> dict[tuple[int, str], dict[str, float]]:
    """Return, for each word at each offset, the frequency of each type of the token."""
    counts: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for record in records:
        lower = [word.lower() for word in record.words]
        for position, label in enumerate(record.labels):
            for offset in window:
                if 0 <= position + offset < len(lower):
                    counts[offset, lower[position + offset]][label[2:] or OUTSIDE] += 1
    return {
        key: {kind: n / sum(found.values()) for kind, n in found.items() if kind != OUTSIDE}
        for key, found in counts.items()
        if sum(found.values()) >= _RARE and set(found) != {OUTSIDE}
    }


def _shift(table: Floats, offset: int) -> Floats:
    moved = np.full_like(table, -1)
    if offset < 0:
        moved[-offset:] = table[:offset]
    else:
        moved[:-offset] = table[offset:]
    return moved


def _trusted(record: TokenizedRecord) -> Floats:
    """Return features of words that occur in the header after "NAME" or "ATTENDING", or first in a line."""
    zones: dict[str, int] = {}
    for position, word in enumerate(record.words):
        if record.lines[position] >= HEADER_LINES:
            break
        line = [
            record.words[index].lower()
            for index in range(max(0, position - 6), position)
            if record.lines[index] == record.lines[position]
        ]
        zone = 1 if "name" in line else 2 if "attending" in line else 3 if not line else 0
        if zone and word.isalpha():
            zones[word.lower()] = zone
    return np.array([[zones.get(word.lower(), 0)] for word in record.words], dtype=np.float32).reshape(-1, 1)


def _repeat(record: TokenizedRecord, types: list[str]) -> None:
    """Mark every occurrence of a marked name, longest phrase first; single words of four letters at least."""
    phrases: dict[tuple[str, ...], str] = {}
    start = 0
    while start < len(types):
        end = start + 1
        while end < len(types) and types[end] == types[start] and record.lines[end] == record.lines[start]:
            end += 1
        if types[start] in NAMED_TYPES:
            words = record.words[start:end]
            if len(words) > 1 or (len(words[0]) > 3 and not dictionaries(words[0])):  # noqa: PLR2004
                phrases.setdefault(words, types[start])
        start = end
    for words, kind in sorted(phrases.items(), key=lambda item: -len(item[0])):
        for start in range(len(types) - len(words) + 1):
            if record.words[start : start + len(words)] == words:
                for index in range(start, start + len(words)):
                    if types[index] == OUTSIDE:
                        types[index] = kind
