"""When a scan is due: changed clocks, missed starts, unfinished scans, and what is refused."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from phiscan.config import load_config
from phiscan.errors import ConfigError
from phiscan.schedule import Schedule, State, next_start, read_schedules, read_windows

BERLIN = ZoneInfo("Europe/Berlin")


def _schedule(cron: str, *windows: str) -> Schedule:
    return Schedule("nightly", ("/srv/share",), cron, read_windows(windows, BERLIN))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC)


def test_time_that_the_clock_skips_is_taken_an_hour_later() -> None:
    assert _schedule("30 2 * * *").next_fire(_at("2026-03-28 12:00")) == _at("2026-03-29 03:30")


def test_time_that_the_clock_shows_twice_is_taken_once() -> None:
    one = _schedule("30 2 * * *")
    first = one.next_fire(_at("2026-10-24 12:00"))
    assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert one.next_fire(first) == _at("2026-10-26 02:30")


def test_missed_starts_are_made_up_for_by_one() -> None:
    one = _schedule("0 22 * * *")
    state = State(since=_at("2026-11-20 22:00"))
    now = _at("2026-11-24 09:00")  # four days of power cut
    assert next_start(one, state, now) == now
    assert next_start(one, State(since=now), now) == _at("2026-11-24 22:00")


@pytest.mark.parametrize(
    ("cron", "since", "unfinished", "now", "expected"),
    [
        ("0 22 * * *", "2026-11-20 22:00", False, "2026-11-24 09:00", "2026-11-24 20:00"),  # it was missed
        ("0 12 * * *", "2026-11-23 21:00", False, "2026-11-24 09:00", "2026-11-24 20:00"),
        ("0 22 * * fri", "2026-11-20 22:00", True, "2026-11-24 09:00", "2026-11-24 20:00"),
        ("0 22 * * fri", "2026-11-20 22:00", True, "2026-11-24 21:00", "2026-11-24 21:00"),
    ],
)
def test_a_start_and_an_unfinished_scan_wait_for_a_window(
    cron: str, since: str, now: str, expected: str, *, unfinished: bool
) -> None:
    state = State(since=_at(since), unfinished=unfinished)
    assert next_start(_schedule(cron, "Mon-Fri 20:00-06:00"), state, _at(now)) == _at(expected)


def test_state_survives_and_a_new_schedule_makes_nothing_up(tmp_path: Path) -> None:
    place, now = tmp_path / "schedule" / "nightly.json", _at("2026-11-24 09:00")
    assert State.read(place, now) == State(now)
    assert State.read(place, now + timedelta(days=3)) == State(now)
    State(now, unfinished=True, status=4).write(place)
    assert State.read(place, now) == State(now, unfinished=True, status=4)
    place.write_text("{")
    with pytest.raises(ConfigError, match="damaged"):
        State.read(place, now)


SOUND = 'roots = ["share"]\ncron = "0 22 * * mon-fri"\ntime_zone = "Europe/Berlin"\nwindows = ["Sat,Sun"]\n'


def test_reads_schedules_with_folders_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text(f"[schedule.nightly]\n{SOUND}")
    (one,) = read_schedules(load_config(path, environ={}))
    assert one.roots == (str(tmp_path / "share"),)
    assert one.windows.zone == BERLIN


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ('roots = ["share"]|roots = []', "schedule.nightly.roots: expected the folders"),
        ("0 22 * * mon-fri|at ten", "schedule.nightly.cron: 'at ten': expected"),
        ("0 22 * * mon-fri|0 22 * * 1-5", "schedule.nightly.cron: '0 22 \\* \\* 1-5': expected"),
        ("Europe/Berlin|Berlin", "schedule.nightly.time_zone: 'Berlin' is no time zone"),
        ("Sat,Sun|weekend", "schedule.nightly.windows: 'weekend': 'weekend' is no day"),
        ("windows|window", "schedule.nightly.window: unknown field"),
    ],
)
def test_refuses_with_the_name_of_the_field(tmp_path: Path, change: str, complaint: str) -> None:
    path = tmp_path / "phiscan.toml"
    before, _, after = change.partition("|")
    path.write_text(f"[schedule.nightly]\n{SOUND.replace(before, after)}")
    with pytest.raises(ConfigError, match=complaint):
        read_schedules(load_config(path, environ={}))
