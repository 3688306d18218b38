"""Multinomial profile-likelihood intervals of a population total, for many log-linear models at once.

With n0 files in the unobserved cell, the model is refitted to the completed table. Up to
constants the multinomial log-likelihood of the total N = n + n0 is then

    l(n0) = g(N) - g(n0) - D(n0)/2,   g(x) = log x! - x log x + x,

where D is the refitted deviance. The interval holds every N whose l is within 1.92 of the largest.

Source: Cormack (1992), Biometrics 48:567.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.optimize import elementwise

from phiscan.metrics.capture_recapture import poisson
from phiscan.metrics.intervals import Z95

Floats = NDArray[np.float64]
Indexes = NDArray[np.intp]

# Below this logarithm of the number of unseen files the end of the interval is the number of files found;
# above the other one there is no end.
_FLOOR, _CEILING = float(np.log(1e-9)), 50.0
_MOST_STEPS = 100
_PRECISION = {"xatol": 1e-8, "xrtol": 0.0}  # of log n0


def intervals(
    designs: Floats, support: Floats, counts: Floats, beta: Floats, se: Floats
) -> tuple[Floats, Floats]:
    """Return the lower and the upper 95% ends of the total for every model, each of shape (m,).

    An end that was not reached is NaN.

    Args:
        designs: (m, t, c), as fitted.
        support: (m, c), as fitted.
        counts: (m, c), as fitted.
        beta: (m, t) coefficients of the Poisson fit.
        se: (m,) standard errors of the Poisson fit's total.
    """
    # The unseen cell is appended as the last one; its count depends on the intercept only.
    unseen = np.zeros((*designs.shape[:2], 1))
    unseen[:, 0, 0] = 1.0
    one = np.ones((len(designs), 1))
    whole, inside = np.concatenate([designs, unseen], axis=2), np.concatenate([support, one], axis=1)
    n_found = float(counts[0].sum())
    last = beta.copy()  # coefficients of the last refit, which are near those of the next one

    def profile(log_missed: Floats, models: Indexes) -> tuple[Floats, Floats]:
        """Return l, and its derivative by n0: log n0 - log mu0 and log mu0 = beta[0] by the envelope."""
        n_missed = np.exp(log_missed)
        total = n_found + n_missed
        completed = np.concatenate([counts[models], n_missed[:, None]], axis=1)
        fits = poisson.fit(whole[models], inside[models], completed, start=last[models])
        last[models] = fits.beta
        gap = poisson.factorial_remainder(total) - poisson.factorial_remainder(n_missed)
        slope = special.digamma(total + 1) - np.log(total) - special.digamma(n_missed + 1) + fits.beta[:, 0]
        return gap - poisson.deviance(completed, fits.fitted) / 2, slope

    start = np.clip(beta[:, 0], _FLOOR, _CEILING)
    spread = Z95 * np.sqrt(np.log1p((se * np.exp(-beta[:, 0])) ** 2))
    side = np.sign(profile(start, np.arange(len(start)))[1])  # on which l rises
    mode = _end(lambda at, models: side[models] * profile(at, models)[1], start, side * spread)
    mode = np.clip(np.where(np.isnan(mode), start, mode), _FLOOR, _CEILING)
    top = profile(mode, np.arange(len(mode)))[0]
    low, high = (
        _end(lambda at, models: profile(at, models)[0] - top[models] + Z95**2 / 2, mode, side * spread)
        for side in (-1, 1)
    )
    return n_found + np.where(low <= _FLOOR, 0.0, np.exp(low)), n_found + np.exp(high)


def _end(height: Callable[[Floats, Indexes], Floats], start: Floats, step: Floats) -> Floats:
    """Return for every model where a height that is positive at the start falls to 0.

    It is searched for by steps that double, in their direction. Where it does not fall: the floor downwards,
    NaN upwards.
    """
    models = np.arange(len(start))
    inner, outer = start.copy(), np.clip(start + step, _FLOOR, _CEILING)
    climbing = models
    for _ in range(_MOST_STEPS):
        climbing = climbing[height(outer[climbing], climbing) > 0]
        climbing = climbing[(outer[climbing] > _FLOOR) & (outer[climbing] < _CEILING)]
        if len(climbing) == 0:
            break
        inner[climbing] = outer[climbing]
        step = 2 * step
        outer[climbing] = np.clip(outer[climbing] + step[climbing], _FLOOR, _CEILING)
    found = elementwise.find_root(
        lambda at, models: height(at, models.astype(np.intp)),
        (np.minimum(inner, outer), np.maximum(inner, outer)),
        args=(models,),
        tolerances=_PRECISION,
    )
    missing = np.where(outer <= _FLOOR, _FLOOR, np.nan)
    return np.where(found.success, found.x, missing)
