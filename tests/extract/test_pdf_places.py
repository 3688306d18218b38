"""Places in PDF files where text was lost: notes, names, streams, fonts of their own, what follows the end."""

# ruff: noqa: E501 (a case is read best on one line)

import base64
import io
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pikepdf
import pypdf
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen import canvas

from phiscan.extract.pdf.objects import open_objects, unpacked
from phiscan.model import Document
from tests.extract.packages import saved
from tests.extract.pdf_bytes import PARKING, PATIENT, WORDS, Pdf

Read = Callable[..., Document]
XMP = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:description>{PATIENT}</dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"


def text_at(x: float, y: float, text: str = PATIENT, size: float = 12) -> str:
    return f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n"


def in_the_glyphs(text: str) -> str:
    ends = [stringWidth(text[:number], "Helvetica", 12) for number in range(len(text))]
    return "".join(text_at(72 + at, 700, char) for at, char in zip(ends, text, strict=True))


def packed(data: str | bytes, entries: str = "") -> bytes:
    pdf = Pdf()
    pdf.stream(data, entries)
    return pdf.data()


def bytes_of(bits: str) -> bytes:
    n_bytes = -(-len(bits) // 8)
    return int(bits.ljust(8 * n_bytes, "0"), 2).to_bytes(n_bytes, "big")


def lzw(data: bytes) -> bytes:
    codes = [code for at in range(0, len(data), 200) for code in (256, *data[at : at + 200])] + [257]
    return bytes_of("".join(f"{code:09b}" for code in codes))


def run_lengths(data: bytes) -> bytes:
    rows = [data[at : at + 100] for at in range(0, len(data), 100)]
    return b"".join(bytes([len(row) - 1]) + row for row in rows) + b"\x80"


SHOWN = text_at(72, 700).encode()
PREDICTED = "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns "
ANNOTATIONS = {
    "redact_overlay": f"/Subtype/Redact/OverlayText({PATIENT})",
    "popup_rc": f"/Subtype/Text/RC(<body><p>{PATIENT}</p></body>)",
    "contents_utf8": f"/Subtype/Text/Contents<efbbbf{PATIENT.encode().hex()}>",
    "widget_tu": f"/Subtype/Widget/FT/Tx/T(x)/TU({PATIENT})",
    "widget_mk": f"/Subtype/Widget/FT/Btn/T(x)/MK<</CA({PATIENT})>>",
    "action_js": f"/Subtype/Link/A<</S/JavaScript/JS(app.alert\\('{PATIENT}'\\))>>",
    "action_launch": "/Subtype/Link/A<</S/Launch/F(C:/x/Lena Okafor 40718823 congestive heart failure.doc)>>",
    "uri_mailto": "/Subtype/Link/A<</S/URI/URI(mailto:ward@example.org?subject=Lena%20Okafor%2C%2040718823%2C%20congestive%20heart%20failure)>>",
    "uri_percent": f"/Subtype/Link/A<</S/URI/URI(https://x/?q={quote(PATIENT)})>>",
    "choices": "/Subtype/Widget/FT/Ch/T(who)/Opt[(Lena Okafor)(40718823)]/V(Lena Okafor)/DV(congestive heart failure)",
    "query of an address": "/Subtype/Link/A<</S/URI/URI(https://x.example/p?name=Lena+Okafor&mrn=40718823&dx=congestive+heart+failure)>>",
    "signature": "/Subtype/Widget/FT/Sig/T(s)/V<</Type/Sig/Name(Lena Okafor)/Reason(40718823)/Location(congestive heart failure)>>",
}
CATALOGS = {
    "field_without_widget": f"/AcroForm<</Fields[<</FT/Tx/T(pt)/V({PATIENT})>>]>>",
    "dest_name": "/Names<</Dests<</Names[(Lena Okafor 40718823 congestive heart failure)[3 0 R/Fit]]>>>>",
    "pagelabels": f"/PageLabels<</Nums[0<</P({PATIENT})>>]>>",
    "ocg_name": f"/OCProperties<</OCGs[<</Type/OCG/Name({PATIENT})>>]/D<<>>>>",
    "struct_alt": f"/StructTreeRoot<</Type/StructTreeRoot/K<</S/Figure/Alt({PATIENT})>>>>",
    "struct_title": f"/StructTreeRoot<</Type/StructTreeRoot/K<</S/Figure/T({PATIENT})/E(x)>>>>",
    "thread": f"/Threads[<</I<</Title({PATIENT})>>>>]",
    "open_action": f"/OpenAction<</S/JavaScript/JS(app.alert\\('{PATIENT}'\\))>>",
    "array of words": f"/Vendor[{' '.join(f'({word})' for word in PATIENT.split())}]",
    "digits over lines": "/Vendor<</Note<"
    + "\n".join(("FEFF" + PATIENT.encode("utf-16-be").hex())[at : at + 63] for at in range(0, 700, 63))
    + ">>>",
    "hex_utf16_dict": f"/Vendor<</Note<feff{PATIENT.encode('utf-16-be').hex()}>>>",
}
CONTENTS = {
    "outside_page": text_at(72, 5000) + text_at(72, 700, "hi"),
    "white": "1 1 1 rg " + text_at(72, 700),
    "invisible": text_at(72, 700).replace("Tf", "Tf 3 Tr"),
    "covered": text_at(72, 700) + "0 0 0 rg 60 690 500 30 re f",
    "glyph_by_glyph": in_the_glyphs(PATIENT),
    "rotated": text_at(0, 0).replace("0 0 Td", "0 1 -1 0 100 72 Tm"),
    "tiny": text_at(72, 700, size=0.3),
}
STREAMS = {
    "unused_form": (
        text_at(72, 700),
        "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F1 5 0 R>>>>",
    ),
    "pattern": (
        text_at(5, 5, size=10),
        "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 600 20]/XStep 600/YStep 20/Resources<</Font<</F1 5 0 R>>>>",
    ),
    "xmp_page": (XMP, "/Type/Metadata/Subtype/XML"),
    "a85_stream_unused": (
        base64.a85encode(zlib.compress(text_at(72, 600).encode())) + b"~>",
        "/Filter[/ASCII85Decode/FlateDecode]",
    ),
    "hex_stream_unused": (text_at(72, 600).encode().hex() + ">", "/Filter/ASCIIHexDecode"),
    "pieces": (
        "BT /F1 11 Tf 50 700 Td (Lena ) Tj [(Oka) -20 (for)] TJ T* (40718823, congestive heart failure) Tj ET",
        "",
    ),
    "plain_stream": (PATIENT, ""),
    "lzw": (lzw(SHOWN), "/Filter/LZWDecode"),
    "run length": (run_lengths(SHOWN), "/Filter/RunLengthDecode"),
    "deflate twice": (zlib.compress(zlib.compress(SHOWN)), "/Filter[/FlateDecode/FlateDecode]"),
    "predictor": (
        zlib.compress(b"".join(b"\0" + SHOWN.ljust(160)[at : at + 20] for at in range(0, 160, 20))),
        f"{PREDICTED}20>>",
    ),
    "embedded file that nothing names": (PATIENT, "/Type/EmbeddedFile"),
    "xml of a program": (f"<?xml version='1.0'?><data><note>{PATIENT}</note></data>", ""),
    "rich text of a field": (f"<body xmlns='http://www.w3.org/1999/xhtml'><p>{PATIENT}</p></body>", ""),
}


def with_file(data: str, name: str) -> tuple[Pdf, int]:
    """Return a file with an embedded one, and the number of its description."""
    pdf = Pdf()
    file = pdf.stream(data, "/Type/EmbeddedFile")
    return pdf, pdf.add(f"<</Type/Filespec/F({name})/UF({name})/EF<</F {file} 0 R>>>>")


def attached(data: str, name: str) -> bytes:
    pdf, named = with_file(data, name)
    pdf.set(1, f"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a) {named} 0 R]>>>>>>")
    return pdf.data()


def with_outline() -> bytes:
    pdf = Pdf()
    title = pdf.add(f"<</Title({PATIENT})>>")
    outline = pdf.add(f"<</First {title} 0 R/Last {title} 0 R/Count 1>>")
    pdf.set(1, f"<</Type/Catalog/Pages 2 0 R/Outlines {outline} 0 R>>")
    return pdf.data()


def with_information() -> bytes:
    pdf = Pdf()
    return pdf.data(f"/Info {pdf.add(f'<</PatientNote({PATIENT})>>')} 0 R")


def annotated(entries: str) -> bytes:
    return Pdf(page=f"/Annots[<</Type/Annot/Rect[0 0 100 20]{entries}>>]").data()


FORM = "/Filter/FlateDecode/Type/XObject/Subtype/Form/BBox[0 0 612 792]"


def form(entries: str = FORM, *, drawn: str = "BT /F9 12 Tf 72 700 Td <@> Tj ET") -> tuple[Pdf, int]:
    pdf = Pdf()
    font, codes = pdf.own_font()
    content = zlib.compress(drawn.replace("@", codes).encode())
    return pdf, pdf.stream(content, f"{entries}/Resources<</Font<</F9 {font} 0 R>>>>")


def stamped(entries: str) -> bytes:
    pdf, stream = form()
    empty = pdf.stream("", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]")
    entries = entries.replace("@", f"{stream} 0 R").replace("%", f"{empty} 0 R")
    pdf.set_page(f"/Annots[<</Type/Annot/Rect[50 600 550 640] {entries}>>]")
    return pdf.data()


def pattern() -> bytes:
    entries = "/Filter/FlateDecode/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9"
    pdf, stream = form(entries)
    pdf.set_page(resources=f"/Pattern<</P1 {stream} 0 R>>")
    return pdf.data()


def page_outside_of_the_tree(number: str = "") -> Pdf:
    pdf = Pdf()
    font, codes = pdf.own_font()
    content = pdf.stream(f"BT /F9 12 Tf 72 700 Td <{codes}> Tj ET")
    pdf.add(
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {content} 0 R/Resources<</Font<</F9 {font} 0 R>>>>{number}>>"
    )
    return pdf


def glyph_procedure() -> bytes:
    pdf = Pdf()
    font, codes = pdf.own_font()
    drawn = pdf.stream(
        zlib.compress(f"600 0 d0 BT /F9 12 Tf <{codes}> Tj ET".encode()), "/Filter/FlateDecode"
    )
    large = pdf.add(
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 600 800]/FontMatrix[0.001 0 0 0.001 0 0]/FirstChar 97/LastChar 97/Widths[600]"
        f"/Encoding<</Differences[97/a]>>/CharProcs<</a {drawn} 0 R>>/Resources<</Font<</F9 {font} 0 R>>>>>>"
    )
    pdf.stream(f"{PARKING}BT /T3 900 Tf 72 700 Td (a) Tj ET", number=4)
    pdf.set_page(fonts=f"/T3 {large} 0 R")
    return pdf.data()


