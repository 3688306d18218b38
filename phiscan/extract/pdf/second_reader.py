"""The second PDF reader, pdfminer.six: slow, but it reads some files that pdfium does not."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from phiscan.errors import ExtractError, kind_of
from phiscan.model import FailReason

_MOST_GLYPHS = 50_000
# pdfminer logs what it finds odd, with the text it found.
logging.getLogger("pdfminer").disabled = True
logging.getLogger("pdfminer").setLevel(logging.CRITICAL + 1)


def page_text(stream: Any, index: int, password: str = "") -> str:
    """Return the text of one page, counted from 0; empty when it cannot be read."""
    from pdfminer.high_level import extract_text  # noqa: PLC0415 (slow)

    try:
        return str(extract_text(stream, password=password, page_numbers=[index]))
    except Exception:  # noqa: BLE001 (pdfminer raises anything on odd files; the caller has other ways)
        return ""


def page_glyphs(stream: Any, index: int, password: str = "") -> str:
    """Return the characters of one page in the order of drawing, of any size; each baseline is a line."""
    from pdfminer.converter import PDFPageAggregator  # noqa: PLC0415 (slow)
    from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager  # noqa: PLC0415
    from pdfminer.pdfpage import PDFPage  # noqa: PLC0415

    manager = PDFResourceManager()
    device = PDFPageAggregator(manager, laparams=None)  # no analysis of the layout
    interpreter = PDFPageInterpreter(manager, device)
    try:
        for page in PDFPage.get_pages(stream, pagenos={index}, password=password):
            interpreter.process_page(page)
            return _drawn(device.get_result())
    except Exception:  # noqa: BLE001 (see page_text)
        return ""
    return ""


def _drawn(page: Any) -> str:
    from pdfminer.layout import LTChar, LTFigure  # noqa: PLC0415 (slow)

    pieces: list[str] = []
    baseline: tuple[float, ...] = ()
    pending = [iter(page)]
    while pending and len(pieces) < _MOST_GLYPHS:
        item = next(pending[-1], None)
        if item is None:
            pending.pop()
        elif isinstance(item, LTFigure):
            pending.append(iter(item))
        elif isinstance(item, LTChar):
            here = (*item.matrix[:4], item.matrix[5])
            pieces.append(item.get_text() if here == baseline else f"\n{item.get_text()}")
            baseline = here
    return "".join(pieces)


def pages_text(stream: Any) -> Iterator[str]:
    """Yield the text of every page.

    Raises:
        ExtractError: encrypted or corrupt.
    """
    from pdfminer.high_level import extract_pages  # noqa: PLC0415 (slow)
    from pdfminer.layout import LTTextContainer  # noqa: PLC0415
    from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect  # noqa: PLC0415

    n_pages = 0
    try:
        for page in extract_pages(stream):
            n_pages += 1
            yield "".join(item.get_text() for item in page if isinstance(item, LTTextContainer))
    except GeneratorExit:
        raise
    except (PDFPasswordIncorrect, PDFEncryptionError):
        raise ExtractError(FailReason.ENCRYPTED) from None
    except Exception as error:  # noqa: BLE001 (see page_text)
        raise ExtractError(FailReason.CORRUPT, kind_of(error)) from None
    if n_pages == 0:
        raise ExtractError(FailReason.CORRUPT, "no page")
