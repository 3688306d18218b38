"""Time windows of the week in which a scan may run: ``Mon-Fri 20:00-06:00``, ``Sat,Sun``.

Times are wall-clock times in a time zone, also when daylight saving time begins or ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

NEVER = datetime.max.replace(tzinfo=UTC)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY_MINUTES = 24 * 60
_WINDOW = re.compile(r"([A-Za-z,-]+)(?:\s+(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2}))?")
_SPAN_DAYS = 9  # a week, and the nights at both ends


@dataclass(frozen=True, slots=True)
class Window:
    """The weekdays of a window, and its minutes of the day; ``end`` may be on the next day."""

    days: frozenset[int]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Windows:
    """All windows; none = always open."""

    windows: tuple[Window, ...]
    zone: ZoneInfo

    def open_until(self, moment: datetime) -> datetime | None:
        """Return the end of the window that is open at ``moment`` (UTC); None if none is open.

        Without windows it is ``NEVER``.
        """
        if not self.windows:
            return NEVER
        for start, end in self._intervals(moment):
            if start <= moment < end:
                # A whole week is open: it never closes.
                always = end - start > timedelta(days=_SPAN_DAYS - 2)
                return NEVER if always else end
        return None

    def next_open(self, moment: datetime) -> datetime:
        """Return ``moment`` if a window is open, else the start of the next one (UTC)."""
        if self.open_until(moment) is not None:
            return moment
        return min(start for start, _end in self._intervals(moment) if start > moment)

    def _intervals(self, moment: datetime) -> list[tuple[datetime, datetime]]:
        """Return the open intervals around ``moment``, merged, in order."""
        first = moment.astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        found = []
        for shift in range(-1, _SPAN_DAYS):
            midnight = first + timedelta(days=shift)
            for window in self.windows:
                if midnight.weekday() in window.days:
                    ends = (self._at(midnight, minute) for minute in (window.start, window.end))
                    found.append(tuple(ends))
        merged: list[tuple[datetime, datetime]] = []
        for start, end in sorted(found):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            elif start < end:
                merged.append((start, end))
        return merged

    def _at(self, midnight: datetime, minute: int) -> datetime:
        """Return the UTC time of a wall-clock time; a time skipped in spring is moved an hour later."""
        return (midnight + timedelta(minutes=minute)).replace(tzinfo=self.zone).astimezone(UTC)


def read_windows(texts: Sequence[str], zone: ZoneInfo) -> Windows:
    """Parse the windows of phiscan.toml.

    Raises:
        ValueError: one is not of the form ``Mon-Fri 20:00-06:00`` or ``Sat,Sun``.

    >>> read_windows(["Sat-Mon"], ZoneInfo("UTC")).windows[0].days == {5, 6, 0}
    True
    """
    return Windows(tuple(_read_window(text) for text in texts), zone)


def _read_window(text: str) -> Window:
    match = _WINDOW.fullmatch(text.strip())
    if match is None:
        message = f"{text!r}: expected days and times such as 'Mon-Fri 20:00-06:00' or 'Sat,Sun'"
        raise ValueError(message)
    days, *times = match.groups()
    if times[0] is None:
        return Window(_read_days(days, text), 0, _DAY_MINUTES)
    start_hour, start_minute, end_hour, end_minute = map(int, times)
    start, end = start_hour * 60 + start_minute, end_hour * 60 + end_minute
    if max(start_minute, end_minute) > 59 or max(start, end) > _DAY_MINUTES or start == _DAY_MINUTES:  # noqa: PLR2004 (minutes of an hour)
        message = f"{text!r}: there is no such time of the day"
        raise ValueError(message)
    return Window(_read_days(days, text), start, end if end > start else end + _DAY_MINUTES)


def _read_days(text: str, window: str) -> frozenset[int]:
    days: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            low = _day(first)
            high = _day(last) if last else low
        except ValueError:
            message = f"{window!r}: {part!r} is no day; expected {', '.join(DAYS)}, or two with a hyphen"
            raise ValueError(message) from None
        days.update((low + step) % 7 for step in range((high - low) % 7 + 1))
    return frozenset(days)


def _day(name: str) -> int:
    return DAYS.index(name.strip().capitalize())
