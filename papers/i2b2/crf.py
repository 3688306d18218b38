"""Conditional random fields over the shared features: Wellner 1, Wellner 3 and Aramaki 1.

Source: Uzuner, Luo & Szolovits (2007), "Submissions" and Table 6; Lafferty, McCallum & Pereira (2001).
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from papers.i2b2.features import token_features
from papers.i2b2.tokens import TokenizedRecord, spans_of
from papers.needs import needed
from phiscan.metrics.deidentification.spans import LabelledSpan

WELLNER_1 = ("word", "orthography", "special", "affixes2", "window2", "templates")
WELLNER_3 = ("word", "orthography", "special", "affixes4", "window3", "templates", "cues", "dictionaries")
ARAMAKI_1 = (
    "word", "orthography", "special", "window2", "templates", "dictionaries", "position", "length",
    "previous",
)  # fmt: skip
_ITERATIONS = 50
Features = Sequence[Sequence[str]]


def _train(rows: Sequence[tuple[Features, Sequence[str]]], path: Path, iterations: int) -> None:
    trainer = needed("pycrfsuite").Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.1, "max_iterations": iterations, "feature.minfreq": 2})
    for features, labels in rows:
        trainer.append(features, labels)
    trainer.train(str(path))


def _tagger(path: Path) -> Any:
    tagger = needed("pycrfsuite").Tagger()
    tagger.open(str(path))
    return tagger


@dataclass
class CrfRecognizer:
    """A chain over all tokens of a record: the header can inform the narrative."""

    name: str
    groups: tuple[str, ...]
    iterations: int = _ITERATIONS
    tagger_: Any = field(default=None, repr=False)
    folder_: Any = field(default=None, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> CrfRecognizer:
        """Train on labelled records."""
        self.folder_ = tempfile.TemporaryDirectory()
        path = Path(self.folder_.name) / "crf"
        _train(
            [(token_features(record, self.groups), record.labels) for record in records],
            path,
            self.iterations,
        )
        self.tagger_ = _tagger(path)
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record."""
        for record in records:
            yield spans_of(record, self.tagger_.tag(token_features(record, self.groups)))


def majority_labels(record: TokenizedRecord, labels: Sequence[str]) -> list[str]:
    """Return for each token the type that its word has most often in the record.

    >>> made = TokenizedRecord("1", ("A", "A", "A"), ((0, 1), (2, 3), (4, 5)), (0, 0, 0), ("O", "O", "O"))
    >>> majority_labels(made, ["B-ID", "O", "O"])
    ['O', 'O', 'O']
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, label in zip(record.words, labels, strict=True):
        counts[word.lower()][label[2:] or label] += 1
    return [counts[word.lower()].most_common(1)[0][0] for word in record.words]


@dataclass
class MajorityCrf:
    """Two steps: a chain, then a second one that also sees the first one's majority label of each word.

    The first step's labels of the training records come from two halves, each labelled by the other's model.
    """

    name: str
    groups: tuple[str, ...]
    iterations: int = _ITERATIONS
    first_: Any = field(default=None, repr=False)
    second_: Any = field(default=None, repr=False)
    folder_: Any = field(default=None, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> MajorityCrf:
        """Train both steps on labelled records."""
        self.folder_ = tempfile.TemporaryDirectory()
        folder = Path(self.folder_.name)
        rows = [(token_features(record, self.groups), record.labels) for record in records]
        steps: list[tuple[Features, Sequence[str]]] = [([], [])] * len(rows)
        for half in (0, 1):
            _train(rows[1 - half :: 2], folder / f"half{half}", self.iterations)
            tagger = _tagger(folder / f"half{half}")
            for index in range(half, len(rows), 2):
                features, labels = rows[index]
                steps[index] = (_with_majority(records[index], features, tagger.tag(features)), labels)
        _train(rows, folder / "first", self.iterations)
        _train(steps, folder / "second", self.iterations)
        self.first_, self.second_ = _tagger(folder / "first"), _tagger(folder / "second")
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record."""
        for record in records:
            features = token_features(record, self.groups)
            more = _with_majority(record, features, self.first_.tag(features))
            yield spans_of(record, self.second_.tag(more))


def _with_majority(record: TokenizedRecord, features: Features, labels: Sequence[str]) -> Features:
    majority = majority_labels(record, labels)
    return [[*names, f"majority={kind}"] for names, kind in zip(features, majority, strict=True)]
