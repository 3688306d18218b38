"""One access log: its content as lines, text or JSON records of bounded length, and what was understood."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast
from zlib import error as ZlibError  # noqa: N812 (a class)
from zoneinfo import ZoneInfo

from phiscan.errors import InputError

HEAD_BYTES = 1024**2
MAX_RECORD = 1024**2  # bytes or characters of a line or record; a longer one is not understood
_CHUNK = 256 * 1024
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LIST = re.compile(r'\s*(?:\{\s*"(?:Records|value)"\s*:\s*)?\[')
_BETWEEN = re.compile(r"[\s,\]]*")
_NEXT_RECORD = re.compile(r"\n|\}\s*,\s*(?=\{)")
_CUT = 16  # characters: an error of JSON nearer to the end may be that of a record that goes on
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HALF_YEAR = timedelta(days=183)
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


@dataclass(slots=True)
class Log:
    """A log that is being read, and the counts of its records."""

    stream: IO[bytes]
    head: bytes  # its first bytes, which the stream has too
    now: datetime
    written: datetime  # last change of the file: times without a year are not after it
    zone: ZoneInfo | None = None  # of times that are written without one; None = this machine's
    year: int | None = None  # of the first time without a year, if it is known
    n_understood: int = 0
    n_unknown: int = 0
    is_damaged: bool = False  # it ends in the middle, or a part of it cannot be read
    first: datetime | None = None
    last: datetime | None = None
    before: datetime | None = None  # the last time that was written without a year

    def saw(self, moment: datetime) -> bool:
        """Count a record of this time; return whether the time can be right."""
        if not _EARLIEST <= moment <= self.now + _DAY:
            self.n_unknown += 1
            return False
        self.n_understood += 1
        self.first = min(self.first or moment, moment)
        self.last = max(self.last or moment, moment)
        return True

    def lines(self) -> Iterator[bytes]:
        """Yield the lines without their ends; one that is too long is counted and left out."""
        with self.damage():
            while line := self.stream.readline(MAX_RECORD):
                if line.endswith(b"\n") or len(line) < MAX_RECORD:
                    yield line.rstrip(b"\r\n")
                    continue
                self.n_unknown += 1
                while line and not line.endswith(b"\n"):
                    line = self.stream.readline(MAX_RECORD)

    def texts(self) -> Iterator[str]:
        """Yield the text in pieces; UTF-16 where it begins with its mark."""
        encoding = "utf-16" if self.head.startswith(_UTF16) else "utf-8-sig"
        with self.damage():
            text = TextIOWrapper(cast("Any", self.stream), encoding, "replace")
            while piece := text.read(_CHUNK):
                yield piece

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield JSON objects: each by itself, in a list, in the list of one object, or of a CSV export."""
        first_line = self.head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
        is_table = not first_line.startswith((b"{", b"[")) and b"AuditData" in first_line
        for record in self._exported() if is_table else self._objects():
            if isinstance(record, dict):
                yield record
            else:
                self.n_unknown += 1

    def _exported(self) -> Iterator[Any]:
        csv.field_size_limit(MAX_RECORD)
        with self.damage():
            text = TextIOWrapper(cast("Any", self.stream), "utf-8-sig", "replace", newline="")
            for row in csv.DictReader(text):
                try:
                    yield json.loads(row.get("AuditData") or "")
                except (ValueError, RecursionError):
                    yield None

    def _objects(self) -> Iterator[Any]:
        decode, text = json.JSONDecoder().raw_decode, ""
        has_begun = False
        for more in self.texts():
            text += more
            at = 0
            if not has_begun and (found := _LIST.match(text)):
                at = found.end()
            has_begun = True
            while (at := cast("re.Match[str]", _BETWEEN.match(text, at)).end()) < len(text):
                try:
                    record, at = decode(text, at)
                except json.JSONDecodeError as error:
                    may_go_on = error.msg.startswith("Unterminated") or len(text) - error.pos < _CUT
                    if may_go_on and len(text) - at < MAX_RECORD:
                        break
                    found = _NEXT_RECORD.search(text, error.pos)
                    at = found.end() if found else len(text)
                    yield None
                    self.is_damaged = True
                except RecursionError:
                    found = _NEXT_RECORD.search(text, at)
                    at = found.end() if found else len(text)
                    yield None
                else:
                    yield record
            text = text[at:]
        if text.strip(" \r\n\t}],"):
            yield None
            self.is_damaged = True

    @contextmanager
    def damage(self) -> Iterator[None]:
        """End at what cannot be unpacked or decoded, and note it."""
        try:
            yield
        except (EOFError, gzip.BadGzipFile, ZlibError, UnicodeError, csv.Error):
            self.is_damaged = True

    def time_of(self, text: str) -> datetime:
        """Return a time: ISO 8601, or month, day and time without a year and a zone.

        Raises:
            ValueError: it is none.
        """
        if text[:1].isdigit():
            moment = datetime.fromisoformat(text.replace("/", "-"))
            return moment if moment.tzinfo else self._in_zone(moment)
        month, day, clock = text.split()
        of = (_MONTHS.index(month) + 1, int(day), *(int(part) for part in clock.split(":")))
        limit = min(self.now, self.written) + _DAY
        if self.before is None:
            moment = self._in_year(self.year or limit.year, of)
            if self.year is None and moment > limit:
                moment = self._in_year(limit.year - 1, of)
        else:
            moment = self._in_year(self.before.year, of)
            if self.before - moment > _HALF_YEAR:
                moment = self._in_year(self.before.year + 1, of)
            elif moment - self.before > _HALF_YEAR:  # a late line of the old year
                return self._in_year(self.before.year - 1, of)
        self.before = moment
        return moment

    def _in_year(self, year: int, of: tuple[int, ...]) -> datetime:
        month, day, hour, minute, second = of
        if (month, day) == (2, 29):
            year -= year % 4
        return self._in_zone(datetime(year, month, day, hour, minute, min(second, 59)))  # noqa: DTZ001

    def _in_zone(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=self.zone) if self.zone else moment.astimezone()


@contextmanager
def opened_log(
    path: Path, *, now: datetime, zone: ZoneInfo | None = None, year: int | None = None
) -> Iterator[Log]:
    """Open a log, unpacked if it is gzip.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with _unpacked(path) as stream:
            head = b""
            log = Log(stream, head, now, datetime.fromtimestamp(path.stat().st_mtime, UTC), zone, year)
            with log.damage():
                while len(head) < HEAD_BYTES and (more := stream.read(_CHUNK)):
                    head += more
        with _unpacked(path) as stream:
            log.stream, log.head, log.is_damaged = stream, head, False
            yield log
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or type(error).__name__}"
        raise InputError(message) from None


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as raw:
        if raw.peek(2)[:2] != _GZIP:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as stream:
            yield cast("IO[bytes]", stream)
