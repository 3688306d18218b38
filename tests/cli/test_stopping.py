"""Signals end the long commands with exit status 4 and one line, whenever they arrive.

Each test brings the program to a moment that can be observed: a module that waits in its import, a pipe
that the program reads from, a lock that another process holds, a row in the database.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from phiscan.cli.scan.lock import keep_scans_out
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.pipeline.harness import Tool, ToolHere, n_recorded, write_share
from tests.review.results import scan as record
from tests.waiting import wait_until

STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _one_of(number: signal.Signals) -> pytest.MarkDecorator:
    """Test one signal in the default run and the others in the slow one: models are loaded, for seconds."""
    others = [pytest.param(other, marks=pytest.mark.slow) for other in STOP if other is not number]
    return pytest.mark.parametrize("number", [number, *others])


RESUMABLE = "phiscan: stopped; the same command goes on from here"
# Stands in for a library: says that its import began, and never ends.
ENDLESS = """
import pathlib, time
pathlib.Path({began!r}).touch()
while True:
    time.sleep(60)
"""
# The same for a library that catches whatever is raised in its import, and goes on.
CATCHING = """
import pathlib, time
pathlib.Path({began!r}).touch()
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""


def _heed_hangups() -> None:
    """Let SIGHUP stop the program, also where the tests run under nohup, which it would inherit."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def _started(
    tool: Tool,
    *arguments: str | Path,
    environment: dict[str, str] | None = None,
    command: list[str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Run the program; whatever is left of it dies in the end."""
    process = subprocess.Popen(
        command or tool.command(*arguments),
        env={**tool.environment(), **(environment or {})},
        cwd=tool.home.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_hangups,  # noqa: PLW1509 (one call, before the program is executed)
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _end(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Wait for the end; return the exit status and the lines on standard error, less the progress."""
    _, said = process.communicate(timeout=120)
    lines = [line for line in said.splitlines() if "files" not in line and "models" not in line]
    return process.returncode, lines


class _Pipe:
    """A file of passwords that is a named pipe: whoever loads an engine waits until it is written."""

    def __init__(self, tool: Tool, *settings: str) -> None:
        self.path = tool.home.parent / "passwords"
        os.mkfifo(self.path)
        lines = [f"home = {str(tool.home)!r}", f"passwords_file = {str(self.path)!r}", "workers = 1"]
        config = "\n".join([*lines, *settings, ""])
        (tool.home.parent / "phiscan.toml").write_text(config)

    def wait_for_reader(self) -> int:
        """Return the writing end once somebody reads: opening it waits for that."""
        return os.open(self.path, os.O_WRONLY)


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    write_share(tmp_path / "share", 30)
    return Tool(tmp_path / "home")


@pytest.mark.parametrize(
    ("source", "module", "number"),  # click: of every command; blake3: of `scan` alone
    [
        (ENDLESS, "click", signal.SIGINT),
        (CATCHING, "click", signal.SIGTERM),
        (CATCHING, "blake3", signal.SIGHUP),
    ],
    ids=["endless", "catching", "catching in scan"],
)
def test_during_an_import(
    tool: Tool, tmp_path: Path, source: str, module: str, number: signal.Signals
) -> None:
    began = tmp_path / "began"
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    (stubs / f"{module}.py").write_text(source.format(began=str(began)))
    path = os.pathsep.join(filter(None, [str(stubs), os.environ.get("PYTHONPATH", "")]))
    with _started(tool, "scan", "share", environment={"PYTHONPATH": path}) as process:
        wait_until(began.exists, "the import began")
        process.send_signal(number)
        assert _end(process) == (4, ["phiscan: stopped"])
    assert not tool.home.exists()


def test_during_an_import_in_the_form_of_the_log(tool: Tool, tmp_path: Path) -> None:
    began = tmp_path / "began"
    (tmp_path / "blake3.py").write_text(ENDLESS.format(began=str(began)))
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with _started(tool, "--log-format", "json", "scan", "share", environment={"PYTHONPATH": path}) as process:
        wait_until(began.exists, "the import began")
        process.send_signal(signal.SIGTERM)
        status, (line,) = _end(process)
    assert (status, json.loads(line)) == (4, {"event": "phiscan: stopped", "level": "error"})


@_one_of(signal.SIGINT)
def test_while_a_scan_waits_for_its_lock(tool: Tool, number: signal.Signals) -> None:
    assert tool.run("init", "home").returncode == 0
    with (
        keep_scans_out(tool.home, f"sqlite:///{tool.database}"),
        _started(tool, "scan", "share") as process,
    ):
        assert process.stderr is not None
        assert "waits for a purge" in process.stderr.readline()
        process.send_signal(number)
        assert _end(process) == (4, ["phiscan: stopped"])


@_one_of(signal.SIGHUP)
def test_before_a_scan_stands_in_the_database(tool: Tool, number: signal.Signals) -> None:
    with Store.open(f"sqlite:///{tool.database}", create=True) as store:
        create_key(tool.home / "key")
        record(store)  # an earlier one is not told as the stopped one
    pipe = _Pipe(tool)
    with _started(tool, "scan", "share") as process:
        writing = pipe.wait_for_reader()
        process.send_signal(number)
        assert _end(process) == (4, ["phiscan: stopped"])
        os.close(writing)
    assert _statuses(tool) == ["complete"]


@pytest.mark.slow
@_one_of(signal.SIGTERM)
def test_while_the_workers_start(tool: Tool, number: signal.Signals) -> None:
    pipe = _Pipe(tool)
    with _started(tool, "scan", "share") as process:
        os.close(pipe.wait_for_reader())  # of the scanning process: no passwords
        wait_until(lambda: _statuses(tool) == ["running"], "the scan stands in the database")
        writing = pipe.wait_for_reader()  # of a worker: it stays in its start
        process.send_signal(number)
        assert _end(process) == (4, [RESUMABLE])
        os.close(writing)
    assert _statuses(tool) == ["stopped"]


@pytest.mark.slow
def test_in_the_middle_of_a_scan_twice(tool: Tool) -> None:
    """A terminal's Ctrl-C and a supervisor's SIGTERM arrive together: the state is recorded all the same."""
    with _started(tool, "scan", "share", "--max-files-per-s", "3") as process:
        wait_until(lambda: n_recorded(tool.database) > 0, "a file was recorded")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert _end(process) == (4, [RESUMABLE])
    assert _statuses(tool) == ["stopped"]
    assert ToolHere(tool.home).run("scan", "share").returncode == 1
    assert n_recorded(tool.database) == 30


@pytest.mark.slow
def test_a_hangup_that_is_ignored_from_the_start_stops_nothing(tool: Tool) -> None:
    pipe = _Pipe(tool)
    with _started(tool, command=["nohup", *tool.command("scan", "share")]) as process:
        writing = pipe.wait_for_reader()
        process.send_signal(signal.SIGHUP)
        os.close(writing)
        wait_until(lambda: _statuses(tool) == ["running"], "the scan goes on")
        writing = pipe.wait_for_reader()
        process.send_signal(signal.SIGTERM)
        assert _end(process)[0] == 4
        os.close(writing)


@pytest.mark.slow
@_one_of(signal.SIGINT)
def test_while_a_schedule_runs(tool: Tool, number: signal.Signals) -> None:
    pipe = _Pipe(tool)
    added = tool.run("schedule", "add", "nightly", "share", "--cron", "0 22 * * *")
    assert added.returncode == 0, added.stderr
    with _started(tool, "schedule", "run", "nightly") as process:
        writing = pipe.wait_for_reader()
        process.send_signal(number)
        status, said = _end(process)
        os.close(writing)
    assert status == 4
    ending = "phiscan: schedule nightly: stopped; it continues when a window opens"
    assert said == ["phiscan: stopped", ending]
    (listed,) = json.loads(tool.run("schedule", "list", "--json").stdout)["schedules"]
    assert listed["standing"] == "unfinished"


@_one_of(signal.SIGTERM)
def test_while_texts_are_screened(tool: Tool, number: signal.Signals) -> None:
    assert tool.run("init", "home").returncode == 0
    with _started(tool, "screen", "-", "--json") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"id": "1", "text": "nothing"}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == "1"
        process.send_signal(number)
        assert _end(process) == (4, ["phiscan: stopped"])


# An interrupt that is raised in a destructor cannot leave it; then one in a block that must be completed.
LOST = """
import os, signal, time
from phiscan import stopping
stopping.install()
class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
try:
    Destroyed()
    time.sleep(60)
except KeyboardInterrupt:
    print("raised again", flush=True)
try:
    with stopping.deferred():
        os.kill(os.getpid(), signal.SIGTERM)
        print("completed", flush=True)
except KeyboardInterrupt:
    print("then raised", flush=True)
with stopping.deferred():
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    print("not reached", flush=True)
"""


def test_no_interrupt_is_lost_and_a_second_one_ends_at_once(tool: Tool) -> None:
    with _started(tool, command=[sys.executable, "-c", LOST]) as process:
        out, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (4, "phiscan: stopped\n")
    assert out.splitlines() == ["raised again", "completed", "then raised"]


# A signal after the last output.
LATE = """
import os, signal
from phiscan import stopping
stopping.install()
stopping.finish(1)
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_after_all_is_written_the_exit_status_stands(tool: Tool) -> None:
    with _started(tool, command=[sys.executable, "-c", LATE]) as process:
        assert _end(process) == (1, [])


def _statuses(tool: Tool) -> list[str]:
    return [status for (status,) in _rows(tool, "SELECT status FROM scan ORDER BY 1")]


def _rows(tool: Tool, query: str) -> list[tuple[str]]:
    try:
        with sqlite3.connect(f"file:{tool.database}?mode=ro", uri=True) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []  # not made yet


def test_a_stopped_process_ends_even_if_its_cleaning_up_hangs() -> None:
    code = (
        "import threading\n"
        "from phiscan import stopping\n"
        "stopping.end_within(0.1, stopping.EXIT_STOPPED)\n"
        "lock = threading.Lock()\nlock.acquire()\nlock.acquire()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 4
