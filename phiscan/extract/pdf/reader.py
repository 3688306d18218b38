"""PDF through pdfium; pdfminer.six is the second reader where pdfium gives nothing or garbage."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf.words import (
    from_numbers_of_glyphs,
    has_numbers_of_glyphs,
    is_garbage,
    odd_runs,
    page_lines,
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
    from phiscan.extract.pdf.objects import read_revisions, read_unshown  # noqa: PLC0415

    pdf.init_forms()
    n_pages = len(pdf)
    chosen = _pages(n_pages)
    if len(chosen) < n_pages:
        detail = f"not read: {n_pages - len(chosen)} of {n_pages} pages, spread after page {_FIRST_PAGES}"
        sink.fail(content.place("pages"), FailReason.SAMPLED, detail)
    n_chars, n_pieces = sink.n_chars, sink.n_pieces
    for index in chosen:
        try:
            page = pdf.get_page(index)
        except RuntimeError:
            sink.fail(content.place(f"p{index + 1}"), FailReason.CORRUPT, "page cannot be loaded")
            continue
        n_before = sink.n_pieces
        try:
            _read_page(content, sink, page, index, password)
            read_page_extras(content, sink, pdf, page, index)
            is_drawn_on = has_appearance(page)
        finally:
            page.close()
        if is_drawn_on:
            read_appearances(content, sink, pdf, index, sink.text_since(n_before))
    sink.n_chars_unread += (sink.n_chars - n_chars) * (n_pages - len(chosen)) // max(len(chosen), 1)
    read_extras(content, sink, pdf)
    read_revisions(content, sink, n_pieces, password)
    read_unshown(content, sink, n_pieces, n_pages, password)


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
        pages = [found.item for found in pdf_strings(objects, b"") if found.key == "page"]
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


# What a PDF holds beside its page text: form values, XFA, annotations, metadata, attachments.

_MOST_OPTIONS = 5_000
_MOST_ANNOTATIONS = 20_000


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
    page = pdf.get_page(index)
    try:
        lines = set(shown.split("\n"))
        found = [line for line in page_lines(page) if line not in lines]
    finally:
        page.close()
    sink.add("\n".join(found), content.place(f"p{index + 1}/appearances"))


def has_appearance(page: Any) -> bool:
    """Tell a page with an annotation, other than a link, that is drawn by a stream of its own."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    plain = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP)
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            drawn = pdfium.FPDFAnnot_GetAP(annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > 2  # noqa: PLR2004
            if drawn and pdfium.FPDFAnnot_GetSubtype(annotation) not in plain:
                return True
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return False


def field_choices(form: Any, annotation: Any) -> list[str]:
    """Return the choices of a list, and what a field holds before anybody fills it in."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    found = []
    default = _decode_wide(
        lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, b"DV", buffer, size)
    )
    if default:
        found.append(f"default: {default}")
    for number in range(min(max(pdfium.FPDFAnnot_GetOptionCount(form, annotation), 0), _MOST_OPTIONS)):
        label = _decode_wide(
            lambda buffer, size, number=number: pdfium.FPDFAnnot_GetOptionLabel(  # type: ignore[misc]
                form, annotation, number, buffer, size
            )
        )
        if label:
            found.append(label)
    return found


def read_attached_file(content: Content, sink: Sink, annotation: Any, number: int) -> None:
    """Read the file that is attached to a page, as a member."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    attachment = pdfium.FPDFAnnot_GetFileAttachment(annotation)
    if not attachment:
        return
    name = _decode_wide(lambda buffer, size: pdfium.FPDFAttachment_GetName(attachment, buffer, size))
    name = name or f"file{number + 1}"
    with sink.part(content.place(name)):
        sink.take_member()
        size = ctypes.c_ulong()
        pdfium.FPDFAttachment_GetFile(attachment, None, 0, size)
        sink.spend(size.value)
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        pdfium.FPDFAttachment_GetFile(attachment, buffer, size.value, size)
        if data := buffer.raw[: size.value]:
            sink.is_new_file(data)
            sink.read_member(content.member(name, data))


def scripts(pdf: Any) -> list[str]:
    """Return the document's own scripts."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    found = []
    for number in range(min(max(pdfium.FPDFDoc_GetJavaScriptActionCount(pdf), 0), _MOST_OPTIONS)):
        action = pdfium.FPDFDoc_GetJavaScriptAction(pdf, number)
        if not action:
            continue
        try:
            found += [
                _decode_wide(partial(getter, action))
                for getter in (pdfium.FPDFJavaScriptAction_GetName, pdfium.FPDFJavaScriptAction_GetScript)
            ]
        finally:
            pdfium.FPDFDoc_CloseJavaScriptAction(action)
    return [text for text in found if text]


_MAX_ANNOTATIONS = 20_000  # of one page
_MAX_PACKETS = 100  # of an XFA form; there are about ten kinds


def read_page_extras(content: Content, sink: Sink, pdf: Any, page: Any, index: int) -> None:
    """Add the filled form fields and the notes of one page."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    fields: list[str] = []
    notes: list[str] = []
    choices: list[str] = []
    form = pdf.formenv
    count = pdfium.FPDFPage_GetAnnotCount(page)
    if count > _MAX_ANNOTATIONS:
        detail = f"annotations {_MAX_ANNOTATIONS + 1} to {count} are not read"
        sink.fail(content.place(f"p{index + 1}/notes"), FailReason.TOO_LARGE, detail)
    for number in range(min(count, _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            if form and pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_WIDGET:
                value = _wide(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
                choices += field_choices(form, annotation)
                if value and value != "Off":
                    label = _wide(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation) or _wide(
                        pdfium.FPDFAnnot_GetFormFieldName, form, annotation
                    )
                    fields.append(f"{label}: {value}" if label else value)
            else:
                if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                    read_attached_file(content, sink, annotation, number)
                notes += [text for key in (b"T", b"Subj", b"Contents") if (text := _string(annotation, key))]
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    sink.add("\n".join(fields), content.place(f"p{index + 1}/form"))
    sink.add("\n".join(notes), content.place(f"p{index + 1}/notes"))
    sink.add("\n".join(dict.fromkeys(choices)), content.place(f"p{index + 1}/choices"))


def read_extras(content: Content, sink: Sink, pdf: Any) -> None:
    """Add XFA values, the outline, the metadata and every attachment."""
    if pdf.formenv:
        _read_xfa(content, sink, pdf)
    sink.add("\n".join(scripts(pdf)), content.place("scripts"))
    titles = []
    for number, bookmark in enumerate(pdf.get_toc()):
        if number > _MAX_ANNOTATIONS:
            detail = f"entries from {_MAX_ANNOTATIONS + 2} on are not read"
            sink.fail(content.place("outline"), FailReason.TOO_LARGE, detail)
            break
        titles.append(bookmark.get_title())
    sink.add("\n".join(titles), content.place("outline"))
    metadata = pdf.get_metadata_dict(skip_empty=True)
    sink.add("\n".join(f"{key}: {value}" for key, value in metadata.items()), content.place("properties"))
    for number in range(min(pdf.count_attachments(), sink.limits.member_count)):
        _read_attachment(content, sink, pdf, number)


def _read_attachment(content: Content, sink: Sink, pdf: Any, number: int) -> None:
    name = f"attachment{number + 1}"
    with sink.part(content.place(name), RuntimeError, ValueError):
        sink.take_member()
        attachment = pdf.get_attachment(number)
        name = attachment.get_name() or name
        data = bytes(attachment.get_data())
        sink.is_new_file(data)
        sink.read_member(content.member(name, data))


def _read_xfa(content: Content, sink: Sink, pdf: Any) -> None:
    """Add the values of an XFA form; its template holds captions and scripts, no values.

    A form is kept in packets, each with a name, or as one document without one that holds them all.
    """
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    from phiscan.extract.structured.xml_markup import labelled_text, part_of  # noqa: PLC0415 (lxml)

    place = content.place("xfa")
    for number in range(min(max(pdfium.FPDF_GetXFAPacketCount(pdf), 0), _MAX_PACKETS)):
        size = pdfium.FPDF_GetXFAPacketName(pdf, number, None, 0)
        name = ctypes.create_string_buffer(max(size, 1))
        pdfium.FPDF_GetXFAPacketName(pdf, number, name, size)
        if name.value not in (b"datasets", b""):
            continue
        n_bytes = ctypes.c_ulong()
        pdfium.FPDF_GetXFAPacketContent(pdf, number, None, 0, n_bytes)
        try:
            sink.spend(n_bytes.value)
        except ExtractError as error:
            sink.fail(place, FailReason(error.reason), error.detail)
            return
        buffer = ctypes.create_string_buffer(max(n_bytes.value, 1))
        pdfium.FPDF_GetXFAPacketContent(pdf, number, buffer, n_bytes.value, n_bytes)
        packet = buffer.raw[: n_bytes.value]
        sink.add(labelled_text(packet if name.value else part_of(packet, "datasets")), place)


def _wide(function: Any, form: Any, annotation: Any) -> str:
    return _decode_wide(lambda buffer, size: function(form, annotation, buffer, size))


def _string(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    return _decode_wide(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _decode_wide(getter: Callable[[Any, int], int]) -> str:
    """Call one of pdfium's two-step string getters (UTF-16, bytes counted)."""
    size = getter(None, 0)
    if size <= 2:  # noqa: PLR2004 (the terminator alone)
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    getter(buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace").replace("\r", "\n").strip()
