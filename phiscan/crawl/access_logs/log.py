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
from itertools import chain
from pathlib import Path
from typing import Any, cast
from zlib import error as ZlibError  # noqa: N812 (a class)
from zoneinfo import ZoneInfo

from phiscan.errors import InputError

HEAD_BYTES = 1024**2
MAX_RECORD = 1024**2  # bytes or characters of a line or record; a longer one is not understood
_CHUNK = 256 * 1024
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TABLE = re.compile(rb"[^{[\n]*\bAuditData\b")  # the heads of a CSV export
_LIST = re.compile(r'\s*(?:\{\s*(?:"@[^[{]*)?"(?:Records|value)"\s*:\s*)?\[')
_BETWEEN = re.compile(r"[\s,\]}]*")
_NEXT_RECORD = re.compile(r"\n|\}\s*,\s*(?=\{)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_DAY = timedelta(days=1)
Read = tuple[str, tuple[str, ...], list[str]]
"""Time, names of the account and opened paths of a record."""


@dataclass(slots=True)
class Log:
    """A log that is being read, and the counts of its records."""

    stream: Any  # binary
    now: datetime
    near: datetime  # a time without a year is of the year in which it is nearest to this, the last such one
    zone: ZoneInfo | None = None  # of times that are written without one; None = this machine's
    head: bytes = b""  # its first bytes, which the stream has too
    n_understood: int = 0
    n_unknown: int = 0
    is_damaged: bool = False  # it ends in the middle, or a part of it cannot be read
    first: datetime = _LATEST
    last: datetime = _EARLIEST

    def saw(self, time: str) -> datetime:
        """Count a record of this time, and return it: ISO 8601, or month, day and time without year and zone.

        Raises:
            ValueError: it is none, or cannot be right.
        """
        if time[:1].isdigit():
            moment = datetime.fromisoformat(time.replace("/", "-"))
        else:
            month, day, clock = time.split()
            of = (_MONTHS.index(month) + 1, int(day), *(int(part) for part in clock.split(":")))
            found = (_in_year(self.near.year + years, of) for years in (-1, 0, 1))
            moment = self.near = min(found, key=lambda moment: abs(moment - self.near))
        if not moment.tzinfo:
            moment = moment.replace(tzinfo=self.zone) if self.zone else moment.astimezone()
        if not _EARLIEST <= moment <= self.now + _DAY:
            raise ValueError(time)
        self.n_understood += 1
        self.first, self.last = min(self.first, moment), max(self.last, moment)
        return moment

    def lines(self) -> Iterator[bytes]:
        """Yield the lines without their ends, no empty one; one that is too long is counted and left out."""
        with self.damage():
            while line := self.stream.readline(MAX_RECORD):
                if len(line) == MAX_RECORD and not line.endswith(b"\n"):
                    self.n_unknown += 1
                    while line and not line.endswith(b"\n"):
                        line = self.stream.readline(MAX_RECORD)
                elif text := line.rstrip(b"\r\n"):
                    yield text

    def texts(self) -> Iterator[str]:
        """Yield the text in pieces; UTF-16 where it begins with its mark."""
        with self.damage():
            text = self._text()
            while piece := text.read(_CHUNK):
                yield piece

    def _text(self) -> TextIOWrapper:
        encoding = "utf-16" if self.head.startswith(_UTF16) else "utf-8-sig"
        return TextIOWrapper(self.stream, encoding, "replace", newline="")

    def records(self) -> Iterator[Any]:
        """Yield JSON values: each by itself, in a list, in the list of one object, or of a CSV export.

        What is none is yielded as None.
        """
        return self._exported() if _TABLE.match(self.head) else self._objects()

    def _exported(self) -> Iterator[Any]:
        csv.field_size_limit(MAX_RECORD)
        with self.damage():
            for row in csv.DictReader(self._text()):
                try:
                    yield json.loads(row.get("AuditData") or "")
                except (ValueError, RecursionError):
                    yield None

    def _objects(self) -> Iterator[Any]:
        decode, text, has_begun = json.JSONDecoder().raw_decode, "", False
        for more in chain(self.texts(), [""]):
            text += more
            found = None if has_begun else _LIST.match(text)
            at, has_begun = found.end() if found else 0, True
            while (at := cast("re.Match[str]", _BETWEEN.match(text, at)).end()) < len(text):
                try:
                    record, at = decode(text, at)
                except (json.JSONDecodeError, RecursionError) as error:
                    if more and len(text) - at < MAX_RECORD:
                        break  # it may go on
                    found = _NEXT_RECORD.search(text, getattr(error, "pos", at))
                    at = found.end() if found else len(text)
                    self.is_damaged = True
                    yield None
                else:
                    yield record
            text = text[at:]

    @contextmanager
    def damage(self) -> Iterator[None]:
        """End at what cannot be unpacked or decoded, and note it."""
        try:
            yield
        except (EOFError, gzip.BadGzipFile, ZlibError, UnicodeError, csv.Error):
            self.is_damaged = True


@contextmanager
def opened_log(
    path: Path, *, now: datetime, zone: ZoneInfo | None = None, year: int | None = None
) -> Iterator[Log]:
    """Open a log, unpacked if it is gzip; ``year``: of the first time without a year, if it is known.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open("rb") as raw:
            stream: Any = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw
            # Without a year given, the first time is not after the last change of the file.
            written = min(now, datetime.fromtimestamp(path.stat().st_mtime, UTC)).astimezone(zone)
            ends = datetime(year + 1, 1, 1, tzinfo=written.tzinfo) if year else written + _DAY
            begins = ends.replace(year=year) if year else ends - 366 * _DAY
            log = Log(stream, now, begins.replace(tzinfo=None) + (ends - begins) / 2, zone)
            with log.damage():
                while len(log.head) < HEAD_BYTES and (more := stream.read1(_CHUNK)):
                    log.head += more
            stream.seek(0)
            log.is_damaged = False
            yield log
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or type(error).__name__}") from None


def _in_year(year: int, of: tuple[int, ...]) -> datetime:
    month, day, hour, minute, second = of
    if (month, day) == (2, 29):
        year -= year % 4
    return datetime(year, month, day, hour, minute, min(second, 59))  # noqa: DTZ001
