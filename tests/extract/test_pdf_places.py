"""Further places in PDF files where text was lost: notes, names, comments, streams, what follows the end."""

# ruff: noqa: E501 (a case is read best on one line)

import base64
import io
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pypdf
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen import canvas

from phiscan.model import Document
from tests.extract.pdf_bytes import Pdf

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
FONT = "/Resources<</Font<</F1 5 0 R>>>>"
XMP = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:description>{P}</dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"


def text_at(x: float, y: float, text: str = P, size: float = 12) -> str:
    return f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n"


def in_the_glyphs(text: str) -> str:
    ends = [stringWidth(text[:number], "Helvetica", 12) for number in range(len(text))]
    return "".join(text_at(72 + at, 700, char) for at, char in zip(ends, text, strict=True))


ANNOTATIONS = {
    "redact_overlay": f"/Subtype/Redact/OverlayText({P})",
    "popup_rc": f"/Subtype/Text/RC(<body><p>{P}</p></body>)",
    "contents_utf8": f"/Subtype/Text/Contents<efbbbf{P.encode().hex()}>",
    "widget_tu": f"/Subtype/Widget/FT/Tx/T(x)/TU({P})",
    "widget_mk": f"/Subtype/Widget/FT/Btn/T(x)/MK<</CA({P})>>",
    "action_js": f"/Subtype/Link/A<</S/JavaScript/JS(app.alert\\('{P}'\\))>>",
    "action_launch": "/Subtype/Link/A<</S/Launch/F(C:/x/Lena Okafor 40718823 congestive heart failure.doc)>>",
    "uri_mailto": "/Subtype/Link/A<</S/URI/URI(mailto:ward@example.org?subject=Lena%20Okafor%2C%2040718823%2C%20congestive%20heart%20failure)>>",
    "uri_percent": f"/Subtype/Link/A<</S/URI/URI(https://x/?q={quote(P)})>>",
    "signature": "/Subtype/Widget/FT/Sig/T(s)/V<</Type/Sig/Name(Lena Okafor)/Reason(40718823)/Location(congestive heart failure)>>",
}
CATALOGS = {
    "field_without_widget": f"/AcroForm<</Fields[<</FT/Tx/T(pt)/V({P})>>]>>",
    "dest_name": "/Names<</Dests<</Names[(Lena Okafor 40718823 congestive heart failure)[3 0 R/Fit]]>>>>",
    "pagelabels": f"/PageLabels<</Nums[0<</P({P})>>]>>",
    "ocg_name": f"/OCProperties<</OCGs[<</Type/OCG/Name({P})>>]/D<<>>>>",
    "struct_alt": f"/StructTreeRoot<</Type/StructTreeRoot/K<</S/Figure/Alt({P})>>>>",
    "struct_title": f"/StructTreeRoot<</Type/StructTreeRoot/K<</S/Figure/T({P})/E(x)>>>>",
    "thread": f"/Threads[<</I<</Title({P})>>>>]",
    "hex_utf16_dict": f"/Vendor<</Note<feff{P.encode('utf-16-be').hex()}>>>",
}
CONTENTS = {
    "outside_page": text_at(72, 5000) + text_at(72, 700, "hi"),
    "white": "1 1 1 rg " + text_at(72, 700),
    "invisible": text_at(72, 700).replace("Tf", "Tf 3 Tr"),
    "covered": text_at(72, 700) + "0 0 0 rg 60 690 500 30 re f",
    "glyph_by_glyph": in_the_glyphs(P),
    "rotated": text_at(0, 0).replace("0 0 Td", "0 1 -1 0 100 72 Tm"),
    "tiny": text_at(72, 700, size=0.3),
}
STREAMS = {
    "unused_form": (text_at(72, 700), f"/Type/XObject/Subtype/Form/BBox[0 0 600 800]{FONT}"),
    "pattern": (
        text_at(5, 5, size=10),
        f"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 600 20]/XStep 600/YStep 20{FONT}",
    ),
    "xmp_page": (XMP, "/Type/Metadata/Subtype/XML"),
    "a85_stream_unused": (
        base64.a85encode(zlib.compress(text_at(72, 600).encode())) + b"~>",
        "/Filter[/ASCII85Decode/FlateDecode]",
    ),
    "hex_stream_unused": (text_at(72, 600).encode().hex() + ">", "/Filter/ASCIIHexDecode"),
    "plain_stream": (P, ""),
}


def with_stream(data: str | bytes, entries: str) -> bytes:
    pdf = Pdf()
    pdf.stream(data, entries)
    return pdf.data()


def with_attachment() -> bytes:
    pdf = Pdf()
    file = pdf.stream("MRN 40718823 congestive heart failure", "/Type/EmbeddedFile")
    named = pdf.add(f"<</Type/Filespec/F(Lena Okafor.txt)/EF<</F {file} 0 R>>>>")
    pdf.set(1, f"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a) {named} 0 R]>>>>>>")
    return pdf.data()


def with_outline() -> bytes:
    pdf = Pdf()
    title = pdf.add(f"<</Title({P})>>")
    outline = pdf.add(f"<</First {title} 0 R/Last {title} 0 R/Count 1>>")
    pdf.set(1, f"<</Type/Catalog/Pages 2 0 R/Outlines {outline} 0 R>>")
    return pdf.data()


def with_information() -> bytes:
    pdf = Pdf()
    return pdf.data(f"/Info {pdf.add(f'<</PatientNote({P})>>')} 0 R")


def annotated(entries: str) -> bytes:
    return Pdf(page=f"/Annots[<</Type/Annot/Rect[0 0 100 20]{entries}>>]").data()


def encrypted(data: bytes) -> bytes:
    writer, stream = pypdf.PdfWriter(clone_from=io.BytesIO(data)), io.BytesIO()
    writer.encrypt("", "owner")
    writer.write(stream)
    return stream.getvalue()


CASES = {
    **{name: annotated(entries) for name, entries in ANNOTATIONS.items()},
    **{name: Pdf(catalog=entries).data() for name, entries in CATALOGS.items()},
    **{name: Pdf(content).data() for name, content in CONTENTS.items()},
    **{name: with_stream(*stream) for name, stream in STREAMS.items()},
    "outline": with_outline(),
    "info_custom": with_information(),
    "attachment_desc": with_attachment(),
    "encrypted_empty_note": encrypted(annotated(f"/Subtype/Text/Contents({P})")),
    "after_eof": Pdf().data() + b"\n" + P.encode() + b"\n",
    "comment": Pdf().data().replace(b"\n1 0 obj", b"\n% " + P.encode() + b"\n1 0 obj", 1),
}


@pytest.mark.parametrize("name", CASES)
def test_text_in_a_further_place_of_a_pdf_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], f"{name}.pdf")
    shown = " ".join(document.text.split())
    for word in WORDS:
        assert word in shown


def test_what_programs_write_into_a_pdf_is_no_text(read: Read) -> None:
    stream = io.BytesIO()
    page = canvas.Canvas(stream)
    page.drawString(72, 700, "Hello there")
    page.save()
    text = read(stream.getvalue(), "a.pdf").text
    assert "ReportLab" not in text.replace("Producer: ReportLab", "").replace("Creator: ReportLab", "")
