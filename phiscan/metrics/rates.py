"""Precision, recall and F1 from counts; a rate whose denominator is zero does not exist (None)."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.language import lazy_gettext as _


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and F1, each in [0, 1], or None where it does not exist."""

    precision: float | None
    recall: float | None
    f1: float | None

    @property
    def reason(self) -> str:
        """Why a rate does not exist; "" when all of them do."""
        if self.precision is None and self.recall is None:
            return _("nothing in the gold standard and nothing in the system output")
        if self.precision is None:
            return _("nothing in the system output, so precision and F1 do not exist")
        if self.recall is None:
            return _("nothing in the gold standard, so recall and F1 do not exist")
        return ""


@dataclass(frozen=True, slots=True)
class OverlapCounts:
    """What gold standard and system share (``tp``), what only the system has, and what only the standard."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: OverlapCounts) -> OverlapCounts:
        return OverlapCounts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def correct(self) -> int:
        """The number of what both have."""
        return self.tp

    @property
    def n_system(self) -> int:
        """The number of what the system has."""
        return self.tp + self.fp

    @property
    def n_gold(self) -> int:
        """The number of what the gold standard has."""
        return self.tp + self.fn

    @property
    def rates(self) -> Rates:
        """Precision, recall and F1. Source: Uzuner et al. (2007), eq. 1-3."""
        return rates(self.tp, self.n_system, self.n_gold)


def rates(n_correct: float, n_system: int, n_gold: int) -> Rates:
    """Compute precision, recall and F1 from counts of any size.

    ``n_correct`` may carry halves (the partial scheme). Python integers are exact and their division is
    correctly rounded, so the result is right to the last digit for counts beyond 10^9.

    F1 is 2PR/(P+R). The general formula printed as eq. 3 of the source, (1+b)PR/(bP+R), lacks the squares:
    the weighted harmonic mean is (1+b^2)PR/(b^2 P+R); both agree at b = 1, the only weight used there and
    here.

    Source: Uzuner et al. (2007), eq. 1, 2 and 10.

    >>> rates(3, 4, 6)
    Rates(precision=0.75, recall=0.5, f1=0.6)
    """
    precision = n_correct / n_system if n_system else None
    recall = n_correct / n_gold if n_gold else None
    f1 = 2 * n_correct / (n_system + n_gold) if n_system and n_gold else None
    return Rates(precision, recall, f1)
