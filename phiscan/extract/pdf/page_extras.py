"""What a PDF holds beside its page text: form values, XFA, annotations, metadata, attachments."""

from __future__ import annotations

import ctypes
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf_objects.annotations import field_choices, read_attached_file, scripts
from phiscan.model import FailReason

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
    try:
        sink.take_member()
        attachment = pdf.get_attachment(number)
        name = attachment.get_name() or name
        data = bytes(attachment.get_data())
    except ExtractError as error:
        sink.fail(content.place(name), FailReason(error.reason), error.detail)
    except (RuntimeError, ValueError) as error:
        sink.fail(content.place(name), FailReason.CORRUPT, type(error).__name__)
    else:
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
    """Call one of pdfium's two-step string getters (UTF-16, bytes counted)."""
    return _decode_wide(lambda buffer, size: function(form, annotation, buffer, size))


def _string(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    return _decode_wide(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _decode_wide(getter: Any) -> str:
    size = getter(None, 0)
    if size <= 2:  # noqa: PLR2004 (the terminator alone)
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    getter(buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace").replace("\r", "\n").strip()
