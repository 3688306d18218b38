"""Pictures and scanned pages of a revealed file for its page: the image, and boxes over what was found."""

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
    """One picture; ``source`` is an address that holds the image itself, so that nothing is stored for it."""

    where: str
    width: int
    height: int
    source: str = field(repr=False)
    boxes: tuple[FoundBox, ...]


def picture_views(pictures: Sequence[PagePicture], spans: Spans) -> tuple[PictureView, ...]:
    """Return the pictures with a box over the words of each finding.

    Args:
        pictures: with the boxes of their words by position in the text.
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
    """Group words in text order by line: a word that is wholly below or above the last one begins another."""
    line: list[WordBox] = []
    for word in words:
        if line and (word.top >= line[-1].bottom or word.bottom <= line[-1].top):
            yield line
            line = []
        line.append(word)
    if line:
        yield line
