"""Text in streams and objects of a PDF that no page shows: fonts of their own, filters, files, encryption."""

# ruff: noqa: E501 (a case is read best on one line)

import io
import zlib
from collections.abc import Callable

import pikepdf
import pypdf
import pytest

from phiscan.extract.pdf.objects import open_objects, unpacked
from phiscan.model import Document
from tests.extract.pdf_bytes import PARKING, PATIENT, WORDS, Pdf

Read = Callable[..., Document]
SHOWN = f"BT /F1 12 Tf 72 700 Td ({PATIENT}) Tj ET".encode()
CASES: dict[str, bytes] = {}
FORM = "/Filter/FlateDecode/Type/XObject/Subtype/Form/BBox[0 0 612 792]"


def form(entries: str = FORM, *, drawn: str = "BT /F9 12 Tf 72 700 Td <@> Tj ET") -> tuple[Pdf, int]:
    pdf = Pdf()
    font, codes = pdf.own_font()
    content = zlib.compress(drawn.replace("@", codes).encode())
    return pdf, pdf.stream(content, f"{entries}/Resources<</Font<</F9 {font} 0 R>>>>")


CASES["form that is not drawn"] = form()[0].data()


def annotated(entries: str) -> bytes:
    pdf, stream = form()
    empty = pdf.stream("", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]")
    entries = entries.replace("@", f"{stream} 0 R").replace("%", f"{empty} 0 R")
    pdf.set_page(f"/Annots[<</Type/Annot/Rect[50 600 550 640] {entries}>>]")
    return pdf.data()


CASES |= {
    "hidden annotation": annotated("/Subtype/Stamp/F 2/AP<</N @>>"),
    "state that is off": annotated("/Subtype/Stamp/AS/Off/AP<</N<</Off %/Yes @>>>>"),
    "appearance under the pointer": annotated("/Subtype/Stamp/AP<</N %/R @>>"),
    "popup": annotated("/Subtype/Popup/AP<</N @>>"),
    "link": annotated("/Subtype/Link/AP<</N @>>"),
}


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


def packed(data: bytes, entries: str) -> bytes:
    pdf = Pdf()
    pdf.stream(data, entries)
    return pdf.data()


def lzw(data: bytes) -> bytes:
    codes = [code for at in range(0, len(data), 200) for code in (256, *data[at : at + 200])] + [257]
    bits = "".join(f"{code:09b}" for code in codes)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


CASES |= {
    "pattern": pattern(),
    "page outside of the tree": page_outside_of_the_tree().data(),
    "procedure of a glyph": glyph_procedure(),
    "lzw": packed(lzw(SHOWN), "/Filter/LZWDecode"),
    "run length": packed(
        b"".join(
            bytes([len(SHOWN[at : at + 100]) - 1]) + SHOWN[at : at + 100] for at in range(0, len(SHOWN), 100)
        )
        + b"\x80",
        "/Filter/RunLengthDecode",
    ),
    "deflate twice": packed(zlib.compress(zlib.compress(SHOWN)), "/Filter[/FlateDecode/FlateDecode]"),
    "predictor": packed(
        zlib.compress(b"".join(b"\0" + SHOWN.ljust(160)[at : at + 20] for at in range(0, 160, 20))),
        "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 20>>",
    ),
    "embedded file that nothing names": packed(
        zlib.compress(PATIENT.encode()), "/Type/EmbeddedFile/Filter/FlateDecode"
    ),
    "document in a stream": packed(zlib.compress(page_outside_of_the_tree().data()), "/Filter/FlateDecode"),
    "xml of a program": packed(
        zlib.compress(f"<?xml version='1.0'?><data><note>{PATIENT}</note></data>".encode()),
        "/Filter/FlateDecode",
    ),
    "rich text of a field": packed(
        f"<body xmlns='http://www.w3.org/1999/xhtml'><p>{PATIENT}</p></body>".encode(), ""
    ),
    "array of words": Pdf(catalog=f"/Vendor[{' '.join(f'({word})' for word in PATIENT.split())}]").data(),
    "digits over lines": Pdf(
        catalog="/Vendor<</Note<"
        + "\n".join(("FEFF" + PATIENT.encode("utf-16-be").hex())[at : at + 63] for at in range(0, 700, 63))
        + ">>>"
    ).data(),
    "query of an address": Pdf(
        page="/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(https://x.example/p?name=Lena+Okafor&mrn=40718823&dx=congestive+heart+failure)>>>>]"
    ).data(),
}


def encrypted(algorithm: str, name: str, value: pypdf.generic.PdfObject) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(Pdf().data()))
    writer._root_object[pypdf.generic.NameObject(name)] = writer._add_object(value)
    writer.encrypt("", "owner", algorithm=algorithm)
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


STRING = pypdf.generic.DictionaryObject(
    {pypdf.generic.NameObject("/Alt"): pypdf.generic.TextStringObject(PATIENT)}
)
for algorithm in ("RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"):
    CASES[f"string under {algorithm}"] = encrypted(algorithm, "/StructTreeRoot", STRING)
XMP = pypdf.generic.DecodedStreamObject()
XMP.set_data(f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><description>{PATIENT}</description></x:xmpmeta>".encode())
CASES["stream under AES-256"] = encrypted("AES-256", "/Metadata", XMP)


@pytest.mark.parametrize("name", CASES)
def test_text_that_no_page_shows_is_read(read_bytes: Read, name: str) -> None:
    document = read_bytes(CASES[name], "a.pdf")
    shown = " ".join(document.text.split())
    for word in WORDS:
        assert word in shown
    assert not document.unread


def test_sound_models_and_annotations_beyond_the_limit_are_listed(
    read_bytes: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.extract.pdf.extras._MAX_ANNOTATIONS", 2)
    pdf = Pdf(page="/Annots[" + "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(ok)>>" * 3 + "]")
    pdf.stream(bytes(range(256)), "/Type/Sound/R 8000")
    details = [part.detail for part in read_bytes(pdf.data(), "a.pdf").unread]
    assert details == ["annotations 3 to 3 are not read", "Sound objects (1) are not read"]


def test_an_attachment_is_read_once(read_bytes: Read) -> None:
    pdf = Pdf()
    file = pdf.stream(PATIENT, "/Type/EmbeddedFile")
    named = pdf.add(f"<</Type/Filespec/F(a.txt)/UF(a.txt)/EF<</F {file} 0 R>>>>")
    pdf.set(1, f"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a) {named} 0 R]>>>>>>")
    assert read_bytes(pdf.data(), "a.pdf").text.count("40718823") == 1


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
    joined = "".join(bits)
    return int(joined.ljust(-(-len(joined) // 8) * 8, "0"), 2).to_bytes(-(-len(joined) // 8), "big")


@pytest.mark.parametrize(
    ("make", "entries"),
    [
        (lambda: zlib.compress(bytes(70_000_000), 9), "/Filter/FlateDecode"),
        (lambda: zlib.compress(zlib.compress(bytes(70_000_000))), "/Filter[/FlateDecode/FlateDecode]"),
        (lambda: growing_lzw(100), "/Filter/LZWDecode"),
        (lambda: zlib.compress(growing_lzw(60)), "/Filter[/FlateDecode/LZWDecode]"),
        (lambda: b"zzzz", "/Filter/ASCII85Decode"),
        (
            lambda: zlib.compress(b"\2" * 1000)[:40],
            "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 99999>>",
        ),
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
