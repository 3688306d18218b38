"""A folder in which nothing changed is passed over whole; whatever changes, no row is lost by it."""

import os
import random
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pathspec
import pytest
import sqlalchemy as sa
from blake3 import blake3

from phiscan.config import Config
from phiscan.crawl import IgnoreRules, journal, local
from phiscan.crawl.journal import Watcher
from phiscan.errors import InputError, StoreError
from phiscan.model import FailReason, FileResult, Outcome, PiiVector, Referral, SourceFile
from phiscan.pipeline.folders import KnownFolders
from phiscan.pipeline.scan import scan
from phiscan.pipeline.scan_plan import ScanOptions
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from phiscan.store.sql_batches import Run
from phiscan.store.tables.scans import examination, file, sighting
from tests.empty_database import new_store

FEW = 4
Row = tuple[str, str, str, int, int]


class Answers:
    """Workers that take every file for plain text without identifiers, but for what is called ``broken``."""

    missing_isolation = None

    def __init__(self) -> None:
        self.n_read = 0
        self.missing_isolation: tuple[str, ...] = ()

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult]]:
        for source in sources:
            self.n_read += not source.unopened
            yield source, _answer(source)


def _answer(source: SourceFile) -> FileResult:
    if source.unopened:
        return FileResult.of_unopened(source)
    if b"broken" in source.path:
        return FileResult(source, Outcome.FAILED, reason=FailReason.IO_ERROR)
    content = Path(os.fsdecode(source.absolute)).read_bytes()
    return FileResult(
        source,
        Outcome.SCREENED,
        media_type="text/plain",
        content_hash=blake3(source.path + content).hexdigest(),
        vector=PiiVector(frozenset()),
        hamming=3,
        nearest_prototype="name",
        prototype_distance=1,
        health_score=0.1,
        referral=Referral.CLEAR,
        case="nothing",
    )


