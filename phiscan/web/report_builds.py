"""Reports of scans: as a page, cached in memory, and as audit packs, zip files in the home folder.

Both are built in a process of their own, because building holds the interpreter's lock, and show the same
numbers: the page is that of the pack without its frame. A page older than a minute is rebuilt on request; one
that takes long is shown when it is ready.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import tempfile
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import file_digest
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import structlog

from phiscan.bounded_cache import BoundedCache
from phiscan.errors import PhiscanError, origin
from phiscan.language import SOURCE, lazy_gettext, using
from phiscan.report.gather import Report, gather
from phiscan.report.pack import write_pack
from phiscan.report.rendering.html import render_main
from phiscan.store.database import open_database

MAX_AGE = timedelta(minutes=1)
MAX_CACHED = 4  # reports of different scans
WAIT_S = 20.0  # how long a page waits for a report
MAX_CONCURRENT = 2  # concurrently: each takes a process
MAX_WAITING = 8  # pages; each occupies a thread of the server, and other requests need threads
NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-scan[0-9]{1,19}(?:-numbers)?\.zip")
_PRIVATE = 0o600  # the pack names files of the share
_ENDED = lazy_gettext("the process that makes it ended early")
Key = tuple[int, str]  # scan, language
log = structlog.get_logger("phiscan.web")


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report to be built: scan, database, language; of a pack the target folder too."""

    database_url: str = field(repr=False)  # may hold a password
    scan_id: int
    now: datetime
    language: str = SOURCE
    folder: str = ""
    hide_paths: bool = False
    patient_index: Path | None = None


def build(make: Callable[[ReportRequest], str], requested: ReportRequest) -> tuple[str, str]:
    """Call a function in another process: the error message, and what it returned."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, make, requested), daemon=True)
    process.start()
    sender.close()
    try:
        problem, made = receiver.recv()
    except EOFError:
        problem, made = _ENDED, ""
    process.join()
    return str(problem), str(made)


def _send(sender: Connection, make: Callable[[ReportRequest], str], requested: ReportRequest) -> None:
    sender.send(attempt(make, requested))


def attempt(make: Callable[[ReportRequest], str], requested: ReportRequest) -> tuple[str, str]:
    """Call a function here: the error message, of an unexpected error without its text, and the result."""
    try:
        return "", make(requested)
    except PhiscanError as error:
        return str(error), ""
    except Exception as error:  # noqa: BLE001 (a message that we did not write may quote a document)
        return origin(error), ""


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
        self._cache = BoundedCache[Key, LiveReport](MAX_CACHED)
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
        self._cache.clear()

    def _build(self, requested: ReportRequest) -> None:
        try:
            problem, html = build(report_content, requested)
        except Exception as error:  # noqa: BLE001 (else nobody could ask for this report again)
            problem, html = origin(error), ""
        if problem:
            log.error("no report", problem=problem)
        key = requested.scan_id, requested.language
        with self._lock:
            self._cache.put(key, LiveReport(requested.now, html, problem), 1)
            del self._making[key]


def report_content(requested: ReportRequest) -> str:
    """Return the content of the report's page, without its frame.

    Raises:
        PhiscanError: the store cannot be used, or there is no such scan.
    """
    with using(requested.language):
        return render_main(_gathered(requested).data)


def _gathered(requested: ReportRequest, **options: Any) -> Report:
    with closing(open_database(requested.database_url, create=False)) as database:
        return gather(database, requested.scan_id, now=requested.now, **options)


@dataclass(frozen=True, slots=True)
class Pack:
    """One stored pack."""

    name: str
    scan: int
    made: str  # UTC, as in its file name
    hides_paths: bool
    size: int
    digest: str  # sha256 of the zip file


@dataclass(slots=True)
class Packs:
    """The packs of one home folder; one is built at a time."""

    folder: Path
    patient_index: Path | None = None  # folder of the index with states and provinces
    _making: threading.Lock = field(default_factory=threading.Lock)
    problem: str = ""  # the error of the last build

    @property
    def is_making(self) -> bool:
        """Whether a pack is being built."""
        return self._making.locked()

    def listed(self) -> tuple[Pack, ...]:
        """Return the packs, newest first."""
        if not self.folder.is_dir():
            return ()
        found = [path for path in self.folder.iterdir() if NAME.fullmatch(path.name) and path.is_file()]
        return tuple(_described(path) for path in sorted(found, reverse=True))

    def path(self, name: str) -> Path | None:
        """Return the path of a listed pack; None for any other name."""
        path = self.folder / name
        return path if NAME.fullmatch(name) and path.is_file() and not path.is_symlink() else None

    def begin(self, requested: ReportRequest) -> bool:
        """Start building the pack of a scan; False if one is being built already."""
        if not self._making.acquire(blocking=False):
            return False
        requested = replace(requested, folder=str(self.folder), patient_index=self.patient_index)
        threading.Thread(target=self._run, args=(requested,), name="audit pack", daemon=True).start()
        return True

    def _run(self, requested: ReportRequest) -> None:
        """Wait for the process that builds it."""
        try:
            self.problem, _name = build(make_zip, requested)
        except OSError as error:
            self.problem = origin(error)
        finally:
            if self.problem:
                log.error("no audit pack", problem=self.problem)
            self._making.release()


def make_zip(order: ReportRequest) -> str:
    """Write the pack of a scan as a zip file of mode 0600, complete or not at all, and return its name.

    Raises:
        PhiscanError: the store or the folder cannot be used.
    """
    folder = Path(order.folder)
    report = _gathered(order, hide_paths=order.hide_paths, patient_index=order.patient_index)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{order.now:%Y%m%dT%H%M%SZ}-scan{order.scan_id}{'-numbers' if order.hide_paths else ''}.zip"
    # A private folder on the same file system.
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder, ignore_cleanup_errors=True) as made:
        draft = Path(made)
        inside = draft / "pack"
        inside.mkdir()
        written = write_pack(report, inside, language=order.language)
        zipped = draft / name
        descriptor = os.open(zipped, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
        with (
            os.fdopen(descriptor, "wb") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for path in sorted(written):
                archive.write(path, path.relative_to(inside))
        zipped.replace(folder / name)
    return name


def _described(path: Path) -> Pack:
    with path.open("rb") as stream:
        digest = file_digest(stream, "sha256")
    made, _, rest = path.name.partition("-scan")
    number, _, hidden = rest.removesuffix(".zip").partition("-")
    return Pack(
        name=path.name,
        scan=int(number),
        made=datetime.strptime(made, "%Y%m%dT%H%M%S%z").strftime("%Y-%m-%d %H:%M:%S UTC"),
        hides_paths=bool(hidden),
        size=path.stat().st_size,
        digest=digest.hexdigest(),
    )
