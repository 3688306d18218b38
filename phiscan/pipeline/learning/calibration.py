"""P(PHI) calibrated anew for one share: Platt scaling on decisions that a random order asked for.

Files that were reviewed because they looked bad say nothing of the rate among all files. So only files of
the random sample count, each with the number of files that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.metrics.intervals import clopper_pearson

MIN_OF_EACH: Final = 10
N_BINS: Final = 5
_CUT: Final = 1e-9


def calibrate(
    scores: npt.NDArray[np.float64], is_phi: npt.NDArray[np.bool_], weights: Sequence[float]
) -> dict[str, Any]:
    """Fit P(PHI) = 1 / (1 + exp(-(slope log-odds + intercept))) on held-out probabilities ``scores``.

    ``weights`` are 0 for files that no random order asked for.

    Source: Platt (1999), "Probabilistic outputs for support vector machines", with his smoothed targets.
    """
    weight = np.asarray(weights, dtype=float)
    drawn = weight > 0
    n_phi, n_other = int((drawn & is_phi).sum()), int((drawn & ~is_phi).sum())
    if min(n_phi, n_other) < MIN_OF_EACH:
        reason = (
            f"needs {MIN_OF_EACH} decisions of each verdict in the random sample; there are {n_phi} phi and"
            f" {n_other} not_phi"
        )
        return {"slope": None, "intercept": None, "n": n_phi + n_other, "bins": [], "reason": reason}
    from scipy.optimize import minimize  # noqa: PLC0415 (half a second to import; only to learn)

    cut = np.clip(scores[drawn], _CUT, 1 - _CUT)
    odds = np.log(cut / (1 - cut))
    targets = np.where(is_phi[drawn], (n_phi + 1) / (n_phi + 2), 1 / (n_other + 2))
    share = weight[drawn] / weight[drawn].mean()

    def loss(line: npt.NDArray[np.float64]) -> float:
        values = line[0] * odds + line[1]
        return float((share * (np.logaddexp(0, values) - targets * values)).sum())

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x.tolist()
    return {
        "slope": slope,
        "intercept": intercept,
        "n": int(drawn.sum()),
        "bins": _bins(1 / (1 + np.exp(-(slope * odds + intercept))), is_phi[drawn]),
        "reason": None,
    }


def _bins(p_phi: npt.NDArray[np.float64], is_phi: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Return predicted and observed shares in bins of equally many files, with exact intervals."""
    found = []
    for part in np.array_split(np.argsort(p_phi, kind="stable"), N_BINS):
        hits = int(is_phi[part].sum())
        found.append(
            {
                "predicted": float(p_phi[part].mean()),
                "observed": hits / len(part),
                "ci95": list(clopper_pearson(hits, len(part))),
                "n": len(part),
            }
        )
    return found
