"""Mutual information of the features of two detectors, by which Mane et al. measure their dependence.

Source: Mane et al. (2004), section 3 and figure 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phiscan.metrics.independence import mutual_information


def equal_frequency_bins(values: ArrayLike, n_bins: int = 8) -> NDArray[np.intp]:
    """Cut a continuous feature into bins of about equally many values; equal values share a bin.

    Raises:
        ValueError: a value is not finite, or there is no bin.

    >>> equal_frequency_bins([1.0, 2.0, 3.0, 4.0], 2).tolist()
    [0, 0, 1, 1]
    """
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
    left, right = (
        [equal_frequency_bins(column, n_bins).tolist() for column in np.asarray(side, dtype=float).T]
        for side in (first, second)
    )
    return np.array([[mutual_information(a, b) for b in right] for a in left])
