"""Pictures on PDF pages that hold text too: which of them may say what the text does not, and drawing them.

A picture is judged by areas alone. It is looked at when it covers a tenth of the page, or a fiftieth of a
page with hardly any text; unless text of the page lies over a tenth of it: a scan that was made searchable,
or a background. Strips and tiles that touch count as one picture.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.ocr.images import is_worth_reading
from phiscan.extract.ocr.picture_values import read_codes
from phiscan.extract.ocr.recognition import languages, read_picture, record_without_ocr
from phiscan.model import FailReason

_SCALE = 200 / 72  # 200 dots an inch
_MAX_PIXELS = 40_000_000  # of a rendered page; A3 has 7.7 million
_MAX_IMAGE_PIXELS = 150_000_000  # that pdfium would have to unpack
_HARDLY_ANY = 200  # characters; the line of a fax machine, a page number
_MUCH, _SOME = 0.1, 0.02  # of the page
_WRITTEN_OVER = 0.1  # of the picture
_MAX_OBJECTS = 20_000  # of a page, or of a form on it, that are looked at
_MAX_IMAGES = 200
_MAX_LEVEL = 3
_MAX_RUNS = 5000
_TOUCHING = 2.0  # points
_MARGIN = 12.0  # points around letters, so that a line is high enough to be recognised
_UNKNOWN_LETTERS = "letters of a font that does not say what they are"
_MOST_RUN = 2_000  # characters


class Box(NamedTuple):
    """A rectangle on a page, in points."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def area(self) -> float:
        """Width times height; nothing when it is inside out."""
        return max(self.right - self.left, 0.0) * max(self.top - self.bottom, 0.0)

    def cut(self, other: Box) -> Box:
        """Return what both cover."""
        return Box(*map(max, self[:2], other[:2]), *map(min, self[2:], other[2:]))

    def around(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(*map(min, self[:2], other[:2]), *map(max, self[2:], other[2:]))

    def touches(self, other: Box) -> bool:
        """Tell whether they overlap, or lie side by side."""
        both = self.cut(other)
        return min(both.right - both.left, both.top - both.bottom) >= -_TOUCHING


@dataclass(frozen=True, slots=True)
class _Picture:
    box: Box
    images: tuple[Any, ...]  # pdfium's objects


def read_pictures(content: Content, sink: Sink, page: Any, textpage: Any, index: int) -> None:
    """Read the pictures of a page that holds text, ``#p3/picture1``."""
    sheet = Box(*page.get_bbox())
    least = _SOME if textpage.count_chars() < _HARDLY_ANY else _MUCH
    unseen: list[str] = []
    pictures = [found for found in _pictures(page, sheet, unseen) if found.box.area >= least * sheet.area]
    for said in unseen:
        sink.fail(content.place(f"p{index + 1}/pictures"), FailReason.TOO_LARGE, said)
    if not pictures:
        return
    runs = [Box(*textpage.get_rect(index)) for index in range(min(textpage.count_rects(), _MAX_RUNS))]
    unread = [
        one for one in pictures if sum(one.box.cut(run).area for run in runs) < _WRITTEN_OVER * one.box.area
    ]
    for number, picture in enumerate(unread, 1):
        where = content.place(f"p{index + 1}/picture{number}")
        if len(picture.images) == 1 and not sink.is_new_picture(
            bytes(picture.images[0].get_data(decode_simple=False))
        ):
            continue
        if any(math.prod(image.get_px_size()) > _MAX_IMAGE_PIXELS for image in picture.images):
            sink.fail(where, FailReason.TOO_LARGE, "too many pixels")
            continue
        read_picture(_drawing(page, sheet, picture.box), where, sink)


def read_letters(sink: Sink, page: Any, textpage: Any, runs: list[tuple[int, int]], place: str) -> None:
    """Read letters whose codes have no meaning as pictures, ``/letters1``; ``runs``: their offsets."""
    sheet = Box(*page.get_bbox())
    boxes: list[Box] = []
    for start, end in runs:
        ends = [Box(*textpage.get_charbox(place)) for place in range(start, min(end, start + _MOST_RUN))]
        for box in (found for found in ends if found.area):
            grown = Box(box.left - _MARGIN, box.bottom - _MARGIN, box.right + _MARGIN, box.top + _MARGIN)
            if boxes and boxes[-1].touches(grown):
                boxes[-1] = boxes[-1].around(grown)
            else:
                boxes.append(grown)
    if not boxes:  # nothing is drawn
        sink.fail(f"{place}/letters", FailReason.UNSUPPORTED, _UNKNOWN_LETTERS)
    for number, box in enumerate(boxes[:_MAX_IMAGES], 1):
        where = f"{place}/letters{number}"
        n_segments = sink.n_segments
        if read_picture(_drawing(page, sheet, box.cut(sheet)), where, sink) and sink.n_segments == n_segments:
            sink.fail(where, FailReason.UNSUPPORTED, _UNKNOWN_LETTERS)


def draw_page(page: Any) -> Any:
    """Draw a whole page in grey."""
    return _draw(page, (0.0, 0.0, 0.0, 0.0))


def _drawing(page: Any, sheet: Box, box: Box) -> Callable[[], Any]:
    def draw() -> Any:
        # What is cut away, left, bottom, right and top, as the page is turned when it is drawn.
        margins = [
            box.left - sheet.left,
            box.bottom - sheet.bottom,
            sheet.right - box.right,
            sheet.top - box.top,
        ]
        for _ in range(page.get_rotation() // 90):
            margins = [*margins[1:], margins[0]]
        image = _draw(page, tuple(max(margin, 0.0) for margin in margins))
        return image if is_worth_reading(image) else None

    return draw


def _draw(page: Any, crop: tuple[float, ...]) -> Any:
    width, height = page.get_size()
    scale = min(_SCALE, sqrt(_MAX_PIXELS / max(width * height, 1.0)))
    return page.render(scale=scale, grayscale=True, crop=crop).to_pil()


def _pictures(page: Any, sheet: Box, unseen: list[str]) -> list[_Picture]:
    """Return the pictures of a page, the largest first; those that touch are one. Limits go to ``unseen``."""
    found: list[_Picture] = []
    for number, (image, box) in enumerate(_images(page, unseen)):
        if number >= _MAX_IMAGES:
            unseen.append(f"pictures after the first {_MAX_IMAGES} are not read")
            break
        shown = box.cut(sheet)
        if shown.area:
            found.append(_Picture(shown, (image,)))
    merged: list[_Picture] = []
    for picture in found:
        grown = picture
        while (other := next((kept for kept in merged if kept.box.touches(grown.box)), None)) is not None:
            merged.remove(other)
            grown = _Picture(grown.box.around(other.box), (*other.images, *grown.images))
        merged.append(grown)
    return sorted(merged, key=lambda picture: -picture.box.area)


def _images(page: Any, unseen: list[str]) -> Iterator[tuple[Any, Box]]:
    """Yield the images of a page and of the forms on it, with where they are drawn."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415
    from pypdfium2 import PdfObject  # noqa: PLC0415

    stack: list[tuple[Any, tuple[Any, ...]]] = [(None, ())]
    while stack:
        form, matrices = stack.pop()
        count = pdfium.FPDFFormObj_CountObjects if form else pdfium.FPDFPage_CountObjects
        get = pdfium.FPDFFormObj_GetObject if form else pdfium.FPDFPage_GetObject
        n_objects = count(form or page)
        if n_objects > _MAX_OBJECTS:
            unseen.append(f"pictures among objects {_MAX_OBJECTS + 1} to {n_objects} are not read")
        for index in range(min(n_objects, _MAX_OBJECTS)):
            raw = get(form or page, index)
            kind = pdfium.FPDFPageObj_GetType(raw) if raw else 0
            if kind not in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM):
                continue
            item = PdfObject(raw, page=page, pdf=page.pdf, container=form)
            if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
                corners = item.get_bounds()
                for matrix in matrices:
                    corners = matrix.on_rect(*corners)
                yield item, Box(*corners)
            elif len(matrices) < _MAX_LEVEL:
                stack.append((item, (item.get_matrix(), *matrices)))
            else:
                unseen.append(f"pictures within more than {_MAX_LEVEL} forms are not read")


_MOST_OBJECTS = 4_000  # of a page that are looked at
_MIN_SQUARES, _MIN_BARS = 60, 20
_MAX_MODULE = 12.0  # points: the side of a square, the width of a bar, the distance of two bars
_MIN_BAR_HEIGHT = 10.0  # points
_ALIKE = 0.25  # relative difference of the sides of a square
_MIN_SEGMENTS = 300  # of one path that draws a whole code
_MIN_SECONDS = 0.5


def read_drawn_codes(page: Any, place: str, sink: Sink) -> None:
    """Decode the codes of a page that is drawn with many small squares, or bars in a row, ``#p3/code``."""
    if not _draws_a_code(page):
        return
    if not languages() or sink.ocr_seconds_left() >= _MIN_SECONDS:
        read_codes(draw_page(page), place, sink)
    else:
        record_without_ocr(place, sink)


def _draws_a_code(page: Any) -> bool:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    n_squares = n_bars = 0
    last_right = 0.0
    sides = [ctypes.c_float() for _ in range(4)]
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPath_CountSegments(item) >= _MIN_SEGMENTS:
            return True
        pdfium.FPDFPageObj_GetBounds(item, *sides)
        left, bottom, right, top = (side.value for side in sides)
        width, height = right - left, top - bottom
        if 0 < width <= _MAX_MODULE:
            n_squares += abs(width - height) <= _ALIKE * width
            is_next = height >= _MIN_BAR_HEIGHT and 0 <= left - last_right <= _MAX_MODULE
            n_bars = n_bars + 1 if is_next else 0
            last_right = right
        if n_squares >= _MIN_SQUARES or n_bars >= _MIN_BARS:
            return True
    return False
