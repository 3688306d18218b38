"""Small samples of each format, made on the fly, and whether they can be read on this machine."""

from __future__ import annotations

import io
import struct
import zlib

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.core.reading import extract_bytes

_WORD = "phiscan"
_TIMEOUT_S = 20


def _text_of(data: bytes, name: str) -> str:
    try:
        return extract_bytes(data, name, Limits(ocr_s=_TIMEOUT_S)).text
    except ExtractError:
        return ""


def reads_pdf() -> bool:
    """Write and open a PDF."""
    import pypdfium2  # noqa: PLC0415 (heavy)

    document = pypdfium2.PdfDocument.new()
    document.new_page(200, 200)
    stream = io.BytesIO()
    document.save(stream)
    with pypdfium2.PdfDocument(stream.getvalue()) as again:
        return len(again) == 1


def reads_workbook() -> bool:
    """Write a spreadsheet by hand and read it."""
    import zipfile  # noqa: PLC0415

    stream = io.BytesIO()
    namespace = "urn:oasis:names:tc:opendocument:xmlns:"
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr(
            "content.xml",
            f'<o:document-content xmlns:o="{namespace}office:1.0" xmlns:t="{namespace}table:1.0" '
            f'xmlns:x="{namespace}text:1.0"><o:body><o:spreadsheet><t:table t:name="A"><t:table-row>'
            f'<t:table-cell o:value-type="string"><x:p>{_WORD}</x:p></t:table-cell></t:table-row></t:table>'
            "</o:spreadsheet></o:body></o:document-content>",
        )
    return _WORD in _text_of(stream.getvalue(), "sample.ods")


def reads_xml() -> bool:
    """Read XML."""
    return _WORD in _text_of(f"<a><b>{_WORD}</b></a>".encode(), "sample.xml")


def reads_word() -> bool:
    """Write a document with python-docx, which is not our reader, and read it with ours."""
    import docx  # noqa: PLC0415 (heavy)

    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = _WORD
    stream = io.BytesIO()
    document.save(stream)
    return _WORD in _text_of(stream.getvalue(), "sample.docx")


def reads_html() -> bool:
    """Read a web page."""
    return _WORD in _text_of(f"<html><p>{_WORD}</p></html>".encode(), "sample.html")


