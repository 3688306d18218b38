"""Scheduled scans as processes: stopped when the window closes, gone on with later, one at a time."""

import json
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from phiscan.config import Config, ScheduleTable
from phiscan.errors import InputError
from phiscan.schedule import Schedule, State, read_windows
from phiscan.schedule.plan import state_path
from phiscan.schedule.running import Runner, only_one
from phiscan.schedule.units import units
from tests.pipeline.harness import Tool, n_recorded, write_share
from tests.waiting import wait_until

# Stands in for the program: runs until it is told to stop, or ends with the status that its root says.
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))
print(sys.argv, flush=True)
open(sys.argv[0] + ".runs", "w").close()
root = sys.argv[-1]
time.sleep(60 if root == "/endless" else 0)
sys.exit(int(root.rpartition("/")[2]))
"""


def _runner(tmp_path: Path) -> Runner:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    return Runner(Config(home=tmp_path / "home"), command=(sys.executable, str(program)))


def _schedule(root: str, *windows: str) -> Schedule:
    return Schedule("nightly", (root,), "* * * * *", read_windows(windows, ZoneInfo("UTC")))


@pytest.mark.parametrize(("status", "unfinished"), [(0, False), (1, False), (3, False), (4, True)])
def test_keeps_how_a_scan_ended(tmp_path: Path, status: int, *, unfinished: bool) -> None:
    runner = _runner(tmp_path)
    assert runner.run(_schedule(f"/{status}")) == status
    state = State.read(state_path(runner.config, "nightly"), datetime.now(UTC))
    assert (state.status, state.unfinished) == (status, unfinished)


def test_scan_that_could_not_begin_is_tried_again(tmp_path: Path) -> None:
    runner, long_ago = _runner(tmp_path), datetime.now(UTC) - timedelta(hours=2)
    State(long_ago).write(state_path(runner.config, "nightly"))
    assert runner.run_scheduled(_schedule("/2")) == 2
    assert State.read(state_path(runner.config, "nightly"), long_ago) == State(long_ago, status=2)
    assert runner.run_scheduled(_schedule("/0")) == 0
    assert runner.run_scheduled(_schedule("/0")) is None


def test_window_that_closes_stops_the_scan(tmp_path: Path) -> None:
    runner = _runner(tmp_path)
    start = datetime(2026, 11, 23, 5, 59, 58, tzinfo=UTC)
    runs = tmp_path / "program.py.runs"
    runner.clock = lambda: start + timedelta(seconds=2 * runs.exists())  # it closes once the program runs
    assert runner.run(_schedule("/endless", "Mon 00:00-06:00")) == 4
    assert State.read(state_path(runner.config, "nightly"), start).unfinished
    with pytest.raises(InputError, match="no window is open"):
        runner.run(_schedule("/0", "Tue 00:00-06:00"))


def test_only_one_scheduled_scan_runs(tmp_path: Path) -> None:
    runner = _runner(tmp_path)
    with only_one(runner.config.home, "schedule", "no"), pytest.raises(InputError, match="running already"):
        runner.run(_schedule("/0"))


def test_serves_until_a_signal(tmp_path: Path) -> None:
    said: list[str] = []
    runner = _runner(tmp_path)
    runner.config = Config(
        home=tmp_path / "home",
        schedule={"nightly": ScheduleTable(roots=("/0",), cron="* * * * *")},
    )
    runner.say = said.append
    State(datetime.now(UTC) - timedelta(hours=1)).write(state_path(runner.config, "nightly"))
    serving = threading.Thread(target=runner.serve)
    serving.start()
    wait_until(lambda: bool(said), "the schedule ran")
    runner.stop.set()
    serving.join(30)
    assert not serving.is_alive()
    assert said[0] == "schedule nightly: complete"


@pytest.mark.slow
def test_real_scan_by_a_schedule(tmp_path: Path) -> None:
    write_share(tmp_path / "share", 3)
    tool = Tool(tmp_path / "home")
    (tmp_path / "phiscan.toml").write_text("# kept\nhome = 'home'\n\n[limits]\ntime_s = 50.0\n")
    added = tool.run("schedule", "add", "nightly", "share", "--cron", "0 22 * * *", "--options", "--nice 5")
    assert added.returncode == 0, added.stderr
    assert tool.run("schedule", "add", "nightly", "share", "--cron", "0 22 * * *").returncode == 2
    listed = json.loads(tool.run("schedule", "list", "--json").stdout)["schedules"]
    assert [row["name"] for row in listed] == ["nightly"]
    assert tool.run("schedule", "run", "nightly", "--due").stdout == ""
    done = tool.run("schedule", "run", "nightly")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["crawled"] == 3
    assert len(tool.run("schedule", "next", "nightly").stdout.splitlines()) == 5
    assert tool.run("schedule", "remove", "nightly").returncode == 0
    assert (tmp_path / "phiscan.toml").read_text() == "# kept\nhome = 'home'\n\n[limits]\ntime_s = 50.0\n"
    assert tool.run("schedule", "run").returncode == 2


def test_units_are_hardened_and_quoted() -> None:
    made = units(
        _schedule("/srv/50% of it"),
        command=["/opt/phiscan venv/bin/python", "-m", "phiscan"],
        user="phiscan",
        folder=Path("/etc/phiscan"),
        home=Path("/var/lib/phiscan"),
    )
    service = made["phiscan-nightly.service"]
    assert 'ExecStart="/opt/phiscan venv/bin/python" -m phiscan schedule run nightly --due\n' in service
    assert 'ReadOnlyPaths="/srv/50%% of it"\n' in service
    assert 'Environment="PHISCAN_HOME=/var/lib/phiscan"\n' in service
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "User=phiscan", "PrivateTmp=yes"):
        assert line + "\n" in service
    assert "Persistent=true" in made["phiscan-nightly.timer"]


@pytest.mark.slow
def test_signal_stops_the_scan_that_runs(tmp_path: Path) -> None:
    write_share(tmp_path / "share", 400)
    tool = Tool(tmp_path / "home")
    (tmp_path / "phiscan.toml").write_text("home = 'home'\n")
    options = "--max-files-per-s 5"
    added = tool.run("schedule", "add", "slowly", "share", "--cron", "0 22 * * *", "--options", options)
    assert added.returncode == 0, added.stderr
    process = subprocess.Popen(
        tool.command("schedule", "run", "slowly"),
        env=tool.environment(),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: n_recorded(tool.database) > 0, "a file was recorded")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 4
    listed = json.loads(tool.run("schedule", "list", "--json").stdout)["schedules"]
    assert listed[0]["standing"] == "unfinished"
