"""One crawled file to one Document."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import BinaryIO

from blake3 import blake3

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.archives.joined_files import joined
from phiscan.extract.archives.segment_names import segment_of
from phiscan.extract.archives.segments import PART, joined_hash, opened_segments
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.core.file_type import declared_type, sniff
from phiscan.extract.core.large_files import (
    HEAD_BYTES,
    is_hashed_whole,
    is_windowed,
    large_hash,
    large_type,
    read_large,
    read_spread,
)
from phiscan.extract.core.magic_numbers import XLSX
from phiscan.extract.core.opening import open_source, read_source
from phiscan.extract.core.registry import read
from phiscan.extract.residue.account import account
from phiscan.model import OCR_PENDING, Document, FailReason, SourceFile
from phiscan.sandbox.delivered_files import is_delivered

# Places that say something about a file and are not its content: a scan of which only the producer's
# name could be read has not been read.
_ABOUT = ("#properties", "#metadata")
OPENED_BYTES = 8 * 1024**2  # larger files are not read into memory where their format allows it
_READ_FROM_FILE = frozenset(
    {"application/pdf", XLSX, "application/x-raw-disk-image", "application/x-ewf", "application/x-vhd"}
)


def extract(source: SourceFile, limits: Limits, passwords: Sequence[str] = ()) -> Document:
    """Read a crawled file: its text, where each stretch of it lies, and what could not be read.

    The file is opened read-only and read once. What goes wrong in a part of it (a member of an
    archive, an attachment, a page) is in ``Document.unread``.

    Raises:
        ExtractError: the file gives nothing at all; ``reason`` says why.
    """
    if _has_series_name(source):
        document = _extract_segments(source, limits, passwords)
        if document is not None:
            return document
    if _is_opened(source, limits):
        return _extract_opened(source, limits, passwords)
    data = read_source(source, limits.file_bytes)
    return extract_bytes(data, _name(source), limits, passwords)


def _is_opened(source: SourceFile, limits: Limits) -> bool:
    """Tell whether a file is read from where it lies, as far as its format allows."""
    return source.size > min(limits.file_bytes, OPENED_BYTES) and not is_delivered(source)


def _extract_opened(source: SourceFile, limits: Limits, passwords: Sequence[str]) -> Document:
    sink = Sink(limits, passwords, _dispatch)
    name = _name(source)
    with open_source(source) as (stream, size):
        media_type = _collect_opened(sink, stream, size, name)
        content_hash = large_hash(stream, size)
    return _document(sink, media_type, content_hash, name)


def _collect_opened(sink: Sink, stream: BinaryIO, size: int, name: str) -> str:
    """Read an open file, in windows if it is over the limit, into a sink; return its type."""
    media_type = large_type(stream, name)
    if size > sink.limits.file_bytes:
        _collect(sink, lambda: read_large(stream, size, name, media_type, sink))
    else:
        content = _content(stream, name, media_type)
        _collect(sink, lambda: _read(content, media_type, sink))
    return media_type


def _has_series_name(source: SourceFile) -> bool:
    return not is_delivered(source) and segment_of(source.path.rpartition(b"/")[2]) is not None


def _extract_segments(source: SourceFile, limits: Limits, passwords: Sequence[str]) -> Document | None:
    """Read a file that begins several segments with them; a later one has no text; None: it is neither."""
    name = _name(source)
    with open_source(source) as (first, size), opened_segments(source, first.fileno()) as (series, is_later):
        if not series and not is_later:
            return None
        sink = Sink(limits, passwords, _dispatch)
        content_hash, media_type = large_hash(first, size), PART
        if series:
            content_hash = joined_hash(content_hash, series)
            whole = joined(series)
            media_type = _collect_opened(sink, whole, whole.seek(0, os.SEEK_END), name)
    return _document(sink, media_type, content_hash, name)


def _content(stream: BinaryIO, name: str, media_type: str) -> Content:
    stream.seek(0)
    if is_windowed(media_type) or media_type in _READ_FROM_FILE:
        return Content(stream.read(HEAD_BYTES), name, stream=stream)
    return Content(stream.read(), name)


def _read(content: Content, media_type: str, sink: Sink) -> None:
    """Read a content; one that holds more text than the budget has in windows spread over it."""
    if is_windowed(media_type) and read_spread(content, media_type, sink):
        return
    if content.stream is not None and media_type not in _READ_FROM_FILE:
        content = replace(content, data=content.open().read(), stream=None)
    before = sink.n_pieces, sink.n_segments, len(sink.unread)
    read(content, media_type, sink)
    account(content, media_type, sink, before)


def _dispatch(content: Content, sink: Sink) -> None:
    """Read a member of a container."""
    _read(content, sniff(content.data, content.name), sink)


def identify(source: SourceFile, limits: Limits) -> tuple[str, str, str]:
    """Return what a crawled file's text depends on, its content hash and media type; and its declared type.

    Raises:
        ExtractError: it cannot be opened, changed, or is too large to be told from another by its hash.
    """
    name = _name(source)
    if _has_series_name(source):
        with (
            open_source(source) as (first, size),
            opened_segments(source, first.fileno()) as (series, is_later),
        ):
            if is_later:
                return large_hash(first, size), PART, ""
            if series:
                media_type = large_type(joined(series), name)
                return (
                    joined_hash(large_hash(first, size), series),
                    media_type,
                    declared_type(name, media_type),
                )
    if _is_opened(source, limits):
        with open_source(source) as (stream, size):
            if not is_hashed_whole(size):
                raise ExtractError(FailReason.TOO_LARGE)
            content_hash, media_type = large_hash(stream, size), large_type(stream, name)
    else:
        data = read_source(source, limits.file_bytes)
        content_hash, media_type = blake3(data).hexdigest(), sniff(data, name)
    return content_hash, media_type, declared_type(name, media_type)


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
            raise failure
        sink.fail("", FailReason(failure.reason), failure.detail)
    if sink.unread and all(part.locator.endswith(_ABOUT) for part in sink.segments):
        first = next((part for part in sink.unread if part.detail == OCR_PENDING), sink.unread[0])
        raise ExtractError(first.reason, first.detail)


def _document(sink: Sink, media_type: str, content_hash: str, name: str) -> Document:
    return Document(
        text=sink.text(),
        segments=sink.segments,
        media_type=media_type,
        unread=sink.unread,
        content_hash=content_hash,
        declared_type=declared_type(name, media_type),
        n_chars_unread=sink.n_chars_unread,
    )
