"""Windows of the week on the wall clock, through nights that are an hour shorter or longer."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.schedule import read_windows
from phiscan.schedule.windows import NEVER

BERLIN = ZoneInfo("Europe/Berlin")
NIGHTS = read_windows(["Mon-Fri 20:00-06:00", "Sat,Sun"], BERLIN)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("moment", "closes"),
    [
        ("2026-11-24 19:59", None),  # a Tuesday
        ("2026-11-24 20:00", "2026-11-25 06:00"),
        ("2026-11-25 05:59", "2026-11-25 06:00"),
        ("2026-11-25 06:00", None),
        ("2026-11-27 23:00", "2026-11-30 00:00"),  # Friday night and the weekend are one
        ("2026-11-30 00:00", None),  # Sunday has no night of its own
        ("2026-03-27 22:00", "2026-03-30 00:00"),  # the clock is put forward on the 29th
        ("2026-10-24 02:30", "2026-10-26 00:00"),  # and back on the 25th
    ],
)
def test_says_when_the_open_window_closes(moment: str, closes: str | None) -> None:
    expected = _at(closes).astimezone(UTC) if closes else None
    assert NIGHTS.open_until(_at(moment)) == expected


def test_says_when_the_next_window_opens() -> None:
    assert NIGHTS.next_open(_at("2026-11-25 06:00")) == _at("2026-11-25 20:00")
    assert NIGHTS.next_open(_at("2026-11-25 21:00")) == _at("2026-11-25 21:00")
    assert read_windows(["Mon 01:00-02:00"], BERLIN).next_open(_at("2026-11-23 02:00")) == _at(
        "2026-11-30 01:00"
    )


def test_night_of_the_changed_clock_is_as_long_as_the_clock_says() -> None:
    night = read_windows(["Mon-Sun 22:00-06:00"], BERLIN)
    closes = night.open_until(_at("2026-03-28 22:00"))
    assert closes is not None
    assert (closes - _at("2026-03-28 22:00").astimezone(UTC)).total_seconds() == 7 * 3600
    closes = night.open_until(_at("2026-10-24 22:00"))
    assert closes is not None
    assert (closes - _at("2026-10-24 22:00").astimezone(UTC)).total_seconds() == 9 * 3600


def test_without_windows_it_is_always_open() -> None:
    assert read_windows([], BERLIN).open_until(_at("2026-11-24 12:00")) == NEVER
    assert read_windows(["Mon-Sun"], BERLIN).open_until(_at("2026-11-24 12:00")) == NEVER


@given(st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 (strategy bounds)
def test_what_opens_next_is_open(moment: datetime) -> None:
    opens = NIGHTS.next_open(moment)
    closes = NIGHTS.open_until(opens)
    assert opens >= moment
    assert closes is not None
    assert closes > opens
    assert NIGHTS.open_until(closes) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Mo 20:00-06:00",
        "Mon 25:00-26:00",
        "Mon 20:61-21:00",
        "Mon 20:00",
        "Mon--Fri",
        "Mon,",
        "24:00-1:00",
    ],
)
def test_refuses_what_is_no_window(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|no such time"):
        read_windows([text], BERLIN)