def encrypted(data: bytes, algorithm: str, **entries: pypdf.generic.PdfObject) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    for name, value in entries.items():
        writer._root_object[pypdf.generic.NameObject(f"/{name}")] = writer._add_object(value)
    writer.encrypt("", "owner", algorithm=algorithm)
    return saved(writer)


STRING = pypdf.generic.DictionaryObject(
    {pypdf.generic.NameObject("/Alt"): pypdf.generic.TextStringObject(PATIENT)}
)
METADATA = pypdf.generic.DecodedStreamObject()
METADATA.set_data(XMP.encode())
CASES = {
    **{name: annotated(entries) for name, entries in ANNOTATIONS.items()},
    **{name: Pdf(catalog=entries).data() for name, entries in CATALOGS.items()},
    **{name: Pdf(content).data() for name, content in CONTENTS.items()},
    **{name: packed(*stream) for name, stream in STREAMS.items()},
    **{
        f"string under {algorithm}": encrypted(Pdf().data(), algorithm, StructTreeRoot=STRING)
        for algorithm in ("RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256")
    },
    "stream under AES-256": encrypted(Pdf().data(), "AES-256", Metadata=METADATA),
    "note under RC4": encrypted(annotated(f"/Subtype/Text/Contents({PATIENT})"), "RC4-128"),
    "outline": with_outline(),
    "info_custom": with_information(),
    "attachment_desc": attached("MRN 40718823 congestive heart failure", "Lena Okafor.txt"),
    "form that is not drawn": form()[0].data(),
    "hidden annotation": stamped("/Subtype/Stamp/F 2/AP<</N @>>"),
    "state that is off": stamped("/Subtype/Stamp/AS/Off/AP<</N<</Off %/Yes @>>>>"),
    "appearance under the pointer": stamped("/Subtype/Stamp/AP<</N %/R @>>"),
    "popup": stamped("/Subtype/Popup/AP<</N @>>"),
    "link": stamped("/Subtype/Link/AP<</N @>>"),
    "pattern of a page": pattern(),
    "page outside of the tree": page_outside_of_the_tree().data(),
    "document in a stream": packed(zlib.compress(page_outside_of_the_tree().data()), "/Filter/FlateDecode"),
    "procedure of a glyph": glyph_procedure(),
    "after_eof": Pdf().data() + b"\n" + PATIENT.encode() + b"\n",
    "comment": Pdf().data().replace(b"\n1 0 obj", b"\n% " + PATIENT.encode() + b"\n1 0 obj", 1),
    "before the header": (f"For the ward: {PATIENT}\n" * 400).encode() + Pdf().data(),
}


