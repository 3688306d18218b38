"""Test two detectors for independence: mutual information, with a permutation p-value.

Capture-recapture with two lists assumes independence. Mane et al. measure it by the mutual information
of the features that the detectors use, given the class, and of every pair of features separately.

Source: Mane et al. (2004), section 3; Cover & Thomas (2006), "Elements of Information Theory", eq. 2.28.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phiscan.metrics.verdict_pairs import CREDIBLE_P, Dependence, verdict_dependence

__all__ = [
    "CREDIBLE_P",
    "Dependence",
    "dependence",
    "equal_frequency_bins",
    "feature_information",
    "mutual_information",
    "verdict_dependence",
]

ASSUMPTION = (
    "The files compared are a random sample of PHI files, and under independence any pairing is as likely."
)


def mutual_information(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return the mutual information of two columns of labels, in nats (plug-in estimate).

    Raises:
        ValueError: the columns are empty or not of the same length.

    Source: Cover & Thomas (2006), eq. 2.28.

    >>> round(mutual_information([0, 0, 1, 1], [0, 0, 1, 1]), 6)
    0.693147
    """
    a, b = _codes(first), _codes(second)
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"columns: expected two of one length, not empty, got {len(a)} and {len(b)}")
    return float(_information(_table(a, b)))


def dependence(
    first: Sequence[Hashable], second: Sequence[Hashable], *, shuffles: int = 9_999, seed: int = 0
) -> Dependence:
    """Return the mutual information of two columns and its p-value under independence.

    The p-value is (r + 1)/(shuffles + 1), with r the shuffles of the second column that reach the observed
    mutual information, ties counted.

    Raises:
        ValueError: as :func:`mutual_information`, or ``shuffles`` is below 1.

    Source: North, Curtis & Sham (2002), Am. J. Hum. Genet. 71:439.

    >>> dependence([0, 1] * 10, [0, 1] * 10, shuffles=999).p_value
    0.001
    """
    if shuffles < 1:
        raise ValueError(f"shuffles: expected at least 1, got {shuffles}")
    observed = mutual_information(first, second)
    a, b = _codes(first), _codes(second)
    generator = np.random.default_rng(seed)
    # Shuffled values that equal the observed one mathematically may differ in the last digits.
    level = observed - 1e-12
    reached = 0
    for _ in range(shuffles):
        reached += bool(_information(_table(a, generator.permutation(b))) >= level)
    return Dependence(observed, (reached + 1) / (shuffles + 1), len(a))


def equal_frequency_bins(values: ArrayLike, n_bins: int = 8) -> NDArray[np.intp]:
    """Cut a continuous feature into bins of about equally many values; equal values share a bin.

    Raises:
        ValueError: a value is not finite, or there is no bin.

    >>> equal_frequency_bins([1.0, 2.0, 3.0, 4.0], 2).tolist()
    [0, 0, 1, 1]
    """
    column = np.asarray(values, dtype=float)
    if n_bins < 1 or not np.isfinite(column).all():
        raise ValueError("values: expected finite numbers and at least one bin")
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
    left = [equal_frequency_bins(column, n_bins) for column in np.asarray(first, dtype=float).T]
    right = [equal_frequency_bins(column, n_bins) for column in np.asarray(second, dtype=float).T]
    return np.array([[_information(_table(a, b)) for b in right] for a in left])


def _codes(column: Sequence[Hashable]) -> NDArray[np.intp]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in column], dtype=np.intp)


def _table(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
    width = int(second.max()) + 1
    size = (int(first.max()) + 1) * width
    return np.bincount(first * width + second, minlength=size).reshape(-1, width).astype(float)


def _information(table: NDArray[np.float64]) -> np.float64:
    n = table.sum()
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(table > 0, table / n * np.log(table * n / (rows * columns)), 0.0)
    # Rounding can make the value slightly negative under independence.
    return np.float64(max(terms.sum(), 0.0))
