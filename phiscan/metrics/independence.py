"""Dependence of two detectors: mutual information of verdicts, with an exact p-value, or of features.

Capture-recapture with two lists assumes independence. Mane et al. measure it by the mutual information
of the features that the detectors use, given the class, and of every pair of features separately.

Source: Mane et al. (2004), section 3; Cover & Thomas (2006), "Elements of Information Theory", eq. 2.28.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every scan computes the dependence of verdicts, which takes the standard library alone
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

# Significance level below which independence of a pair is not credible.
CREDIBLE_P = 0.05


@dataclass(frozen=True, slots=True)
class Dependence:
    """Mutual information in nats, and the share of permutations with at least as much."""

    nats: float
    p_value: float
    n: int


def verdict_dependence(both: int, only_first: int, only_second: int, neither: int) -> Dependence:
    """Measure the dependence of two detectors' verdicts from their counts; the p-value is exact.

    Shuffling one column of verdicts leaves the margins as they are, so the number that both found is
    hypergeometric: all shuffles are counted at once, however many files there are (Fisher 1935).

    At least one count is above 0.

    >>> round(verdict_dependence(10, 0, 0, 10).nats, 6)
    0.693147
    """
    n, first, second = both + only_first + only_second + neither, both + only_first, both + only_second

    def nats(found: int) -> float:
        """Return the mutual information if both found so many, with the same margins."""
        cells = (
            (found, first * second),
            (first - found, first * (n - second)),
            (second - found, (n - first) * second),
            (n - first - second + found, (n - first) * (n - second)),
        )
        return _information((cell / n, cell * n / product) for cell, product in cells if cell > 0)

    observed = nats(both)
    whole = _log_choose(n, second)
    p_value = math.fsum(
        math.exp(_log_choose(first, found) + _log_choose(n - first, second - found) - whole)
        for found in range(max(0, first + second - n), min(first, second) + 1)
        if nats(found) >= observed - 1e-12
    )
    return Dependence(observed, min(p_value, 1.0), n)


def mutual_information(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return the mutual information of two columns of labels, in nats (plug-in estimate).

    Source: Cover & Thomas (2006), eq. 2.28.

    >>> round(mutual_information([0, 0, 1, 1], [0, 0, 1, 1]), 6)
    0.693147
    """
    n = len(first)
    rows, columns = Counter(first), Counter(second)
    cells = Counter(zip(first, second, strict=True)).items()
    return _information((count / n, count * n / (rows[a] * columns[b])) for (a, b), count in cells)


def equal_frequency_bins(values: ArrayLike, n_bins: int = 8) -> NDArray[np.intp]:
    """Cut a continuous feature into bins of about equally many values; equal values share a bin.

    Raises:
        ValueError: a value is not finite, or there is no bin.

    >>> equal_frequency_bins([1.0, 2.0, 3.0, 4.0], 2).tolist()
    [0, 0, 1, 1]
    """
    import numpy as np  # noqa: PLC0415 (not for a scan, see above)

    column = np.asarray(values, dtype=float)
    if n_bins < 1 or not np.isfinite(column).all():
        message = "values: expected finite numbers and at least one bin"
        raise ValueError(message)
    edges = np.unique(np.quantile(column, np.arange(1, n_bins) / n_bins))
    return np.asarray(np.searchsorted(edges, column, side="left"))


def feature_information(first: ArrayLike, second: ArrayLike, n_bins: int = 8) -> NDArray[np.float64]:
    """Return the mutual information of every pair of features of two detectors.

    Args:
        first: (files, features of the first detector).
        second: (files, features of the second detector).
        n_bins: bins per feature.

    Returns:
        nats, of shape (features of the first, features of the second). Mane et al. compare detectors by its
        mean over PHI files.

    Source: Mane et al. (2004), figure 2.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    left, right = (
        [equal_frequency_bins(column, n_bins).tolist() for column in np.asarray(side, dtype=float).T]
        for side in (first, second)
    )
    return np.array([[mutual_information(a, b) for b in right] for a in left])


def _information(cells: Iterable[tuple[float, float]]) -> float:
    """Sum the shares of cells times the logarithms of their ratios to independence."""
    # Rounding can make the value slightly negative under independence.
    return max(math.fsum(share * math.log(ratio) for share, ratio in cells), 0.0)


def _log_choose(n: int, k: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
