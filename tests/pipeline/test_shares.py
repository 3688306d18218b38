"""Scans of shares that are not mounted: an SMB server on loopback, from listing to the queue."""

import errno
import fcntl
import json
import mmap
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phiscan.config import Config, Limits, SharesTable
from phiscan.crawl import check_roots, crawl
from phiscan.errors import ExtractError
from phiscan.model import FailReason, Outcome, SourceFile
from phiscan.pipeline.workers import delivery
from phiscan.pipeline.workers.file_handoff import FileHandoff, MemoryFile
from phiscan.pipeline.workers.pools import local_workers
from phiscan.sandbox import delivered_files as delivered
from phiscan.sandbox import fork_server
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.pool import PAUSE, Sandbox
from phiscan.store.identity import create_key
from tests.crawl.fetched import NOTHING
from tests.pipeline.harness import ToolHere, write_share
from tests.samba import PASSWORD
from tests.servers.process import Server


def _config(tmp_path: Path) -> Config:
    config = Config(home=tmp_path / "home", workers=2)
    create_key(config.key_file)
    return config


@pytest.mark.slow
def test_a_share_is_scanned_as_a_folder_is(tool_here: ToolHere, samba: Server) -> None:
    write_share(samba.share, 30)
    there = tool_here.scan_like_a_folder(samba.url, samba.share, PASSWORD)
    assert there["screened"] == 30
    again = samba.share / "0/file0000.txt"
    again.write_text(again.read_text().replace("diabetes", "diabetez"))
    second = tool_here.scan(samba.url, hidden=PASSWORD)
    assert (second["screened"], second["unchanged"]) == (1, 29)
    shown = tool_here.run("queue", "show", f"{samba.url}/0/file0000.txt")
    assert "may be read by" in shown.stdout, shown.stderr
    with sqlite3.connect(tool_here.database) as connection:
        assert connection.execute("SELECT count(*) FROM access WHERE owner <> ''").fetchone() == (31,)
    assert not tool_here.has_written(PASSWORD)


def test_a_dry_run_opens_nothing(tool_here: ToolHere, samba: Server) -> None:
    write_share(samba.share, 3)
    (samba.share / "0/file0000.txt").chmod(0o600)
    done = tool_here.run("scan", samba.url, "--dry-run", "--json")
    assert json.loads(done.stdout)["files"] == 3, done.stderr
    assert not tool_here.database.exists()


@pytest.mark.slow
def test_a_server_that_goes_away_costs_the_files_not_yet_read(samba: Server, tmp_path: Path) -> None:
    write_share(samba.share, 60)
    roots = check_roots([samba.url])
    sources = [crawled.source for crawled in crawl(roots, NOTHING)]
    answers = []
    with local_workers(_config(tmp_path)) as workers:
        for source, answer in workers.run(iter(sources)):
            answers.append((source.path, answer))
            if len(answers) == 3:
                samba.kill()
    assert sorted(path for path, _ in answers) == sorted(source.path for source in sources)
    failed = {}
    for path, answer in answers:
        assert not isinstance(answer, Fault)
        if answer.outcome is Outcome.FAILED:
            failed[path] = (answer.reason, answer.detail)
    assert 0 < len(failed) < len(sources) - 3
    assert {reason for reason, _ in failed.values()} == {FailReason.IO_ERROR}
    samba.start()
    with local_workers(_config(tmp_path / "again")) as workers:
        again = list(workers.run(source for source in sources if source.path in failed))
    assert [answer.outcome for _, answer in again if not isinstance(answer, Fault)] == [
        Outcome.SCREENED
    ] * len(failed)


def _source(number: int, size: int = 10) -> SourceFile:
    return SourceFile(b"smb://nowhere/x", b"%d" % number, size, 0, 0, 0, 0)


def length_of(source: SourceFile) -> int:
    return len(delivered.receive(source))


class _Store:
    """Counts what is fetched and not given back."""

    def __init__(self, n_times: int = 1) -> None:
        self.n_fetched = 0
        self.n_times = n_times  # as long as they are listed are files

    def fetch(self, source: SourceFile, _share: object, max_bytes: int) -> tuple[SourceFile, MemoryFile]:
        if source.size > max_bytes:
            raise ExtractError(FailReason.TOO_LARGE, "limit")
        if source.path == b"7":
            message = "Zebra-canary"
            raise ValueError(message)
        self.n_fetched += 1
        held = MemoryFile()
        held.write(bytes(source.size * self.n_times))
        held.seal()
        return replace(source, owner="ann"), held


class _Asking:
    """Takes files from a delivery as a sandbox does, and says how far ahead it was."""

    def __init__(self, handoff: FileHandoff) -> None:
        self._handoff = handoff
        self.most_held = 0

    def run(self, function: Any, items: Any) -> Iterator[tuple[SourceFile, Any]]:
        waiting: list[SourceFile] = []
        for item in items:
            if item is not PAUSE:
                waiting.append(item)
            self.most_held = max(
                self.most_held,
                sum(held.size for held in self._handoff._held.values() if isinstance(held, MemoryFile)),
            )
            if waiting and (item is PAUSE or len(waiting) == 40):
                source = waiting.pop(0)
                yield source, function(source)
        for source in waiting:
            yield source, function(source)


