"""Contents with more text than is kept of one file, and files over ``limits.file_bytes``.

Containers and PDF are read where they lie, text and records in windows. No more than the usual text of one
document is held. The windows lie evenly over the content, so that its end is as likely to be looked at as its
beginning; what lies between them is recorded by its range.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from blake3 import blake3

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.core.file_type import sniff_stream
from phiscan.extract.core.magic_numbers import DOCX, ODF, PPTX, TEXT, XLSX
from phiscan.extract.core.registry import dispatch, read
from phiscan.model import FailReason

HEAD_BYTES = 1024**2
# Read from the open file, never as a whole.
_IN_PLACE = frozenset(
    {"application/pdf", "application/zip", DOCX, PPTX, XLSX, ODF + "text", ODF + "presentation"}
    | {"application/epub+zip", "application/x-tar", "application/gzip", "application/x-bzip2"}
    | {"application/x-xz", "application/zstd", "application/x-7z-compressed", "application/x-iso9660-image"}
    | {
        *("application/vnd.ms-outlook-pst", "application/x-raw-disk-image"),
        *("application/x-ewf", "application/x-vhd"),
    }
)
# Records that stand alone, each kind with what a new one begins with. Their text grows by labels.
_RECORDS = {
    "text/csv": b"\n",
    "application/x-ndjson": b"\n",
    "application/hl7-v2": b"\nMSH|",
    "application/mbox": b"\nFrom ",
}
# Cut anywhere, these are no documents of their kind any more, but still text.
_AS_TEXT = frozenset(
    {TEXT, "text/xml", "text/html", "application/json", "application/edi-x12", "message/rfc822"}
    | {"text/vcard", "text/calendar"}
)
_N_WINDOWS = 16
_FILL = 0.9  # of the text budget: some windows hold more text for their bytes than the first one
_MOST_WHOLE_BYTES = 32 * 1024**2  # a larger content that must be parsed as a whole takes too much memory
_NOT_READ = "not read: more than limits.text_chars of text"
_NO_OCR_S = 0.001
_LEAST_SHARE = 8  # a content of so many times less bytes than characters are left is read whole
_LOOK_BYTES = 64 * 1024  # how far the beginning of a record is looked for
_HASHED_WHOLE = 4 * 1024**3  # larger files are identified by their size and samples of their bytes
_CHUNK_BYTES = 4 * 1024**2
_N_SAMPLES = 64


def large_type(stream: BinaryIO, name: str) -> str:
    """Return the media type of a large open file."""
    stream.seek(0)
    return sniff_stream(stream.read(HEAD_BYTES), name, stream)


def read_large(stream: BinaryIO, size: int, name: str, media_type: str, sink: Sink) -> None:
    """Read a large open file into the sink.

    Raises:
        ExtractError: too_large, where the format must be read as a whole; or what its reader finds.
        TextFullError: the text budget is used up.
    """
    if media_type in _IN_PLACE:
        stream.seek(0)
        head = stream.read(HEAD_BYTES)
        read(Content(head, name, stream=stream), media_type, sink)
    elif is_windowed(media_type):
        content = Content(b"", name, stream=stream)
        _read_windows(
            stream,
            size,
            content,
            media_type,
            sink,
            _n_bytes_of_budget(stream, size, content, media_type, sink),
        )
    else:
        detail = f"{size} bytes, limit {sink.limits.file_bytes}; {media_type}"
        raise ExtractError(FailReason.TOO_LARGE, detail)


def is_windowed(media_type: str) -> bool:
    """Tell whether a content of this type can be read in windows."""
    return media_type in _RECORDS or media_type in _AS_TEXT


def read_spread(content: Content, media_type: str, sink: Sink) -> bool:
    """Read a content in windows if it holds more text than the budget has left; tell whether it did.

    Raises:
        ExtractError: what its reader finds.
        TextFullError: the text budget is used up.
    """
    size = content.n_bytes
    if size <= sink.n_chars_left // _LEAST_SHARE and size <= sink.limits.file_bytes:
        return False
    stream = content.open()
    n_bytes = _n_bytes_of_budget(stream, size, content, media_type, sink)
    is_parsed = media_type in _AS_TEXT and media_type != TEXT
    if size <= (_MOST_WHOLE_BYTES if is_parsed else n_bytes):
        return False
    _read_windows(stream, size, content, media_type, sink, n_bytes)
    return True


def _n_bytes_of_budget(stream: BinaryIO, size: int, content: Content, media_type: str, sink: Sink) -> int:
    """Estimate from its beginning how many bytes of a content fill the budget of text and of members."""
    stream.seek(0)
    head = stream.read(min(size, _LOOK_BYTES))
    reader = media_type if media_type in _RECORDS else TEXT
    trial = Sink(replace(sink.limits, ocr_s=_NO_OCR_S), sink.passwords, dispatch)
    with suppress(ExtractError, TextFullError):
        read(Content(head, content.name), reader, trial)
    n_bytes = _FILL * len(head) * sink.n_chars_left / max(trial.n_chars, len(head) // 8, 1)
    if trial.n_members:
        n_members = max(sink.limits.member_count - sink.n_members, 0)
        n_bytes = min(n_bytes, _FILL * len(head) * n_members / trial.n_members)
    return int(n_bytes)


def _read_windows(  # noqa: PLR0917 (an open content and its budget)
    stream: BinaryIO, size: int, content: Content, media_type: str, sink: Sink, n_bytes: int
) -> None:
    reader = media_type if media_type in _RECORDS else TEXT
    length = min(max(n_bytes // _N_WINDOWS, _LOOK_BYTES), size // _N_WINDOWS)
    reached = n_read = 0
    n_chars, n_chars_unread = sink.n_chars, sink.n_chars_unread
    for start, data in _spans(stream, size, length, media_type):
        if start > reached:
            sink.fail(_range(content, reached, start), FailReason.SAMPLED, _NOT_READ)
        reached = start + len(data)
        n_read += len(data)
        window = content.member(f"bytes {start}-{reached - 1}", data)
        read(_with_header(stream, window, media_type), reader, sink)
        sink.n_chars_unread = n_chars_unread + (sink.n_chars - n_chars) * (size - n_read) // max(n_read, 1)
    if reached < size:
        sink.fail(_range(content, reached, size), FailReason.SAMPLED, _NOT_READ)


def _range(content: Content, start: int, end: int) -> str:
    return content.member(f"bytes {start}-{end - 1}", b"").locator


def _spans(stream: BinaryIO, size: int, length: int, media_type: str) -> Iterator[tuple[int, bytes]]:
    """Yield where each window begins and its bytes, from the beginning of a record to the end of a line."""
    stream.seek(0)
    encoding = decode(stream.read(_LOOK_BYTES))[1]
    wide = encoding.startswith(("utf-16", "utf-32"))
    mark = _RECORDS.get(media_type, b"\n")
    for number in range(_N_WINDOWS):
        start = (size - length) * number // (_N_WINDOWS - 1) // 4 * 4
        stream.seek(start)
        data = stream.read(length + _LOOK_BYTES if number == _N_WINDOWS - 1 else length)
        if wide:
            yield start, data
            continue
        if number:
            found = data.find(mark, 0, _LOOK_BYTES)
            skip = found + 1 if found >= 0 else 0
            start, data = start + skip, data[skip:]
        if number < _N_WINDOWS - 1:
            end = data.rfind(b"\n", max(len(data) - _LOOK_BYTES, 0))
            data = data[: end + 1] if end > 0 else data
        yield start, data


def _with_header(stream: BinaryIO, window: Content, media_type: str) -> Content:
    """Put the first line of a table before a window from its middle: it names the columns."""
    if media_type != "text/csv" or window.name.startswith("bytes 0-"):
        return window
    stream.seek(0)
    header = stream.readline(_LOOK_BYTES)
    return Content(header + window.data, window.name, window.locator, window.depth)


def is_hashed_whole(size: int) -> bool:
    """Tell whether equal hashes of two large files mean equal bytes."""
    return size <= _HASHED_WHOLE


def large_hash(stream: BinaryIO, size: int) -> str:
    """Return the content hash of a large file; beyond 4 GiB that of its size and 64 samples of 4 MiB."""
    digest = blake3()
    stream.seek(0)
    if is_hashed_whole(size):
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
        return str(digest.hexdigest())
    digest.update(b"samples of %d bytes" % size)
    for number in range(_N_SAMPLES):
        stream.seek((size - _CHUNK_BYTES) * number // (_N_SAMPLES - 1))
        digest.update(stream.read(_CHUNK_BYTES))
    return str(digest.hexdigest())
