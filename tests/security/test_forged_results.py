"""Results that were written into the database of a stopped scan with SQL: refused, and the files read again.

Each attack runs as this user and, where that is root, as an ordinary user too.
"""

import os
import shutil
import sqlite3
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.crawl import check_roots
from phiscan.crawl.ignore import load_ignore
from phiscan.model import FileResult, Outcome, Referral, SourceFile
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.process import process
from phiscan.pipeline.result_recorder import ResultRecorder
from phiscan.pipeline.scan import ScanRun, scan, versions, versions_key
from phiscan.pipeline.scan_plan import ScanOptions
from phiscan.review.records.recording import FolderState, to_json
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.pipeline.harness import write_share
from tests.pipeline.test_early_results import Held

N_FILES = 12  # of which two are letters about a patient
UNPRIVILEGED = 65534
Attack = Callable[[Path], None]


@pytest.fixture(params=["this user", "nobody"])
def attacked(request: pytest.FixtureRequest) -> Iterator[Callable[[Attack], None]]:
    """Run an attack in a new folder, as this user or, from root, as nobody."""
    folder = Path(tempfile.mkdtemp(prefix="phiscan-forged-"))
    as_nobody = request.param == "nobody"
    if as_nobody and os.geteuid() != 0:
        pytest.skip("only root can become another user")

    def run(attack: Attack) -> None:
        if not as_nobody:
            attack(folder)
            return
        attack(folder / "first")  # what it imports is loaded: nobody cannot enter root's folder of modules
        (folder / "second").mkdir()
        os.chown(folder / "second", UNPRIVILEGED, UNPRIVILEGED)
        folder.chmod(0o711)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
                os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
                attack(folder / "second")
                status = 0
            except BaseException:  # noqa: BLE001 (the parent reports the status)
                traceback.print_exc()
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    yield run
    shutil.rmtree(folder)


class Stopped:
    """A scan of a share that was stopped before anything was recorded."""

    def __init__(self, folder: Path) -> None:
        self.share = write_share(folder / "share", N_FILES, distinct=True)
        for number, path in enumerate(sorted(self.share.rglob("*.txt"))):  # of one size, a file waits
            path.write_text(path.read_text() + "The end.\n" * number)
        self.config = Config(home=folder / "home")
        self.config.home.mkdir(mode=0o700)
        create_key(self.config.key_file)
        self.roots = check_roots([self.share])
        self.sources = [
            SourceFile.of(self.roots[0], bytes(path.relative_to(self.share)), path.stat())
            for path in sorted(self.share.rglob("*.txt"))
        ]
        self.parts = versions(self.config)
        with self.open() as store:
            self.number = store.begin_scan(
                self.roots, versions=self.parts, options=ScanOptions().as_dict(), now=datetime.now(UTC)
            ).id

    def open(self) -> Store:
        return Store.open(self.config.database_url, create=True, audit_key=self.config.audit_key_file)

    def record(self, *, early: bool) -> None:
        """Record what the pipeline says of each file, or keep it aside; then the scan is stopped."""
        engine = build_engine(self.config)
        with self.open() as store:
            recorder = ResultRecorder(store, self.number, versions_key(self.parts), lambda _progress: None)
            held = replace(self.sources[0], path=b"0")
            if early:
                recorder.expect(held)
            for source in self.sources:
                recorder.expect(source)
                recorder.arrive(process(source, engine))
            recorder.flush()

    def sql(self, *statements: tuple[str, Sequence[object]]) -> None:
        with sqlite3.connect(self.config.home / "phiscan.db") as connection:
            for statement, values in statements:
                assert connection.execute(statement, values).rowcount > 0
        connection.close()

    def resume(self) -> tuple[ScanRun, list[bytes], str]:
        """Return the run, the paths that were read, and what the verification says."""
        workers = Held(hold=False)
        workers.config = self.config
        with self.open() as store:
            run = scan(
                self.config,
                self.roots,
                store,
                ignore=load_ignore(self.config, self.roots),
                workers=workers,  # type: ignore[arg-type]
            )
            check = store.verify_audit()
        return run, workers.asked, "\n".join(map(str, check.found))


def clear(source: SourceFile) -> FileResult:
    return FileResult(source, Outcome.SCREENED, referral=Referral.CLEAR, media_type="text/plain", n_chars=9)


def test_forged_early_results_are_refused_and_their_files_read(
    attacked: Callable[[Attack], None],
) -> None:
    def attack(folder: Path) -> None:
        stopped = Stopped(folder)
        stopped.sql(
            *(
                (
                    "INSERT INTO early_result (scan_id, root_id, path, result, seal) VALUES (?, 1, ?, ?, '')",
                    (stopped.number, source.path, to_json(clear(source))),
                )
                for source in stopped.sources
            )
        )
        run, asked, said = stopped.resume()
        assert run.resumed
        assert run.n_refused == len(asked) == N_FILES
        assert run.summary.referred == 2
        assert said == ""

    attacked(attack)


def test_an_early_result_of_this_program_is_believed_and_a_changed_or_moved_one_is_not(
    attacked: Callable[[Attack], None],
) -> None:
    def attack(folder: Path) -> None:
        stopped = Stopped(folder)
        stopped.record(early=True)
        first, second = (source.path for source in stopped.sources[:2])
        stopped.sql(
            (
                "UPDATE early_result SET result = replace(result, 'referred', 'clear') WHERE path = ?",
                (first,),
            ),
            (
                (
                    "UPDATE early_result SET result = ?, "
                    "seal = (SELECT seal FROM early_result WHERE path = ?) WHERE path = ?"
                ),
                (to_json(clear(stopped.sources[1])), first, second),
            ),
        )
        run, asked, said = stopped.resume()
        assert run.n_refused == 2
        assert sorted(asked) == [first, second]
        assert run.summary.referred == 2
        assert said == ""

    attacked(attack)


def test_changed_results_of_a_stopped_scan_are_read_again(attacked: Callable[[Attack], None]) -> None:
    def attack(folder: Path) -> None:
        stopped = Stopped(folder)
        stopped.record(early=False)
        stopped.sql(
            ("UPDATE examination SET referral = 'clear', vector = 0 WHERE referral = 'referred'", ()),
            ("DELETE FROM health_term WHERE examination_id = 2 OR examination_id = 1", ()),
        )
        run, asked, said = stopped.resume()
        assert run.n_refused == len(asked) >= 2
        assert run.summary.referred == 2
        assert said == ""

    attacked(attack)


def test_a_forged_state_of_a_folder_does_not_hide_its_files(attacked: Callable[[Attack], None]) -> None:
    def attack(folder: Path) -> None:
        stopped = Stopped(folder)
        with stopped.open() as store:
            state = FolderState.of(b"0", b"0" * 16, [1])
            store.record(stopped.number, "key", [], folders={stopped.roots[0]: [state]})
            assert [one.digest for one in store.folders(stopped.roots[0], b"", limit=9)] == [b"0" * 16]
            stopped.sql(("UPDATE folder SET digest = ?", (b"1" * 16,)))
            assert [one.digest for one in store.folders(stopped.roots[0], b"", limit=9)] == [b""]

    attacked(attack)
