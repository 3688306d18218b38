"""Annotations of a PDF page: their appearances, attached files, choices and defaults of fields."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf.words import page_lines
from phiscan.model import FailReason

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
    default = _wide(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, b"DV", buffer, size))
    if default:
        found.append(f"default: {default}")
    for number in range(min(max(pdfium.FPDFAnnot_GetOptionCount(form, annotation), 0), _MOST_OPTIONS)):
        label = _wide(
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
    name = _wide(lambda buffer, size: pdfium.FPDFAttachment_GetName(attachment, buffer, size))
    name = name or f"file{number + 1}"
    try:
        sink.take_member()
        size = ctypes.c_ulong()
        pdfium.FPDFAttachment_GetFile(attachment, None, 0, size)
        sink.spend(size.value)
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        pdfium.FPDFAttachment_GetFile(attachment, buffer, size.value, size)
    except ExtractError as error:
        sink.fail(content.place(name), FailReason(error.reason), error.detail)
        return
    if size.value:
        data = buffer.raw[: size.value]
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
                _wide(partial(getter, action))
                for getter in (pdfium.FPDFJavaScriptAction_GetName, pdfium.FPDFJavaScriptAction_GetScript)
            ]
        finally:
            pdfium.FPDFDoc_CloseJavaScriptAction(action)
    return [text for text in found if text]


def _wide(getter: Callable[[Any, int], int]) -> str:
    """Call one of pdfium's two-step string getters (UTF-16, bytes counted)."""
    size = getter(None, 0)
    if size <= 2:  # noqa: PLR2004 (the terminator alone)
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    getter(buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace").replace("\r", "\n").strip()
