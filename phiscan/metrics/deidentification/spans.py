"""Instance scores of a de-identification system: correct, substitution, insertion, deletion.

Source: Uzuner, Luo & Szolovits (2007), eq. 4-10. Their sums run over the hypothesized entities; a deletion
has none, so eq. 7 can only mean a sum over the gold entities, and that is what is counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from phiscan.metrics.rates import Rates, rates

# An assignment is solved per cluster of overlapping spans; this bounds its memory (64 MiB).
MAX_CLUSTER = 2_896**2


class LabelledSpan(NamedTuple):
    """Half-open code-point offsets [start, end) and the type as written."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """One document of a gold standard or of a system; ``text`` is None where only spans were given."""

    name: str
    text: str | None = field(repr=False)
    spans: tuple[LabelledSpan, ...]


@dataclass(frozen=True, slots=True)
class InstanceCounts:
    """Counts of instances; correct + substitution + insertion is the system's number of spans."""

    correct: int = 0
    substitution: int = 0
    insertion: int = 0
    deletion: int = 0

    def __add__(self, other: InstanceCounts) -> InstanceCounts:
        return InstanceCounts(*map(add, astuple(self), astuple(other)))

    @property
    def n_system(self) -> int:
        """The number of spans of the system."""
        return self.correct + self.substitution + self.insertion

    @property
    def n_gold(self) -> int:
        """The number of spans of the gold standard."""
        return self.correct + self.substitution + self.deletion

    @property
    def rates(self) -> Rates:
        """Precision C/(C+S+I), recall C/(C+S+D) and F1. Source: Uzuner et al. (2007), eq. 8-10."""
        return rates(self.correct, self.n_system, self.n_gold)


@dataclass(frozen=True, slots=True)
class Alignment:
    """A one-to-one alignment of gold and system spans of one document.

    ``exact`` pairs agree in type and extent; ``near`` pairs share a character and differ in one of them.
    """

    exact: tuple[LabelledSpan, ...]
    near: tuple[tuple[LabelledSpan, LabelledSpan], ...]  # (gold, system)
    missed: tuple[LabelledSpan, ...]
    spurious: tuple[LabelledSpan, ...]

    @property
    def counts(self) -> InstanceCounts:
        """The four counts of the alignment."""
        return InstanceCounts(len(self.exact), len(self.near), len(self.spurious), len(self.missed))


def align(gold: Iterable[LabelledSpan], system: Iterable[LabelledSpan]) -> Alignment:
    """Align the spans of one document one-to-one, as well as possible.

    Exact pairs first, each span once (so a duplicate is left over). Of the rest, the alignment with the most
    pairs that share a character, which is the one with the fewest errors; among those, the one with the most
    equal extents, then equal types, then shared characters. It depends on neither the order of the spans
    nor chance.

    Raises:
        ValueError: thousands of spans lie on top of each other.

    >>> align([LabelledSpan(0, 4, "DATE")], [LabelledSpan(0, 2, "DATE"), LabelledSpan(2, 4, "ID")]).counts
    InstanceCounts(correct=0, substitution=1, insertion=1, deletion=0)
    """
    gold_left, system_left = Counter(gold), Counter(system)
    both = gold_left & system_left
    near: list[tuple[LabelledSpan, LabelledSpan]] = []
    missed: list[LabelledSpan] = []
    spurious: list[LabelledSpan] = []
    for golds, systems in _clusters(
        sorted((gold_left - both).elements()), sorted((system_left - both).elements())
    ):
        pairs = _best_pairs(golds, systems)
        near.extend((golds[g], systems[s]) for g, s in pairs)
        paired_gold, paired_system = {g for g, _ in pairs}, {s for _, s in pairs}
        missed.extend(span for index, span in enumerate(golds) if index not in paired_gold)
        spurious.extend(span for index, span in enumerate(systems) if index not in paired_system)
    return Alignment(tuple(sorted(both.elements())), tuple(near), tuple(missed), tuple(spurious))


def _clusters(
    gold: Sequence[LabelledSpan], system: Sequence[LabelledSpan]
) -> Iterator[tuple[list[LabelledSpan], list[LabelledSpan]]]:
    """Yield groups of spans connected by shared characters; spans of different groups share none."""
    merged = sorted([(span, 0) for span in gold] + [(span, 1) for span in system])
    group: tuple[list[LabelledSpan], list[LabelledSpan]] = ([], [])
    max_end = -1
    for span, side in merged:
        if span.start >= max_end and (group[0] or group[1]):
            yield group
            group = ([], [])
        group[side].append(span)
        max_end = max(max_end, span.end)
    if group[0] or group[1]:
        yield group


