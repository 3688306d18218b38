"""The scan of a share: crawl, pass over what is known, run the rest through the workers, record in order.

Results are recorded in crawl order and in batches, one transaction each; those that wait longer than a second
for a slower file before them are kept aside in the database. Whenever the scan is killed,
the database holds whole batches, and the next run of the same scan continues after the last one: the rows
in the end are the same as those of an undisturbed run, except which of several files of equal content was
screened and which took over its results.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from phiscan.config import Config
from phiscan.crawl import Crawled, IgnoreRules, crawl
from phiscan.errors import StoreError
from phiscan.model import LIKE, FileResult, SourceFile, code_of
from phiscan.pipeline.folders import KnownFolders
from phiscan.pipeline.ocr_pass import OcrCounts
from phiscan.pipeline.rate_limit import RateLimit, paced
from phiscan.pipeline.reader_counts import count_again
from phiscan.pipeline.result_recorder import Progress, ResultRecorder
from phiscan.pipeline.scan_plan import Plan, ScanOptions
from phiscan.pipeline.versions import learned_version, versions, versions_key
from phiscan.pipeline.workers.acceptance import accepted
from phiscan.pipeline.workers.pools import Workers, local_workers
from phiscan.review.decisions.learning import judged_near
from phiscan.review.store import ScanSummary, Store
from phiscan.sandbox.answers import Fault
from phiscan.stopping import deferred


@dataclass(frozen=True, slots=True)
class ScanRun:
    """A finished scan: its summary as counted from the store, and where the workers' time went."""

    summary: ScanSummary
    resumed: bool
    n_refused: int  # stored results of the resumed scan that phiscan did not write: read again
    stage_seconds: Mapping[str, float]
    missing_isolation: tuple[str, ...] | None = None  # of its workers; None = none was started here
    ocr: OcrCounts = field(default_factory=OcrCounts)


