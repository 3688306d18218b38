"""The number of people of a document of which some windows were examined: a ratio estimator with an interval.

Windows that were chosen (the beginning, the highest ranked) stand for themselves. Windows that were drawn at
random stand for the rest of the text, by their lengths. Whoever occurs in several windows is not scaled: only
the share of a window's names (or numbers of one type) that no other examined window has grows with the text.

Source: Cochran (1977), "Sampling Techniques", ch. 6 (ratio estimator, its variance with the finite population
correction).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_T95 = {
    2: 12.71,
    3: 4.30,
    4: 3.18,
    5: 2.78,
    6: 2.57,
    7: 2.45,
    8: 2.36,
}  # Student's t by the number of windows
_Z95 = 1.96


@dataclass(frozen=True, slots=True)
class WindowCount:
    """What one window says of the number of people."""

    n_people: int
    n_chars: int
    identities: Mapping[str, frozenset[str]] = field(repr=False)  # by type of identifier: keyed hashes
    is_sampled: bool


@dataclass(frozen=True, slots=True)
class PeopleEstimate:
    """An estimate, and the limits of its 95 % interval; None where everything was counted."""

    n_people: int
    interval: tuple[int, int] | None = None

    def at_least(self, n_seen: int) -> PeopleEstimate:
        """Return the estimate with as many people as were seen, at least.

        >>> PeopleEstimate(0, (0, 0)).at_least(1)
        PeopleEstimate(n_people=1, interval=(1, 1))
        """
        if self.n_people >= n_seen:
            return self
        low, high = self.interval or (n_seen, n_seen)
        return PeopleEstimate(n_seen, self.interval and (max(low, n_seen), max(high, n_seen)))


def estimate_people(windows: Sequence[WindowCount], n_chars: int) -> PeopleEstimate:
    """Estimate the number of people in a text of ``n_chars`` from the windows that were examined.

    >>> one = [WindowCount(2, 100, {"MRN": frozenset({f"{n}a", f"{n}b"})}, n > 0) for n in range(5)]
    >>> estimate_people(one, 1000)
    PeopleEstimate(n_people=20, interval=(20, 20))
    """
    n_windows = Counter(item for window in windows for item in _items(window))
    new = [window.n_people * _share_of_new(window, n_windows) for window in windows]
    n_distinct = max(Counter(kind for kind, _ in n_windows).values(), default=0)
    n_seen = max(
        min(n_distinct, sum(window.n_people for window in windows)),
        max((window.n_people for window in windows), default=0),
    )
    n_read = sum(window.n_chars for window in windows)
    drawn = [(n, window.n_chars) for n, window in zip(new, windows, strict=True) if window.is_sampled]
    if n_read >= n_chars:
        return PeopleEstimate(n_seen)
    if not drawn:
        return PeopleEstimate(n_seen, (n_seen, max(n_seen, round(n_seen * n_chars / n_read))))
    n_drawn_chars = sum(length for _, length in drawn)
    ratio = sum(n for n, _ in drawn) / n_drawn_chars
    further = ratio * (n_chars - n_read)
    if len(drawn) == 1:
        return PeopleEstimate(round(n_seen + further), (n_seen, round(n_seen + 2 * further)))
    spread = sum((n - ratio * length) ** 2 for n, length in drawn) / (len(drawn) - 1)
    error = (n_chars - n_read) / (n_drawn_chars / len(drawn)) * math.sqrt(spread / len(drawn))
    error *= _T95.get(len(drawn), _Z95)
    return PeopleEstimate(
        round(n_seen + further), (round(n_seen + max(further - error, 0)), round(n_seen + further + error))
    )


def _items(window: WindowCount) -> Iterator[tuple[str, str]]:
    return ((kind, value) for kind, values in window.identities.items() for value in values)


def _share_of_new(window: WindowCount, n_windows: Counter[tuple[str, str]]) -> float:
    """Return the share of a window's values that no other examined window has, of the most telling type."""
    shares = [
        sum(n_windows[kind, value] == 1 for value in values) / len(values)
        for kind, values in window.identities.items()
        if values and 2 * len(values) >= window.n_people
    ]
    return max(shares, default=0.0)


def interval_of(estimate: PeopleEstimate) -> str:
    """Say the interval in words; nothing where everything was counted."""
    if estimate.interval is None:
        return ""
    low, high = estimate.interval
    people = "person" if estimate.n_people == 1 else "people"
    return f"about {estimate.n_people:,} {people} ({low:,} to {high:,})"
