import ctypes
import fcntl
import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from phiscan.config import Limits
from phiscan.errors import ConfigError, ExtractError, PhiscanError
from phiscan.model import FailReason
from phiscan.sandbox import fork_server
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.scratch_folder import make_folder, remove_folder, remove_stale_folders
from tests.waiting import wait_until

LIMITS = Limits(time_s=1.5, memory_bytes=512 * 1024**2)
FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[2])]  # of modules of tests, for a script


class PanicError(BaseException):
    """As a panic in a Rust library arrives: no Exception."""


def treat(item: int) -> int:  # noqa: C901 (a case for each fault)
    match item:
        case 31:
            os.kill(os.getpid(), signal.SIGSEGV)
        case 37:
            time.sleep(60)  # hangs
        case 41:
            return len(bytearray(4 * 1024**3))
        case 43:
            message = "SECRET of the document"
            raise ValueError(message)
        case 47:
            raise ExtractError(FailReason.ENCRYPTED, "detail")
        case 53:
            # A C call that never gives the interpreter lock back.
            ctypes.PyDLL(None).sleep(60)
        case 59:
            os._exit(3)
        case 61:
            message = "SECRET of the document"
            raise PanicError(message)
        case 67:
            while True:
                sum(range(1000))
    return item * item


@pytest.mark.slow
def test_each_fault_costs_exactly_its_item_and_order_is_kept() -> None:
    with Sandbox(2, LIMITS) as sandbox:
        sandbox.wall_s = 8.0  # a worker may need seconds to fill its memory
        answers = list(sandbox.run(treat, range(300)))
    assert [item for item, _ in answers] == list(range(300))
    faults = {item: answer for item, answer in answers if isinstance(answer, Fault)}
    assert {item: fault.reason for item, fault in faults.items()} == {
        31: FailReason.CRASHED,
        37: FailReason.TIMED_OUT,
        41: FailReason.OUT_OF_MEMORY,
        43: FailReason.CRASHED,
        47: FailReason.ENCRYPTED,
        53: FailReason.TIMED_OUT,
        59: FailReason.CRASHED,
        61: FailReason.CRASHED,
        67: FailReason.TIMED_OUT,
    }
    assert "SECRET" not in repr(answers)
    assert all(answer == item * item for item, answer in answers if item not in faults)


def spoil(item: int) -> int:
    """Send what the parent refuses to read: the whole pool breaks."""
    if item == 3:
        pipe = next(one for one in gc.get_objects() if isinstance(one, Connection) and one.writable)
        pipe.send_bytes(b"?")
    return item


def test_a_broken_pool_costs_only_the_item_that_broke_it() -> None:
    with Sandbox(2, LIMITS) as sandbox:
        answers = list(sandbox.run(spoil, range(60)))
    assert [item for item, answer in answers if isinstance(answer, Fault)] == [3]
    assert [answer for item, answer in answers if item != 3] == [item for item in range(60) if item != 3]


def die_once(item: tuple[int, Path, int]) -> int:
    number, marker, whose = item
    if number == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid() if whose else os.getppid(), signal.SIGKILL)
        time.sleep(5)  # dies meanwhile, if it is the server that was killed
    return number


@pytest.mark.parametrize(("whose", "n_items"), [(0, 100), (1, 4)])
def test_a_worker_killed_from_outside_costs_no_item(tmp_path: Path, whose: int, n_items: int) -> None:
    with Sandbox(2, LIMITS, is_isolated=False) as sandbox:  # an isolated worker could not kill its server
        items = [(number, tmp_path / "killed", whose) for number in range(n_items)]
        assert [answer for _, answer in sandbox.run(die_once, items)] == list(range(n_items))


# What signs in somewhere, and a variable that nobody knows: only what is on the allow list is passed on.
SECRETS = ("PHISCAN_SMTP_PASSWORD", "PGPASSWORD", "PHISCAN_S3_KEY", "AWS_SECRET_ACCESS_KEY", "NEW_TOKEN")


def count_secrets(_: int) -> int:
    return sum(name in os.environ for name in SECRETS)


