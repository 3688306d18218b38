"""The scheduled scans of phiscan.toml, and the next start of each."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from phiscan.config import Config, ScheduleTable
from phiscan.errors import ConfigError, StoreError
from phiscan.schedule.windows import Windows, read_windows

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A scheduled scan: its folders, its times, and its windows of the week."""

    name: str
    roots: tuple[str, ...]
    cron: str
    windows: Windows
    options: tuple[str, ...] = ()

    def next_fire(self, after: datetime) -> datetime:
        """Return the first time of the cron expression after ``after`` (UTC).

        With daylight saving time, a skipped time is moved an hour later, and a repeated one is used once.
        """
        trigger = _trigger(self.cron, self.windows.zone)
        local = after.astimezone(self.windows.zone)
        fire: datetime = trigger.get_next_fire_time(local, local)
        while fire.fold or fire <= after:
            fire = trigger.get_next_fire_time(fire, fire)
        return fire.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class State:
    """The state of a schedule, stored in ``home/schedule/NAME.json``."""

    since: datetime  # starts missed before this time are not made up
    unfinished: bool = False  # the last scan was stopped before its end
    status: int | None = None  # exit status of the last scan

    def write(self, path: Path) -> None:
        """Write it atomically.

        Raises:
            StoreError: it cannot be written.
        """
        content = {"since": self.since.isoformat(), "unfinished": self.unfinished, "status": self.status}
        partial = path.with_suffix(".part")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial.write_text(json.dumps(content), encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            raise StoreError(path, f"the state of the schedule cannot be written: {error.strerror}") from None

    @classmethod
    def read(cls, path: Path, now: datetime) -> State:
        """Return the stored state; for a schedule that never ran, a new one that begins now is stored.

        Raises:
            ConfigError: the file was damaged.
            StoreError: it cannot be written.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            since = datetime.fromisoformat(content["since"]).astimezone(UTC)
            return cls(since, bool(content["unfinished"]), content["status"])
        except FileNotFoundError:
            state = cls(now)
            state.write(path)
            return state
        except (ValueError, KeyError, TypeError):
            raise ConfigError(path, "damaged; remove it, and the schedule begins again") from None


def state_path(config: Config, name: str) -> Path:
    """Return the path of a schedule's state file."""
    return config.home / "schedule" / f"{name}.json"


def next_start(schedule: Schedule, state: State, now: datetime) -> datetime:
    """Return the next start of a schedule (UTC); a time not after ``now`` means at once.

    Missed starts are made up by a single one; a stopped scan continues when a window opens.
    """
    wanted = now if state.unfinished else schedule.next_fire(state.since)
    return schedule.windows.next_open(max(wanted, now) if wanted <= now else wanted)


def read_schedules(config: Config) -> tuple[Schedule, ...]:
    """Return the scheduled scans of phiscan.toml, by name.

    Raises:
        ConfigError: names the schedule, the field, and what was expected.
    """
    return tuple(_read(config, name, table) for name, table in sorted(config.schedule.items()))


def _read(config: Config, name: str, table: ScheduleTable) -> Schedule:
    where = f"{config.source}: schedule.{name}"
    if not NAME.fullmatch(name):
        raise ConfigError(where, "expected a name of lower-case letters, digits, - and _")
    if not table.roots:
        message = f"{where}.roots: expected the folders to scan"
        raise ConfigError(message)
    try:
        zone = ZoneInfo(table.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"{where}.time_zone: {table.time_zone!r} is no time zone; expected one such as Europe/Paris"
        raise ConfigError(message) from None
    try:
        windows = read_windows(table.windows, zone)
    except ValueError as error:
        message = f"{where}.windows: {error}"
        raise ConfigError(message) from None
    try:
        fires = _trigger(table.cron, zone).get_next_fire_time(None, datetime.now(zone))
    except ValueError:
        fires = None
    if fires is None:
        message = (
            f"{where}.cron: {table.cron!r}: expected minute, hour, day, month and weekday: '0 22 * * mon-fri'"
        )
        raise ConfigError(message)
    # Relative folders are relative to phiscan.toml: a timer has another working folder.
    base = Path(config.source).resolve().parent if Path(config.source).is_file() else Path.cwd()
    roots = tuple(root if "://" in root else os.path.normpath(base / root) for root in table.roots)
    return Schedule(name, roots, table.cron, windows, table.options)


def _trigger(cron: str, zone: ZoneInfo) -> Any:
    # cron counts weekdays from Sunday, others from Monday; names mean the same everywhere.
    weekdays = "".join(cron.split()[-1:]).partition("/")[0]
    if any(char.isdigit() for char in weekdays):
        message = "expected the names of weekdays"
        raise ValueError(message)
    try:
        from apscheduler.triggers.cron import CronTrigger  # noqa: PLC0415 (the extra may not be installed)
    except ModuleNotFoundError:
        message = "schedules need the extra `schedule` (pip install 'phiscan[schedule]')"
        raise ConfigError(message) from None
    return CronTrigger.from_crontab(cron, timezone=zone)
