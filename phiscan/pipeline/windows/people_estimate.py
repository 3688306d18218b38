"""The number of people of a document of which some windows were examined: a ratio estimator with an interval.

Windows that were chosen (the beginning, the highest ranked) stand for themselves. Windows that were drawn at
random stand for the rest of the text, by their lengths. Whoever occurs in several windows is not scaled: only
the share of a window's names (or numbers of one type) that no other examined window has grows with the text.
Where the windows are all alike, or too few to compare, the interval is that of a Poisson count.

In a random sample of the rows of a table neighbours were not neighbours in it: there, how many people occur
once and how many several times tells how many occur in none of the rows.

Source: Cochran (1977), "Sampling Techniques", ch. 6 (ratio estimator, its variance with the finite population
correction); Breslow & Day (1987), "Statistical Methods in Cancer Research" II, eq. 2.13 (Byar's limits); Chao
& Lee (1992), J. Am. Stat. Assoc. 87:210, and Chao & Lin (2012), Biometrics 68:912 (numbers of classes).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Student's t by the number of windows.
_T95 = dict(enumerate((12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36), start=2))
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

        The interval keeps its width.

        >>> PeopleEstimate(0, (0, 4)).at_least(1)
        PeopleEstimate(n_people=1, interval=(1, 5))
        """
        if self.n_people >= n_seen:
            return self
        if self.interval is None:
            return PeopleEstimate(n_seen)
        low, high = self.interval
        return PeopleEstimate(n_seen, (n_seen, n_seen + high - low))


def estimate_people(windows: Sequence[WindowCount], n_chars: int) -> PeopleEstimate:
    """Estimate the number of people in a text of ``n_chars`` from the windows that were examined.

    >>> one = [WindowCount(2, 100, {"MRN": frozenset({f"{n}a", f"{n}b"})}, n > 0) for n in range(5)]
    >>> estimate_people(one, 1000)
    PeopleEstimate(n_people=20, interval=(14, 30))
    """
    n_windows = Counter(item for window in windows for item in _items(window))
    new = [window.n_people * _share_of_new(window, n_windows) for window in windows]
    n_seen = _n_seen(windows)
    n_read = sum(window.n_chars for window in windows)
    drawn = [(n, window.n_chars) for n, window in zip(new, windows, strict=True) if window.is_sampled]
    if n_read >= n_chars:
        return PeopleEstimate(n_seen)
    rest = n_chars - n_read
    if not drawn:
        high = n_seen * n_chars / n_read
        return _with_width(n_seen, n_seen, n_seen, high, (n_seen, n_read, rest))
    n_drawn_chars = sum(length for _, length in drawn)
    n_new = sum(n for n, _ in drawn)
    ratio = n_new / n_drawn_chars
    further = ratio * rest
    counted = (n_new, n_drawn_chars, rest)
    if len(drawn) == 1:
        return _with_width(n_seen, n_seen + further, n_seen, n_seen + 2 * further, counted)
    spread = sum((n - ratio * length) ** 2 for n, length in drawn) / (len(drawn) - 1)
    error = rest / (n_drawn_chars / len(drawn)) * math.sqrt(spread / len(drawn))
    error *= _T95.get(len(drawn), _Z95)
    low, high = n_seen + max(further - error, 0), n_seen + further + error
    return _with_width(n_seen, n_seen + further, low, high, counted)


