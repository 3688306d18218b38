"""Audit packs: built in a separate process, so that no request waits; zip files in the home folder."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path

import structlog

from phiscan.errors import PhiscanError, origin
from phiscan.language import SOURCE, lazy_gettext
from phiscan.report.gather import gather
from phiscan.report.pack import write_pack
from phiscan.store.database import open_database

NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-scan[0-9]{1,19}(?:-numbers)?\.zip")
_PRIVATE = 0o600  # the pack names files of the share
_CHUNK = 1 << 20
log = structlog.get_logger("phiscan.web")


@dataclass(frozen=True, slots=True)
class Pack:
    """One stored pack."""

    name: str
    scan: int
    made: str  # UTC, as in its file name
    hides_paths: bool
    size: int
    digest: str  # sha256 of the zip file


@dataclass(frozen=True, slots=True)
class Order:
    """A pack to be built: scan, database, and target folder."""

    folder: str
    database_url: str = field(repr=False)  # may hold a password
    scan_id: int
    hide_paths: bool
    now: datetime
    patient_index: Path | None = None
    language: str = SOURCE


@dataclass(slots=True)
class Packs:
    """The packs of one home folder; one is built at a time."""

    folder: Path
    patient_index: Path | None = None  # folder of the index with states and provinces
    _making: threading.Lock = field(default_factory=threading.Lock)
    _problem: str = ""

    @property
    def is_making(self) -> bool:
        """Whether a pack is being built."""
        return self._making.locked()

    @property
    def problem(self) -> str:
        """The error of the last build, "" if it succeeded."""
        return self._problem

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

    def begin(
        self, database_url: str, scan_id: int, *, hide_paths: bool, now: datetime, language: str = SOURCE
    ) -> bool:
        """Start building the pack of a scan; False if one is being built already."""
        if not self._making.acquire(blocking=False):
            return False
        order = Order(str(self.folder), database_url, scan_id, hide_paths, now, self.patient_index, language)
        threading.Thread(target=self._run, args=(order,), name="audit pack", daemon=True).start()
        return True

    def _run(self, order: Order) -> None:
        """Wait for the process that builds it; a thread would hold the interpreter's lock."""
        try:
            context = multiprocessing.get_context("spawn")
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_build, args=(sender, order))
            process.start()
            sender.close()
            try:
                self._problem = receiver.recv()
            except EOFError:
                self._problem = lazy_gettext("the process that makes it ended early")
            process.join()
        except OSError as error:
            self._problem = origin(error)
        finally:
            if self._problem:
                log.error("no audit pack", problem=self._problem)
            self._making.release()


def make_zip(order: Order) -> Path:
    """Write the pack of a scan as a zip file of mode 0600, complete or not at all, and return its path.

    Raises:
        PhiscanError: the store or the folder cannot be used.
    """
    folder = Path(order.folder)
    database = open_database(order.database_url, create=False)
    try:
        report = gather(
            database,
            order.scan_id,
            now=order.now,
            hide_paths=order.hide_paths,
            patient_index=order.patient_index,
        )
    finally:
        database.close()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{order.now:%Y%m%dT%H%M%SZ}-scan{order.scan_id}{'-numbers' if order.hide_paths else ''}.zip"
    with _draft(folder) as draft:
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
    return folder / name


def _build(sender: Connection, order: Order) -> None:
    """Build a pack in a separate process, and send the error message; unexpected errors without text."""
    problem = ""
    try:
        make_zip(order)
    except PhiscanError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 (a message that we did not write may quote a document)
        problem = origin(error)
    sender.send(problem)


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    """Yield a private temporary folder on the same file system, then remove it."""
    draft = Path(tempfile.mkdtemp(prefix=".making-", dir=folder))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _described(path: Path) -> Pack:
    digest = sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
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
