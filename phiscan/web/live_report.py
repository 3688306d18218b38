"""The report of a scan as a page of the desk: made in a process of its own, kept in memory for a short while.

It is the page of the audit pack without its frame, so that both show the same numbers. A report that is older
than a minute is made anew when somebody asks for it; one that takes long is shown when it is ready.
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
MAX_KEPT = 4  # reports of different scans
WAIT_S = 20.0  # how long a page waits for one
_ENDED = lazy_gettext("the process that makes it ended early")
Key = tuple[int, str]  # scan, language
MOST_MADE = 2  # at one time: each takes a process, whoever asks for the reports of all scans
MOST_WAITING = 8  # pages; each holds a thread of the server, and others are needed for everybody else
log = structlog.get_logger("phiscan.web")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which report is to be made."""

    database_url: str = field(repr=False)  # may hold a password
    scan_id: int
    now: datetime
    language: str = SOURCE


@dataclass(frozen=True, slots=True)
class LiveReport:
    """The content of a report, or why there is none."""

    made: datetime
    html: str = field(repr=False)
    problem: str = ""


class LiveReports:
    """Reports by the number of their scan and language; one of each is made at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, LiveReport] = OrderedDict()
        self._making: dict[Key, threading.Thread] = {}
        self._n_waiting = 0

    def get(self, wanted: Wanted, *, wait_s: float = WAIT_S) -> LiveReport | None:
        """Return the report of a scan, made anew if it is old; None = it is not ready within ``wait_s``.

        An old one is returned if the new one is not ready. Where many wait or many are made, nobody waits.
        """
        key = wanted.scan_id, wanted.language
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and not kept.problem and wanted.now - kept.made < MAX_AGE:
                return kept
            making = self._making.get(key)
            if making is None and len(self._making) >= MOST_MADE:
                return kept
            if making is None:
                making = threading.Thread(target=self._make, args=(wanted,), name="report", daemon=True)
                self._making[key] = making
                making.start()
            may_wait = self._n_waiting < MOST_WAITING
            self._n_waiting += may_wait
        if may_wait:
            making.join(wait_s)
        with self._lock:
            self._n_waiting -= may_wait
            return self._kept.get(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()

    def _make(self, wanted: Wanted) -> None:
        try:
            problem, html = _from_process(wanted)
        except Exception as error:  # noqa: BLE001 (else nobody could ask for this report again)
            problem, html = origin(error), ""
        if problem:
            log.error("no report", problem=problem)
        key = wanted.scan_id, wanted.language
        with self._lock:
            self._kept[key] = LiveReport(wanted.now, html, problem)
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            del self._making[key]


def report_content(wanted: Wanted) -> str:
    """Return the content of the report's page, without its frame.

    Raises:
        PhiscanError: the store cannot be used, or there is no such scan.
    """
    database = open_database(wanted.database_url, create=False)
    try:
        data = gather(database, wanted.scan_id, now=wanted.now).data
        with using(wanted.language):
            return render_main(data)
    finally:
        database.close()


def _from_process(wanted: Wanted) -> tuple[str, str]:
    """Return problem and content from another process: numbers take the interpreter to themselves."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, wanted), daemon=True)
    process.start()
    sender.close()
    try:
        problem, html = receiver.recv()
    except EOFError:
        problem, html = _ENDED, ""
    process.join()
    return str(problem), str(html)


def _send(sender: Connection, wanted: Wanted) -> None:
    problem, html = "", ""
    try:
        html = report_content(wanted)
    except PhiscanError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 (a message that we did not write may quote a document)
        problem = origin(error)
    sender.send((problem, html))
