"""Logistic regression with a ridge penalty towards given weights, by Newton's method.

Each step solves a linear system of the size of the smaller of the number of files and of features.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MAX_STEPS: Final = 40
_CLOSE: Final = 1e-8
_LEAST: Final = 1e-10


def fit_ridge(rows: Floats, targets: npt.NDArray[np.bool_], start: Floats, strength: Floats) -> Floats:
    """Return the weights that minimize log loss plus ``strength`` / 2 times squared distance to ``start``.

    Args:
        rows: (files, features).
        targets: (files,).
        start: (features,), the weights that the penalty pulls towards.
        strength: (features,), above 0.

    Source: Rasmussen & Williams (2006), algorithm 3.1, for the step in the space of the files.
    """
    n_files, n_features = rows.shape
    origin = rows @ start
    kernel = (rows / strength) @ rows.T if n_files <= n_features else None
    weights, values, dual = start.copy(), origin.copy(), np.zeros(n_files)
    signs = np.where(targets, 1.0, -1.0)

    def loss(values: Floats, weights: Floats) -> float:
        pulled = weights - start
        return float(np.logaddexp(0.0, -signs * values).sum() + 0.5 * (strength * pulled * pulled).sum())

    best = loss(values, weights)
    for _ in range(MAX_STEPS):
        p_phi = 1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0)))
        curve = np.maximum(p_phi * (1.0 - p_phi), _LEAST)
        step: Any
        if kernel is None:
            slope = rows.T @ (targets - p_phi) - strength * (weights - start)
            step = np.linalg.solve((rows * curve[:, None]).T @ rows + np.diag(strength), slope)
        else:
            root = np.sqrt(curve)
            right = curve * (values - origin) + (targets - p_phi)
            system = np.eye(n_files) + root[:, None] * kernel * root[None, :]
            target = right - root * np.linalg.solve(system, root * (kernel @ right))
            step = rows.T @ (target - dual) / strength
            dual = target
        size = 1.0
        while size > _CLOSE and loss(values + size * (rows @ step), weights + size * step) > best:
            size /= 2  # a full step may overshoot where the curve is nearly flat
        weights = weights + size * step
        values = rows @ weights
        if kernel is not None and size < 1.0:
            # The dual of a shortened step has no closed form: continue with the primal form.
            kernel = None
        now = loss(values, weights)
        if best - now < _CLOSE * max(best, 1.0):
            break
        best = now
    return weights
