"""Linear support vector machines over tokens: Guo 1 and 2, and Hara 1 and 3 with rules for regular types.

Source: Uzuner, Luo & Szolovits (2007), "Submissions" and Table 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

from papers.i2b2.corpus import DATE, ID, PHONE
from papers.i2b2.features import token_features
from papers.i2b2.rules import regular_spans
from papers.i2b2.tokens import OUTSIDE, TokenizedRecord, spans_of
from phiscan.metrics.deidentification.spans import LabelledSpan

GUO_1 = ("word", "orthography", "special", "affixes4", "window1")
GUO_2 = ("word", "orthography", "special", "affixes4", "window6", "cues", "dictionaries", "templates")
HARA = ("word", "orthography", "window2", "heading", "templates")
_N_FEATURES = 1 << 19
_BY_RULE = frozenset({DATE, ID, PHONE})


def _model(seed: int, epochs: int) -> SGDClassifier:
    return SGDClassifier(
        loss="hinge", alpha=1e-6, max_iter=epochs, tol=None, average=True, random_state=seed, n_jobs=1
    )


def _matrix(rows: Sequence[Sequence[str]]) -> Any:
    return FeatureHasher(_N_FEATURES, input_type="string", alternate_sign=False).transform(rows)


@dataclass
class SvmRecognizer:
    """One-against-all linear machines that label each token by itself (BIO); stochastic gradient descent."""

    name: str
    groups: tuple[str, ...]
    epochs: int = 8
    seed: int = 0
    model_: Any = field(default=None, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> SvmRecognizer:
        """Train on labelled records."""
        rows = [names for record in records for names in token_features(record, self.groups)]
        labels = [label for record in records for label in record.labels]
        self.model_ = _model(self.seed, self.epochs).fit(_matrix(rows), labels)
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record."""
        for record in records:
            yield spans_of(record, self.model_.predict(_matrix(token_features(record, self.groups))))


def sentence_numbers(record: TokenizedRecord) -> list[int]:
    """Return the number of the sentence of each token: a sentence ends with a line or a full stop.

    >>> made = TokenizedRecord("1", ("A", ".", "B"), ((0, 1), (2, 3), (4, 5)), (0, 0, 0), ("O", "O", "O"))
    >>> sentence_numbers(made)
    [0, 0, 1]
    """
    numbers, number = [], 0
    for position in range(len(record.words)):
        before = position - 1
        if position and (record.lines[position] != record.lines[before] or record.words[before] == "."):
            number += 1
        numbers.append(number)
    return numbers


@dataclass
class SentenceClassifier:
    """Classifies sentences by the types of PHI in them, by word pairs; replaces boosted n-gram trees."""

    seed: int = 0
    model_: Any = field(default=None, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> SentenceClassifier:
        """Train on labelled records."""
        rows, kinds = [], []
        for record in records:
            for words, labels in _sentences(record):
                rows.append(_pairs(words))
                kinds.append("+".join(sorted({label[2:] for label in labels if label != OUTSIDE} - _BY_RULE)))
        self.model_ = _model(self.seed, 10).fit(_matrix(rows), kinds)
        return self

    def classes(self, record: TokenizedRecord) -> list[str]:
        """Return the class of the sentence of each token."""
        found = self.model_.predict(_matrix([_pairs(words) for words, _ in _sentences(record)]))
        return [str(found[number]) for number in sentence_numbers(record)]


def _sentences(record: TokenizedRecord) -> list[tuple[list[str], list[str]]]:
    sentences: list[tuple[list[str], list[str]]] = []
    for number, word, label in zip(sentence_numbers(record), record.words, record.labels, strict=True):
        if number == len(sentences):
            sentences.append(([], []))
        sentences[number][0].append(word.lower())
        sentences[number][1].append(label)
    return sentences


def _pairs(words: Sequence[str]) -> list[str]:
    return ["1", *words, *(f"{one} {two}" for one, two in pairwise(words))]


@dataclass
class HybridRecognizer:
    """Rules for dates, identifiers and phones; SVMs for the rest, optionally with the sentence's class."""

    name: str
    with_sentences: bool
    groups: tuple[str, ...] = HARA
    epochs: int = 8
    seed: int = 0
    model_: Any = field(default=None, repr=False)
    sentences_: Any = field(default=None, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> HybridRecognizer:
        """Train on labelled records; sentence classes of the training records come from the other half."""
        classes: list[list[str] | None] = [None] * len(records)
        if self.with_sentences:
            for half in (0, 1):
                other = SentenceClassifier(self.seed).fit(records[1 - half :: 2])
                for index in range(half, len(records), 2):
                    classes[index] = other.classes(records[index])
            self.sentences_ = SentenceClassifier(self.seed).fit(records)
        rows, labels = [], []
        for record, kinds in zip(records, classes, strict=True):
            rows += _with_class(token_features(record, self.groups), kinds)
            labels += [OUTSIDE if label[2:] in _BY_RULE else label for label in record.labels]
        self.model_ = _model(self.seed, self.epochs).fit(_matrix(rows), labels)
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record; spans of rules are not overwritten."""
        for record in records:
            kinds = self.sentences_.classes(record) if self.with_sentences else None
            rows = _with_class(token_features(record, self.groups), kinds)
            learned = spans_of(record, [str(label) for label in self.model_.predict(_matrix(rows))])
            fixed = [span for span in regular_spans(record) if span.type in _BY_RULE]
            taken = np.zeros(record.extents[-1][1] + 1 if record.extents else 1, dtype=bool)
            for span in fixed:
                taken[span.start : span.end] = True
            free = [span for span in learned if not taken[span.start : span.end].any()]
            yield tuple(sorted([*fixed, *free]))


def _with_class(rows: list[list[str]], kinds: Sequence[str] | None) -> list[list[str]]:
    if kinds is None:
        return rows
    return [[*names, f"sentence={kind}"] for names, kind in zip(rows, kinds, strict=True)]
