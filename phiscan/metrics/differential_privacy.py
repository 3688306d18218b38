"""Release accuracy, sensitivity, specificity, AUCROC or average precision with differential privacy.

Neighbouring data sets differ in one example, and their size is public ("bounded" privacy).

Source: Boyd (2014), chapter 5; Boyd, Lantz & Page (2015); Nissim, Raskhodnikova & Smith (2007).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from phiscan.errors import InputError

METRICS = ("accuracy", "sensitivity", "specificity", "auc_roc", "average_precision")
NOISES = ("laplace", "cauchy")

# The released number is a multiple of 2^-40 for all data, so that its digits reveal nothing about the scale.
GRID_BITS = 40
_LOOSE = 5  # positives up to which the printed bound for average precision exceeds 1
_DISC_BITS = 256
_DROWNED = 0.1  # half-width of the central 95 % of the noise from which the noise dominates


def smoothness(epsilon: float, delta: float, noise: str) -> float:
    """Return beta, how fast the scale of the noise may change between neighbours.

    Source: Nissim et al. (2007): epsilon/(2 ln(2/delta)) for Laplace, epsilon/6 for Cauchy noise.

    >>> round(smoothness(1.0, 0.01, "laplace"), 6)
    0.09437
    """
    _check(epsilon, delta, noise, needs_delta=noise == "laplace")
    return epsilon / (2 * math.log(2 / delta)) if noise == "laplace" else epsilon / 6


def local_sensitivity_auc_roc(n: int, m: int) -> float:
    """Return the local sensitivity of AUCROC: its largest change when one example changes.

    Source: Boyd (2014), theorem "Local sensitivity of AUCROC".

    >>> local_sensitivity_auc_roc(10, 40)
    0.1
    """
    return 1 / min(n, m) if n > 1 and m > 1 else 1.0


def local_sensitivity_rate(n: int) -> float:
    """Return the local sensitivity of a rate among n examples (sensitivity, specificity).

    Exchanging one of the n changes the count by one, 1/n. An example that changes its class moves k/n to
    (k-1)/(n-1), k/(n-1), (k+1)/(n+1) or k/(n+1): never further than 1/n.

    >>> local_sensitivity_rate(20)
    0.05
    """
    return 1 / n if n > 1 else 1.0


def local_sensitivity_average_precision(n: int) -> float:
    """Return an upper bound of the local sensitivity of average precision, for n positives.

    The bound is the printed one. For n from 2 to 5 it exceeds 1, by which average precision cannot change.

    Source: Boyd (2014), theorem "Local sensitivity of average precision".

    >>> round(local_sensitivity_average_precision(100), 6)
    0.092302
    """
    if n <= 1:
        return 1.0
    shared = math.log(n + 1) / n
    return max(shared, (9 + math.log(n - 1)) / (4 * (n - 1))) + max(shared, (9 + math.log(n)) / (4 * n))


def smooth_sensitivity(metric: str, n: int, m: int, beta: float) -> float:
    """Return the beta-smooth sensitivity: the largest LS(D') exp(-beta d(D, D')) over all data sets D'.

    d changed examples turn up to d positives into negatives or back. The logarithm of each local sensitivity
    is convex in the number of positives, so the largest value is at the data set itself or at the ends, where
    one or two positives (or negatives) are left, for average precision where its bound falls below 1: no
    search, exact for counts up to 10^9 and beyond. For accuracy the sensitivity is 1/(n+m) everywhere.

    Raises:
        ValueError: unknown metric, or no examples.

    >>> smooth_sensitivity("auc_roc", 50, 50, 1.0)
    0.02
    """
    if n < 0 or m < 0 or n + m < 1:
        message = f"expected numbers of examples, got {n} and {m}"
        raise ValueError(message)
    total = n + m
    if metric == "accuracy":
        return 1 / total
    # Local sensitivity by the number of examples that it is of, that number, and where it may be largest.
    places: dict[str, tuple[Callable[[int], float], int, tuple[int, ...]]] = {
        "sensitivity": (local_sensitivity_rate, n, (0, 1, 2)),
        "specificity": (local_sensitivity_rate, m, (0, 1, 2)),
        "auc_roc": (
            lambda size: local_sensitivity_auc_roc(size, total - size),
            n,
            (0, 1, 2, total - 2, total - 1, total),
        ),
        "average_precision": (
            lambda size: min(local_sensitivity_average_precision(size), 1.0),
            n,
            (_LOOSE, _LOOSE + 1),
        ),
    }
    if metric not in places:
        message = f"expected one of {', '.join(METRICS)}, got {metric}"
        raise ValueError(message)
    local, among, ends = places[metric]
    sizes = {among, *(min(max(size, 0), total) for size in ends)}
    return max(local(size) * math.exp(-beta * abs(among - size)) for size in sizes)


@dataclass(frozen=True, slots=True)
class NoiseScale:
    """How much noise a release needs; depends on the data, so it must not be published."""

    sensitivity: float
    scale: float
    half_width: float  # 95 % of the noise lies within this distance

    @property
    def drowns(self) -> bool:
        """Return whether the noise dominates the figure."""
        return self.half_width >= _DROWNED


def noise_scale(metric: str, n: int, m: int, *, epsilon: float, delta: float, noise: str) -> NoiseScale:
    """Return the smooth sensitivity S and the scale: 2S/epsilon for Laplace, 6S/epsilon for Cauchy.

    Laplace noise gives (epsilon, delta)-privacy, Cauchy noise epsilon-privacy, with heavy tails. The
    sensitivity of accuracy is the same for every data set, so the plain Laplace mechanism applies: scale
    S/epsilon, epsilon-privacy without a delta.
    Source: Nissim et al. (2007), with gamma = 2 for Cauchy, as in Boyd (2014); Dwork (2006) for accuracy.

    Raises:
        ValueError: epsilon, delta, noise or metric is not usable.

    >>> noise_scale("accuracy", 60, 40, epsilon=0.5, delta=1e-6, noise="laplace").scale
    0.02
    """
    if metric == "accuracy":
        # The same sensitivity everywhere: nothing to smooth, so Laplace noise does without a delta too.
        _check(epsilon, delta, noise, needs_delta=False)
        beta = 0.0
    else:
        beta = smoothness(epsilon, delta, noise)
    sensitivity = smooth_sensitivity(metric, n, m, beta)
    if noise == "laplace":
        scale = (1 if metric == "accuracy" else 2) * sensitivity / epsilon
        return NoiseScale(sensitivity, scale, scale * math.log(20))
    scale = 6 * sensitivity / epsilon
    return NoiseScale(sensitivity, scale, scale * math.tan(0.475 * math.pi))


def release(value: float, scale: float, noise: str) -> float:
    """Return the value with noise added, a multiple of 2^-40; not cut to [0, 1].

    Laplace noise comes from OpenDP's exact sampler, Cauchy noise from the ratio of the coordinates of a
    random point in a disc, in rational arithmetic; both from the operating system's cryptographic source.
    Neither adds floating-point numbers, whose gaps would reveal the value.

    Source: Mironov (2012) for the leak; Canonne, Kamath & Steinke (2020) for the Laplace sampler.

    Raises:
        ValueError: the scale is not positive and finite, or the noise is unknown.
    """
    if not (scale > 0 and math.isfinite(scale)):
        message = f"expected a positive scale, got {scale}"
        raise ValueError(message)
    if noise == "laplace":
        dp = laplace_library()
        dp.enable_features("contrib")
        domain, distance = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        return float(dp.m.make_laplace(domain, distance, scale=scale, k=-GRID_BITS)(value))
    if noise == "cauchy":
        noisy = Fraction(value) + Fraction(scale) * _standard_cauchy()
        return float(Fraction(round(noisy * 2**GRID_BITS), 2**GRID_BITS))
    message = f"expected one of {', '.join(NOISES)}, got {noise}"
    raise ValueError(message)


def laplace_library() -> Any:
    """Import OpenDP, whose exact sampler Laplace noise comes from; to be asked before a release is charged.

    Raises:
        InputError: it is not installed.
    """
    try:
        import opendp.prelude as dp  # noqa: PLC0415 (loads a shared library; only releases pay for it)
    except ModuleNotFoundError:
        message = "Laplace noise: expected the package opendp: pip install 'phiscan[private]'"
        raise InputError(message) from None
    return dp


def _standard_cauchy() -> Fraction:
    """Draw x/y for a uniform point of a disc: standard Cauchy, to 256 bits."""
    radius = 1 << _DISC_BITS
    while True:
        x = secrets.randbelow(2 * radius + 1) - radius
        y = secrets.randbelow(2 * radius + 1) - radius
        if y and x * x + y * y <= radius * radius:
            return Fraction(x, y)


@dataclass(frozen=True, slots=True)
class Spent:
    """The total privacy loss of the releases from one data set."""

    epsilon: float
    delta: float


def compose(releases: list[tuple[float, float]]) -> Spent:
    """Add up (epsilon, delta) pairs: basic composition. Source: Dwork (2006).

    >>> compose([(0.1, 0.0), (0.2, 1e-6)])
    Spent(epsilon=0.30000000000000004, delta=1e-06)
    """
    return Spent(math.fsum(e for e, _ in releases), math.fsum(d for _, d in releases))


def _check(epsilon: float, delta: float, noise: str, *, needs_delta: bool) -> None:
    if noise not in NOISES:
        message = f"expected one of {', '.join(NOISES)}, got {noise}"
        raise ValueError(message)
    if not (epsilon > 0 and math.isfinite(epsilon)):
        message = f"expected epsilon above 0, got {epsilon}"
        raise ValueError(message)
    if needs_delta and not 0 < delta < 1:
        message = f"expected delta above 0 and below 1 for Laplace noise, got {delta}"
        raise ValueError(message)
    if not 0 <= delta < 1:
        message = f"expected delta from 0 to below 1, got {delta}"
        raise ValueError(message)
