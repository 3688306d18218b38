"""The results of a running scan in crawl order, recorded a batch to a transaction.

Numbers of rows follow the crawl, so that every run over the same files gives the same rows; so a result is
recorded after those of all files before it. Where a file before it takes long, the result is kept aside in
the database (``early_result``) until its turn. A thread sees to both by the clock: nothing
need arrive for that.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from phiscan.crawl import is_same_file
from phiscan.model import FileResult, Outcome, Referral, SourceFile
from phiscan.review.records.recording import Early, FolderState, Further, Place
from phiscan.review.store import Store
from phiscan.store.sql_batches import Run

BATCH = 200  # results recorded by one transaction
BATCH_SEEN = 10_000  # files seen again: two statements note them all, while the crawl continues
FLUSH_S = 1.0  # between two transactions while results come slowly
EARLY_S = 0.5  # a result that waits so long for one before it is kept aside at the next transaction
TICK_S = 0.2  # between two looks at the clock; a kill loses at most the work of FLUSH_S + EARLY_S + TICK_S


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
    n_ocr: int = 0  # files that the second pass is to read
    n_ocr_read: int = 0
    ocr_started: float = 0.0
    started: float = field(default_factory=time.monotonic)


class ResultRecorder:
    """Keeps results in crawl order until they are recorded, a batch to a transaction.

    ``_line`` holds, in crawl order, results that are there and None for each file that a worker still
    has, or that waits for one of equal content; answers may arrive in another order. Within ``with``, what
    is there is committed by the clock.
    """

    def __init__(self, store: Store, scan_id: int, key: str, on_progress: Callable[[Progress], None]) -> None:
        self.store = store
        self.scan_id = scan_id
        self.key = key
        self.progress = Progress()
        self._on_progress = on_progress
        self._line: OrderedDict[Place, FileResult | None] = OrderedDict()
        self._waiting: dict[Place, float] = {}  # when results arrived that another one holds up
        self._kept: set[Place] = set()  # kept aside in the store
        self._early: dict[Place, FileResult] = {}  # kept aside before this scan was stopped
        self._failed: set[Place] = set()  # by the first pass of this run; the second may read them
        self._batch: list[FileResult] = []
        self._runs: list[Run] = []  # of the numbers of files whose earlier results stand
        self._n_seen = 0  # in them
        self._folders: dict[bytes, list[FolderState]] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="recorder")  # a thread once it has work
        self._writing: Future[None] | None = None
        self._told = ""  # path of the file that is read, as it was recorded
        self._flushed = time.monotonic()
        self._lock = threading.RLock()
        self._is_closed = threading.Event()
        self._clock = threading.Thread(target=self._watch, name="recorder-clock", daemon=True)
        self._problem: Exception | None = None  # met by the clock's thread, raised in the scan's

    def __enter__(self) -> Self:
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed.set()
        self._clock.join()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since this run began."""
        return time.monotonic() - self.progress.started

    def load_early(self) -> None:
        """Fetch the results that this scan had and could not record before it was stopped."""
        self._early = self.store.early_results(self.scan_id)
        self._kept = set(self._early)

    def take_early(self, source: SourceFile) -> FileResult | None:
        """Return the result of a file that is as it was when this scan read it before it was stopped."""
        found = self._early.pop((source.root, source.path), None)
        return found if found is not None and is_same_file(source, found.source) else None

    def expect(self, source: SourceFile) -> None:
        """Note that a file is to be read."""
        with self._lock:
            self._line[source.root, source.path] = None
        if not self.progress.n_read and not self.progress.is_loading:
            self.progress.is_loading = True
            self._on_progress(self.progress)

    def arrive(self, result: FileResult) -> None:
        """Take the answer about a file that was expected.

        What the second pass could read no longer counts as failed.
        """
        progress, place = self.progress, (result.source.root, result.source.path)
        if progress.ocr_started:
            progress.n_ocr_read += 1
        else:
            progress.n_read += result.outcome != Outcome.SKIPPED
            progress.n_bytes += _bytes_read(result)
        progress.n_failed -= place in self._failed
        self._failed.discard(place)
        if result.outcome == Outcome.FAILED and not progress.ocr_started:
            self._failed.add(place)
        progress.n_referred += result.referral == Referral.REFERRED
        progress.is_loading = False
        self.record_now(result)

    def begin_ocr(self, n_files: int) -> None:
        """Note that all text is read, record it, and begin the second pass over so many files."""
        self.flush()
        self.progress.n_ocr, self.progress.ocr_started = n_files, time.monotonic()
        self._on_progress(self.progress)

    def record_now(self, result: FileResult) -> None:
        """Take a result that needed no worker."""
        self.progress.n_skipped += result.outcome == Outcome.SKIPPED
        self.progress.n_failed += result.outcome == Outcome.FAILED
        place = (result.source.root, result.source.path)
        with self._lock:
            self._line[place] = result
            self._waiting[place] = time.monotonic()
        self._settle()

    def mark_unchanged(self, *file_ids: int) -> None:
        """Note that the earlier results of these files stand."""
        self.mark_all_unchanged([(number, number) for number in file_ids], len(file_ids))

    def mark_all_unchanged(self, runs: Sequence[Run], n_files: int) -> None:
        """Note that the earlier results of so many files stand, given as runs of their numbers."""
        with self._lock:
            self._runs.extend(runs)
            self._n_seen += n_files
        self.progress.n_unchanged += n_files
        self._settle()

    def note_folder(self, root: bytes, state: FolderState) -> None:
        """Note a folder in which all results stand; recorded with them."""
        with self._lock:
            self._folders.setdefault(root, []).append(state)

    def flush(self) -> None:
        """Record what is there; what the workers still have is left for the next run."""
        with self._lock:
            self._flush(before=time.monotonic())

    def _flush(self, *, before: float | None = None) -> None:
        """Record what is there, and keep aside what arrived before a moment and cannot be recorded yet."""
        self._wait()
        places = [] if before is None else [at for at, arrived in self._waiting.items() if arrived <= before]
        # A copy is not kept: it takes its result from one that is recorded before it.
        waiting = [one for one in map(self._line.get, places) if one is not None and not one.is_copy]
        settled = [(result.source.root, result.source.path) for result in self._batch]
        early = Early(waiting, [place for place in settled if place in self._kept])
        reading = self._reading
        if self._batch or self._n_seen or waiting or reading != self._told:
            further = self._seen()
            further["early"] = early if waiting or early.recorded else None
            further["reading"] = self._told = reading
            self.store.record(self.scan_id, self.key, self._batch, **further)
        self._kept.difference_update(early.recorded)
        self._kept.update((result.source.root, result.source.path) for result in waiting)
        for place in places:
            del self._waiting[place]
        self._batch = []
        self._flushed = time.monotonic()

    def _watch(self) -> None:
        """Record by the clock until the scan ends; what goes wrong is raised where it is asked next."""
        while not self._is_closed.wait(TICK_S):
            with self._lock:
                try:
                    if self._batch or self._waiting or self._reading != self._told:
                        self._flush_if_late()
                except Exception as error:  # noqa: BLE001 (raised by ``_wait``, in the scan's own thread)
                    self._problem = error
                    return

    @property
    def _reading(self) -> str:
        """The path of the first file that a worker still has; "" = there is none."""
        place, result = next(iter(self._line.items()), ((b"", b""), None))
        return "" if result is not None or not place[1] else os.fsdecode(b"/".join(place))

    def _flush_if_late(self) -> bool:
        now = time.monotonic()
        is_late = now - self._flushed > FLUSH_S
        if is_late:
            self._flush(before=now - EARLY_S)
        return is_late

    def _flush_seen(self) -> None:
        """Begin to record what was seen again. The database works outside Python, so the crawl continues."""
        self._wait()
        record = partial(self.store.record, self.scan_id, self.key, (), **self._seen())
        self._writing = self._writer.submit(record)

    def _seen(self) -> Further:
        """Return what was seen again since this was asked last."""
        seen = Further(runs=self._runs, folders=self._folders)
        self._runs, self._folders, self._n_seen = [], {}, 0
        return seen

    def _wait(self) -> None:
        """Wait for what is being recorded, and raise what went wrong with it."""
        if self._problem is not None:
            raise self._problem
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def _settle(self) -> None:
        with self._lock:
            if self._problem is not None:
                raise self._problem
            while self._line and (result := next(iter(self._line.values()))) is not None:
                self._batch.append(result)
                place, _ = self._line.popitem(last=False)
                self._waiting.pop(place, None)
            if len(self._batch) >= BATCH:
                self._flush()
            elif not self._flush_if_late() and self._n_seen >= BATCH_SEEN:
                self._flush_seen()
        self._on_progress(self.progress)


def _bytes_read(result: FileResult) -> int:
    """Return how much of a file was read; where that is not known, the whole if anything came of it."""
    if result.bytes_read is not None:
        return result.bytes_read
    return result.source.size if result.outcome == Outcome.SCREENED else 0
