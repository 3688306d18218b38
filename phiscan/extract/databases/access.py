"""Access databases: rows of tables by mdbtools, files in cells, and attachments."""

from __future__ import annotations

import csv
import re
import struct
import zlib
from itertools import islice

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Inflating, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.labels import humanise
from phiscan.extract.core.magic_numbers import EMPTY, TEXT, UNKNOWN
from phiscan.extract.core.unsupported import read_strings
from phiscan.extract.office.legacy import Run, program_runs
from phiscan.extract.spreadsheets.rows import ROWS_AT_ONCE, add_rows
from phiscan.model import FailReason
from phiscan.sandbox import programs

_MEDIA_TYPE = "application/x-msaccess"
_MOST_TABLES = 1_000
_ATTACHMENTS = re.compile(r"f_[0-9A-F]{32}_.+")  # tables that hold the files of a column
_HEX = re.compile(r"(?:[0-9A-F]{2}){24,}")
_OBJECT_HEAD, _OBJECT_BYTES = b"\x15\x1c", 4096  # of an OLE object, and where its file begins at the latest
_FILE_HEADS = re.compile(
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|%PDF-|PK\x03\x04|\xff\xd8\xff|\x89PNG\r\n|GIF8|\{\\rtf|II\*\0|MM\0\*|BM....\0\0\0\0",
    re.DOTALL,
)
_MIDNIGHT, _DATE = " 00:00:00", re.compile(r"\d{4}-\d\d-\d\d 00:00:00")
_WRONG_DATE = "1900-01-00"  # what mdb-export gives for a date that it does not know
_RAW, _COMPRESSED = 0, 1
_VERSION_AT, _LAST_JET, _ENCRYPTION_AT, _MOST_ENCRYPTION_BYTES = 0x14, 1, 0x299, 3_000
_ATTACHMENT_HEAD, _MOST_HEAD = 8, 1024


ACCESS_TYPES = frozenset({_MEDIA_TYPE})


def read_access(content: Content, sink: Sink) -> None:
    """Add rows of tables, ``#table1/row201``, and read files in their cells as members.

    Raises:
        ExtractError: encrypted; unsupported, where not even a run of text is found; timed_out.
    """
    if is_encrypted(content.data):
        raise ExtractError(FailReason.ENCRYPTED, "Access database with a password")
    if not (programs.is_installed("mdb-tables") and programs.is_installed("mdb-export")):
        read_strings(content, _MEDIA_TYPE, sink, "needs mdbtools, which is not installed")
        return
    with program_runs(content, sink.limits.time_s) as run:
        names = _tables(run, content, sink)
    if not names:
        why = "damaged or of a version that mdb-tables does not know"
        read_strings(content, _MEDIA_TYPE, sink, why)


def is_encrypted(data: bytes) -> bool:
    """Return whether a database of Access 2007 or later is encrypted with a password.

    Older ones are only masked with a key that lies in their header.
    """
    if len(data) < _ENCRYPTION_AT + 6 or data[_VERSION_AT] <= _LAST_JET:
        return False
    size, major, minor = struct.unpack_from("<HHH", data, _ENCRYPTION_AT)
    return 0 < size < _MOST_ENCRYPTION_BYTES and major in (1, 2, 3, 4) and minor in (1, 2, 3, 4)


def _tables(run: Run, content: Content, sink: Sink) -> list[str]:
    """Add the rows of every table, and of the hidden ones that hold attachments; return their names."""
    names = _names(run, "mdb-tables")
    hidden = [name for name in _names(run, "mdb-system-tables") if _ATTACHMENTS.fullmatch(name)]
    names = [*names, *(name for name in hidden if name not in names)][:_MOST_TABLES]
    csv.field_size_limit(2**31 - 1)
    for number, name in enumerate(names, 1):
        place = f"table{number}"
        if name not in hidden:
            sink.add(f"Table: {name}", content.place(place))
        try:
            _read_table(run, name, content, sink, place)
        except ExtractError as error:
            sink.fail(content.place(place), FailReason(error.reason), error.detail)
            if error.reason == FailReason.TIMED_OUT:
                break
    return names


def _names(run: Run, job: str) -> list[str]:
    return [name for name in run(job).output.decode("utf-8", "replace").split("\n") if name.strip()]


def _read_table(run: Run, name: str, content: Content, sink: Sink, place: str) -> None:
    table = name.encode().hex()
    done = run("mdb-export", table_hex=table, binary="hex")
    if done.status and done.output:  # too long with the files in its cells
        done = run("mdb-export", table_hex=table, binary="strip")
        sink.fail(content.place(place), FailReason.TOO_LARGE, "files in cells are not read")
    rows = csv.reader(done.output.decode("utf-8", "replace").replace("\0", " ").splitlines(keepends=True))
    labels = [humanise(label) for label in next(rows, [])]
    sink.add(" | ".join(labels), content.place(place))
    first, n_wrong_dates = 1, 0
    plain = (
        [cell.removesuffix(_MIDNIGHT) if _DATE.fullmatch(cell) else cell for cell in row] for row in rows
    )
    while block := list(islice(plain, ROWS_AT_ONCE)):
        n_wrong_dates += sum(row.count(_WRONG_DATE) for row in block)
        shown = (
            ["" if cell == _WRONG_DATE or _HEX.fullmatch(cell) else cell for cell in row] for row in block
        )
        following = add_rows(shown, labels, content, sink, first, f"{place}/")
        for number, row in enumerate(block, first):
            for column, cell in enumerate(row, 1):
                if _HEX.fullmatch(cell):
                    sink.take_member()
                    file = _payload(bytes.fromhex(cell), sink)
                    sink.read_member(content.member(f"{place}-row{number}-{column}", file))
        first = following
    if n_wrong_dates:
        detail = f"{n_wrong_dates} dates before 1900 or after 2700, which mdb-export does not know"
        sink.fail(content.place(f"{place}/dates"), FailReason.UNSUPPORTED, detail)
    if done.status:
        sink.fail(content.place(place), FailReason.CORRUPT, "mdb-export read a part of it")


def _payload(value: bytes, sink: Sink) -> bytes:
    """Return the file in a cell: an attachment, an OLE object, or the cell as it is.

    Raises:
        ExtractError: too_large.
    """
    kind, size = struct.unpack_from("<II", value)
    if kind in (_RAW, _COMPRESSED) and size:
        try:
            body = value[_ATTACHMENT_HEAD:]
            body = sink.unpack(Inflating(body, zlib.MAX_WBITS), len(body)) if kind else body
            n_head = int.from_bytes(body[:4], "little")
            if 4 < n_head < min(_MOST_HEAD, len(body)):  # noqa: PLR2004 (its own length)
                return body[n_head:]
        except zlib.error:
            pass
    if sniff(value) in (EMPTY, UNKNOWN, TEXT) or value.startswith(_OBJECT_HEAD):
        found = _FILE_HEADS.search(value, 0, _OBJECT_BYTES)
        return value[found.start() :] if found else value
    return value
