"""The scan of a share: crawl, pass over what is known, run the rest through the workers, record in order.

Results are recorded in crawl order and in batches, one transaction each. Whenever the scan is killed,
the database holds whole batches, and the next run of the same scan goes on behind the last one: the rows
in the end are the same as those of an undisturbed run.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Literal

from phiscan.config import Config
from phiscan.crawl import Crawled, IgnoreRules, crawl, is_same_file
from phiscan.errors import StoreError
from phiscan.extract.sandbox import Fault, Sandbox
from phiscan.model import FailReason, FileResult, Outcome, Referral, SourceFile
from phiscan.pipeline.engine import Engine, Processed, build_engine, process
from phiscan.pipeline.versions import versions, versions_key
from phiscan.review.store import KnownFile, ScanSummary, Store

LOOK_AHEAD = 500  # crawled entries looked up in the store by one query
BATCH = 200  # results recorded by one transaction
FLUSH_S = 5.0  # no result waits longer than this to be recorded

# Imported once by the server that workers are forked from, so that a new worker is there at once.
_PRELOAD = ("phiscan.pipeline.scan",)

# What may succeed at the next try although nothing about the file or about phiscan changed.
_TRANSIENT = frozenset({FailReason.CHANGED, FailReason.IO_ERROR, FailReason.NO_PERMISSION})


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan was asked to do besides its roots."""

    full: bool = False  # read everything again
    retry_failed: bool = False  # read again what failed before

    def as_dict(self) -> dict[str, bool]:
        """Return the options as stored with the scan."""
        return {"full": self.full, "retry_failed": self.retry_failed}


@dataclass(slots=True)
class Progress:
    """How far a scan is; one object, updated in place for the display."""

    n_crawled: int = 0
    n_read: int = 0
    n_unchanged: int = 0
    n_skipped: int = 0
    n_failed: int = 0
    n_referred: int = 0
    n_bytes: int = 0
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class ScanRun:
    """A finished scan: its summary as counted from the store, and where the workers' time went."""

    summary: ScanSummary
    resumed: bool
    stage_seconds: Mapping[str, float]


class _Worker:
    """The engine of a worker process; empty in the parent."""

    engine: Engine | None = None


def _start_worker(config: Config) -> None:
    _Worker.engine = build_engine(config)


def _work(source: SourceFile) -> Processed:
    if _Worker.engine is None:
        message = "the worker was not started with _start_worker"
        raise RuntimeError(message)
    return process(source, _Worker.engine)


def count_share(roots: Sequence[bytes], ignore: IgnoreRules) -> Iterator[tuple[int, int]]:
    """Yield the running number of files to read and of their bytes, opening none of them."""
    n_files = n_bytes = 0
    for crawled in crawl(roots, ignore):
        if crawled.skip is None and crawled.fail is None:
            n_files += 1
            n_bytes += crawled.source.size
        yield n_files, n_bytes