def reads_picture() -> bool:
    """Draw words and read them by OCR."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 (heavy)

    image = Image.new("L", (700, 200), 255)
    ImageDraw.Draw(image).text((40, 60), f"{_WORD} reads this", fill=0, font=ImageFont.load_default(size=48))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return "reads" in _text_of(stream.getvalue(), "sample.png")


def reads_code() -> bool:
    """Draw a QR code and decode it."""
    import numpy as np  # noqa: PLC0415 (heavy)
    import zxingcpp  # noqa: PLC0415 (heavy)
    from PIL import Image  # noqa: PLC0415 (heavy)

    code = zxingcpp.write_barcode_to_image(
        zxingcpp.create_barcode(_WORD, zxingcpp.BarcodeFormat.QRCode), scale=4
    )
    stream = io.BytesIO()
    Image.fromarray(np.asarray(code)).save(stream, "PNG")
    return _WORD in _text_of(stream.getvalue(), "sample.png")


def reads_seven_zip() -> bool:
    """Write and read a 7z archive."""
    import py7zr  # noqa: PLC0415 (heavy)

    stream = io.BytesIO()
    with py7zr.SevenZipFile(stream, "w") as archive:
        archive.writestr(_WORD.encode(), "a.txt")
    return _WORD in _text_of(stream.getvalue(), "sample.7z")


def reads_disc_image() -> bool:
    """Write and read a disc image."""
    import pycdlib  # noqa: PLC0415 (heavy)

    image = pycdlib.PyCdlib()
    image.new()
    image.add_fp(io.BytesIO(_WORD.encode()), len(_WORD), "/A.TXT;1")
    stream = io.BytesIO()
    image.write_fp(stream)
    image.close()
    return _WORD in _text_of(stream.getvalue(), "sample.iso")


def reads_dicom() -> bool:
    """Read a header of one field."""
    name = struct.pack("<HH2sH", 0x0010, 0x0010, b"PN", len(_WORD) + 1) + _WORD.encode() + b" "
    syntax = b"1.2.840.10008.1.2.1\0"
    meta = struct.pack("<HH2sH", 0x0002, 0x0010, b"UI", len(syntax)) + syntax
    length = struct.pack("<HH2sHI", 0x0002, 0x0000, b"UL", 4, len(meta))
    return _WORD in _text_of(bytes(128) + b"DICM" + length + meta + name, "sample.dcm")


def reads_encrypted_word() -> bool:
    """Encrypt a document and open it."""
    import docx  # noqa: PLC0415 (heavy)
    from msoffcrypto.format.ooxml import OOXMLFile  # noqa: PLC0415 (heavy)

    document = docx.Document()
    document.add_paragraph(_WORD)
    plain, out = io.BytesIO(), io.BytesIO()
    document.save(plain)
    OOXMLFile(plain).encrypt("VelvetSweatshop", out)
    return _WORD in _text_of(out.getvalue(), "sample.docx")


def reads_rar() -> bool:
    """Read a RAR 4 archive whose one member is stored as it is."""

    def block(kind: int, flags: int, body: bytes) -> bytes:
        head = struct.pack("<BHH", kind, flags, 7 + len(body)) + body
        return struct.pack("<H", zlib.crc32(head) & 0xFFFF) + head

    data, name = _WORD.encode(), b"a.txt"
    fields = (len(data), len(data), 3, zlib.crc32(data), 0, 20, 0x30, len(name), 0o100644)
    member = block(0x74, 0x8000, struct.pack("<IIBIIBBHI", *fields) + name) + data
    archive = b"Rar!\x1a\x07\x00" + block(0x73, 0, bytes(6)) + member + block(0x7B, 0x4000, b"")
    return _WORD in _text_of(archive, "sample.rar")


def reads_columns() -> bool:
    """Read a small Arrow file: one column, one row."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    table = pa.table({"text": [_WORD]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return _WORD in _text_of(sink.getvalue().to_pybytes(), "sample.arrow")


def reads_statistics() -> bool:
    """Read a small SAS transport file: one variable of eight letters, one row."""

    def card(text: str) -> bytes:
        return text.encode("ascii").ljust(80)

    when = "01JAN26:00:00:00"
    head = "HEADER RECORD*******{0:8}HEADER RECORD!!!!!!!{1:30}  "
    first = card(f"{'SAS':8}{'SAS':8}{'SASLIB':8}{'9.4':8}{'Linux':8}{'':24}{when}") + card(when)
    member = card(f"{'SAS':8}{'SAMPLE':8}{'SASDATA':8}{'9.4':8}{'Linux':8}{'':24}{when}") + card(when)
    variable = struct.pack(
        ">4h8s40s8s3h2s8s2hi52x",
        2,
        0,
        8,
        1,
        b"TEXT    ",
        b" " * 40,
        b" " * 8,
        *(0,) * 3,
        b"\0\0",
        b" " * 8,
        0,
        0,
        0,
    )
    data = card(head.format("LIBRARY", "0" * 30)) + first
    data += card(head.format("MEMBER", "0" * 17 + "1600000000140")) + card(head.format("DSCRPTR", "0" * 30))
    data += member + card(head.format("NAMESTR", "000000000100000000000000000000")) + variable.ljust(160)
    data += card(head.format("OBS", "0" * 30)) + _WORD[:8].encode().ljust(8).ljust(80)
    return _WORD[:8] in _text_of(data, "sample.xpt")


def reads_by_catdoc() -> bool:
    """Let catdoc read a small RTF: a DOC cannot be made on the fly."""
    from phiscan.extract.office.legacy import external_text  # noqa: PLC0415 (rarely needed)

    return _WORD in external_text("catdoc", rb"{\rtf1\ansi " + _WORD.encode() + b"}")
