"""Token scores of a de-identification system, also on out-of-vocabulary and ambiguous tokens alone.

A token is a run without white space. It is PHI if a span covers any of its characters.
Source: Uzuner, Luo & Szolovits (2007), "Token-Level Evaluation" and "Results on Ambiguous and
Out-of-Vocabulary PHI".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan
from phiscan.metrics.rates import OverlapCounts, Rates, rates

_TOKEN = re.compile(r"\S+")


# The source: "the concept of being out-of-vocabulary does not apply to IDs, dates, ages, and phone numbers".
# Types of i2b2 2006 and 2014, HIPAA's and phiscan's own that are no names or places; others count.
NOT_OF_A_VOCABULARY = frozenset(
    {
        "DATE", "DATE_OF_BIRTH", "AGE", "AGE_OVER_89", "ID", "PHONE", "FAX", "EMAIL", "CONTACT",
        "SIN", "SSN", "HEALTH_CARD", "PASSPORT", "DRIVER_LICENSE", "MRN", "HEALTH_PLAN", "ACCOUNT",
        "CREDIT_CARD", "LICENSE", "VEHICLE", "DEVICE", "URL", "IP", "BIOMETRIC", "OTHER_ID",
        "MEDICALRECORD", "HEALTHPLAN", "BIOID", "IDNUM", "IPADDR", "IPADDRESS", "USERNAME", "ZIP",
        "POSTAL_CODE", "ROOM",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subset:
    """The score on a subset of the tokens: PHI found, all PHI, and other such tokens that were marked."""

    found: int
    total: int
    spurious: int = 0

    @property
    def recall(self) -> float | None:
        """The share found; None when there is no such token."""
        return self.found / self.total if self.total else None

    @property
    def rates(self) -> Rates:
        """Precision, recall and F1 on these tokens alone."""
        return rates(self.found, self.found + self.spurious, self.total)


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Every token score of a system; counts only, no text."""

    overall: OverlapCounts
    by_type: dict[str, OverlapCounts]
    out_of_vocabulary: Subset | None  # None: no vocabulary was given
    ambiguous: Subset  # with non-PHI
    ambiguous_any: Subset  # with non-PHI or with PHI of another type


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
    character of it. A token of a name or a place is out of vocabulary if it is not in ``vocabulary``; dates,
    identifiers, ages and phones never are, by their gold type or, where there is none, by the system's. A
    token is ambiguous if the same token is both PHI and non-PHI somewhere in the gold documents. Precision on
    such tokens counts the non-PHI ones that the system marked. ``normalise`` is applied to tokens before they
    are compared with each other or with the vocabulary (``str.casefold`` to ignore case).

    Raises:
        ValueError: a gold document has no text.
    """
    known = None if vocabulary is None else {normalise(word) for word in vocabulary}
    types = _types_of_tokens(pairs, normalise)
    overall = OverlapCounts()
    unseen, ambiguous, ambiguous_any = Counter[str](), Counter[str](), Counter[str]()
    by_type: defaultdict[str, OverlapCounts] = defaultdict(OverlapCounts)
    for gold, system in pairs:
        text = _text(gold)
        extents = token_extents(text)
        covered, marked = covered_tokens(extents, gold.spans), covered_tokens(extents, system.spans)
        named, named_too = (
            covered_tokens(extents, [span for span in side.spans if span.type not in NOT_OF_A_VOCABULARY])
            for side in (gold, system)
        )
        overall += _overlap(covered, marked)
        for index in covered | marked:
            token = normalise(text[slice(*extents[index])])
            outcome = ("found" if index in marked else "missed") if index in covered else "spurious"
            several = len(types[token]) > 1
            ambiguous[outcome] += several and None in types[token]
            ambiguous_any[outcome] += several
            is_named = index in named if index in covered else index in named_too
            unseen[outcome] += known is not None and is_named and token not in known
        for name in {span.type for span in (*gold.spans, *system.spans)}:
            truly = covered_tokens(extents, [span for span in gold.spans if span.type == name])
            predicted = covered_tokens(extents, [span for span in system.spans if span.type == name])
            by_type[name] += _overlap(truly, predicted)
    return TokenScores(
        overall,
        {name: by_type[name] for name in sorted(by_type)},
        None if known is None else _subset(unseen),
        _subset(ambiguous),
        _subset(ambiguous_any),
    )


def _overlap(truly: set[int], marked: set[int]) -> OverlapCounts:
    return OverlapCounts(len(truly & marked), len(marked - truly), len(truly - marked))


def _subset(outcomes: Counter[str]) -> Subset:
    return Subset(outcomes["found"], outcomes["found"] + outcomes["missed"], outcomes["spurious"])


def token_counts(pairs: Iterable[tuple[AnnotatedText, AnnotatedText]]) -> tuple[OverlapCounts, ...]:
    """Count PHI tokens in each (gold, system) pair of documents; one result per pair, in order.

    >>> gold = AnnotatedText("a", "Dr. Bland", (LabelledSpan(4, 9, "DOCTOR"),))
    >>> token_counts([(gold, AnnotatedText("a", None, ()))])
    (OverlapCounts(tp=0, fp=0, fn=1),)
    """
    counts = []
    for gold, system in pairs:
        extents = token_extents(_text(gold))
        counts.append(_overlap(covered_tokens(extents, gold.spans), covered_tokens(extents, system.spans)))
    return tuple(counts)


def _types_of_tokens(
    pairs: Sequence[tuple[AnnotatedText, AnnotatedText]], normalise: Callable[[str], str]
) -> dict[str, set[str | None]]:
    """Return the types of every token of the gold documents; None among them: somewhere it is no PHI."""
    types: defaultdict[str, set[str | None]] = defaultdict(set)
    for gold, _ in pairs:
        text = _text(gold)
        extents = token_extents(text)
        tokens = [normalise(text[slice(*extent)]) for extent in extents]
        outside = set(range(len(extents)))
        for span in gold.spans:
            for index in covered_tokens(extents, [span]):
                types[tokens[index]].add(span.type)
                outside.discard(index)
        for index in outside:
            types[tokens[index]].add(None)
    return types


def _text(document: AnnotatedText) -> str:
    if document.text is None:
        message = f"{document.name}: a gold document needs its text"
        raise ValueError(message)
    return document.text
