"""A file read again to its text and to the pictures that its text was recognized in, for one reveal.

Runs in the confined process. What leaves it is the text, and of some pictures the image and the boxes of the
words by their positions in that text. It is sent to the person who asked and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from phiscan import extract
from phiscan.config import Limits
from phiscan.extract.core.content import clean
from phiscan.extract.ocr.layout import SeenPicture, logged_pictures, word_spans
from phiscan.model import Document, Segment, SourceFile

MAX_SHOWN = 8  # pictures of one reveal


@dataclass(frozen=True, slots=True)
class WordBox:
    """A word by its place ``[start, end)`` in the document's text, and its box in pixels of the picture."""

    start: int
    end: int
    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture as JPEG, the stretch of text that was recognized in it, and the boxes of its words."""

    locator: str
    start: int
    end: int
    width: int
    height: int
    jpeg: bytes = field(repr=False)
    words: tuple[WordBox, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A document with its pictures from a place on."""

    document: Document
    pictures: tuple[PagePicture, ...]
    n_pictures: int  # of the whole file

    @property
    def content_hash(self) -> str:
        """Digest of the content."""
        return self.document.content_hash


def read_shown(source: SourceFile, limits: Limits, passwords: Sequence[str], start: int) -> ShownFile:
    """Read a file again and return it with the pictures whose text is at ``start`` or after it.

    Raises:
        ExtractError: the file gives nothing at all.
    """
    with logged_pictures() as log:
        document = extract.extract(source, limits, passwords)
    placed = list(_placed(document, log.pictures))
    chosen = [one for one in placed if one.end > start or one.start >= start][:MAX_SHOWN]
    return ShownFile(document, tuple(chosen), len(placed))


def _placed(document: Document, pictures: Iterable[SeenPicture]) -> Iterator[PagePicture]:
    """Find the stretch of the document that each picture gave; one that gave none is at the end before it."""
    segments = document.segments
    at = reached = 0
    for picture in pictures:
        text = clean(picture.text)
        found: Segment | None = None
        if text.strip():
            for later in range(at, len(segments)):
                one = segments[later]
                if one.locator == picture.place and document.text[one.start : one.end] == text:
                    found, at = one, later + 1
                    break
            else:
                continue  # the text was cut
        start, end = (found.start, found.end) if found else (reached, reached)
        reached = end
        spans = word_spans(text, picture.words)
        yield PagePicture(
            picture.place,
            start,
            end,
            picture.width,
            picture.height,
            picture.jpeg,
            tuple(
                WordBox(start + span[0], start + span[1], word.left, word.top, word.right, word.bottom)
                for word, span in zip(picture.words, spans, strict=True)
                if span is not None
            )
            if found
            else (),
        )
