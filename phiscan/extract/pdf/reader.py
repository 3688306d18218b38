"""PDF through pdfium; pdfminer.six is the second reader where pdfium gives nothing or garbage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf.words import (
    from_numbers_of_glyphs,
    has_numbers_of_glyphs,
    is_garbage,
    lines_of,
    odd_runs,
    page_words,
)
from phiscan.model import FailReason

MOST_PAGES = 3_000  # of one document that are read
_FIRST_PAGES = 500
_HEADER_WITHIN = 1024
_TEXT_SHARE = 0.9
_SEEN_SHARE = 0.6  # of the letters of a page, below which its picture does not show them
_MIN_LETTERS = 8  # without a meaning, of a page that is recorded as unread
_MAX_OBJECTS = 500  # of a page that are looked at


def read_pdf(content: Content, sink: Sink) -> None:
    """Add one segment per page ``#p3``, then what the page text leaves out."""
    import pypdfium2  # noqa: PLC0415 (heavy)

    content = _from_header(content, sink)
    pdf, password = _open(content, sink, pypdfium2)
    if pdf is None:
        try:
            _second_reader_only(content, sink)
        except ExtractError as error:
            if error.reason != FailReason.CORRUPT or not _read_found_pages(content, sink):
                raise
        return
    try:
        _read(content, sink, pdf, password)
    finally:
        pdf.close()


def _read(content: Content, sink: Sink, pdf: Any, password: str) -> None:
    from phiscan.extract.pdf.extras import has_appearance, read_extras, read_page_extras  # noqa: PLC0415
    from phiscan.extract.pdf.objects import open_objects, read_revisions, read_unshown  # noqa: PLC0415

    pdf.init_forms()
    objects = open_objects(content.open(), (password,))
    if objects is None:
        said = "the objects beside the pages of a damaged file are not read"
        sink.fail(content.place("objects"), FailReason.CORRUPT, said)
    n_pages = len(pdf)
    chosen = _pages(n_pages)
    if len(chosen) < n_pages:
        detail = f"not read: {n_pages - len(chosen)} of {n_pages} pages, spread after page {_FIRST_PAGES}"
        sink.fail(content.place("pages"), FailReason.SAMPLED, detail)
    n_chars, n_segments = sink.n_chars, sink.n_segments
    for index in chosen:
        try:
            page = pdf.get_page(index)
        except RuntimeError:
            sink.fail(content.place(f"p{index + 1}"), FailReason.CORRUPT, "page cannot be loaded")
            continue
        n_before = sink.n_segments
        try:
            _read_page(content, sink, page, index, password)
        finally:
            page.close()
        if objects is not None and index < len(objects.pages):
            read_page_extras(content, sink, objects.pages[index], index)
            if has_appearance(objects.pages[index]):
                read_appearances(content, sink, pdf, index, sink.text_since(n_before))
    sink.n_chars_unread += (sink.n_chars - n_chars) * (n_pages - len(chosen)) // max(len(chosen), 1)
    if objects is not None:
        read_extras(content, sink, objects)
    read_revisions(content, sink, n_segments, password)
    if objects is not None:
        with objects:
            read_unshown(content, sink, objects, n_segments, password)


def _read_page(content: Content, sink: Sink, page: Any, index: int, password: str) -> None:
    from phiscan.extract.pdf.page_pictures import (  # noqa: PLC0415
        read_drawn_codes,
        read_letters,
        read_pictures,
    )

    place = content.place(f"p{index + 1}")
    textpage = page.get_textpage()
    try:
        text = page_words(textpage)
        if text.strip() and not is_garbage(text):
            sink.add(text, place)
            if has_numbers_of_glyphs(text):
                sink.add(_by_numbers(content, index, password), place)
            if runs := odd_runs(str(textpage.get_text_range())):
                read_letters(sink, page, textpage, runs, place)
            read_pictures(content, sink, page, textpage, index)
            read_drawn_codes(page, place, sink)
            return
    finally:
        textpage.close()
    drawn = _drawn_kinds(page)
    if text.strip() or drawn:  # not a blank page
        has_letters = bool(text.strip()) or "text" in drawn
        second = _second_text(content, index, password) if has_letters else ""
        sink.add(second, place)
        if not second.strip():
            _read_drawn(sink, page, text, place)


def _read_drawn(sink: Sink, page: Any, text: str, place: str) -> None:
    """Read a page as a picture; ``text``: the garbage that pdfium gave."""
    from phiscan.extract.ocr.recognition import read_picture  # noqa: PLC0415
    from phiscan.extract.pdf.page_pictures import draw_page  # noqa: PLC0415 (pictures)

    n_before = sink.n_chars
    if not read_picture(lambda: draw_page(page), place, sink, is_page=True):
        sink.add(text, place)  # garbage may still hold a number or two
        return
    n_letters, n_seen = len("".join(text.split())), sink.n_chars - n_before
    if n_letters >= _MIN_LETTERS and n_seen < _SEEN_SHARE * n_letters:
        sink.fail(place, FailReason.UNSUPPORTED, "letters of a font that does not say what they are")


