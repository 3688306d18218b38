"""What is there is committed at once, also while a slow file before it holds up the crawl order."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import pytest

from phiscan.config import Config
from phiscan.crawl import check_roots
from phiscan.crawl.ignore import load_ignore
from phiscan.errors import StoreError
from phiscan.model import FailReason, FileResult, Outcome, SourceFile
from phiscan.pipeline.engine import Engine, build_engine
from phiscan.pipeline.process import process
from phiscan.pipeline.result_recorder import ResultRecorder
from phiscan.pipeline.scan import scan
from phiscan.review.records.recording import from_json, to_json
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.pipeline.harness import n_recorded, source_of, write_share
from tests.pipeline.rows import database_rows
from tests.waiting import wait_until

N_FILES = 24
_CHILD = """
import sys
from pathlib import Path
from typing import Self
from tests.pipeline.test_early_results import Held, run_scan
run_scan(Path(sys.argv[1]), Path(sys.argv[2]), Held(hold=True))
"""


class Held:
    """The engine in this process; with ``hold``, the first file is never answered, and the others are."""

    missing_isolation = None

    def __init__(self, *, hold: bool) -> None:
        self.hold = hold
        self.asked: list[bytes] = []
        self.config = Config()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult]]:
        engine = build_engine(self.config)
        given = list(sources)
        self.asked += [source.path for source in given]
        for source in given[1:] if self.hold else given:
            yield source, process(source, engine)
        if self.hold:
            signal.pause()  # until this process is killed


def run_scan(home: Path, share: Path, workers: Held) -> None:
    config = workers.config = Config(home=home)
    roots = check_roots([share])
    with Store.open(config.database_url, create=True) as store:
        scan(config, roots, store, ignore=load_ignore(config, roots), workers=workers)


@pytest.mark.slow
def test_a_kill_while_the_first_file_is_slow_loses_nothing_that_was_read(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", N_FILES, distinct=True)
    for number, path in enumerate(sorted(share.rglob("*.txt"))):  # a file waits for one of its own size
        path.write_text(path.read_text() + "The end.\n" * number)
    undisturbed, disturbed = tmp_path / "home", tmp_path / "home2"
    database = disturbed / "phiscan.db"
    for home in (undisturbed, disturbed):
        home.mkdir(mode=0o700)
    create_key(undisturbed / "key")
    shutil.copy2(undisturbed / "key", disturbed / "key")
    run_scan(undisturbed, share, Held(hold=False))
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(disturbed), str(share)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    wait_until(
        lambda: n_recorded(database, "early_result") == N_FILES - 1 or child.poll() is not None,
        "all others are committed",
    )
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert n_recorded(database) == 0  # in crawl order: the first file is missing
    resumed = Held(hold=False)
    run_scan(disturbed, share, resumed)
    assert len(resumed.asked) == 1  # the file that was slow
    assert n_recorded(database, "early_result") == 0
    assert database_rows(database) == database_rows(undisturbed / "phiscan.db")


def test_a_file_that_changed_since_the_kill_is_read_again(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 2, distinct=True)
    first, second = sorted(path for path in share.rglob("*.txt"))
    recorder = _recorder(tmp_path, share)
    before, after = source_of(share, first), source_of(share, second)
    recorder.expect(before)
    recorder.expect(after)
    recorder.arrive(FileResult(after, Outcome.FAILED, reason=FailReason.CORRUPT))
    recorder.flush()
    again = ResultRecorder(recorder.store, recorder.scan_id, recorder.key, lambda _progress: None)
    again.load_early()
    second.write_text("another content\n")
    assert again.take_early(source_of(share, second)) is None
    assert again.take_early(before) is None
    recorder.store.close()


def _recorder(tmp_path: Path, share: Path) -> ResultRecorder:
    store = Store.open(f"sqlite:///{tmp_path}/phiscan.db", create=True)
    state = store.begin_scan([bytes(share)], versions={}, options={}, now=datetime.now(UTC))
    return ResultRecorder(store, state.id, "versions", lambda _progress: None)


def test_the_clock_commits_what_is_there_when_nothing_more_arrives(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 2)
    sources = [source_of(share, path) for path in sorted(share.rglob("*.txt"))]
    with _recorder(tmp_path, share) as recorder:
        for source in sources:
            recorder.expect(source)
        recorder.arrive(FileResult(sources[0], Outcome.FAILED, reason=FailReason.CORRUPT))
        wait_until(lambda: n_recorded(tmp_path / "phiscan.db") == 1, "the first result is committed")
        wait_until(lambda: recorder.store.scans()[0].reading != "", "the file that is read is named")
        assert recorder.store.scans()[0].reading == str(share / os.fsdecode(sources[1].path))
    given = {"status": "stopped", "seconds": 1.0, "now": datetime.now(UTC)}
    recorder.store.finish_scan(recorder.scan_id, **given)  # type: ignore[arg-type]
    assert recorder.store.scans()[0].reading == ""
    recorder.store.close()


def test_what_the_clock_met_is_raised_in_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = write_share(tmp_path / "share", 2)
    sources = [source_of(share, path) for path in sorted(share.rglob("*.txt"))]

    def record(*_: object, **__: object) -> None:
        message = "disk full"
        raise StoreError(message)

    with _recorder(tmp_path, share) as recorder:
        monkeypatch.setattr(recorder.store, "record", record)
        for source in sources:
            recorder.expect(source)
        recorder.arrive(FileResult(sources[1], Outcome.FAILED, reason=FailReason.CORRUPT))
        wait_until(lambda: not recorder._clock.is_alive(), "the clock's thread has met it")
    with pytest.raises(StoreError, match="disk full"):
        recorder.flush()
    recorder.store.close()


def test_a_result_comes_back_from_json_as_it_was_and_an_unmasked_preview_is_not_kept(
    tmp_path: Path, engine: Engine
) -> None:
    share = write_share(tmp_path / "share", 1)
    (path,) = share.rglob("*.txt")
    result = process(source_of(share, path), engine)
    assert result.findings
    assert result.terms
    assert from_json(to_json(result)) == result
    assert from_json("[]") is None
    assert from_json(to_json(result)[:-5]) is None
    shown = replace(result, findings=(replace(result.findings[0], preview="Ann"), *result.findings[1:]))
    with pytest.raises(StoreError, match="not masked"):
        to_json(shown)
