"""One crawled file to one Document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blake3 import blake3

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink, TextFullError
from phiscan.extract.delivered import is_delivered
from phiscan.extract.formats import dispatch, read
from phiscan.extract.large import is_hashed_whole, large_hash, large_type, read_large
from phiscan.extract.opening import open_source, read_source
from phiscan.extract.sniff import declared_type, sniff
from phiscan.model import Document, FailReason, SourceFile

# Places that say something about a file and are not its content: a scan of which only the producer's
# name could be read has not been read.
_ABOUT = ("#properties", "#metadata")


def extract(source: SourceFile, limits: Limits, passwords: Sequence[str] = ()) -> Document:
    """Read a crawled file: its text, where each stretch of it lies, and what could not be read.

    The file is opened read-only and read once. What goes wrong in a part of it (a member of an
    archive, an attachment, a page) is in ``Document.unread``.

    Raises:
        ExtractError: the file gives nothing at all; ``reason`` says why.
    """
    if source.size > limits.file_bytes and not is_delivered(source):
        return _extract_large(source, limits, passwords)
    data = read_source(source, limits.file_bytes)
    return extract_bytes(data, _name(source), limits, passwords)


def _extract_large(source: SourceFile, limits: Limits, passwords: Sequence[str]) -> Document:
    sink = Sink(limits, passwords, dispatch)
    name = _name(source)
    with open_source(source) as (stream, size):
        media_type = large_type(stream, name)
        _collect(sink, lambda: read_large(stream, size, name, media_type, sink))
        content_hash = large_hash(stream, size)
    return _document(sink, media_type, content_hash, name)


def identify(source: SourceFile, limits: Limits) -> tuple[str, str, str]:
    """Return what a crawled file's text depends on, its content hash and media type; and its declared type.

    Raises:
        ExtractError: it cannot be opened, changed, or is too large to be told from another by its hash.
    """
    name = _name(source)
    if source.size > limits.file_bytes and not is_delivered(source):
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
    sink = Sink(limits, passwords, dispatch)
    media_type = sniff(data, name)
    _collect(sink, lambda: read(Content(data, name), media_type, sink))
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
        first = sink.unread[0]
        raise ExtractError(first.reason, first.detail)


def _document(sink: Sink, media_type: str, content_hash: str, name: str) -> Document:
    return Document(
        text=sink.text(),
        segments=sink.segments,
        media_type=media_type,
        unread=sink.unread,
        content_hash=content_hash,
        declared_type=declared_type(name, media_type),
    )