def memory_files() -> int:
    """Count the files that this process holds in memory."""
    n_held = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own, among others
            n_held += str(entry.readlink()).startswith("/memfd:")
    return n_held


def test_what_is_fetched_ahead_is_bounded_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_SHARES_AHEAD_BYTES", "1000")
    monkeypatch.setattr(delivery, "fetch", _Store().fetch)
    sources = [_source(number, 900 if number == 30 else 90) for number in range(100, 200)]
    sources[50] = _source(50, 5000)  # larger than what may lie ready, but not than the limit
    n_held = memory_files()
    with FileHandoff() as handoff, delivery.Delivery(Config(), handoff) as delivering:
        sandbox = _Asking(handoff)
        found = list(delivering.run(sandbox, lambda source: source.size, iter(sources)))  # type: ignore[arg-type]
    assert [source.path for source, _ in found] == [source.path for source in sources]
    assert {source.owner for source, _ in found} == {"ann"}
    assert sandbox.most_held <= 5000
    assert memory_files() == n_held


def test_what_is_larger_than_listed_is_counted_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_SHARES_AHEAD_BYTES", "1000")
    monkeypatch.setattr(delivery, "fetch", _Store(n_times=1000).fetch)
    with FileHandoff() as handoff, delivery.Delivery(Config(), handoff) as delivering:
        sandbox = _Asking(handoff)
        list(delivering.run(sandbox, lambda source: source.size, map(_source, range(100, 200))))  # type: ignore[arg-type]
    assert sandbox.most_held <= 2 * SharesTable().connections * 10_000


def test_confined_workers_are_handed_what_was_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "fetch", _Store().fetch)
    config = Config(limits=Limits(file_bytes=10_000))
    sources = [_source(number, 100 + number) for number in range(40)]
    sources[9] = _source(9, 20_000)
    with (
        FileHandoff() as handoff,
        delivery.Delivery(config, handoff) as delivering,
        Sandbox(2, config.limits, delivered.ask_at, (handoff.address,)) as sandbox,
    ):
        found = {source.path: answer for source, answer in delivering.run(sandbox, length_of, iter(sources))}
    assert found.pop(b"9") == Fault(FailReason.TOO_LARGE, "limit")
    crashed = found.pop(b"7")
    assert isinstance(crashed, Fault)
    assert crashed.reason == FailReason.IO_ERROR
    assert "canary" not in crashed.detail
    assert found == {b"%d" % number: 100 + number for number in range(40) if number not in {7, 9}}


def test_who_is_handed_a_file_can_not_change_it() -> None:
    held = MemoryFile()
    held.write(b"the content")
    held.seal()
    with pytest.raises(PermissionError):
        os.write(held.descriptor, b"x")
    with pytest.raises(PermissionError):
        mmap.mmap(held.descriptor, held.size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    assert fcntl.fcntl(held.descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_WRITE
    held.close()


def test_the_hatch_gives_only_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    with FileHandoff() as handoff:
        monkeypatch.setattr(delivered._Worker, "address", handoff.address)
        with pytest.raises(ExtractError) as caught:
            delivered.receive(_source(1))
        assert caught.value.reason == FailReason.IO_ERROR
        handoff.put(_source(1), ExtractError(FailReason.NO_PERMISSION, "access denied"))
        with pytest.raises(ExtractError) as caught:
            delivered.receive(_source(1))
        assert (caught.value.reason, caught.value.detail) == (FailReason.NO_PERMISSION, "access denied")
        with socket.socket(socket.AF_UNIX) as rude:
            rude.connect(handoff.address)
            rude.sendall(b"\xff\xff\xff\xff and more")
            with suppress(ConnectionResetError):
                assert rude.recv(100) == b""
        assert Path(handoff.address).parent.stat().st_mode & 0o077 == 0
    with pytest.raises(ExtractError):
        delivered.receive(_source(1))


def test_the_server_of_files_waits_where_no_descriptor_is_free() -> None:
    n_accepted, waits = 0, list[float]()

    class Listener:
        def fileno(self) -> int:
            return -1 if len(waits) == 3 or n_accepted == 100 else 0

        def accept(self) -> None:
            nonlocal n_accepted
            n_accepted += 1
            raise OSError(errno.EMFILE, "")

    handoff = FileHandoff()
    handoff._freed.wait = lambda timeout=None: bool(waits.append(timeout or 0))  # type: ignore[method-assign]
    handoff._serve(Listener())  # type: ignore[arg-type]
    assert n_accepted == 3


def test_workers_find_no_secret_in_their_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_SMB_PASSWORD", PASSWORD)
    with Sandbox(1, Limits()) as sandbox:
        ((_, environment),) = sandbox.run(environment_of, [0])
        assert isinstance(environment, bytes)
        environment += Path(f"/proc/{fork_server.running()}/environ").read_bytes()
    assert b"PATH=" in environment
    assert PASSWORD.encode() not in environment
    assert os.environ["PHISCAN_SMB_PASSWORD"] == PASSWORD


def environment_of(_item: int) -> bytes:
    return json.dumps(dict(os.environ)).encode()
