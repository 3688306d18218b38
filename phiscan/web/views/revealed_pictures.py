"""The view of images and scanned pages of a revealed file: the image, with boxes around the findings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from phiscan.model import EntityType
from phiscan.pipeline.rereading.page_pictures import PagePicture, WordBox
from phiscan.web.views.plain_words import SHORT, colour, locator_words
from phiscan.web.views.reveal import Spans

_MARGIN = 4  # pixels around a word


@dataclass(frozen=True, slots=True)
class FoundBox:
    """A box over the words of one finding on one line, in pixels of the picture."""

    position: int
    kind: str
    colour: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PictureView:
    """One image; ``source`` is a data: URL, so that nothing is stored for it."""

    where: str
    width: int
    height: int
    source: str = field(repr=False)
    boxes: tuple[FoundBox, ...]


def picture_views(pictures: Sequence[PagePicture], spans: Spans) -> tuple[PictureView, ...]:
    """Return the images with a box around the words of each finding.

    Args:
        pictures: images with the boxes of their words by offset in the text.
        spans: the findings, as ``reveal_view`` takes them.
    """
    return tuple(
        PictureView(
            locator_words(one.locator),
            one.width,
            one.height,
            "data:image/jpeg;base64," + b64encode(one.jpeg).decode(),
            tuple(_boxes(one, spans)),
        )
        for one in pictures
    )


def _boxes(picture: PagePicture, spans: Spans) -> Iterator[FoundBox]:
    for position, (start, end, kind) in enumerate(spans):
        if end <= picture.start or start >= picture.end:
            continue
        words = [word for word in picture.words if word.start < end and word.end > start]
        for line in _lines(words):
            found = EntityType(kind)
            left, top = min(word.left for word in line), min(word.top for word in line)
            yield FoundBox(
                position,
                SHORT[found],
                colour(found),
                max(0, left - _MARGIN),
                max(0, top - _MARGIN),
                max(word.right for word in line) - left + 2 * _MARGIN,
                max(word.bottom for word in line) - top + 2 * _MARGIN,
            )


def _lines(words: Sequence[WordBox]) -> Iterator[list[WordBox]]:
    """Group words in text order by line: a word entirely below or above the previous one begins a line."""
    line: list[WordBox] = []
    for word in words:
        if line and (word.top >= line[-1].bottom or word.bottom <= line[-1].top):
            yield line
            line = []
        line.append(word)
    if line:
        yield line
