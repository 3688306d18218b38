"""Multinomial profile-likelihood intervals of a population total, for many log-linear models at once.

With n0 files put into the cell that nobody observes, the model is refitted to the completed table. Up to
constants the multinomial log-likelihood of the total N = n + n0 is then

    l(n0) = g(N) - g(n0) - D(n0)/2,   g(x) = log x! - x log x + x,

where D is the refitted deviance. The interval holds every N whose l is within 1.92 of the largest.

Source: Cormack (1992), Biometrics 48:567.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from phiscan.metrics.capture_recapture import poisson
from phiscan.metrics.intervals import Z95

Floats = NDArray[np.float64]
Indexes = NDArray[np.intp]

_MAX_STEPS = 200
_TOLERANCE = 1e-10
# At the top l is flat, and rounding moves the slope's root, the more the more files there are: its square is
# what this costs l.
_FLAT = 1e-5
# An end whose steps rounding keeps above the tolerance is as good as this too.
_ROUNDED = 1e-7
_SETTLED = 1e-9  # its square is what it costs l
_LONGEST = 2.0  # in log n0, and in the log of any fitted count
# The last step of the coefficients, and what it gained in l: above it, l at this place is not yet known.
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
class _Look:
    """The profile at one place: coefficients after a Newton step, and l with its derivatives by log n0."""

    beta: Floats
    sensitivity: Floats  # d beta / d log n0
    change: Floats  # how far the step moved the log of a fitted count, at most
    gain: Floats  # what a whole step promised to add to 2 l
    value: Floats
    slope: Floats
    bend: Floats


def complete(designs: Floats, support: Floats, counts: Floats) -> Completed:
    """Append the unseen cell, which only the intercept reaches."""
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
    mode, at_mode = _walk(models, np.maximum(at_poisson, _FLOOR), beta, None, 0)
    spread = Z95 * np.sqrt(np.log1p((se * np.exp(-at_poisson)) ** 2))
    ends = []
    for side in (-1, 1):
        start = np.maximum(mode + side * spread, _FLOOR)
        guess = at_mode.beta + at_mode.sensitivity * (start - mode)[:, None]
        ends.append(_walk(models, start, guess, (mode, at_mode.value), side)[0])
    low = np.where(ends[0] <= _FLOOR, 0.0, np.exp(ends[0]))
    return models.n_found + low, models.n_found + np.exp(ends[1])


def _walk(
    models: Completed, start: Floats, beta: Floats, peak: tuple[Floats, Floats] | None, side: int
) -> tuple[Floats, _Look]:
    """Walk along every profile to its top (``peak`` None), or to where it has dropped by 1.92 on one side.

    Every step of log n0 goes with one Newton step of the coefficients: l is stationary in them, so their
    error only enters squared, and both converge together. Where that error is still large, l is not known:
    the place waits there for its coefficients. Places where l was known bracket the goal, and no step leaves
    the bracket.
    """
    place = start.copy()
    last = _look(models, place, beta)
    below, above = np.full(len(place), _FLOOR), np.full(len(place), np.inf)
    if peak is not None and side > 0:
        below = peak[0].copy()
    elif peak is not None:
        above = peak[0].copy()
    tolerance, enough = (_FLAT, _FLAT) if peak is None else (_TOLERANCE, _ROUNDED)
    length = np.full(len(place), np.inf)
    active = np.arange(len(place))
    for _ in range(_MAX_STEPS):
        look = _part(last, active)
        known = (look.gain < _KNOWN) & (look.change < _KNOWN)
        if peak is None:
            step, up = _to_top(look), look.slope > 0
        else:
            step = _to_drop(look, peak[1][active], side)
            up = (_drop(look, peak[1][active]) < Z95) == (side > 0)
        below[active] = np.where(known & up, np.maximum(below[active], place[active]), below[active])
        above[active] = np.where(known & ~up, np.minimum(above[active], place[active]), above[active])
        aim = np.maximum(place[active] + np.clip(step, -_LONGEST, _LONGEST), _FLOOR)
        outside = (aim < below[active]) | (aim > above[active])
        aim = np.where(outside, (below[active] + above[active]) / 2, aim)
        step = np.where(known, aim - place[active], 0.0)
        place[active] += step
        part = _select(models, active)
        seen = _look(part, place[active], look.beta + look.sensitivity * step[:, None])
        for name in ("beta", "sensitivity", "change", "gain", "value", "slope", "bend"):
            getattr(last, name)[active] = getattr(seen, name)
        length[active] = np.where(known, np.abs(step), np.inf)
        active = active[(length[active] > tolerance) | (seen.change > _SETTLED)]
        if len(active) == 0:
            break
    place[(length > enough) | (last.change > _ROUNDED)] = np.nan
    return place, last


def _to_top(look: _Look) -> Floats:
    """Step towards slope 0; uphill by a fixed length where l is not concave."""
    concave = look.bend < 0
    return np.where(concave, -look.slope / np.where(concave, look.bend, 1.0), np.sign(look.slope))


def _drop(look: _Look, top: Floats) -> Floats:
    """Return the root of twice the drop of l, without its sign."""
    return np.asarray(np.sqrt(2 * np.maximum(top - look.value, 1e-12)))


def _to_drop(look: _Look, top: Floats, side: int) -> Floats:
    """Step towards a signed root of 1.96, which is nearly a straight line in log n0."""
    root = _drop(look, top)
    downhill = -side * look.slope
    usable = downhill > 0
    return np.asarray(side * np.where(usable, (Z95 - root) * root / np.where(usable, downhill, 1.0), 1.0))


def _look(models: Completed, place: Floats, beta: Floats) -> _Look:
    unseen = np.exp(place)
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
    bend = special.polygamma(1, total + 1) - 1 / total - special.polygamma(1, unseen + 1) + answer[:, 0]
    sensitivity = answer * unseen[:, None]
    return _Look(
        beta, sensitivity, change, gain, value, by_count * unseen, (bend * unseen + by_count) * unseen
    )


def _part(look: _Look, chosen: Indexes) -> _Look:
    return _Look(
        look.beta[chosen],
        look.sensitivity[chosen],
        look.change[chosen],
        look.gain[chosen],
        look.value[chosen],
        look.slope[chosen],
        look.bend[chosen],
    )


def _select(models: Completed, chosen: Indexes) -> Completed:
    return Completed(models.designs[chosen], models.support[chosen], models.counts[chosen], models.n_found)