def estimate_from_rows(windows: Sequence[WindowCount], n_chars: int) -> PeopleEstimate:
    """Estimate the number of people in a table of ``n_chars`` of which the windows hold rows drawn at random.

    Windows that were chosen for their content are left out; whom they name counts as seen. The lower limit is
    that of people who have equally many rows, the upper limit that of people who have one each.

    >>> rows = [WindowCount(2, 100, {"MRN": frozenset({f"{n}a", f"{n}b"})}, True) for n in range(50)]
    >>> estimate_from_rows(rows, 50_000)
    PeopleEstimate(n_people=1000, interval=(500, 1195))
    >>> again = [WindowCount(1, 100, {"MRN": frozenset({str(n % 10)})}, True) for n in range(50)]
    >>> estimate_from_rows(again, 50_000)
    PeopleEstimate(n_people=10, interval=(10, 44))
    """
    drawn = [window for window in windows if window.is_sampled]
    n_read = sum(window.n_chars for window in drawn)
    if n_read >= n_chars or not drawn:
        return PeopleEstimate(_n_seen(windows))
    n_seen, odds = _n_seen(drawn), n_read / (n_chars - n_read)
    times: dict[str, Counter[str]] = {}
    for window in drawn:
        for kind, value in _items(window):
            times.setdefault(kind, Counter())[value] += 1
    found = [
        [limit * n_seen / len(counts) for limit in _unseen(Counter(counts.values()), odds, len(drawn))]
        for counts in times.values()
        if 2 * len(counts) >= n_seen
    ]
    further, low, high = max(found, default=_unseen(Counter(), odds, len(drawn)))
    limits = (math.floor(n_seen + low), math.ceil(n_seen + high))
    return PeopleEstimate(round(n_seen + further), limits).at_least(_n_seen(windows))


def _n_seen(windows: Sequence[WindowCount]) -> int:
    """Return how many people the windows name, whoever occurs in several of them once."""
    kinds = {item for window in windows for item in _items(window)}
    n_distinct = max(Counter(kind for kind, _ in kinds).values(), default=0)
    n_people = [window.n_people for window in windows]
    return max(min(n_distinct, sum(n_people)), max(n_people, default=0))


def _unseen(times: Counter[int], odds: float, n_windows: int) -> list[float]:
    """Return how many occur in no drawn row, and its limits, from how many occur once, twice and so on.

    ``odds``: the rows drawn to those not drawn. Who occurs twice in one of few windows counts as once.
    """
    once, twice = times[1], times[2]
    twofold = 2 * n_windows / max(n_windows - 1, 1)
    fewest, most = _poisson_limits(once)
    most_twice = _poisson_limits(twice)[1]
    low = fewest * fewest / (twofold * most_twice + odds * fewest) if fewest else 0.0
    equal = once * once / (twofold * twice + odds * once) if once else 0.0
    n_distinct, n_times = times.total(), sum(n * count for n, count in times.items())
    coverage = 1 - once / max(n_times, 1)
    estimate = once / odds
    if coverage > 0 and n_times > 1:
        pairs = sum(n * (n - 1) * count for n, count in times.items()) * twofold / 2
        variation = max(n_distinct / coverage * pairs / (n_times * (n_times - 1)) - 1, 0.0)
        unequal = n_distinct / coverage + once / coverage * variation - n_distinct
        estimate = min(max(unequal, equal), once / odds)
    return [estimate, min(low, estimate), max(most / odds, estimate)]


def _with_width(
    n_seen: int, estimate: float, low: float, high: float, counted: tuple[float, int, int]
) -> PeopleEstimate:
    """Return an estimate whose interval has a width: that of a Poisson count where the given one has none.

    ``counted``: the people counted, the characters in which, and the characters that were not read.
    """
    if round(low) == round(high):
        n_people, n_chars, rest = counted
        low, high = (n_seen + end * rest / n_chars for end in _poisson_limits(n_people))
        return PeopleEstimate(round(estimate), (math.floor(low), math.ceil(high)))
    return PeopleEstimate(round(estimate), (round(low), round(high)))


def _poisson_limits(count: float) -> tuple[float, float]:
    """Return the 95 % limits of the mean of a Poisson count, by Byar's approximation.

    >>> [round(end, 2) for end in _poisson_limits(10)], round(_poisson_limits(0)[1], 2)
    ([4.79, 18.39], 3.67)
    """
    above = count + 1
    high = above * (1 - 1 / (9 * above) + _Z95 / (3 * math.sqrt(above))) ** 3
    low = count * (1 - 1 / (9 * count) - _Z95 / (3 * math.sqrt(count))) ** 3 if count else 0.0
    return max(low, 0.0), high


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
