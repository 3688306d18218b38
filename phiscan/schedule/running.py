"""Run the scheduled scans, one at a time, each in its own process that is stopped when its window closes."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from phiscan.config import Config
from phiscan.errors import InputError, PhiscanError
from phiscan.schedule.plan import Schedule, State, next_start, read_schedules, state_path

REFUSED = 2  # exit status of a scan that cannot begin
STOPPED = 4  # exit status of a scan that continues later
GRACE_S = 180.0  # for a scan to stop cleanly
POLL_S = 1.0
RETRY_S = 900  # before a scan that could not begin is retried


@contextmanager
def only_one(home: Path, name: str, problem: str) -> Iterator[None]:
    """Hold a lock by its name, one per home; the system releases it when the process ends.

    Raises:
        InputError: the problem: another process holds it.
    """
    folder = home / "locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / name).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(home, problem) from None
        yield


@dataclass
class Runner:
    """Starts scheduled scans. ``stop`` is set by a signal; the running scan is then stopped cleanly."""

    config: Config
    command: Sequence[str] = (sys.executable, "-m", "phiscan")
    stop: threading.Event = field(default_factory=threading.Event)
    say: Callable[[str], None] = lambda _message: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def run_scheduled(self, schedule: Schedule) -> int | None:
        """Run a schedule if its start time has come; return the exit status of its scan, or None."""
        now = self.clock()
        if next_start(schedule, State.read(state_path(self.config, schedule.name), now), now) > now:
            return None
        return self.run(schedule)

    def run(self, schedule: Schedule) -> int:
        """Run a schedule's scan until it ends, its window closes, or ``stop`` is set."""
        began = self.clock()
        closes = schedule.windows.open_until(began)
        if closes is None:
            message = f"schedule {schedule.name}: no window is open now"
            raise InputError(message)
        place = state_path(self.config, schedule.name)
        with only_one(self.config.home, "schedule", "a scheduled scan is running already"):
            if self.stop.is_set():  # before the scan began: it remains pending
                self.say(f"schedule {schedule.name}: {_ending(STOPPED)}")
                return STOPPED
            before = State.read(place, began)
            # If this process is killed, the next start finds the scan unfinished and continues it.
            State(began, unfinished=True).write(place)
            status = self._scan(schedule, closes)
            if status == REFUSED:  # it did not begin, and remains pending
                replace(before, status=status).write(place)
            else:
                State(began, unfinished=status == STOPPED, status=status).write(place)
        self.say(f"schedule {schedule.name}: {_ending(status)}")
        return status

    def serve(self) -> None:
        """Run every schedule when it is due, one after the other, until ``stop`` is set."""
        schedules = read_schedules(self.config)
        not_before = dict.fromkeys((one.name for one in schedules), self.clock())
        while not self.stop.is_set():
            for schedule in schedules:
                if self.stop.is_set() or self.clock() < not_before[schedule.name]:
                    continue
                problem = ""
                try:
                    if self.run_scheduled(schedule) == REFUSED:
                        problem = "could not run"
                except (PhiscanError, OSError) as error:
                    problem = str(error)
                if problem:
                    self.say(f"schedule {schedule.name}: {problem}; it is retried in {RETRY_S // 60} minutes")
                    not_before[schedule.name] = self.clock() + timedelta(seconds=RETRY_S)
            self.stop.wait(POLL_S)

    def _scan(self, schedule: Schedule, closes: datetime) -> int:
        source = Path(self.config.source)
        config = ["--config", str(source.resolve())] if source.is_file() else []
        process = subprocess.Popen(
            [*self.command, *config, "scan", *schedule.options, "--json", "--", *schedule.roots],
            process_group=0,  # Ctrl-C reaches this process alone, which stops the scan
        )
        while process.poll() is None:
            if self.stop.is_set() or self.clock() >= closes:
                process.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE_S)
                if process.poll() is None:
                    process.kill()  # it resumes from there as well
                process.wait()
                break
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_S)
        return STOPPED if process.returncode < 0 else process.returncode


def _ending(status: int) -> str:
    return {
        0: "complete",
        1: "complete, with files referred to review",
        3: "ended, but some files could not be read",
        STOPPED: "stopped; it continues when a window opens",
    }.get(status, f"failed with exit status {status}")
