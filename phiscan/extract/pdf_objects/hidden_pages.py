"""Streams and pages that no page shows, read with their fonts: in a copy of the PDF they are its pages.

Forms that are never drawn, patterns, masks, appearances of hidden annotations, glyph procedures and pages
outside of the page tree hold codes that only their fonts explain. A page tree that has each of them as a page
is written after a copy of the file, which pdfium then reads as any other.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf.words import page_lines
from phiscan.extract.pdf_objects.streams import resources, streams, unpacked
from phiscan.model import FailReason

_OBJECT = re.compile(rb"(?<!\d)(\d{1,8})\s+(\d{1,5})\s+obj\b")
_PAGE = re.compile(rb"/Type\s*/Page\b")
_NUMBERS = re.compile(rb"\s*(\d+)\s+(\d+)")
_REFERENCE = re.compile(rb"(\d{1,8})\s+\d{1,5}\s+R")
_MOST_OBJECTS = 300_000
_MOST_PAGES = 500
_MOST_UNPACKED = 32 * 1024**2
_MOST_DICTIONARY = 64 * 1024
_MOST_PICTURES = 50
_POINTS = 72 / 200  # of a pixel at the resolution in which pages are drawn
_NAMED_REFERENCE = re.compile(rb"/([\w.+-]{1,60})\s+(\d{1,8})\s+\d{1,5}\s+R")
_NOT_DRAWN = frozenset((b"Thumb", b"Image", b"Parent"))
_BOX = b"[-2000 -2000 2000 2000]"


def hidden_lines(data: bytes, glyphs: dict[int, bytes], *, with_pages: bool) -> Iterator[str]:
    """Yield the lines of hidden streams of glyphs, and of all pages that the file holds.

    Args:
        data: the file, not encrypted.
        glyphs: number of a stream to its resources, as they are written; empty where it has none.
        with_pages: read every page object, too.
    """
    whole = with_page_tree(data, glyphs, with_pages=with_pages)
    if not whole:
        return
    yield from _page_lines(whole)


def _page_lines(whole: bytes) -> Iterator[str]:
    import pypdfium2  # noqa: PLC0415 (heavy)

    try:
        pdf = pypdfium2.PdfDocument(whole)
    except pypdfium2.PdfiumError:
        return
    try:
        for index in range(min(len(pdf), _MOST_PAGES)):
            try:
                page = pdf.get_page(index)
            except RuntimeError:
                continue
            try:
                yield from page_lines(page)
            finally:
                page.close()
    finally:
        pdf.close()


def with_page_tree(
    data: bytes, glyphs: dict[int, bytes], *, with_pages: bool, pictures: dict[int, str] | None = None
) -> bytes:
    """Return the file with a new page tree after it; empty when there is nothing to be a page.

    ``pictures``: numbers and sizes (``300x200``, in pixels) of pictures that get a page each.
    """
    if b"/CharProcs" in data and not all(glyphs.values()):
        owners = _glyph_procedures(data)
        glyphs = {stream: own or owners.get(stream, b"") for stream, own in glyphs.items()}
    glyphs = {stream: own for stream, own in glyphs.items() if own}
    if not glyphs and not with_pages and not pictures:
        return b""
    out = io.BytesIO()
    out.write(data)
    out.write(b"\n")
    places, page_numbers = _objects(data, out, with_pages=with_pages)
    if not places:
        return b""
    tree = max(places) + 1
    catalog, number = tree + 1, tree + 2
    pages = [b"%d 0 R" % page for page in page_numbers[:_MOST_PAGES]]
    for stream, own in glyphs.items():
        if stream not in places or len(pages) >= _MOST_PAGES:
            continue
        places[number] = out.tell()
        out.write(
            b"%d 0 obj\n<</Type/Page/Parent %d 0 R/MediaBox %s/Contents %d 0 R/Resources %s>>\nendobj\n"
            % (number, tree, _BOX, stream, own)
        )
        pages.append(b"%d 0 R" % number)
        number += 1
    for picture, size in (pictures or {}).items():
        width, height = (int(side) * _POINTS for side in size.split("x"))
        drawn = b"q %.2f 0 0 %.2f 0 0 cm /I Do Q" % (width, height)
        places[number] = out.tell()
        out.write(b"%d 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\n" % (number, len(drawn), drawn))
        places[number + 1] = out.tell()
        out.write(
            b"%d 0 obj\n<</Type/Page/Parent %d 0 R/MediaBox[0 0 %.2f %.2f]/Contents %d 0 R"
            b"/Resources<</XObject<</I %d 0 R>>>>>>\nendobj\n"
            % (number + 1, tree, width, height, number, picture)
        )
        pages.append(b"%d 0 R" % (number + 1))
        number += 2
    if not pages:
        return b""
    places[tree] = out.tell()
    kids = b" ".join(pages)
    out.write(
        b"%d 0 obj\n<</Type/Pages/Count %d/MediaBox %s/Kids[%s]>>\nendobj\n" % (tree, len(pages), _BOX, kids)
    )
    places[catalog] = out.tell()
    out.write(b"%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n" % (catalog, tree))
    _write_table(out, places, catalog)
    return out.getvalue()


def undrawn_pictures(data: bytes, pictures: dict[int, str]) -> dict[int, str]:
    """Return the pictures that no resources name, as unused ones, previews and alternatives are."""
    drawn: set[int] = set()
    at, left = 0, _MOST_UNPACKED
    for stream in streams(data):
        drawn.update(_drawn_numbers(data[at : stream.start]))
        at = stream.end
        if b"/ObjStm" in stream.head and left > 0:
            body = unpacked(data[stream.start : stream.end], stream.head, left)
            left -= len(body)
            drawn.update(_drawn_numbers(body))
    drawn.update(_drawn_numbers(data[at:]))
    return {number: size for number, size in pictures.items() if number not in drawn}


def _drawn_numbers(text: bytes) -> Iterator[int]:
    return (int(number) for name, number in _NAMED_REFERENCE.findall(text) if name not in _NOT_DRAWN)


def read_undrawn_pictures(data: bytes, pictures: dict[int, str], content: Content, sink: Sink) -> None:
    """Read pictures that no page draws, ``#hidden1``."""
    import pypdfium2  # noqa: PLC0415 (heavy)

    from phiscan.extract.ocr.images import is_worth_reading  # noqa: PLC0415 (pictures)
    from phiscan.extract.ocr.recognition import read_picture  # noqa: PLC0415
    from phiscan.extract.pdf.page_pictures import draw_page  # noqa: PLC0415

    chosen = dict(list(pictures.items())[:_MOST_PICTURES])
    if len(chosen) < len(pictures):
        detail = f"{len(pictures) - len(chosen)} of {len(pictures)} pictures that no page draws are not read"
        sink.fail(content.place("hidden"), FailReason.TOO_LARGE, detail)
    try:
        pdf = pypdfium2.PdfDocument(with_page_tree(data, {}, with_pages=False, pictures=chosen))
    except pypdfium2.PdfiumError:
        return
    try:
        for number in range(len(pdf)):

            def render(number: int = number) -> Any:
                page = pdf.get_page(number)
                try:
                    image = draw_page(page)
                finally:
                    page.close()
                return image if is_worth_reading(image) else None

            read_picture(render, content.place(f"hidden{number + 1}"), sink)
    finally:
        pdf.close()


