"""The order of the queue: what could do the most harm is looked at first."""

from __future__ import annotations

from phiscan.model import PiiVector

MIN_SCORE = 0.01  # a file that health terms alone do not carry still keeps its order among its like


def risk_of(vector: PiiVector, n_people: int, health_score: float | None) -> float:
    """Return kinds of identifiers times people times health score; an order, not a probability.

    No kind and nobody count as one, so that one zero does not hide the other factors.

    >>> from phiscan.model import PiiBit
    >>> risk_of(PiiVector(frozenset({PiiBit.SIN, PiiBit.PHONE})), 3, 0.5)
    3.0
    """
    return max(1, len(vector.bits)) * max(1, n_people) * max(MIN_SCORE, health_score or 0.0)
