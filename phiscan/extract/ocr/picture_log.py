"""Pictures as the recogniser saw them, with the box of each word: recorded only on request.

A scan asks for none. A reveal does, so that a person can be shown the page itself with what was found on it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from phiscan.extract.ocr.layout import in_order
from phiscan.extract.ocr.words import Word

MAX_PICTURES = 200
_MAX_WIDTH = 1200  # pixels; enough to read a letter
_QUALITY = 70  # of 100
_AHEAD = 200  # characters of the text in which the next word is looked for

_LOG: ContextVar[PictureLog | None] = ContextVar("picture log", default=None)


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """One picture, upright and straightened, as JPEG; ``words`` are those of ``text`` in its order."""

    place: str
    text: str = field(repr=False)
    jpeg: bytes = field(repr=False)
    width: int
    height: int
    words: tuple[Word, ...] = field(repr=False)  # boxes in pixels of width and height


@dataclass(slots=True)
class PictureLog:
    """The pictures of one file, in the order in which they were read."""

    pictures: list[SeenPicture] = field(default_factory=list)
    _last: tuple[Any, Sequence[Word]] | None = None

    def note(self, image: Any, words: Sequence[Word]) -> None:
        """Remember what the recogniser was given and what it saw, until its place is known."""
        self._last = (image, words)

    def add(self, place: str, text: str) -> None:
        """Keep the picture that was read last."""
        if self._last is None or len(self.pictures) >= MAX_PICTURES:
            return
        (image, words), self._last = self._last, None
        stream = io.BytesIO()
        small = image.copy()
        small.thumbnail((_MAX_WIDTH, 4 * _MAX_WIDTH))
        small.save(stream, "JPEG", quality=_QUALITY)
        ordered = tuple(in_order(words))
        self.pictures.append(SeenPicture(place, text, stream.getvalue(), image.width, image.height, ordered))


@contextmanager
def logged_pictures() -> Iterator[PictureLog]:
    """Keep the pictures that are read within."""
    log = PictureLog()
    token = _LOG.set(log)
    try:
        yield log
    finally:
        _LOG.reset(token)


def current_log() -> PictureLog | None:
    """Return the log that pictures are to be recorded in; None = none is asked for."""
    return _LOG.get()


def word_spans(text: str, words: Sequence[Word]) -> list[tuple[int, int] | None]:
    r"""Return where each word is in the text that was put together from them; None where it was changed.

    >>> word = lambda text: Word(text, 0, 0, 1, 1, (1, 1, 1), 90.0)
    >>> word_spans("Ann  Roy\nx@y.org", [word(one) for one in ("Ann", "Roy", "x", "@", "y.org")])
    [(0, 3), (5, 8), (9, 10), (10, 11), (11, 16)]
    """
    spans: list[tuple[int, int] | None] = []
    at = 0
    for word in words:
        start = text.find(word.text, at, at + _AHEAD + len(word.text))
        if start < 0:
            spans.append(None)
            continue
        at = start + len(word.text)
        spans.append((start, at))
    return spans
