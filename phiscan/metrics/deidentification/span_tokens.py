"""Token scores of a de-identification system, and its recall on out-of-vocabulary and ambiguous tokens.

A token is a run without white space. It is PHI if a span covers any of its characters.
Source: Uzuner, Luo & Szolovits (2007), "Token-Level Evaluation" and "Results on Ambiguous and
Out-of-Vocabulary PHI".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan
from phiscan.metrics.rates import Rates, rates

_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Counts of tokens: found PHI, wrongly marked non-PHI, missed PHI."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def rates(self) -> Rates:
        """Precision, recall and F1. Source: Uzuner et al. (2007), eq. 1-3."""
        return rates(self.tp, self.tp + self.fp, self.tp + self.fn)


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the gold PHI tokens of some kind were found."""

    found: int
    total: int

    @property
    def recall(self) -> float | None:
        """The share found; None when there is no such token."""
        return self.found / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Every token score of a system; counts only, no text."""

    overall: TokenCounts
    by_type: dict[str, TokenCounts]
    out_of_vocabulary: Recall | None  # None: no vocabulary was given
    ambiguous: Recall


def token_extents(text: str) -> list[tuple[int, int]]:
    """Return the half-open extents of the runs without white space.

    >>> token_extents("Dr. Bland")
    [(0, 3), (4, 9)]
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def covered_tokens(extents: Sequence[tuple[int, int]], spans: Iterable[LabelledSpan]) -> set[int]:
    """Return the indices of the tokens of which a span covers at least one character.

    >>> sorted(covered_tokens([(0, 3), (4, 9)], [LabelledSpan(2, 5, "DOCTOR")]))
    [0, 1]
    """
    starts = [start for start, _ in extents]
    ends = [end for _, end in extents]
    covered: set[int] = set()
    for span in spans:
        covered.update(range(bisect_right(ends, span.start), bisect_left(starts, span.end)))
    return covered


def token_scores(
    pairs: Sequence[tuple[AnnotatedText, AnnotatedText]],
    vocabulary: Collection[str] | None = None,
    *,
    normalise: Callable[[str], str] = str,
) -> TokenScores:
    """Score the tokens of (gold, system) pairs of documents; the gold documents carry the text.

    Overall, a token is PHI or not, whatever the type; by type, it has a type if a span of that type covers a
    character of it. A PHI token is out of vocabulary if it is not in ``vocabulary``, and ambiguous if the
    same
    token is also non-PHI somewhere in the gold documents. ``normalise`` is applied to tokens before they are
    compared with each other or with the vocabulary (``str.casefold`` to ignore case).

    Raises:
        ValueError: a gold document has no text.
    """
    gold_covers: list[set[int]] = []
    all_extents: list[list[tuple[int, int]]] = []
    plain: set[str] = set()
    for gold, _ in pairs:
        text = _text(gold)
        extents = token_extents(text)
        covered = covered_tokens(extents, gold.spans)
        plain.update(
            normalise(text[start:end]) for index, (start, end) in enumerate(extents) if index not in covered
        )
        gold_covers.append(covered)
        all_extents.append(extents)
    known = None if vocabulary is None else {normalise(word) for word in vocabulary}
    tp = fp = fn = unseen = unseen_found = ambiguous = ambiguous_found = 0
    by_type: dict[str, list[int]] = {}
    for (gold, system), extents, covered in zip(pairs, all_extents, gold_covers, strict=True):
        text = _text(gold)
        marked = covered_tokens(extents, system.spans)
        tp += len(covered & marked)
        fp += len(marked - covered)
        fn += len(covered - marked)
        for index in covered:
            token = normalise(text[slice(*extents[index])])
            if token in plain:
                ambiguous += 1
                ambiguous_found += index in marked
            if known is not None and token not in known:
                unseen += 1
                unseen_found += index in marked
        for name in {span.type for span in (*gold.spans, *system.spans)}:
            truly = covered_tokens(extents, [span for span in gold.spans if span.type == name])
            said = covered_tokens(extents, [span for span in system.spans if span.type == name])
            counts = by_type.setdefault(name, [0, 0, 0])
            counts[0] += len(truly & said)
            counts[1] += len(said - truly)
            counts[2] += len(truly - said)
    return TokenScores(
        TokenCounts(tp, fp, fn),
        {name: TokenCounts(*by_type[name]) for name in sorted(by_type)},
        None if known is None else Recall(unseen_found, unseen),
        Recall(ambiguous_found, ambiguous),
    )


def _text(document: AnnotatedText) -> str:
    if document.text is None:
        message = f"{document.name}: a gold document needs its text"
        raise ValueError(message)
    return document.text
