"""The unachievable region of PR space: lower bounds of precision and of the area under the curve.

Source: Boyd, Santos Costa, Davis & Page (2012); Boyd (2014), chapter 3.
"""

from __future__ import annotations

import math

import numpy as np

_SERIES_BELOW = 0.05  # skew under which the logarithm cancels and the series is used
_DIRECT_TERMS = 100_000  # terms of a sum added one by one before the integral takes over


def minimum_precision(recall: float, skew: float) -> float:
    """Return the lowest achievable precision at a recall; ``skew`` is the share of positives.

    Source: Boyd (2014), theorem "Achievable Points".

    >>> minimum_precision(0.5, 0.5)
    0.3333333333333333
    """
    below = 1 - skew + skew * recall
    return skew * recall / below if below else 1.0


def minimum_aucpr(skew: float) -> float:
    """Return the lowest achievable area under the PR curve, which is the area of the unachievable region.

    Source: Boyd (2014), theorem "Minimum AUCPR": 1 + (1 - skew) ln(1 - skew)/skew. For a small skew this is
    summed as the series of skew^k/(k(k+1)), because the formula loses its digits there.

    Raises:
        ValueError: unless 0 <= skew <= 1.

    >>> round(minimum_aucpr(0.5), 6)
    0.306853
    """
    if not 0 <= skew <= 1:
        message = f"expected a share of positives from 0 to 1, got {skew}"
        raise ValueError(message)
    if skew == 1:
        return 1.0
    if skew < _SERIES_BELOW:
        return math.fsum(skew**k / (k * (k + 1)) for k in range(1, 20))
    return 1 + (1 - skew) * math.log1p(-skew) / skew


def minimum_average_precision(n: int, m: int) -> float:
    """Return the average precision of the worst ranking of n positives and m negatives.

    Exact to the last digits for counts up to 10^9 and beyond: after the first terms, the sum of i/(i+m) is
    its integral with the Euler-Maclaurin corrections. Source: Boyd (2014), theorem "Minimum AP".

    Raises:
        ValueError: unless n >= 1 and m >= 0.

    >>> minimum_average_precision(2, 2)
    0.41666666666666663
    """
    if n < 1 or m < 0:
        message = f"expected at least one positive and no negative number of examples, got {n} and {m}"
        raise ValueError(message)
    head = min(n, _DIRECT_TERMS)
    ranks = np.arange(1, head + 1, dtype=np.float64)
    total = math.fsum(ranks / (ranks + m))
    if n > head:
        low, high = head + 1, n
        # i/(i+m) = 1 - m/(i+m): its integral, half the ends, and the first derivative at the ends.
        ratio = (high - low) / (low + m)
        total += (high - low) - m * math.log1p(ratio) + (low / (low + m) + high / (high + m)) / 2
        total += (m / (high + m) ** 2 - m / (low + m) ** 2) / 12
    return total / n


def normalised_aucpr(area: float, minimum: float) -> float | None:
    """Rescale an area so that 0 is the minimum for its skew and 1 is perfect; None when both coincide.

    It can be compared across data sets of different skew. Source: Boyd et al. (2012), AUCNPR.

    >>> normalised_aucpr(0.75, 0.5)
    0.5
    """
    return (area - minimum) / (1 - minimum) if minimum < 1 else None
