"""The ledger of a running scan: results in crawl order, recorded a batch to a transaction."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from phiscan.model import FileResult, Outcome, Referral, SourceFile
from phiscan.review.records.folders import FolderState
from phiscan.review.store import Store
from phiscan.store.sql_batches import Run

BATCH = 200  # results recorded by one transaction
BATCH_SEEN = 10_000  # files seen again: two statements note them all, while the crawl goes on
FLUSH_S = 1.0  # no result waits longer than this to be recorded: a kill loses at most as much work


@dataclass(slots=True)
class Progress:
    """How far a scan is; one object, updated in place for the display."""

    n_crawled: int = 0
    n_read: int = 0
    n_unchanged: int = 0
    n_skipped: int = 0
    n_failed: int = 0
    n_referred: int = 0
    n_bytes: int = 0  # read, not the size of the files
    is_loading: bool = False  # no file was answered yet, because the models are being loaded
    started: float = field(default_factory=time.monotonic)


class ResultRecorder:
    """Keeps results in crawl order until they are recorded, a batch to a transaction.

    ``_line`` holds, in crawl order, results that are there and None for each file that a worker still
    has, or that waits for one of equal content; answers may arrive in another order.
    """

    def __init__(self, store: Store, scan_id: int, key: str, on_progress: Callable[[Progress], None]) -> None:
        self.store = store
        self.scan_id = scan_id
        self.key = key
        self.progress = Progress()
        self._on_progress = on_progress
        self._line: OrderedDict[tuple[bytes, bytes], FileResult | None] = OrderedDict()
        self._batch: list[FileResult] = []
        self._seen: list[int] = []
        self._runs: list[Run] = []
        self._n_seen = 0  # in both
        self._folders: dict[bytes, list[FolderState]] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="ledger")  # a thread once it has work
        self._writing: Future[None] | None = None
        self._flushed = time.monotonic()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since this run began."""
        return time.monotonic() - self.progress.started

    def expect(self, source: SourceFile) -> None:
        """Note that a file is to be read."""
        self._line[source.root, source.path] = None
        if not self.progress.n_read and not self.progress.is_loading:
            self.progress.is_loading = True
            self._on_progress(self.progress)

    def arrive(self, result: FileResult) -> None:
        """Take the answer about a file that was expected."""
        self._line[result.source.root, result.source.path] = result
        self.progress.n_read += 1
        self.progress.n_bytes += _bytes_read(result)
        self.progress.is_loading = False
        self.progress.n_failed += result.outcome == Outcome.FAILED
        self.progress.n_referred += result.referral == Referral.REFERRED
        self._settle()

    def settle_now(self, result: FileResult) -> None:
        """Take a result that needed no worker."""
        self.progress.n_skipped += result.outcome == Outcome.SKIPPED
        self.progress.n_failed += result.outcome == Outcome.FAILED
        self._line[result.source.root, result.source.path] = result
        self._settle()

    def mark_unchanged(self, *file_ids: int) -> None:
        """Note that the earlier results of these files stand."""
        self._seen.extend(file_ids)
        self._stood(len(file_ids))

    def mark_all_unchanged(self, runs: Sequence[Run], n_files: int) -> None:
        """Note that the earlier results of so many files stand, given as runs of their numbers."""
        self._runs.extend(runs)
        self._stood(n_files)

    def note_folder(self, root: bytes, state: FolderState) -> None:
        """Note a folder in which all results stand; recorded with them."""
        self._folders.setdefault(root, []).append(state)

    def flush(self) -> None:
        """Record what is there; what the workers still have is left for the next run."""
        self._wait()
        if self._batch or self._n_seen:
            self._record(self._batch, self._seen, self._runs, self._folders)
        self._batch = []
        self._forget_seen()
        self._flushed = time.monotonic()

    def _flush_seen(self) -> None:
        """Begin to record what was seen again. The database works outside Python, so the crawl goes on."""
        self._wait()
        self._writing = self._writer.submit(self._record, (), self._seen, self._runs, self._folders)
        self._forget_seen()

    def _record(
        self,
        results: Sequence[FileResult],
        seen: Sequence[int],
        runs: Sequence[Run],
        folders: Mapping[bytes, Sequence[FolderState]],
    ) -> None:
        self.store.record(self.scan_id, self.key, results, unchanged=seen, runs=runs, folders=folders)

    def _forget_seen(self) -> None:
        self._seen, self._runs, self._folders, self._n_seen = [], [], {}, 0

    def _wait(self) -> None:
        """Wait for what is being recorded, and raise what went wrong with it."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def _stood(self, n_files: int) -> None:
        self._n_seen += n_files
        self.progress.n_unchanged += n_files
        self._settle()

    def _settle(self) -> None:
        while self._line and (result := next(iter(self._line.values()))) is not None:
            self._batch.append(result)
            self._line.popitem(last=False)
        if len(self._batch) >= BATCH or time.monotonic() - self._flushed > FLUSH_S:
            self.flush()
        elif self._n_seen >= BATCH_SEEN:
            self._flush_seen()
        self._on_progress(self.progress)


def _bytes_read(result: FileResult) -> int:
    """Return how much of a file was read; where that is not known, the whole if anything came of it."""
    if result.bytes_read is not None:
        return result.bytes_read
    return result.source.size if result.outcome == Outcome.SCREENED else 0
