"""The processes beside the workers: who has the key, and who starts programs."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.hasher import KeyHasher
from phiscan.pipeline.signature import signature
from phiscan.sandbox import channel, hashing, programs
from phiscan.sandbox.service import Service, key_service, program_service
from phiscan.store.identity import keyed_hash, keyed_hashes
from tests.waiting import wait_until

KEY = bytes(range(32))
TEXT = "The lungs are clear today and the patient may go home with her daughter tomorrow morning"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = key_service(lambda: KEY)
    made.open(str(tmp_path))
    yield made
    made.close()


@pytest.mark.usefixtures("service")
def test_hashes_from_the_process_that_has_the_key_are_the_same(tmp_path: Path) -> None:
    hasher = hashing.ask_at(str(tmp_path))
    values = [("PHONE", "(613) 555-0199"), ("PERSON", "Zoé \ud800"), ("MRN", "")]
    assert keyed_hashes(hasher, values) == [keyed_hash(KEY, kind, value) for kind, value in values]
    assert signature(TEXT, hasher) == signature(TEXT, KEY)
    assert keyed_hashes(hasher, []) == []


def test_the_key_stands_in_no_argument_environment_or_file(tmp_path: Path, service: Service) -> None:
    process = service._process
    assert process is not None
    hashing.ask_at(str(tmp_path)).seed()
    for name in ("cmdline", "environ"):
        shown = Path(f"/proc/{process.pid}/{name}").read_bytes()
        assert KEY not in shown
        assert KEY.hex().encode() not in shown
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]
    assert KEY.hex() not in repr(service)
    service.close()
    assert process.poll() is not None


def test_a_process_that_dies_is_started_again(tmp_path: Path, service: Service) -> None:
    first = service._process
    assert first is not None
    first.kill()
    wait_until(lambda: service._process is not first, "another process")
    assert hashing.ask_at(str(tmp_path)).seed() == KeyHasher(KEY).seed()


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("question", [b"", b"x", b"i\xff\xff\xff\xff", b"i\x05\x00\x00\x00abc"])
def test_a_question_that_is_none_ends_the_connection_and_no_other(tmp_path: Path, question: bytes) -> None:
    rude = channel.connect(str(tmp_path), channel.KEYS)
    channel.send(rude, question)
    with pytest.raises((EOFError, ConnectionResetError)):
        channel.receive(rude, 1000)
    assert hashing.ask_at(str(tmp_path)).seed() == KeyHasher(KEY).seed()


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[None]:
    service = program_service(Limits())
    service.open(str(tmp_path))
    programs.ask_at(str(tmp_path))
    yield
    programs._Connection.channel = None
    service.close()


@pytest.mark.usefixtures("asked")
def test_only_the_named_programs_are_run_with_plain_values() -> None:
    for job, values in (("sh", {}), ("ocr", {"languages": "eng -c x"})):
        with pytest.raises(OSError, match="ValueError"):
            programs.run(job, None, 5, **values)


NEEDS = {"mdb-tables": b"not a database", "languages": None}


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("job", NEEDS)
def test_a_program_gives_the_same_through_the_process(job: str) -> None:
    data = NEEDS[job]
    if not programs.is_installed(job):
        pytest.skip(f"{programs.JOBS[job].program} is not installed")
    descriptor = None if data is None else channel.in_memory(data)
    there = programs.run(job, descriptor, 20)
    here = programs.execute(job, {}, descriptor, 20)
    assert (there.status, there.output) == (here.status, here.output)
    assert there.output or there.status


def test_a_program_can_neither_read_nor_write_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell stands in for a program that was taken over."""
    secret = tmp_path / "secret"
    secret.write_text("canary")
    for name, script in (
        ("read", f"read line < {secret} && echo $line"),
        ("write", f"echo x > {tmp_path}/new && echo done"),
        ("exec", "/bin/true && echo done"),
    ):
        job = programs.Job("sh", ("-c", script))
        monkeypatch.setattr(programs, "JOBS", {name: job})
        assert programs.execute(name, {}, None, 20).output == b""
    monkeypatch.setattr(programs, "JOBS", {"echo": programs.Job("sh", ("-c", "echo started"))})
    assert programs.execute("echo", {}, None, 20).output == b"started\n"


def test_a_program_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "JOBS", {"hang": programs.Job("sh", ("-c", "while :; do :; done"))})
    with pytest.raises(subprocess.TimeoutExpired):
        programs.execute("hang", {}, None, 0.2)


def test_the_processes_end_when_the_scan_is_killed(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        service = key_service(lambda: KEY)
        service.open(str(tmp_path))
        process = service._process
        (tmp_path / "pid").write_text(str(process.pid if process else 0))
        signal.pause()
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "", "it has started")
    served = int((tmp_path / "pid").read_text())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wait_until(lambda: not Path(f"/proc/{served}/cmdline").exists() or not _runs(served), "it has ended")


def _runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False
