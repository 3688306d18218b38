"""The report of a scan as a page of the desk: built in a process of its own, cached in memory.

It is the page of the audit pack without its frame, so that both show the same numbers. A report older than
a minute is rebuilt on request; one that takes long is shown when it is ready.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from multiprocessing.connection import Connection

import structlog

from phiscan.errors import PhiscanError, origin
from phiscan.language import SOURCE, lazy_gettext, using
from phiscan.report.gather import gather
from phiscan.report.rendering.html import render_main
from phiscan.store.database import open_database

MAX_AGE = timedelta(minutes=1)
MAX_CACHED = 4  # reports of different scans
WAIT_S = 20.0  # how long a page waits for a report
_ENDED = lazy_gettext("the process that makes it ended early")
Key = tuple[int, str]  # scan, language
MAX_CONCURRENT = 2  # concurrently: each takes a process
MAX_WAITING = 8  # pages; each occupies a thread of the server, and other requests need threads
log = structlog.get_logger("phiscan.web")


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report to be built."""

    database_url: str = field(repr=False)  # may hold a password
    scan_id: int
    now: datetime
    language: str = SOURCE


@dataclass(frozen=True, slots=True)
class LiveReport:
    """The content of a report, or the error message."""

    made: datetime
    html: str = field(repr=False)
    problem: str = ""


class LiveReports:
    """Reports by scan and language; each is built once at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cache: OrderedDict[Key, LiveReport] = OrderedDict()
        self._making: dict[Key, threading.Thread] = {}
        self._n_waiting = 0

    def get(self, requested: ReportRequest, *, wait_s: float = WAIT_S) -> LiveReport | None:
        """Return the report of a scan, rebuilt if it is old; None = it is not ready within ``wait_s``.

        An old report is returned if the new one is not ready, or if too many are being built or awaited.
        """
        key = requested.scan_id, requested.language
        with self._lock:
            cached = self._cache.get(key)
            if cached is not None and not cached.problem and requested.now - cached.made < MAX_AGE:
                return cached
            making = self._making.get(key)
            if making is None and len(self._making) >= MAX_CONCURRENT:
                return cached
            if making is None:
                making = threading.Thread(target=self._build, args=(requested,), name="report", daemon=True)
                self._making[key] = making
                making.start()
            may_wait = self._n_waiting < MAX_WAITING
            self._n_waiting += may_wait
        if may_wait:
            making.join(wait_s)
        with self._lock:
            self._n_waiting -= may_wait
            return self._cache.get(key)

    def clear(self) -> None:
        """Clear the cache."""
        with self._lock:
            self._cache.clear()

    def _build(self, requested: ReportRequest) -> None:
        try:
            problem, html = _from_process(requested)
        except Exception as error:  # noqa: BLE001 (else nobody could ask for this report again)
            problem, html = origin(error), ""
        if problem:
            log.error("no report", problem=problem)
        key = requested.scan_id, requested.language
        with self._lock:
            self._cache[key] = LiveReport(requested.now, html, problem)
            self._cache.move_to_end(key)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
            del self._making[key]


def report_content(requested: ReportRequest) -> str:
    """Return the content of the report's page, without its frame.

    Raises:
        PhiscanError: the store cannot be used, or there is no such scan.
    """
    database = open_database(requested.database_url, create=False)
    try:
        data = gather(database, requested.scan_id, now=requested.now).data
        with using(requested.language):
            return render_main(data)
    finally:
        database.close()


def _from_process(requested: ReportRequest) -> tuple[str, str]:
    """Build the report in another process, because it holds the interpreter's lock: error and content."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, requested), daemon=True)
    process.start()
    sender.close()
    try:
        problem, html = receiver.recv()
    except EOFError:
        problem, html = _ENDED, ""
    process.join()
    return str(problem), str(html)


def _send(sender: Connection, requested: ReportRequest) -> None:
    problem, html = "", ""
    try:
        html = report_content(requested)
    except PhiscanError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 (a message that we did not write may quote a document)
        problem = origin(error)
    sender.send((problem, html))
