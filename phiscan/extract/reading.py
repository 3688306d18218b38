"""One crawled file to one Document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import BinaryIO

from blake3 import blake3

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.archives.segments import PART, joined, joined_hash, opened_segments
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.core.file_type import declared_type, sniff, sniff_stream
from phiscan.extract.core.magic_numbers import DOCX, ODF, PPTX, TEXT, XLSX
from phiscan.extract.core.opening import open_source, read_source, segment_of
from phiscan.extract.registry import dispatch, read
from phiscan.formats.sensitivity_labels import OWN_PLACES, labels_in
from phiscan.model import OCR_PENDING, Document, FailReason, SourceFile
from phiscan.sandbox.delivered_files import is_delivered

# Contents with more text than is kept of one file, and files over ``limits.file_bytes``.
# Containers and PDF are read where they lie, text and records in windows. No more than the usual text of
# one document is held. The windows lie evenly over the content, so that its end is as likely to be looked
# at as its beginning; what lies between them is recorded by its range.

HEAD_BYTES = 1024**2
# Read from the open file, never as a whole.
_IN_PLACE = frozenset(
    {"application/pdf", "application/zip", DOCX, PPTX, XLSX, ODF + "text", ODF + "presentation"}
    | {"application/epub+zip", "application/x-tar", "application/gzip", "application/x-bzip2"}
    | {"application/x-xz", "application/zstd", "application/x-7z-compressed", "application/x-iso9660-image"}
    | {"application/vnd.ms-outlook-pst"}
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


def _read_opened(stream: BinaryIO, size: int, name: str, media_type: str, sink: Sink) -> None:
    """Read an open file from where it lies; one over the limit in windows, as far as its format allows.

    Raises:
        ExtractError: too_large, where the format must be read as a whole; or what its reader finds.
        TextFullError: the text budget is used up.
    """
    is_over = size > sink.limits.file_bytes
    if is_over and not is_windowed(media_type) and media_type not in _IN_PLACE:
        detail = f"{size} bytes, limit {sink.limits.file_bytes}; {media_type}"
        raise ExtractError(FailReason.TOO_LARGE, detail)
    stream.seek(0)
    content = Content(stream.read(HEAD_BYTES), name, stream=stream)
    if is_windowed(media_type) and is_over:
        n_bytes = _n_bytes_of_budget(stream, size, content, media_type, sink)
        _read_windows(stream, size, content, media_type, sink, n_bytes)
    elif is_windowed(media_type) or media_type in (_IN_PLACE if is_over else _READ_FROM_FILE):
        _read(content, media_type, sink)
    else:
        _read(Content(content.open().read(), name), media_type, sink)


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
    length = min(max(n_bytes // _N_WINDOWS, _LOOK_BYTES), size // _N_WINDOWS) // 4 * 4  # whole characters
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


# Places that say something about a file and are not its content: a scan of which only the producer's
# name could be read has not been read.
_ABOUT = ("#properties", "#metadata")
OPENED_BYTES = 8 * 1024**2  # larger files are not read into memory where their format allows it
_READ_FROM_FILE = frozenset({"application/pdf", XLSX})
_FIRST, _LATER = "first", "later"  # segments of a series


def extract(source: SourceFile, limits: Limits, passwords: Sequence[str] = ()) -> Document:
    """Read a crawled file: its text, where each stretch of it lies, and what could not be read.

    The file is opened read-only and read once. What goes wrong in a part of it (a member of an
    archive, an attachment, a page) is in ``Document.unread``.

    Raises:
        ExtractError: the file gives nothing at all; ``reason`` says why.
    """
    name = _name(source)
    if _is_opened(source, limits) or _has_series_name(source):
        with _opened(source) as (stream, size, hashed, part):
            if part or _is_opened(source, limits):
                sink = Sink(limits, passwords, _dispatch)
                media_type = PART if part == _LATER else _type_of(stream, name)
                if part != _LATER:
                    _collect(sink, lambda: _read_opened(stream, size, name, media_type, sink))
                return _document(sink, media_type, hashed(), name)
    return extract_bytes(read_source(source, limits.file_bytes), name, limits, passwords)


def _is_opened(source: SourceFile, limits: Limits) -> bool:
    """Tell whether a file is read from where it lies, as far as its format allows."""
    return source.size > min(limits.file_bytes, OPENED_BYTES) and not is_delivered(source)


@contextmanager
def _opened(source: SourceFile) -> Iterator[tuple[BinaryIO, int, Callable[[], str], str]]:
    """Give a file, open, with the segments that it begins: bytes, size, hash, and its part in a series.

    The hash is worked out when it is asked for: a file that cannot be read is not read for it.
    """
    with open_source(source) as (first, size), opened_segments(source, first.fileno()) as (series, is_later):
        if series:
            whole = joined(series)
            end = whole.seek(0, os.SEEK_END)
            yield whole, end, lambda: joined_hash(large_hash(first, size), series), _FIRST
        else:
            yield first, size, lambda: large_hash(first, size), _LATER if is_later else ""


def _type_of(stream: BinaryIO, name: str) -> str:
    stream.seek(0)
    return sniff_stream(stream.read(HEAD_BYTES), name, stream)


def _has_series_name(source: SourceFile) -> bool:
    return not is_delivered(source) and segment_of(source.path.rpartition(b"/")[2]) is not None


def _read(content: Content, media_type: str, sink: Sink) -> None:
    """Read a content; one that holds more text than the budget has in windows spread over it."""
    if is_windowed(media_type) and read_spread(content, media_type, sink):
        return
    if content.stream is not None and is_windowed(media_type):
        content = replace(content, data=content.open().read(), stream=None)
    read(content, media_type, sink)


def _dispatch(content: Content, sink: Sink) -> None:
    """Read a member of a container."""
    _read(content, sniff(content.data, content.name), sink)


def identify(source: SourceFile, limits: Limits) -> tuple[str, str, str]:
    """Return what a crawled file's text depends on, its content hash and media type; and its declared type.

    Raises:
        ExtractError: it cannot be opened, changed, or is too large to be told from another by its hash.
    """
    name = _name(source)
    if _is_opened(source, limits) or _has_series_name(source):
        with _opened(source) as (stream, size, hashed, part):
            if part == _LATER:
                return hashed(), PART, ""
            if part or _is_opened(source, limits):
                if not part and not is_hashed_whole(size):
                    raise ExtractError(FailReason.TOO_LARGE)
                media_type = _type_of(stream, name)
                return hashed(), media_type, declared_type(name, media_type)
    data = read_source(source, limits.file_bytes)
    media_type = sniff(data, name)
    return blake3(data).hexdigest(), media_type, declared_type(name, media_type)


def _name(source: SourceFile) -> str:
    return source.path.rpartition(b"/")[2].decode("utf-8", "replace")


def extract_bytes(data: bytes, name: str, limits: Limits, passwords: Sequence[str] = ()) -> Document:
    """Read the bytes of a file called ``name``; see ``extract``."""
    sink = Sink(limits, passwords, _dispatch)
    media_type = sniff(data, name)
    _collect(sink, lambda: _read(Content(data, name), media_type, sink))
    return _document(sink, media_type, blake3(data).hexdigest(), name)


def _collect(sink: Sink, read_it: Callable[[], None]) -> None:
    """Fill the sink.

    Raises:
        ExtractError: there is nothing but properties.
    """
    failure: ExtractError | None = None
    try:
        read_it()
    except TextFullError:
        pass
    except ExtractError as error:
        failure = error
    if failure is not None:
        if all(part.locator.endswith(_ABOUT) for part in sink.segments):
            raise ExtractError(failure.reason, failure.detail, sink.members)
        sink.fail("", FailReason(failure.reason), failure.detail)
    if sink.unread and all(part.locator.endswith(_ABOUT) for part in sink.segments):
        first = next((part for part in sink.unread if part.detail == OCR_PENDING), sink.unread[0])
        raise ExtractError(first.reason, first.detail, sink.members)


def _document(sink: Sink, media_type: str, content_hash: str, name: str) -> Document:
    about = (sink.text_of(at) for at, part in enumerate(sink.segments) if part.locator in OWN_PLACES)
    return Document(
        text=sink.text(),
        segments=tuple(sink.segments),
        media_type=media_type,
        unread=tuple(sink.unread),
        content_hash=content_hash,
        declared_type=declared_type(name, media_type),
        n_chars_unread=sink.n_chars_unread,
        members=sink.members,
        labels=labels_in([*about, *sink.label_properties]),
    )
