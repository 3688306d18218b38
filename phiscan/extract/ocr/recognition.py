"""OCR of pictures by tesseract: a PIL image in, text or an unread part out, within the file's OCR budget."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Sink
from phiscan.extract.ocr.deskew import line_height, straighten
from phiscan.extract.ocr.failures import failure
from phiscan.extract.ocr.illumination import even_light
from phiscan.extract.ocr.layout import laid_out
from phiscan.extract.ocr.picture_log import current_log
from phiscan.extract.ocr.text_check import may_hold_text
from phiscan.extract.ocr.words import Word, page_width, words_of
from phiscan.extract.pictures.codes import read_codes
from phiscan.model import OCR_PENDING, FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

_MIN_SECONDS = 0.5  # least budget with which a reading is begun
# Letters of screen captures are too small for the recogniser and are doubled; larger ones would break up.
_SMALL_SIDE, _SMALL_LINE = 1600, 18  # pixels
_SMALL_AREA = 160_000  # pixels of a picture in which bar codes are decoded without OCR too
_PAPER = 160  # grey level; half of the pixels of a text page are lighter
_CERTAIN = 70.0  # least word confidence, of 100
_UPRIGHT = 5  # least number of certain words of an upright page
_ROTATE = re.compile(rb"^Rotate: (\d+)", re.MULTILINE)


@lru_cache(maxsize=1)
def languages() -> str:
    """Return the installed languages of those to use, ``eng+fra``; empty without tesseract."""
    installed = installed_languages()
    return "+".join(name for name in ("eng", "fra") if name in installed)


def installed_languages() -> tuple[str, ...]:
    """Return the installed models of tesseract; none where it is not installed."""
    if not shutil.which("tesseract"):
        return ()
    try:
        listed = programs.run("languages", None, 10)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(listed.output.decode("ascii", "ignore").split())


def read_picture(render: Callable[[], Any], place: str, sink: Sink, *, is_page: bool = False) -> bool:
    """Add the text of one picture to the sink, and return whether it was read.

    Args:
        render: returns a PIL image, or None for a picture to skip.
        place: its locator; recorded as unread without tesseract, or when the budget is used up.
        sink: of the file.
        is_page: a whole page, which is not rendered once the budget is used up.
    """
    seconds = sink.ocr_seconds_left()
    has_time = seconds >= _MIN_SECONDS
    if is_page and not has_time and languages():
        return record_without_ocr(place, sink)
    try:
        image = render()
    except MemoryError:
        raise
    except ExtractError as error:
        sink.fail(place, FailReason(error.reason), error.detail)
        return False
    except Exception as error:  # noqa: BLE001 (decoders fail in many ways; among them, too many pixels)
        is_bomb = type(error).__name__ == "DecompressionBombError"
        reason = FailReason.TOO_LARGE if is_bomb else FailReason.CORRUPT
        sink.fail(place, reason, "too many pixels" if is_bomb else type(error).__name__)
        return False
    if image is None:
        return True
    return _read(image, place, sink, has_time=has_time)


def _read(image: Any, place: str, sink: Sink, *, has_time: bool) -> bool:
    """Add the bar codes and the text of a PIL image to the sink; return whether it was read."""
    # Decoding bar codes in a large picture takes as long as reading a document; without OCR it is unread.
    if has_time or not languages() or image.width * image.height <= _SMALL_AREA:
        read_codes(image, place, sink)
    if not languages():
        sink.fail(place, FailReason.NEEDS_OCR, "tesseract is not installed")
        return False
    try:
        text = picture_text(image, sink.ocr_seconds_left()) if has_time else None
    except subprocess.TimeoutExpired:
        text = None
    except ExtractError as error:
        sink.fail(place, FailReason(error.reason), error.detail)
        return False
    except (OSError, ValueError, RuntimeError, SyntaxError) as error:
        sink.fail(place, FailReason.CORRUPT, type(error).__name__)
        return False
    if text is None:
        return record_without_ocr(place, sink)
    sink.add(text, place)
    if (log := current_log()) is not None:
        log.add(place, text)
    return True


def record_without_ocr(place: str, sink: Sink) -> bool:
    """Record an unread picture: the budget is used up, or this pass is without OCR; return False."""
    if sink.limits.ocr_s <= 0:
        sink.fail(place, FailReason.NEEDS_OCR, OCR_PENDING)
    else:
        sink.fail(place, FailReason.TIMED_OUT, f"OCR budget of {sink.limits.ocr_s} s used up")
    return False


def picture_text(image: Any, seconds: float) -> str:
    """Return the text of a PIL image in any orientation; nothing is written to a disk.

    Method: illumination correction, deskewing, one reading. If most words are certain the picture is upright.
    Otherwise tesseract's orientation detection, which needs a few dozen letters, proposes a quarter turn; if
    the words of a text page are still uncertain, the other turns are read until most words are certain, and
    the reading with the most certain words is returned. A picture without dense edges is not recognised.

    Raises:
        subprocess.TimeoutExpired: it took longer than ``seconds``.
        ExtractError: the recogniser failed or crashed; the reason.
    """
    deadline = time.monotonic() + seconds
    image = image.convert("L")
    _note(image, ())
    if not may_hold_text(image):
        return ""
    image = straighten(even_light(image))
    if max(image.size) < _SMALL_SIDE and min(line_height(image), line_height(image.rotate(90))) < _SMALL_LINE:
        image = image.resize((image.width * 2, image.height * 2))
    best = _recognise(image, deadline)
    if not best.is_certain:
        with suppress(subprocess.TimeoutExpired, ExtractError):  # the first reading remains
            best = _best_turned(image, best, deadline)
    _note(best.image, best.words)
    return best.text


def _note(image: Any, words: Sequence[Word]) -> None:
    if (log := current_log()) is not None:
        log.note(image, words)


def _best_turned(image: Any, best: _Reading, deadline: float) -> _Reading:
    """Return the best reading: the given one, or one of the quarter turns of the picture."""
    detected = _quarter_turns(image, deadline)
    n_seen = best.n_words
    if detected:
        found = _recognise(_turned(image, detected), deadline)
        best = max(best, found, key=lambda reading: reading.n_certain)
        n_seen += found.n_words
    if best.is_certain or not _looks_written(image):
        return best
    for quarter_turns in (1, 2, 3):
        if quarter_turns == detected:
            continue
        try:
            found = _recognise(_turned(image, quarter_turns), deadline)
        except (subprocess.TimeoutExpired, ExtractError):  # the best reading so far remains
            return best
        best = max(best, found, key=lambda reading: reading.n_certain)
        n_seen += found.n_words
        # A line of text has words, right or wrong, in one of two turns: without any there is no text.
        if best.is_upright or not n_seen:
            break
    return best


def _turned(image: Any, quarter_turns: int) -> Any:
    return image.rotate(90 * quarter_turns, expand=True)


def _quarter_turns(image: Any, deadline: float) -> int:
    """Return the counter-clockwise quarter turns that make a picture upright; 0: none, or unknown."""
    found = _run("orientation", image, deadline)
    rotate = _ROTATE.search(found.output) if not found.status else None
    return 0 if rotate is None else -int(rotate[1]) // 90 % 4  # tesseract turns with the clock


@dataclass(frozen=True, slots=True)
class _Reading:
    """The text and words of one reading; counts are of words of three letters and more."""

    text: str
    n_words: int
    n_certain: int
    image: Any = field(repr=False, default=None)
    words: Sequence[Word] = field(repr=False, default=())

    @property
    def is_certain(self) -> bool:
        """Whether most words are certain."""
        return 2 * self.n_certain > self.n_words

    @property
    def is_upright(self) -> bool:
        """Whether so many words are certain that no other turn needs to be read."""
        return self.is_certain and self.n_certain >= _UPRIGHT


def _looks_written(image: Any) -> bool:
    """Return whether a grey image is dark ink on light paper, by its histogram, and not a photograph."""
    counts = image.histogram()
    lighter = sum(counts[_PAPER:])
    darker = sum(counts[: _PAPER // 2])
    return bool(lighter * 2 > sum(counts) and darker * 500 > sum(counts))


def _recognise(image: Any, deadline: float) -> _Reading:
    # Page segmentation 3: automatic, without the detection of orientation, which takes a fifth of a reading.
    done = _run("ocr", image, deadline, segmentation="3")
    if done.status:
        raise failure(done.status)
    return _reading(done.output.decode("utf-8", "replace"), image)


def _run(job: str, image: Any, deadline: float, **values: str) -> programs.Finished:
    stream = io.BytesIO()
    image.save(stream, "PPM")  # grey pixels with a short head, which costs nothing to write
    seconds = max(deadline - time.monotonic(), 0.01)
    descriptor = in_memory(stream.getvalue())
    try:
        return programs.run(job, descriptor, seconds, languages=languages(), **values)
    finally:
        os.close(descriptor)


def _reading(table: str, image: Any) -> _Reading:
    words = words_of(table)
    long = [word for word in words if len(word.text) > 2]  # noqa: PLR2004 (noise has one letter or two)
    # Tesseract reads lines that run up a page, too, but worse than after a turn: their words are not certain.
    level = [word for word in long if word.right - word.left >= word.bottom - word.top]
    n_certain = sum(word.certainty > _CERTAIN for word in level)
    return _Reading(laid_out(words, page_width(table)), len(long), n_certain, image, words)
