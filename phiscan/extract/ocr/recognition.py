"""OCR of pictures by tesseract: a PIL image in, text or an unread part out, within the file's OCR budget."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Sink
from phiscan.extract.ocr.layout import Word, current_log, laid_out, page_width, words_of
from phiscan.extract.ocr.picture_values import read_codes
from phiscan.model import OCR_PENDING, FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory
from phiscan.sandbox.ocr_program import NO_MEMORY, NOT_READ

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
    if not programs.is_installed("ocr"):
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
        sink.fail(place, reason, "too many pixels" if is_bomb else kind_of(error))
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
        sink.fail(place, FailReason.CORRUPT, kind_of(error))
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
    done = _run("ocr", image, deadline)
    if done.status:
        raise failure(done.status)
    return _reading(done.output.decode("utf-8", "replace"), image)


def _run(job: str, image: Any, deadline: float) -> programs.Finished:
    stream = io.BytesIO()
    image.save(stream, "PPM")  # grey pixels with a short head, which costs nothing to write
    seconds = max(deadline - time.monotonic(), 0.01)
    descriptor = in_memory(stream.getvalue())
    try:
        return programs.run(job, descriptor, seconds, languages=languages())
    finally:
        os.close(descriptor)


def _reading(table: str, image: Any) -> _Reading:
    words = words_of(table)
    long = [word for word in words if len(word.text) > 2]  # noqa: PLR2004 (noise has one letter or two)
    # Tesseract reads lines that run up a page, too, but worse than after a turn: their words are not certain.
    level = [word for word in long if word.right - word.left >= word.bottom - word.top]
    n_certain = sum(word.certainty > _CERTAIN for word in level)
    return _Reading(laid_out(words, page_width(table)), len(long), n_certain, image, words)


_SHRINK, _PATCH = 4, 8  # pixels made one, against noise; of these, the side of a patch
_UNEVEN = 20.0  # grey levels between the 5th and 95th percentile of the background
_DARK = 0.5  # of the median background; darker patches are not paper
_MIN_PATCHES = 4  # on each side
_STRIP = 512  # rows lightened together


def even_light(image: Any) -> Any:
    """Return a grey PIL image with its paper white everywhere; the same image when its paper is even."""
    from PIL import Image, ImageFilter  # noqa: PLC0415 (heavy)

    small = np.asarray(image.reduce(_SHRINK), dtype=np.float32)
    n_rows, n_columns = (side // _PATCH for side in small.shape)
    if min(n_rows, n_columns) < _MIN_PATCHES:
        return image
    patches = small[: n_rows * _PATCH, : n_columns * _PATCH].reshape(n_rows, _PATCH, n_columns, _PATCH)
    paper = patches.max(axis=(1, 3))
    usual = float(np.median(paper))
    is_paper = paper > _DARK * usual
    low, high = np.percentile(paper[is_paper], [5, 95])
    if high - low < _UNEVEN:
        return image
    levels = Image.fromarray(np.where(is_paper, paper, usual).astype(np.uint8))
    smooth = np.asarray(
        levels.filter(ImageFilter.MedianFilter(3)).resize(image.size, Image.Resampling.BICUBIC)
    )
    light = np.array(image)
    for top in range(0, len(light), _STRIP):  # a page at once would take eight times its memory
        strip = light[top : top + _STRIP].astype(np.float32) * 255
        strip /= np.maximum(smooth[top : top + _STRIP], 1)
        light[top : top + _STRIP] = strip.clip(0, 255).astype(np.uint8)
    return Image.fromarray(light)


_LOOK_SIDE = 1000  # pixels of the copy that is measured
_MAX_POINTS = 60_000
_MIN_POINTS = 500
_MOST = 15.0  # degrees looked at on both sides
_LEAST = 0.4  # degrees; the recogniser copes with less
_MIN_GAIN = 1.1  # least ratio of sharpness for which a page is turned
_MIN_BAND = 3  # rows of ink; less is a rule or a speck
_DARK_SHARE = 0.5  # a page that is darker than this is a photograph, or white on black


def straighten(image: Any) -> Any:
    """Return a grey PIL image turned so that its lines of text lie level; the same image when they do."""
    angle = skew_angle(image)
    return image if abs(angle) < _LEAST else image.rotate(angle, expand=True, fillcolor=255, resample=3)


def skew_angle(image: Any) -> float:
    """Return the degrees, counter-clockwise, to turn a grey image by; 0 when no angle is better."""
    look = image.copy()
    look.thumbnail((_LOOK_SIDE, _LOOK_SIDE))
    grey = np.asarray(look, dtype=np.uint8)
    rows, columns = np.nonzero(grey < (int(grey.min()) + int(grey.max())) // 2)
    if not _MIN_POINTS <= len(rows) <= _DARK_SHARE * grey.size:
        return 0.0
    step = max(len(rows) // _MAX_POINTS, 1)
    x, y = columns[::step].astype(np.float64), rows[::step].astype(np.float64)
    level = _sharpness(x, y, 0.0)
    coarse = max(np.arange(-_MOST, _MOST + 0.5, 1.0), key=lambda angle: _sharpness(x, y, float(angle)))
    fine = max(np.arange(coarse - 1, coarse + 1.01, 0.2), key=lambda angle: _sharpness(x, y, float(angle)))
    return float(fine) if _sharpness(x, y, float(fine)) > _MIN_GAIN * level else 0.0


def line_height(image: Any) -> float:
    """Return the usual height, in pixels, of the bands of rows with ink in a straight grey image."""
    grey = np.asarray(image, dtype=np.uint8)
    dark = grey < (int(grey.min()) + int(grey.max())) // 2
    edges = np.flatnonzero(np.diff(np.concatenate(([0], dark.any(axis=1).astype(np.int8), [0]))))
    bands = edges[1::2] - edges[::2]
    bands = bands[bands > _MIN_BAND]
    return float(np.median(bands)) if len(bands) else 0.0


def _sharpness(x: NDArray[np.float64], y: NDArray[np.float64], degrees: float) -> float:
    """Return the sum of squared counts of pixels per line, for lines that slant by ``degrees``."""
    radians = np.deg2rad(degrees)
    heights = y * np.cos(radians) - x * np.sin(radians)
    counts = np.bincount((heights - heights.min()).astype(np.int64))
    return float(np.square(counts, dtype=np.float64).sum())


OCR_NO_MEMORY = "OCR needs more memory than its process may have"


def failure(status: int) -> ExtractError:
    """Return the reason why a page is unread, by the exit status of the reading that ended without words.

    >>> str(failure(-11)), str(failure(1))
    ('crashed: OCR ended by SIGSEGV', 'corrupt: OCR cannot read the picture')
    """
    if status in {NO_MEMORY, -signal.SIGKILL}:
        return ExtractError(FailReason.OUT_OF_MEMORY, OCR_NO_MEMORY)
    if status == NOT_READ:
        return ExtractError(FailReason.CORRUPT, "OCR cannot read the picture")
    cause = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return ExtractError(FailReason.CRASHED, f"OCR ended {cause}")


_SPOT = 32  # pixels; a word of small type fills one, so does a letter of large type
_EDGE = 16  # of 255 grey levels over two pixels
_LEAST_SHARE = 15  # of 255 of a spot, in each direction; a word of nine pixels has between 15 and 20
_MIN_SIDE = 2 * _SPOT


def may_hold_text(image: Any) -> bool:
    """Return whether a cell of a grey PIL image has as many edges in both directions as letters have.

    Large type is found in the picture at half its size, at a quarter, and so on.
    """
    if min(image.size) < _MIN_SIDE:
        return True  # too small to judge, and quick to read
    while min(image.size) >= _MIN_SIDE:
        if _has_spot(np.asarray(image, dtype=np.int16)):
            return True
        image = image.reduce(2)
    return False


def _has_spot(grey: NDArray[np.int16]) -> bool:
    """Tell whether a spot has enough edges across and enough down."""
    across = np.abs(grey[:-2, 2:] - grey[:-2, :-2]) >= _EDGE
    down = np.abs(grey[2:, :-2] - grey[:-2, :-2]) >= _EDGE
    return any(
        bool((np.minimum(_shares(across, shift), _shares(down, shift)) >= _LEAST_SHARE).any())
        for shift in (0, _SPOT // 2)  # so that what lies across two spots is found in one
    )


def _shares(edges: NDArray[np.bool_], shift: int) -> NDArray[np.uint8]:
    """Return the share of edges in each spot, of 255; the last ones of rows and columns may be smaller."""
    from PIL import Image  # noqa: PLC0415 (heavy)

    levels = np.ascontiguousarray(edges[shift:, shift:]).view(np.uint8) * 255
    return np.asarray(Image.fromarray(levels).reduce(_SPOT))