def _best_pairs(gold: Sequence[LabelledSpan], system: Sequence[LabelledSpan]) -> list[tuple[int, int]]:
    if not gold or not system:
        return []
    if len(gold) == len(system) == 1:
        return [(0, 0)]
    if len(gold) * len(system) > MAX_CLUSTER:
        message = f"{len(gold)} gold and {len(system)} system spans lie on top of each other; expected fewer"
        raise ValueError(message)
    gold_ends = np.array([span[:2] for span in gold])
    system_ends = np.array([span[:2] for span in system])
    types = {span.type: code for code, span in enumerate((*gold, *system))}
    shared = np.minimum(gold_ends[:, None, 1], system_ends[None, :, 1]) - np.maximum(
        gold_ends[:, None, 0], system_ends[None, :, 0]
    )
    touching = shared > 0
    same_extent = (gold_ends[:, None, :] == system_ends[None, :, :]).all(axis=2)
    same_type = np.equal.outer([types[s.type] for s in gold], [types[s.type] for s in system])
    # Each criterion outweighs everything that the later ones can add up to, over all pairs.
    n_pairs = min(len(gold), len(system))
    unit_type = 1.0 + n_pairs  # shared characters enter as a fraction below 1 per pair
    unit_extent = unit_type * (n_pairs + 1)
    unit_pair = unit_extent * (n_pairs + 1)
    weight = unit_pair + unit_extent * same_extent + unit_type * same_type + shared / (shared.max() + 1)
    rows, columns = linear_sum_assignment(np.where(touching, weight, 0.0), maximize=True)
    return [(int(g), int(s)) for g, s in zip(rows, columns, strict=True) if touching[g, s]]


def instance_counts(pairs: Iterable[tuple[AnnotatedText, AnnotatedText]]) -> tuple[InstanceCounts, ...]:
    """Count instances in each (gold, system) pair of documents; one result per pair, in order.

    >>> gold = AnnotatedText("a", "x 08/97", (LabelledSpan(2, 4, "DATE"),))
    >>> system = AnnotatedText("a", None, (LabelledSpan(2, 7, "DATE"),))
    >>> instance_counts([(gold, system)])
    (InstanceCounts(correct=0, substitution=1, insertion=0, deletion=0),)
    """
    return tuple(align(gold.spans, system.spans).counts for gold, system in pairs)


def instance_counts_by_type(
    pairs: Sequence[tuple[AnnotatedText, AnnotatedText]],
) -> dict[str, InstanceCounts]:
    """Count instances of each type by itself, types in alphabetical order.

    Only spans of that type are aligned: precision is the share of the system's spans of the type that are
    correct and recall the share of the gold ones, as the source defines them for a category. A span of the
    wrong type is thus a deletion for the type that it has and an insertion for the one that it was given.
    """
    found = sorted({span.type for pair in pairs for document in pair for span in document.spans})
    totals = dict.fromkeys(found, InstanceCounts())
    for gold, system in pairs:
        for name in {span.type for span in (*gold.spans, *system.spans)}:
            only_gold = [span for span in gold.spans if span.type == name]
            only_system = [span for span in system.spans if span.type == name]
            totals[name] += align(only_gold, only_system).counts
    return totals


SCHEMES = ("strict", "exact", "partial", "type")


@dataclass(frozen=True, slots=True)
class SchemeCounts:
    """Counts of one scheme over all documents; ``possible`` gold spans and ``actual`` system spans."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0

    @property
    def possible(self) -> int:
        """The number of gold spans."""
        return self.correct + self.incorrect + self.partial + self.missed

    @property
    def actual(self) -> int:
        """The number of system spans."""
        return self.correct + self.incorrect + self.partial + self.spurious

    @property
    def rates(self) -> Rates:
        """Precision, recall and F1; a partial match is half a correct one."""
        return rates(self.correct + self.partial / 2, self.actual, self.possible)


def scheme_counts(pairs: Iterable[tuple[AnnotatedText, AnnotatedText]]) -> dict[str, SchemeCounts]:
    """Count matches under the four schemes, on the same alignment as the instance scores.

    strict: extent and type must agree. exact: extent only. partial: any shared character, half a match where
    the extents differ. type: any shared character with the same type.

    Source: Segura-Bedmar, Martinez & Herrero-Zazo (2013), SemEval-2013 task 9.1.
    """
    n_exact = n_extent = n_type = n_near = n_missed = n_spurious = 0
    for gold, system in pairs:
        alignment = align(gold.spans, system.spans)
        n_exact += len(alignment.exact)
        n_near += len(alignment.near)
        n_extent += sum(g[:2] == s[:2] for g, s in alignment.near)
        n_type += sum(g.type == s.type for g, s in alignment.near)
        n_missed += len(alignment.missed)
        n_spurious += len(alignment.spurious)
    return {
        "strict": SchemeCounts(n_exact, n_near, 0, n_missed, n_spurious),
        "exact": SchemeCounts(n_exact + n_extent, n_near - n_extent, 0, n_missed, n_spurious),
        "partial": SchemeCounts(n_exact + n_extent, 0, n_near - n_extent, n_missed, n_spurious),
        "type": SchemeCounts(n_exact + n_type, n_near - n_type, 0, n_missed, n_spurious),
    }
