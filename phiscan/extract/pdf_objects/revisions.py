"""Earlier revisions of a PDF: an incremental save leaves what it replaced before it in the file."""

from __future__ import annotations

import re
from typing import Any

from phiscan.extract.core.content import CHUNK_BYTES, Content, Sink
from phiscan.extract.pdf.words import page_lines
from phiscan.model import FailReason

_END = re.compile(rb"startxref\s+\d+\s+%%EOF")
_MOST_REVISIONS = 20
_MOST_PAGES = 300
_LONGEST_END = 64  # bytes of a mark that lies in two pieces
_MOST_BYTES = 64 * 1024**2


def read_revisions(content: Content, sink: Sink, n_pieces: int, password: str) -> None:
    """Add the lines of pages of earlier revisions that the text does not hold, ``#revision1/p2``."""
    if content.n_bytes > _MOST_BYTES:
        if _n_ends(content) > 1:
            said = f"earlier revisions in more than {_MOST_BYTES} bytes are not read"
            sink.fail(content.place("revisions"), FailReason.TOO_LARGE, said)
        return
    data = content.data if content.stream is None else content.open().read()
    ends = [match.end() for match in _END.finditer(data)][:-1]  # the last one ends the file
    if len(ends) > _MOST_REVISIONS:
        said = f"{len(ends) - _MOST_REVISIONS} of {len(ends)} earlier revisions are not read"
        sink.fail(content.place("revisions"), FailReason.TOO_LARGE, said)
    if not ends:
        return
    import pypdfium2  # noqa: PLC0415 (heavy)

    for number, end in enumerate(ends[-_MOST_REVISIONS:], 1):
        try:
            pdf = pypdfium2.PdfDocument(data[:end], password=password or None)
        except pypdfium2.PdfiumError:
            continue  # the first part of a file that is arranged for the web is no revision
        try:
            _read_pages(pdf, number, content, sink, n_pieces)
        finally:
            pdf.close()


def _n_ends(content: Content) -> int:
    """Count the revisions of a large file, in pieces."""
    stream, before, count = content.open(), b"", 0
    while piece := stream.read(CHUNK_BYTES):
        ends = [match.end() for match in _END.finditer(before + piece)]
        count += len(ends)
        before = (before + piece)[max(ends, default=0) :][-_LONGEST_END:]
    return count


def _read_pages(pdf: Any, number: int, content: Content, sink: Sink, n_pieces: int) -> None:
    lines = set(sink.text_since(n_pieces).split("\n"))
    if len(pdf) > _MOST_PAGES:
        said = f"pages {_MOST_PAGES + 1} to {len(pdf)} are not read"
        sink.fail(content.place(f"revision{number}"), FailReason.TOO_LARGE, said)
    for index in range(min(len(pdf), _MOST_PAGES)):
        try:
            page = pdf.get_page(index)
        except RuntimeError:
            continue
        try:
            found = [line for line in page_lines(page) if line not in lines]
        finally:
            page.close()
        lines.update(found)
        sink.add("\n".join(found), content.place(f"revision{number}/p{index + 1}"))
