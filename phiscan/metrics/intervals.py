"""Exact binomial bounds, and ``Figure``: an estimate with its interval or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

# The two-sided 95% point of the standard normal distribution.
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95% interval; ``value`` is None when it does not exist, and ``reason`` says why."""

    value: float | None
    ci95: tuple[float, float] | None
    reason: str | None = None


def check_count(name: str, value: int, high: int | None = None) -> None:
    """Raise ValueError unless the value is a count.

    Raises:
        ValueError: the value is not a whole number from 0 to ``high``.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{name}: expected a whole number of 0 or more, got {value}"
        raise ValueError(message)
    if high is not None and value > high:
        message = f"{name}: expected a whole number from 0 to {high}, got {value}"
        raise ValueError(message)


def check_share(name: str, value: float, *, open_ends: bool = False) -> None:
    """Raise ValueError unless the value is in [0, 1], or in (0, 1) with ``open_ends``.

    Raises:
        ValueError: the value is outside, or not a number.
    """
    inside = 0 < value < 1 if open_ends else 0 <= value <= 1
    if not inside:
        span = "between 0 and 1, both excluded" if open_ends else "from 0 to 1"
        message = f"{name}: expected a number {span}, got {value}"
        raise ValueError(message)


def binomial_lower(n_hits: int, n: int, tail: float) -> float:
    """Return the exact lower bound of a binomial share, with probability ``tail`` outside.

    Source: Clopper & Pearson (1934), Biometrika 26:404.
    """
    if n_hits == 0:
        return 0.0
    if n_hits == n:
        return math.exp(math.log(tail) / n)
    from scipy import special  # noqa: PLC0415 (slow to import; a scan needs counts alone)

    return float(special.betaincinv(n_hits, n - n_hits + 1, tail))


def binomial_upper(n_hits: int, n: int, tail: float) -> float:
    """Return the exact upper bound of a binomial share, with probability ``tail`` outside.

    Source: Clopper & Pearson (1934), Biometrika 26:404.

    >>> round(binomial_upper(0, 299, 0.05), 6)
    0.009969
    """
    if n_hits == n:
        return 1.0
    if n_hits == 0:
        return -math.expm1(math.log(tail) / n)
    from scipy import special  # noqa: PLC0415 (as above)

    return float(special.betainccinv(n_hits + 1, n - n_hits, tail))


def clopper_pearson(n_hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a binomial share.

    Args:
        n_hits: successes, 0 <= n_hits <= n.
        n: trials, at least 1.
        confidence: the level, in (0, 1).

    Raises:
        ValueError: a count or the level is out of range.

    Source: Clopper & Pearson (1934), Biometrika 26:404.

    >>> [round(end, 4) for end in clopper_pearson(71, 123)]
    [0.4849, 0.6658]
    """
    check_count("n_hits", n_hits, n)
    if n < 1:
        message = "n: expected at least 1 trial, got 0"
        raise ValueError(message)
    check_share("confidence", confidence, open_ends=True)
    tail = (1 - confidence) / 2
    return binomial_lower(n_hits, n, tail), binomial_upper(n_hits, n, tail)


def proportion(n_hits: int, n: int, empty: str) -> Figure:
    """Return a share with its Clopper-Pearson interval; ``empty`` is the reason given when n is 0.

    >>> proportion(0, 0, "no file").value is None
    True
    """
    if n == 0:
        return Figure(None, None, empty)
    return Figure(n_hits / n, clopper_pearson(n_hits, n))
