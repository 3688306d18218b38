"""Earlier revisions of a PDF: an incremental save leaves what it replaced before it in the file."""

from __future__ import annotations

import re
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf.words import page_words

_END = re.compile(rb"startxref\s+\d+\s+%%EOF")
_MOST_REVISIONS = 20
_MOST_PAGES = 300
_MOST_BYTES = 64 * 1024**2


def read_revisions(content: Content, sink: Sink, n_pieces: int, password: str) -> None:
    """Add the lines of pages of earlier revisions that the text does not hold, ``#revision1/p2``."""
    if content.stream is not None or content.n_bytes > _MOST_BYTES:
        return
    ends = [match.end() for match in _END.finditer(content.data)]
    if len(ends) < 2:  # noqa: PLR2004 (the last one ends the file)
        return
    import pypdfium2  # noqa: PLC0415 (heavy)

    for number, end in enumerate(ends[:-1][-_MOST_REVISIONS:], 1):
        try:
            pdf = pypdfium2.PdfDocument(content.data[:end], password=password or None)
        except pypdfium2.PdfiumError:
            continue  # the first part of a file that is arranged for the web is no revision
        try:
            _read_pages(pdf, number, content, sink, n_pieces)
        finally:
            pdf.close()


def _read_pages(pdf: Any, number: int, content: Content, sink: Sink, n_pieces: int) -> None:
    lines = set(sink.text_since(n_pieces).split("\n"))
    for index in range(min(len(pdf), _MOST_PAGES)):
        try:
            page = pdf.get_page(index)
        except RuntimeError:
            continue
        textpage = page.get_textpage()
        try:
            found = [line for line in page_words(textpage).split("\n") if line not in lines]
        finally:
            textpage.close()
            page.close()
        lines.update(found)
        sink.add("\n".join(found), content.place(f"revision{number}/p{index + 1}"))