def _write_table(out: io.BytesIO, places: dict[int, int], catalog: int) -> None:
    start, size = out.tell(), max(places) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        place = places.get(number)
        out.write(b"0000000000 65535 f \n" if place is None else b"%010d 00000 n \n" % place)
    out.write(b"trailer\n<</Size %d/Root %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, catalog, start))


def _objects(data: bytes, out: io.BytesIO, *, with_pages: bool) -> tuple[dict[int, int], list[int]]:
    """Return where each object begins, the last of each number, and the numbers of pages.

    Objects of object streams are written out.
    """
    places: dict[int, int] = {}
    pages: dict[int, None] = {}
    left = _MOST_UNPACKED

    def note(number: int, place: int, text: bytes) -> None:
        places[number] = place
        pages.pop(number, None)
        if with_pages and _PAGE.search(text):
            pages[number] = None

    at = 0
    for stream in streams(data):
        _note_objects(data, stream.gap, stream.start, note)
        at = stream.end
        if b"/ObjStm" in stream.head and left > 0:
            body = unpacked(data[stream.start : stream.end], stream.head, left)
            left -= len(body)
            for number, text in _packed_objects(body, stream.head):
                note(number, out.tell(), text)
                out.write(b"%d 0 obj\n%s\nendobj\n" % (number, text))
    _note_objects(data, at, len(data), note)
    return places, list(pages)


def _note_objects(data: bytes, start: int, end: int, note: Callable[[int, int, bytes], None]) -> None:
    found = list(_OBJECT.finditer(data, start, end))
    for match, after in zip_longest(found, found[1:]):
        until = min(end if after is None else after.start(), match.end() + _MOST_DICTIONARY)
        if int(match[1]) < _MOST_OBJECTS:
            note(int(match[1]), match.start(), data[match.end() : until])


def _packed_objects(body: bytes, head: bytes) -> Iterable[tuple[int, bytes]]:
    """Yield number and text of the objects in an object stream, which begins with numbers and offsets."""
    first = re.search(rb"/First\s+(\d{1,9})", head)
    if first is None:
        return
    begin = int(first[1])
    pairs = [(int(pair[1]), int(pair[2])) for pair in _NUMBERS.finditer(body, 0, begin)]
    for (number, offset), after in zip_longest(pairs, pairs[1:]):
        if number < _MOST_OBJECTS:
            yield number, body[begin + offset : len(body) if after is None else begin + after[1]]


def _glyph_procedures(data: bytes) -> dict[int, bytes]:
    """Return the resources of fonts by the numbers of the streams that draw their glyphs."""
    found: dict[int, bytes] = {}
    for match in re.finditer(rb"/CharProcs\s*<<(.{0,16384}?)>>", data, re.DOTALL):
        start = data.rfind(b" obj", max(match.start() - _MOST_DICTIONARY, 0), match.start())
        end = data.find(b"endobj", match.end(), match.end() + _MOST_DICTIONARY)
        own = resources(data[max(start, 0) : end]) if end > 0 else b""
        if own:
            found.update((int(reference[1]), own) for reference in _REFERENCE.finditer(match[1]))
    return found