def scan(
    config: Config,
    roots: Sequence[bytes],
    store: Store,
    *,
    ignore: IgnoreRules,
    options: ScanOptions | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> ScanRun:
    """Scan the roots and record one outcome for every entry of the share.

    Goes on with an unfinished scan of the same roots, versions and options. On an interrupt, what was
    done is recorded, the scan is marked as stopped, and the interrupt passes on.

    Raises:
        ConfigError, RuleError, DictionaryError, ModelError: before any file is opened.
        StoreError: the store cannot be written; the run stops.
    """
    options = options or ScanOptions()
    build_engine(config)  # an unusable rule or model is said here, once, not by every worker
    parts = versions(config)
    key = versions_key(parts)
    state = store.begin_scan(roots, versions=parts, options=options.as_dict(), now=_now())
    ledger = _Ledger(store, state.id, key, on_progress or (lambda _progress: None))
    plan = _Plan(ledger, options, roots, crawl(roots, ignore))
    stage_seconds: Counter[str] = Counter()
    try:
        with Sandbox(config.n_workers, config.limits, _start_worker, (config,), preload=_PRELOAD) as sandbox:
            for source, answer in sandbox.run(_work, plan.to_read()):
                if isinstance(answer, Fault):
                    ledger.arrive(
                        FileResult(source, Outcome.FAILED, reason=answer.reason, detail=answer.detail)
                    )
                else:
                    stage_seconds.update(dict(answer.seconds))
                    ledger.arrive(answer.result)
    except StoreError:
        raise  # a store that cannot be written is not asked again: what is missing is read the next time
    except BaseException:
        _close(store, state.id, ledger, "stopped")
        raise
    _close(store, state.id, ledger, "complete")
    return ScanRun(store.summary(state.id), state.resumed, stage_seconds)


def _close(store: Store, scan_id: int, ledger: _Ledger, status: Literal["complete", "stopped"]) -> None:
    ledger.flush()
    store.finish_scan(scan_id, status=status, seconds=ledger.seconds, now=_now())


class _Ledger:
    """Keeps results in crawl order until they are recorded, a batch to a transaction.

    ``_line`` holds, in crawl order, results that are there and None for each file that a worker still
    has; the workers' answers arrive in the same order.
    """

    def __init__(self, store: Store, scan_id: int, key: str, on_progress: Callable[[Progress], None]) -> None:
        self.store = store
        self.scan_id = scan_id
        self.key = key
        self.progress = Progress()
        self._on_progress = on_progress
        self._line: deque[FileResult | None] = deque()
        self._batch: list[FileResult] = []
        self._seen: list[int] = []
        self._flushed = time.monotonic()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since this run began."""
        return time.monotonic() - self.progress.started

    def expect(self) -> None:
        """Note that a file was handed to the workers."""
        self._line.append(None)

    def arrive(self, result: FileResult) -> None:
        """Take the answer for the earliest file that is still with the workers."""
        self._settle()
        self._line.popleft()
        self.progress.n_read += 1
        self.progress.n_bytes += result.source.size
        self.progress.n_failed += result.outcome == Outcome.FAILED
        self.progress.n_referred += result.referral == Referral.REFERRED
        self._batch.append(result)
        self._settle()

    def settle_now(self, result: FileResult) -> None:
        """Take a result that needed no worker."""
        self.progress.n_skipped += result.outcome == Outcome.SKIPPED
        self.progress.n_failed += result.outcome == Outcome.FAILED
        self._line.append(result)
        self._settle()

    def stand(self, *file_ids: int) -> None:
        """Note that the earlier results of these files stand."""
        self.progress.n_unchanged += len(file_ids)
        self._seen.extend(file_ids)
        self._settle()

    def flush(self) -> None:
        """Record what is there; what the workers still have is left for the next run."""
        if self._batch or self._seen:
            self.store.record(self.scan_id, self.key, self._batch, unchanged=self._seen)
        self._batch, self._seen = [], []
        self._flushed = time.monotonic()

    def _settle(self) -> None:
        while self._line and (result := self._line[0]) is not None:
            self._batch.append(result)
            self._line.popleft()
        full = len(self._batch) >= BATCH or len(self._seen) >= BATCH * 10
        if full or time.monotonic() - self._flushed > FLUSH_S:
            self.flush()
        self._on_progress(self.progress)


class _Plan:
    """Decides, entry by entry, what must be read."""

    def __init__(
        self, ledger: _Ledger, options: ScanOptions, roots: Sequence[bytes], entries: Iterable[Crawled]
    ) -> None:
        self._ledger = ledger
        self._roots = roots
        self._options = options
        self._entries = iter(entries)

    def to_read(self) -> Iterator[SourceFile]:
        """Yield the files for the workers; settle all other entries on the way."""
        listed: set[bytes] = set()
        while chunk := list(islice(self._entries, LOOK_AHEAD)):
            known = self._look_up(chunk)
            for crawled in chunk:
                listed.add(crawled.source.root)
                if crawled.fail is not None:
                    self._keep_below(crawled.source)
                self._ledger.progress.n_crawled += 1
                before = known.get((crawled.source.root, crawled.source.path))
                if before is not None and self._stands(crawled, before):
                    self._ledger.stand(before.file_id)
                elif crawled.skip is not None:
                    self._ledger.settle_now(FileResult(crawled.source, Outcome.SKIPPED, reason=crawled.skip))
                elif crawled.fail is not None:
                    self._ledger.settle_now(
                        FileResult(crawled.source, Outcome.FAILED, reason=crawled.fail, detail=crawled.detail)
                    )
                else:
                    self._ledger.expect()
                    yield crawled.source
        for root in self._roots:
            if root not in listed and not self._options.full:
                self._doubt_emptiness(root)

    def _keep_below(self, folder: SourceFile) -> None:
        """Let the results of a folder that cannot be listed now stand: its files did not go away."""
        inside = b"" if folder.path == b"." else folder.path
        self._ledger.stand(*self._ledger.store.present_below(folder.root, inside))

    def _doubt_emptiness(self, root: bytes) -> None:
        """Record a root where files were, and now nothing is, as unreadable: a share that is not mounted."""
        before = self._ledger.store.present_below(root, b"")
        if before:
            self._ledger.stand(*before)
            source = SourceFile(root, b".", 0, 0, 0, 0, 0)
            self._ledger.settle_now(
                FileResult(
                    source,
                    Outcome.FAILED,
                    reason=FailReason.IO_ERROR,
                    detail="empty, but files were here before: is it mounted? --full takes it as it is",
                )
            )

    def _look_up(self, chunk: Sequence[Crawled]) -> dict[tuple[bytes, bytes], KnownFile]:
        known: dict[tuple[bytes, bytes], KnownFile] = {}
        for root, entries in groupby(chunk, key=lambda crawled: crawled.source.root):
            found = self._ledger.store.known(root, [crawled.source.path for crawled in entries])
            known.update({(root, path): before for path, before in found.items()})
        return known

    def _stands(self, crawled: Crawled, before: KnownFile) -> bool:
        """Tell whether the recorded result is still what a new look would give."""
        if not is_same_file(crawled.source, before):
            return False
        if crawled.skip is not None or crawled.fail is not None:
            expected = (Outcome.SKIPPED, crawled.skip) if crawled.skip else (Outcome.FAILED, crawled.fail)
            return (before.outcome, before.reason) == expected
        if before.scan_id == self._ledger.scan_id:
            return before.outcome != Outcome.SKIPPED  # this very scan, before it was stopped
        if self._options.full or before.versions_key != self._ledger.key:
            return False
        if before.outcome == Outcome.FAILED:
            return not self._options.retry_failed and before.reason not in _TRANSIENT
        return before.outcome == Outcome.SCREENED


def _now() -> datetime:
    return datetime.now(UTC)