class Scans:
    """Scans of one share into a database of their own."""

    def __init__(self, home: Path, share: Path, ignored: str = "") -> None:
        self.config = Config(home=home)
        new_store(home / "phiscan.db").close()
        create_key(self.config.key_file)
        self.share = share
        self.ignored = ignored

    def run(self, options: ScanOptions | None = None) -> tuple[set[Row], int]:
        """Scan; return what this scan has of every entry, and how many files were read."""
        workers = Answers()
        ignore = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([self.ignored]))
        with Store.open(self.config.database_url, create=True) as store:
            done = scan(
                self.config,
                [bytes(self.share)],
                store,
                ignore=ignore,
                options=options,
                workers=nullcontext(workers),
            )
            query = (
                sa.select(
                    file.c.display,
                    examination.c.outcome,
                    examination.c.reason,
                    examination.c.size,
                    examination.c.mtime_ns,
                )
                .join(sighting, sighting.c.file_id == file.c.id)
                .join(examination, examination.c.id == sighting.c.examination_id)
                .where(sighting.c.scan_id == sa.select(sa.func.max(sighting.c.scan_id)).scalar_subquery())
            )
            with store.database.read() as connection:
                rows = {tuple(row) for row in connection.execute(query)}
                # Sightings are noted without this check.
                assert connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None
            assert len(rows) == done.summary.crawled
        return rows, workers.n_read


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.pipeline.engine.build_engine", lambda _config: None)
    monkeypatch.setattr("phiscan.pipeline.versions.screening_versions", lambda _config: {})


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the folders that are passed over, as they are."""
    folders: list[bytes] = []
    asked = KnownFolders.passes

    def passes(self: KnownFolders, root: bytes, folder: bytes, facts: bytes) -> bool:
        answer = asked(self, root, folder, facts)
        folders.extend([folder] if answer else [])
        return answer

    monkeypatch.setattr(KnownFolders, "passes", passes)
    return folders


def _share(folder: Path) -> Path:
    for name in ("a", "a/b", "a-c", "d", "d/empty"):
        (folder / name).mkdir(parents=True)
        for number in range(3 if "empty" not in name else 0):
            (folder / name / f"{number}.txt").write_text(f"{name} {number}")
    (folder / "top.txt").write_text("top")
    return folder


def test_passes_over_what_did_not_change_from_the_third_scan_on(tmp_path: Path, passed: list[bytes]) -> None:
    scans = Scans(tmp_path / "home", _share(tmp_path / "share"))
    first, n_read = scans.run()
    assert (len(first), n_read) == (13, 13)
    assert scans.run() == (first, 0)
    assert not passed  # the second scan notes the folders
    assert scans.run() == (first, 0)
    assert passed == [b"", b"a", b"a/b", b"a-c", b"d"]


@pytest.mark.parametrize("options", [ScanOptions(full=True), ScanOptions(retry_failed=True)])
def test_an_option_looks_at_every_file(tmp_path: Path, passed: list[bytes], options: ScanOptions) -> None:
    scans = Scans(tmp_path / "home", _share(tmp_path / "share"))
    (tmp_path / "share" / "d" / "broken.txt").write_text("x")
    for _ in range(2):
        scans.run()
    assert scans.run(options)[1] == (14 if options.full else 1)
    assert not passed


def test_what_may_succeed_next_time_is_tried_again(tmp_path: Path, passed: list[bytes]) -> None:
    scans = Scans(tmp_path / "home", _share(tmp_path / "share"))
    (tmp_path / "share" / "d" / "broken.txt").write_text("x")
    assert [scans.run()[1] for _ in range(4)] == [14, 1, 1, 1]
    assert b"d" not in passed
    assert b"a" in passed


def test_other_rules_of_what_is_ignored_are_noticed(tmp_path: Path, passed: list[bytes]) -> None:
    scans = Scans(tmp_path / "home", _share(tmp_path / "share"))
    for _ in range(3):
        scans.run()
    passed.clear()
    scans.ignored = "1.txt"
    rows, _ = scans.run()
    assert sum(outcome == "skipped" for _, outcome, *_ in rows) == 4
    assert not passed


def test_a_root_passed_over_is_not_taken_for_an_empty_one(tmp_path: Path, passed: list[bytes]) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "top.txt").write_text("top")
    scans = Scans(tmp_path / "home", tmp_path / "share")
    found = [scans.run()[0] for _ in range(3)]
    assert found[0] == found[2]
    assert passed == [b""]


def test_what_cannot_be_recorded_beside_the_crawl_stops_the_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = Scans(tmp_path / "home", _share(tmp_path / "share"))
    first, _ = scans.run()
    record = Store.record

    def fails(store: Store, *arguments: Any, runs: Sequence[Run] = (), **rest: Any) -> None:
        if len(runs) == FEW:
            message = "the disk is full"
            raise StoreError(message)
        record(store, *arguments, runs=runs, **rest)

    with monkeypatch.context() as patch:
        patch.setattr("phiscan.pipeline.result_recorder.BATCH_SEEN", FEW)
        patch.setattr("phiscan.pipeline.scan_plan.LOOK_AHEAD", FEW)
        patch.setattr(Store, "record", fails)
        with pytest.raises(StoreError, match="the disk is full"):
            scans.run()
    assert scans.run() == (first, 0)


def _change(share: Path, choose: random.Random) -> None:
    """Do to a share what people do."""
    files = sorted(path for path in share.rglob("*") if path.is_file() and not path.is_symlink())
    folders = [share, *sorted(path for path in share.rglob("*") if path.is_dir() and not path.is_symlink())]
    folder, name = choose.choice(folders), f"new{choose.randrange(10**9)}"
    some = choose.choice(files) if files else share / "top.txt"
    match choose.randrange(8):
        case 0:
            some.write_text(f"changed {name}")
        case 1:
            some.unlink(missing_ok=True)
        case 2:
            some.rename(folder / f"{name}.txt") if some.exists() else None
        case 3:
            (folder / f"{name}{choose.choice(['.txt', '.broken', '.bak'])}").write_text(name)
        case 4:
            (folder / name).symlink_to(some)
        case 5:
            os.link(some, folder / name) if some.exists() else None
        case 6:
            (folder / name).mkdir()
            (folder / name / "inside.txt").write_text(name)
        case _:
            if folder != share:
                choose.choice([shutil.rmtree, lambda path: path.rename(share / name)])(folder)


@contextmanager
def _watched(scans: Scans) -> Iterator[Watcher]:
    watcher = Watcher(scans.config.home, [bytes(scans.share)])
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        yield watcher
    finally:
        watcher.stop()
        thread.join()
        watcher.close()


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the folders that are listed, as they are."""
    folders: list[bytes] = []
    stats_of = local._stats_of
    monkeypatch.setattr(local, "_stats_of", lambda folder: folders.append(folder) or stats_of(folder))
    return folders