def _read_found_pages(content: Content, sink: Sink) -> bool:
    """Read the pages in a file without its table of objects, as of one that was cut; return success."""
    import pypdfium2  # noqa: PLC0415 (heavy)

    from phiscan.extract.pdf.objects import (  # noqa: PLC0415
        pdf_strings,
        repaired,
        with_pages,
    )

    objects = repaired(content.data) if content.stream is None else None
    if objects is None:
        return False
    with objects:
        own = {page.obj.objgen for page in objects.pages}
        found = (one.item for one in pdf_strings(objects, b"") if one.key == "page")
        pages = [page for page in found if page.objgen not in own]
        whole = with_pages(objects, pages, others=list(objects.objects)) if pages else b""
    try:
        pdf = pypdfium2.PdfDocument(whole) if whole else None
    except pypdfium2.PdfiumError:
        return False
    if pdf is None:
        return False
    try:
        _read(replace(content, data=whole), sink, pdf, "")
    finally:
        pdf.close()
    sink.fail(content.locator, FailReason.CORRUPT, "cut short or damaged: the pages in it are read")
    return True


def _second_reader_only(content: Content, sink: Sink) -> None:
    from phiscan.extract.pdf.second_reader import pages_text  # noqa: PLC0415 (slow to import)

    for index, text in enumerate(pages_text(content.open())):
        sink.add(text, content.place(f"p{index + 1}"))


def _second_text(content: Content, index: int, password: str) -> str:
    """Return the text of a page by the second reader; empty when it is garbage, too."""
    from phiscan.extract.pdf.second_reader import page_text  # noqa: PLC0415 (slow to import)

    second = page_text(content.open(), index, password)
    return _by_numbers(content, index, password) if second.strip() and is_garbage(second) else second


def _by_numbers(content: Content, index: int, password: str) -> str:
    """Return a page whose fonts have numbers of glyphs as codes and no table to letters."""
    from phiscan.extract.pdf.second_reader import page_glyphs  # noqa: PLC0415 (slow to import)

    return from_numbers_of_glyphs(page_glyphs(content.open(), index, password))


def _from_header(content: Content, sink: Sink) -> Content:
    """Return the file from its header on, which readers expect in the first KB; text before it is added."""
    at = content.data.find(b"%PDF-", _HEADER_WITHIN)
    if content.stream is not None or at < 0 or b"%PDF-" in content.data[:_HEADER_WITHIN]:
        return content
    before = decode(content.data[:at])[0]
    n_signs = sum(char.isprintable() or char.isspace() for char in before)
    if n_signs >= _TEXT_SHARE * len(before):
        sink.add(before, content.place("before"))
    return replace(content, data=content.data[at:])


def _pages(n_pages: int) -> Sequence[int]:
    """Return the pages to read: all, or the first ones and as many spread evenly over the others.

    >>> len(_pages(2_000)), len(_pages(150_000)), _pages(150_000)[499:502]
    (2000, 3000, [499, 500, 559])
    """
    if n_pages <= MOST_PAGES:
        return range(n_pages)
    n_spread, n_others = MOST_PAGES - _FIRST_PAGES, n_pages - _FIRST_PAGES
    spread = (_FIRST_PAGES + n_others * number // n_spread for number in range(n_spread))
    return [*range(_FIRST_PAGES), *spread]


def _open(content: Content, sink: Sink, pypdfium2: Any) -> tuple[Any, str]:
    """Open with no password, then with each of the list; (None, "") when pdfium cannot read it.

    Raises:
        ExtractError: encrypted, and no password fits.
    """
    for password in ("", *sink.passwords):
        try:
            return pypdfium2.PdfDocument(content.stream or content.data, password=password or None), password
        except pypdfium2.PdfiumError as error:
            code = error.err_code
        if code == pypdfium2.raw.FPDF_ERR_SECURITY:
            raise ExtractError(FailReason.ENCRYPTED, "unknown encryption handler")
        if code != pypdfium2.raw.FPDF_ERR_PASSWORD:
            return None, ""
    raise ExtractError(FailReason.ENCRYPTED)


def _drawn_kinds(page: Any) -> set[str]:
    """Return what the page draws: ``text``, ``image``, ``other``; looks at the first objects only."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    names = {pdfium.FPDF_PAGEOBJ_TEXT: "text", pdfium.FPDF_PAGEOBJ_IMAGE: "image"}
    kinds = set()
    for number, item in enumerate(page.get_objects(max_depth=3)):
        kinds.add(names.get(item.type, "other"))
        if number > _MAX_OBJECTS or len(kinds) == 3:  # noqa: PLR2004 (enough to know)
            break
    return kinds


def read_appearances(content: Content, sink: Sink, pdf: Any, index: int, shown: str) -> None:
    """Add what the appearances of a page's annotations show beside ``shown``, ``#p1/appearances``.

    The annotations are made part of the page, in memory, and its words read again.
    """
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    page = pdf.get_page(index)
    try:
        done = pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS
    finally:
        page.close()
    if not done:
        return
    lines = set(shown.split("\n"))
    found = [line for line in lines_of(pdf, index) if line not in lines]
    sink.add("\n".join(found), content.place(f"p{index + 1}/appearances"))