@pytest.mark.parametrize("name", CASES)
def test_text_in_a_further_place_of_a_pdf_is_read(read_bytes: Read, name: str) -> None:
    document = read_bytes(CASES[name], "a.pdf")
    shown = " ".join(document.text.split())
    for word in WORDS:
        assert word in shown
    assert "Parking is free" in shown or name in CONTENTS
    assert not document.unread


def test_choices_and_the_default_of_a_field_are_at_their_place(read_bytes: Read) -> None:
    document = read_bytes(CASES["choices"], "a.pdf")
    assert document.locate(document.text.index("default: congestive heart failure")) == "#p1/choices"


def test_a_file_on_a_page_is_a_member(read_bytes: Read) -> None:
    pdf, named = with_file(PATIENT, "visit.txt")
    pdf.set_page(f"/Annots[<</Type/Annot/Subtype/FileAttachment/Rect[50 600 70 620]/FS {named} 0 R>>]")
    document = read_bytes(pdf.data(), "a.pdf")
    assert document.locate(document.text.index("40718823")) == "visit.txt"


def test_sound_models_and_annotations_beyond_the_limit_are_listed(
    read_bytes: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.extract.pdf.extras._MAX_ANNOTATIONS", 2)
    pdf = Pdf(page="/Annots[" + "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(ok)>>" * 3 + "]")
    pdf.stream(bytes(range(256)), "/Type/Sound/R 8000")
    details = [part.detail for part in read_bytes(pdf.data(), "a.pdf").unread]
    assert details == ["annotations 3 to 3 are not read", "Sound objects (1) are not read"]


def test_an_attachment_is_read_once(read_bytes: Read) -> None:
    assert read_bytes(attached(PATIENT, "a.txt"), "a.pdf").text.count("40718823") == 1


@pytest.mark.parametrize("mark", [b"xref\n0", b"endstream"])
def test_the_pages_of_a_file_that_is_cut_are_read(read_bytes: Read, mark: bytes) -> None:
    whole = Pdf(SHOWN)
    whole.objects = {number: whole.objects[number] for number in (1, 2, 3, 5)}
    whole.stream(SHOWN, number=9)
    whole.objects[3] = whole.objects[3].replace(b"4 0 R", b"9 0 R")
    data = whole.data()
    document = read_bytes(data[: data.index(mark)], "a.pdf")
    assert "Lena Okafor" in document.text
    assert [part.detail for part in document.unread] == ["cut short or damaged: the pages in it are read"]


def growing_lzw(n_rounds: int) -> bytes:
    """Return codes each of which stands for one byte more than the one before, up to 3,800."""
    bits: list[str] = []
    for _ in range(n_rounds):
        bits.append(f"{256:09b}{0:09b}")
        bits += (f"{code:0{max(9, (code + 2).bit_length())}b}" for code in range(258, 4094))
    return bytes_of("".join(bits))


@pytest.mark.parametrize(
    ("make", "entries"),
    [
        (lambda: zlib.compress(bytes(70_000_000), 9), "/Filter/FlateDecode"),
        (lambda: zlib.compress(zlib.compress(bytes(70_000_000))), "/Filter[/FlateDecode/FlateDecode]"),
        (lambda: growing_lzw(100), "/Filter/LZWDecode"),
        (lambda: zlib.compress(growing_lzw(60)), "/Filter[/FlateDecode/LZWDecode]"),
        (lambda: b"zzzz", "/Filter/ASCII85Decode"),
        (lambda: zlib.compress(b"\2" * 1000)[:40], f"{PREDICTED}99999>>"),
    ],
)
def test_hostile_streams_are_bounded(read_bytes: Read, make: Callable[[], bytes], entries: str) -> None:
    data = make()
    opened = open_objects(packed(data, entries), ())
    assert opened is not None
    with opened as pdf:
        sizes = [len(unpacked(item)) for item in pdf.objects if isinstance(item, pikepdf.Stream)]
    assert max(sizes) <= 64 * 1024**2
    assert "Parking" in read_bytes(packed(data, entries), "a.pdf").text


@pytest.mark.parametrize("drawn", ["(text)", "null", "<</a null/b 7/c 999 0 R>>"])
def test_a_malformed_font_loses_nothing_else(read_bytes: Read, drawn: str) -> None:
    pdf = Pdf()
    pdf.add(f"<</Type/Font/Subtype/Type3/CharProcs {drawn}/Resources<<>>>>")
    pdf.stream(b"600 0 d0 BT (a) Tj ET")
    pdf.stream(SHOWN)
    assert "Okafor" in read_bytes(pdf.data(), "a.pdf").text


def test_what_programs_write_into_a_pdf_is_no_text(read_bytes: Read) -> None:
    page = canvas.Canvas("")
    page.drawString(72, 700, "Hello there")
    text = read_bytes(page.getpdfdata(), "a.pdf").text
    assert "ReportLab" not in text.replace("Producer: ReportLab", "").replace("Creator: ReportLab", "")
