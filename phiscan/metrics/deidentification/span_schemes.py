"""The strict, exact, partial and type counts of SemEval-2013 task 9.1 (names as in nervaluate)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from phiscan.metrics.deidentification.spans import AnnotatedText, align
from phiscan.metrics.rates import Rates, rates

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
    the
    extents differ. type: any shared character with the same type.

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
