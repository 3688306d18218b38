"""Weights of reviewed files by the inverse probability of their review, and the line fitted with them.

Files are reviewed because they look bad, so that the reviewed ones do not stand for all. Within a stratum of
the share and a range of its log-odds, each reviewed file counts for as many files as there are per reviewed
one. Where nothing was reviewed nothing is fitted: from decisions above the threshold follows a line above the
threshold, which begins at the threshold and so moves no file across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.decision.decided_examples import Line

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MIN_FILES: Final = 10  # reviewed above the threshold
MIN_OF_EACH_BELOW: Final = 5  # reviewed of each verdict below it, of a random sample, for an intercept
N_RANGES: Final = 4  # of the log-odds of a stratum
PENALTY: Final = 4.0  # on the squared logarithm of the slope, and on the squared intercept
_RANGE: Final = 3.0  # of the logarithm of the slope, and of the intercept


def inverse_probabilities(strata: Sequence[str], log_odds: Floats, is_reviewed: Flags) -> Floats:
    """Return files per reviewed file in each stratum and range of log-odds; 0 for files that were not.

    Source: Horvitz & Thompson (1952); Zadrozny (2004), "Learning and evaluating classifiers under sample
    selection bias".

    >>> inverse_probabilities(["a"] * 4, np.zeros(4), np.array([True, True, False, False])).tolist()
    [2.0, 2.0, 0.0, 0.0]
    """
    weights = np.zeros(len(log_odds))
    names = np.array(strata)
    for name in set(strata):
        members = np.flatnonzero(names == name)
        cuts = np.quantile(log_odds[members], np.arange(1, N_RANGES) / N_RANGES)
        ranges = np.searchsorted(cuts, log_odds[members], side="right")
        for number in range(N_RANGES):
            part = members[ranges == number]
            reviewed = part[is_reviewed[part]]
            if len(reviewed):
                weights[reviewed] = len(part) / len(reviewed)
    return weights


def fit_line(log_odds: Floats, is_phi: Flags, weights: Floats, threshold: float) -> Line:
    """Fit calibrated log-odds to the verdicts, pulled towards the line that changes nothing.

    Args:
        log_odds: of the reviewed files, corrected without themselves.
        is_phi: the verdicts.
        weights: inverse probabilities of their review; 0 for a file below the threshold that no random
            sample asked for.
        threshold: log-odds of referral.

    Source: Platt (1999), "Probabilistic outputs for support vector machines".
    """
    is_above = log_odds >= threshold
    below = ~is_above & (weights > 0)
    if int(is_above.sum()) < MIN_FILES:
        return Line()
    both = min(int((below & is_phi).sum()), int((below & ~is_phi).sum())) >= MIN_OF_EACH_BELOW
    used = is_above | below if both else is_above
    x, targets, share = log_odds[used], is_phi[used], weights[used] / weights[used].mean()
    from scipy.optimize import minimize  # noqa: PLC0415 (half a second to import; only to learn)

    def line_of(values: Floats) -> Line:
        slope = float(np.exp(values[0]))
        if both:
            return Line(slope, float(values[1]))
        return Line(slope, threshold * (1.0 - slope), threshold)

    def loss(values: Floats) -> float:
        line = line_of(values)
        fitted = line.slope * x + line.intercept
        return float(
            (share * (np.logaddexp(0, fitted) - targets * fitted)).sum() + PENALTY / 2 * values @ values
        )

    start = np.zeros(2 if both else 1)
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-_RANGE, _RANGE)] * len(start))
    return line_of(found.x)
