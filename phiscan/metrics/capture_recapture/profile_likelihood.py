"""Multinomial profile-likelihood intervals of a population total, for many log-linear models at once.

With n0 files in the unobserved cell, the model is refitted to the completed table. Up to
constants the multinomial log-likelihood of the total N = n + n0 is then

    l(n0) = g(N) - g(n0) - D(n0)/2,   g(x) = log x! - x log x + x,

where D is the refitted deviance. The interval holds every N whose l is within 1.92 of the largest.

Source: Cormack (1992), Biometrics 48:567.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy import special

from phiscan.metrics.capture_recapture import poisson
from phiscan.metrics.intervals import Z95

Floats = NDArray[np.float64]
Indexes = NDArray[np.intp]

_MAX_STEPS = 200
_TOLERANCE = 1e-10
# At the maximum l is flat, and rounding shifts the root of its slope, more so for many files. An error of
# this size changes l by its square only.
_FLAT = 1e-5
# Accepted error of an end whose steps rounding keeps above the tolerance.
_ROUNDED = 1e-7
_SETTLED = 1e-9  # it changes l by its square
_LONGEST = 2.0  # in log n0, and in the log of any fitted count
# Limit of the coefficients' last step and of its gain in l: above it, l at this n0 is not yet known.
_KNOWN = 1e-3
# Below this number of unseen files the end of the interval is the number of files found.
_FLOOR = float(np.log(1e-9))


@dataclass(frozen=True, slots=True)
class Completed:
    """Models with the unseen cell appended as their last one; n_found files are in the others."""

    designs: Floats  # (m, t, c + 1)
    support: Floats  # (m, c + 1)
    counts: Floats  # (m, c + 1); the last column is not read
    n_found: float


@dataclass(frozen=True, slots=True)
class _Profile:
    """The profile at one n0: coefficients after a Newton step, and l with its derivatives by log n0."""

    beta: Floats
    sensitivity: Floats  # d beta / d log n0
    change: Floats  # largest change of the log of a fitted count by the step
    gain: Floats  # expected increase of 2 l by a full step
    value: Floats
    slope: Floats
    curvature: Floats


def complete(designs: Floats, support: Floats, counts: Floats) -> Completed:
    """Return the models with the unobserved cell appended; its count depends on the intercept only."""
    unseen = np.zeros((*designs.shape[:2], 1))
    unseen[:, 0, 0] = 1.0
    column = np.ones((len(designs), 1))
    return Completed(
        np.concatenate([designs, unseen], axis=2),
        np.concatenate([support, column], axis=1),
        np.concatenate([counts, column], axis=1),
        float(counts[0].sum()),
    )


def intervals(models: Completed, beta: Floats, se: Floats) -> tuple[Floats, Floats]:
    """Return the lower and the upper 95% ends of the total for every model, each of shape (m,).

    An end that was not reached is NaN.

    Args:
        models: the m completed models.
        beta: (m, t) coefficients of the Poisson fit.
        se: (m,) standard errors of the Poisson fit's total.
    """
    at_poisson = beta[:, 0]
    mode, at_mode = _search(models, np.maximum(at_poisson, _FLOOR), beta, None, 0)
    spread = Z95 * np.sqrt(np.log1p((se * np.exp(-at_poisson)) ** 2))
    ends = []
    for side in (-1, 1):
        start = np.maximum(mode + side * spread, _FLOOR)
        guess = at_mode.beta + at_mode.sensitivity * (start - mode)[:, None]
        ends.append(_search(models, start, guess, (mode, at_mode.value), side)[0])
    low = np.where(ends[0] <= _FLOOR, 0.0, np.exp(ends[0]))
    return models.n_found + low, models.n_found + np.exp(ends[1])


def _search(
    models: Completed, start: Floats, beta: Floats, peak: tuple[Floats, Floats] | None, side: int
) -> tuple[Floats, _Profile]:
    """Return the log n0 of every profile's maximum (``peak`` None), or of a drop by 1.92 on one side of it.

    Every step of log n0 is combined with one Newton step of the coefficients: l is stationary in them, so
    their error enters squared only, and both converge together. While that error is large, l is not known
    and log n0 does not change. Values of log n0 with known l bracket the solution, and no step leaves the
    bracket.
    """
    log_missed = start.copy()
    last = _profile_at(models, log_missed, beta)
    below, above = np.full(len(log_missed), _FLOOR), np.full(len(log_missed), np.inf)
    if peak is not None and side > 0:
        below = peak[0].copy()
    elif peak is not None:
        above = peak[0].copy()
    tolerance, enough = (_FLAT, _FLAT) if peak is None else (_TOLERANCE, _ROUNDED)
    length = np.full(len(log_missed), np.inf)
    active = np.arange(len(log_missed))
    for _ in range(_MAX_STEPS):
        profile = _part(last, active)
        known = (profile.gain < _KNOWN) & (profile.change < _KNOWN)
        if peak is None:
            step, up = _step_to_maximum(profile), profile.slope > 0
        else:
            step = _step_to_end(profile, peak[1][active], side)
            up = (_root_of_drop(profile, peak[1][active]) < Z95) == (side > 0)
        below[active] = np.where(known & up, np.maximum(below[active], log_missed[active]), below[active])
        above[active] = np.where(known & ~up, np.minimum(above[active], log_missed[active]), above[active])
        target = np.maximum(log_missed[active] + np.clip(step, -_LONGEST, _LONGEST), _FLOOR)
        outside = (target < below[active]) | (target > above[active])
        target = np.where(outside, (below[active] + above[active]) / 2, target)
        step = np.where(known, target - log_missed[active], 0.0)
        log_missed[active] += step
        part = _select(models, active)
        seen = _profile_at(part, log_missed[active], profile.beta + profile.sensitivity * step[:, None])
        for one in fields(seen):
            getattr(last, one.name)[active] = getattr(seen, one.name)
        length[active] = np.where(known, np.abs(step), np.inf)
        active = active[(length[active] > tolerance) | (seen.change > _SETTLED)]
        if len(active) == 0:
            break
    log_missed[(length > enough) | (last.change > _ROUNDED)] = np.nan
    return log_missed, last


def _step_to_maximum(profile: _Profile) -> Floats:
    """Return the Newton step towards slope 0; a fixed ascent step where l is not concave."""
    concave = profile.curvature < 0
    return np.where(
        concave, -profile.slope / np.where(concave, profile.curvature, 1.0), np.sign(profile.slope)
    )


def _root_of_drop(profile: _Profile, top: Floats) -> Floats:
    """Return the square root of twice the drop of l from its maximum."""
    return np.asarray(np.sqrt(2 * np.maximum(top - profile.value, 1e-12)))


def _step_to_end(profile: _Profile, top: Floats, side: int) -> Floats:
    """Return the step towards a signed root of 1.96, which is nearly linear in log n0."""
    root = _root_of_drop(profile, top)
    downhill = -side * profile.slope
    usable = downhill > 0
    return np.asarray(side * np.where(usable, (Z95 - root) * root / np.where(usable, downhill, 1.0), 1.0))


def _profile_at(models: Completed, log_missed: Floats, beta: Floats) -> _Profile:
    unseen = np.exp(log_missed)
    counts = models.counts.copy()
    counts[:, -1] = unseen
    fitted = poisson.fitted_counts(models.designs, models.support, beta)
    gradient = np.einsum("mtc,mc->mt", models.designs, counts - fitted)
    unit = np.zeros_like(gradient)
    unit[:, 0] = 1.0
    solved = poisson.solve_information(models.designs, fitted, np.stack([gradient, unit], axis=2))
    step, answer = solved[:, :, 0], solved[:, :, 1]
    change = np.abs(np.einsum("mtc,mt->mc", models.designs, step) * models.support).max(axis=1)
    gain = np.abs(np.einsum("mt,mt->m", gradient, step))
    beta = beta + step * np.minimum(1.0, _LONGEST / np.maximum(change, 1e-300))[:, None]
    fitted = poisson.fitted_counts(models.designs, models.support, beta)
    total = models.n_found + unseen
    value = (
        poisson.factorial_remainder(total)
        - poisson.factorial_remainder(unseen)
        - poisson.deviance(counts, fitted) / 2
    )
    # d l / d n0; the deviance's part is log n0 - log mu0 by the envelope theorem, and log mu0 = beta[0].
    by_count = special.digamma(total + 1) - np.log(total) - special.digamma(unseen + 1) + beta[:, 0]
    curvature = special.polygamma(1, total + 1) - 1 / total - special.polygamma(1, unseen + 1) + answer[:, 0]
    sensitivity = answer * unseen[:, None]
    return _Profile(
        beta, sensitivity, change, gain, value, by_count * unseen, (curvature * unseen + by_count) * unseen
    )


def _part(profile: _Profile, chosen: Indexes) -> _Profile:
    return _Profile(*(getattr(profile, one.name)[chosen] for one in fields(profile)))


def _select(models: Completed, chosen: Indexes) -> Completed:
    return Completed(models.designs[chosen], models.support[chosen], models.counts[chosen], models.n_found)