def test_the_journal_lets_a_scan_list_only_what_changed(tmp_path: Path, listed: list[bytes]) -> None:
    share = _share(tmp_path / "share")
    scans = Scans(tmp_path / "home", share)
    with _watched(scans):
        for _ in range(3):
            first, _ = scans.run()
        listed.clear()
        assert scans.run() == (first, 0)
        assert listed == [bytes(share / "d/empty")]  # no result of a file stands for it
        (share / "a/b/new.txt").write_text("new")
        listed.clear()
        rows, n_read = scans.run()
        assert (len(rows), n_read) == (14, 1)
        assert listed == [bytes(share / "a/b"), bytes(share / "d/empty")]
        listed.clear()
        scans.run(ScanOptions(full=True))
        scans.ignored = "1.txt"
        scans.run()
        assert len(listed) == 12
    listed.clear()
    scans.run()  # nobody answers
    assert len(listed) == 6


def test_what_the_journal_cannot_know_is_listed(
    tmp_path: Path, listed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    share = _share(tmp_path / "share")
    scans = Scans(tmp_path / "home", share)
    with _watched(scans) as watcher:
        for _ in range(3):
            scans.run()
        listed.clear()
        monkeypatch.setattr(journal, "_mounts", lambda _root: "another mount")
        scans.run()
        assert len(listed) == 6
        with pytest.raises(InputError, match="another `phiscan watch`"):
            Watcher(scans.config.home, [bytes(share)])
        scans.run()
        watcher._start_again()  # as after a lost event
        listed.clear()
        scans.run()
        assert len(listed) == 6
        monkeypatch.setattr(journal, "LISTED_EVERY_S", 0)
        listed.clear()
        scans.run()
        assert len(listed) == 6
    monkeypatch.setattr(journal, "_mounts", lambda _root: "36 35 0:1 / /srv rw - nfs4 files:/srv rw")
    with pytest.raises(InputError, match=r"on a network file system \(nfs4\)"):
        Watcher(scans.config.home, [bytes(share)])


@pytest.fixture
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record beside the crawl, many times."""
    monkeypatch.setattr("phiscan.pipeline.result_recorder.BATCH_SEEN", FEW)


@pytest.mark.usefixtures("_often")
@pytest.mark.parametrize(
    ("is_watched", "seed"), [(is_watched, seed) for is_watched in (False, True) for seed in range(3)]
)
def test_whatever_changes_the_rows_are_those_of_a_first_scan(
    tmp_path: Path, passed: list[bytes], listed: list[bytes], is_watched: bool, seed: int
) -> None:
    choose = random.Random(seed)
    share = _share(tmp_path / "share")
    scans = Scans(tmp_path / "home", share, "*.bak")
    n_listed = 0
    with _watched(scans) if is_watched else nullcontext():
        for step in range(8):
            for _ in range(choose.choice([0, 0, 1, 3])):
                _change(share, choose)
            listed.clear()
            again, _ = scans.run()
            n_listed += len(listed)
            listed.clear()
            assert again == Scans(tmp_path / f"fresh{step}", share, "*.bak").run()[0]
            n_listed -= len(listed)
    assert n_listed < 0 if is_watched else passed