def test_a_fork_server_that_was_killed_comes_back_without_secrets_and_silent(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "canary")
    with Sandbox(2, LIMITS) as sandbox:
        for _ in range(2):
            assert {answer for _, answer in sandbox.run(count_secrets, range(50))} == {0}
            server = fork_server.running()
            assert server is not None
            os.kill(server, signal.SIGKILL)
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files; its path is longer than that of a socket."""
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def use_temporary(item: int) -> int:
    if item == 7:
        os._exit(1)
    with tempfile.TemporaryFile() as stream:
        stream.write(b"x")
    return item


def test_emptying_the_temporary_folder_costs_no_item(temporary: Path, tmp_path: Path) -> None:
    with Sandbox(2, LIMITS) as sandbox:
        answers = []
        for item, answer in sandbox.run(use_temporary, range(200)):
            answers.append(answer)
            if item == 4:
                for entry in temporary.iterdir():
                    entry.rename(tmp_path / entry.name)
    assert isinstance(answers[7], Fault)
    assert [answer for answer in answers if not isinstance(answer, Fault)] == [
        n for n in range(200) if n != 7
    ]
    assert not list(temporary.iterdir())


def test_a_temporary_folder_that_is_gone_is_said(temporary: Path, tmp_path: Path) -> None:
    with Sandbox(2, LIMITS) as sandbox:
        running = sandbox.run(use_temporary, range(200))
        next(running)
        temporary.rename(tmp_path / "elsewhere")
        with pytest.raises(PhiscanError, match=f"{temporary.name}: the worker processes cannot be started"):
            list(running)


def rights_of_others(_: int) -> int:
    return Path(tempfile.gettempdir()).stat().st_mode & 0o77


def test_all_temporary_files_lie_in_one_private_folder(temporary: Path) -> None:
    with Sandbox(1, LIMITS) as sandbox:
        assert {answer for _, answer in sandbox.run(rights_of_others, range(3))} == {0}
        (folder,) = temporary.iterdir()
        assert folder.name.startswith("phiscan-")
    assert not list(temporary.iterdir())


NOISY = """
import sys
sys.path[:0] = {folders!r}
from test_sandbox import show_pid
from phiscan import stopping
from phiscan.config import Limits
from phiscan.sandbox.pool import Sandbox
if __name__ == "__main__":
    stopping.install()
    try:
        print("started", flush=True)  # the signal may come within this call
        with Sandbox(2, Limits(time_s=300), is_isolated=False) as sandbox:
            list(sandbox.run(show_pid, [{where!r}] * 10))
    except KeyboardInterrupt:
        pass
