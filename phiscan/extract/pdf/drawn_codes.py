"""Bar codes and QR codes that a page with text draws as lines and squares, not as a picture."""

from __future__ import annotations

import ctypes
from typing import Any

from phiscan.extract.core.content import Sink
from phiscan.extract.ocr.recognition import languages, record_without_ocr
from phiscan.extract.pdf.page_pictures import draw_page
from phiscan.extract.pictures.codes import read_codes

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
