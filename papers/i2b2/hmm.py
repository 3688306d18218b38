"""First-order hidden Markov model over BIO labels (Wellner 2): smoothed counts and Viterbi decoding.

Frequent words are emitted as themselves, the others as their orthography, ending and templates.
Source: Uzuner, Luo & Szolovits (2007), "Submissions"; Manning & Schutze (1999), chapter 9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from papers.i2b2.features import shape, templates
from papers.i2b2.tokens import OUTSIDE, TokenizedRecord, spans_of
from phiscan.metrics.deidentification.spans import LabelledSpan

Floats = npt.NDArray[np.float64]
_FREQUENT = 3
_SMOOTH_STEP, _SMOOTH_WORD = 0.1, 0.01


@dataclass
class HmmRecognizer:
    """Labels are hidden states; each emits one symbol."""

    name: str = "Wellner 2"
    labels_: tuple[str, ...] = field(default=(), repr=False)
    known_: frozenset[str] = field(default=frozenset(), repr=False)
    symbols_: dict[str, int] = field(default_factory=dict, repr=False)
    start_: Floats | None = field(default=None, repr=False)
    step_: Floats | None = field(default=None, repr=False)
    emit_: Floats | None = field(default=None, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> HmmRecognizer:
        """Count transitions and emissions of labelled records."""
        counts = Counter(word.lower() for record in records for word in record.words)
        self.known_ = frozenset(word for word, n in counts.items() if n >= _FREQUENT)
        self.labels_ = tuple(sorted({label for record in records for label in record.labels} | {OUTSIDE}))
        index = {label: number for number, label in enumerate(self.labels_)}
        self.symbols_ = {"": 0}
        for record in records:
            for word in record.words:
                self.symbols_.setdefault(self._symbol(word), len(self.symbols_))
        n = len(self.labels_)
        step, emit = np.full((n, n), _SMOOTH_STEP), np.full((n, len(self.symbols_)), _SMOOTH_WORD)
        start = np.full(n, _SMOOTH_STEP)
        for record in records:
            path = [index[label] for label in record.labels]
            start[path[0]] += 1
            np.add.at(step, (path[:-1], path[1:]), 1)
            np.add.at(emit, (path, [self.symbols_[self._symbol(word)] for word in record.words]), 1)
        for number, label in enumerate(self.labels_):
            if label.startswith("I-"):  # an inside label only continues from its own type
                allowed = [index.get(f"{head}-{label[2:]}", -1) for head in "BI"]
                banned = [row for row in range(n) if row not in allowed]
                step[banned, number] = 1e-9
        self.start_ = np.log(start / start.sum())
        self.step_ = np.log(step / step.sum(axis=1, keepdims=True))
        self.emit_ = np.log(emit / emit.sum(axis=1, keepdims=True))
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record."""
        for record in records:
            symbols = [self.symbols_.get(self._symbol(word), 0) for word in record.words]
            yield spans_of(record, [self.labels_[state] for state in self._path(symbols)])

    def _symbol(self, word: str) -> str:
        lower = word.lower()
        if lower in self.known_:
            return lower
        return (
            f"<{shape(word)}|{'' if any(map(str.isdigit, word)) else lower[-2:]}|{'+'.join(templates(word))}>"
        )

    def _path(self, symbols: Sequence[int]) -> list[int]:
        assert self.start_ is not None and self.step_ is not None and self.emit_ is not None  # noqa: PT018, S101
        if not symbols:
            return []
        score = self.start_ + self.emit_[:, symbols[0]]
        back = np.zeros((len(symbols), len(self.labels_)), dtype=np.intp)
        for position, symbol in enumerate(symbols[1:], start=1):
            through = score[:, None] + self.step_
            back[position] = through.argmax(axis=0)
            score = through.max(axis=0) + self.emit_[:, symbol]
        path = [int(score.argmax())]
        for position in range(len(symbols) - 1, 0, -1):
            path.append(int(back[position, path[-1]]))
        return path[::-1]