"""


def _processes_in(session: int) -> int:
    """Count the processes of a session that still run."""
    n_processes = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _parent, _group, number = entry.read_text().rpartition(")")[2].split()[:4]
            n_processes += int(number) == session and state != "Z"
    return n_processes


# How many processes there are besides the first: none yet, the resource tracker and the server; then until
# both workers have begun to work.
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("moment", [0, 2, "working"])
def test_a_stopped_scan_leaves_no_noise(tmp_path: Path, stop: signal.Signals, moment: int | str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(NOISY.format(folders=FOLDERS, where=str(tmp_path)))
    with (tmp_path / "said").open("w+") as said:
        parent = subprocess.Popen(
            [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=said, start_new_session=True
        )
        assert parent.stdout is not None
        parent.stdout.readline()
        if isinstance(moment, int):
            wait_until(lambda: _processes_in(parent.pid) > moment, f"{moment} more processes")
        else:
            wait_until(lambda: len(list(tmp_path.glob("pid*"))) == 2, "both workers work")
        os.killpg(parent.pid, signal.SIGINT) if stop is signal.SIGINT else parent.kill()
        parent.wait(60)
        parent.stdout.close()
        wait_until(lambda: _processes_in(parent.pid) == 0, "no process is left")
        said.seek(0)
        assert said.read() == ""


def echo(item: int) -> int:
    return item


def nap(seconds: float) -> float:
    time.sleep(seconds)  # stands in for slow work
    return seconds


def test_items_are_consumed_lazily_and_stopping_early_waits_for_none() -> None:
    taken = []

    def source() -> Iterator[float]:
        for number in range(1_000_000):
            taken.append(number)
            yield 0.0 if number < 20 else 1_000.0  # more than the limit of a test

    with Sandbox(2, Limits(time_s=60)) as sandbox:
        running = sandbox.run(nap, source())
        for _ in range(10):
            next(running)
        assert len(taken) < 5_000


def try_network(port: int) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return "connected"
    except OSError as error:
        return type(error).__name__


def test_a_worker_has_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, Sandbox(1, LIMITS) as sandbox:
        port = server.getsockname()[1]
        assert try_network(port) == "connected"
        ((_, answer),) = sandbox.run(try_network, [port])
    assert answer != "connected"


def test_a_folder_is_removed_when_its_number_is_that_of_another_process() -> None:
    """A process of another container cannot be seen, and numbers are used again: the lock decides."""
    stale = Path(tempfile.gettempdir()) / f"phiscan-{os.getpid()}-reused"
    stale.mkdir()
    os.utime(stale, (0, 0))
    own = make_folder()
    os.utime(own, (0, 0))
    unseen = own.with_name(f"phiscan-{2**22 + 1}-unseen")  # no process has such a number
    unseen.mkdir()
    descriptor = os.open(unseen, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    remove_stale_folders()
    assert not stale.exists()
    assert own.exists()
    assert unseen.exists()
    os.close(descriptor)
    remove_stale_folders()
    assert not unseen.exists()
    remove_folder(own)
    assert not own.exists()


def test_every_command_removes_the_folders_of_dead_processes(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    stale = tmp_path / f"phiscan-{process.pid}-left"
    stale.mkdir()
    (stale / "page.png").write_bytes(b"x")
    subprocess.run(
        [sys.executable, "-m", "phiscan", "completion", "bash"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert not stale.exists()


def fail_to_start() -> None:
    message = "phiscan.toml: field k: expected a number"
    raise ConfigError(message)


def test_an_initializer_that_fails_is_said_once_by_its_kind_alone() -> None:
    kind = "^a worker cannot start: ConfigError$"
    with Sandbox(2, LIMITS, fail_to_start) as sandbox, pytest.raises(PhiscanError, match=kind):
        list(sandbox.run(echo, range(10)))


def show_pid(folder: str) -> None:
    (Path(folder) / f"pid{os.getpid()}").touch()
    time.sleep(300)  # works until it is killed


def burn_or_wait(seconds: float) -> float:
    while not seconds:
        sum(range(1000))
    return nap(seconds)


def test_a_loop_ends_by_the_limit_of_processor_time_and_waiting_does_not_count() -> None:
    with Sandbox(1, Limits(time_s=0.3)) as sandbox:
        answers = [answer for _, answer in sandbox.run(burn_or_wait, [0.8, 0.0])]
    assert answers == [0.8, Fault(FailReason.TIMED_OUT, "more than 0.3 s of processor time")]


def burn_without_timer(_: int) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    burn_or_wait(0)


def test_a_worker_that_switches_its_timer_off_ends_all_the_same() -> None:
    with Sandbox(1, Limits(time_s=0.1)) as sandbox:
        sandbox.wall_s = 1.0
        ((_, answer),) = sandbox.run(burn_without_timer, [1])
    assert answer == Fault(FailReason.TIMED_OUT, "no answer within 1 s")


def test_a_pool_that_breaks_several_times_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with Sandbox(1, LIMITS) as sandbox:
        broken = [OSError("broken"), RuntimeError("broken"), OSError("broken")]
        schedule = sandbox._schedule

        def fail_first(*arguments: Any) -> Any:
            if broken:
                raise broken.pop()
            return schedule(*arguments)

        monkeypatch.setattr(sandbox, "_schedule", fail_first)
        assert [answer for _, answer in sandbox.run(echo, [5])] == [5]
        monkeypatch.setattr(sandbox, "_schedule", lambda *_: fail_always())
        with pytest.raises(PhiscanError, match="no worker process can be started: OSError"):
            list(sandbox.run(echo, [5]))


def fail_always() -> None:
    raise OSError