def count_share(
    roots: Sequence[bytes], ignore: IgnoreRules, config: Config | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the running number of files to read and of their bytes, opening none of them."""
    n_files = n_bytes = 0
    for crawled in crawl(roots, ignore, config):
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
    workers: AbstractContextManager[Workers] | None = None,
    pace: RateLimit | None = None,
    crawler: Callable[[Sequence[bytes], IgnoreRules], Iterator[Crawled]] | None = None,
    on_begin: Callable[[int], None] | None = None,
) -> ScanRun:
    """Scan the roots and record one outcome for every entry of the share.

    Goes on with an unfinished scan of the same roots, versions and options. On an interrupt, what was
    done is recorded, the scan is marked as stopped, and the interrupt passes on. ``workers`` None = the
    processes of this machine; ``pace`` None = as fast as they can. ``on_begin`` is called with the number
    of the scan once it is in the store.

    Raises:
        ConfigError, RuleError, DictionaryError, ModelError: before any file is opened.
        StoreError: the store cannot be written; the run stops.
    """
    options, pace = options or ScanOptions(), pace or RateLimit()
    config = config.with_learned(learned_version(config, store))
    parts = versions(config)
    if not store.has_scanned_with(parts):
        from phiscan.pipeline.engine import build_engine  # noqa: PLC0415 (a rescan needs no engine here)

        if on_progress is not None:
            on_progress(Progress(is_loading=True))
        build_engine(config)  # an unusable rule or model is said here, once, not by every worker
    changed = changed_by_verdicts(config, store, roots)
    store.read_again(changed)
    key = versions_key(parts)
    state = store.begin_scan(roots, versions=parts, options=options.as_dict(), now=_now())
    if on_begin is not None:
        on_begin(state.id)
    recorder = ResultRecorder(store, state.id, key, on_progress or (lambda _progress: None))
    if state.resumed:
        recorder.load_early()
    # With an option of its own, a scan looks at each file by itself.
    is_passing = options == ScanOptions() and not changed
    folders = KnownFolders(recorder, ignore, config.home) if is_passing else None
    entries = crawler(roots, ignore) if crawler else crawl(roots, ignore, config, folders)
    plan = Plan(recorder, options, roots, entries, folders)
    stage_seconds: Counter[str] = Counter()
    missing: tuple[str, ...] | None = None
    try:
        with recorder, workers or local_workers(config, largest_batch=pace.largest_batch) as pool:
            for sources in plan.rounds():
                for result in _results(pool, paced(sources, pace), stage_seconds):
                    plan.record(result)
            missing = pool.missing_isolation
    except StoreError:
        raise  # a store that cannot be written is not asked again: what is missing is read the next time
    except BaseException:
        with deferred():
            _close(store, recorder, options, "stopped")
        raise
    _close(store, recorder, options, "complete", refused=state.n_refused)
    if folders is not None:
        folders.finish()
    count_again(store, config, _now())
    summary = store.summary(state.id)
    ocr = _ocr_counts(summary, recorder.progress, options)
    return ScanRun(summary, state.resumed, state.n_refused, stage_seconds, missing, ocr)


def changed_by_verdicts(config: Config, store: Store, roots: Sequence[bytes]) -> list[int]:
    """Return the results below roots on whose referral the newest verdicts say otherwise than at their scan.

    Their files are read again; all others keep their results, however many verdicts there are.
    """
    decided = config.learned.decided if config.learned else ()
    limit = -math.log(config.missed_file_cost)
    with store.database.read() as connection:
        rows = [row for row in judged_near(connection, roots, limit) if decided or LIKE in row[2]]
    if not rows:
        return []
    # Loads numpy, which a rescan without verdicts does not need.
    from phiscan.decision import decided_examples as by  # noqa: PLC0415

    examples, found = by.DecidedExamples.by_wording(decided), []
    for number, log_odds, evidence in rows:
        was = evidence.get(LIKE, 0) / by.SCALE
        now = examples.shift(log_odds - was, by.bits_of(code_of(evidence)), is_above=True)
        if (log_odds >= limit) != (log_odds - was + now >= limit):
            found.append(number)
    return found


def _results(
    pool: Workers, sources: Iterable[SourceFile], stage_seconds: Counter[str]
) -> Iterator[FileResult]:
    """Yield the results of files as they come; a fault of a worker is the failure of its file.

    Such a file comes last: its name is judged by another worker.
    """
    faults: dict[tuple[bytes, bytes], Fault] = {}
    unopened: list[SourceFile] = []
    for source, answer in pool.run(sources):
        if isinstance(answer, Fault) and not source.unopened:
            faults[source.root, source.path] = answer
            unopened.append(replace(source, unopened=str(answer.reason)))
        else:
            yield _result(source, answer, stage_seconds)
    if unopened:
        for source, answer in pool.run(unopened):
            detail = faults[source.root, source.path].detail
            yield replace(_result(source, answer, stage_seconds), detail=detail)


def _result(source: SourceFile, answer: FileResult | Fault, stage_seconds: Counter[str]) -> FileResult:
    if isinstance(answer, Fault):
        return FileResult.of_unopened(source)
    result = accepted(source, answer)
    stage_seconds.update(dict(result.seconds))
    return result


def _ocr_counts(summary: ScanSummary, progress: Progress, options: ScanOptions) -> OcrCounts:
    seconds = time.monotonic() - progress.ocr_started if progress.ocr_started else 0.0
    waiting = (summary.n_ocr_files, summary.n_ocr_parts)
    return OcrCounts(options.ocr, progress.n_ocr_read, seconds, options.ocr_budget_s, *waiting)


def _close(
    store: Store,
    recorder: ResultRecorder,
    options: ScanOptions,
    status: Literal["complete", "stopped"],
    *,
    refused: int = 0,
) -> None:
    recorder.flush()
    whole = not options.only
    store.finish_scan(recorder.scan_id, status=status, seconds=recorder.seconds, now=_now(), whole=whole)
    if status == "complete":
        store.digest_scan(recorder.scan_id, whole=whole, refused=refused, now=_now())


def _now() -> datetime:
    return datetime.now(UTC)
