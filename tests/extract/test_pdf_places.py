"""Further places in PDF files where text was lost: notes, names, comments, streams, what follows the end."""

# ruff: noqa: E501 (a case is read best on one line)

import base64
import io
import urllib.parse
import zlib
from collections.abc import Callable
from typing import cast

import pypdf
import pytest
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    PdfObject,
    StreamObject,
    TextStringObject,
)
from reportlab.pdfgen import canvas

from phiscan.model import Document

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
Writer = pypdf.PdfWriter
CASES: dict[str, bytes] = {}


def N(name: str) -> NameObject:  # noqa: N802 (a name, as PDF writes it)
    return NameObject(name)


def drawn(draw: Callable[[canvas.Canvas], object]) -> bytes:
    stream = io.BytesIO()
    page = canvas.Canvas(stream)
    draw(page)
    page.save()
    return stream.getvalue()


def pdf(change: Callable[[Writer], object]) -> bytes:
    writer = Writer(clone_from=io.BytesIO(drawn(lambda page: page.drawString(72, 700, "Hello there"))))
    change(writer)
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def annot(writer: Writer, **entries: PdfObject) -> None:
    sides = ArrayObject([FloatObject(side) for side in (0, 0, 100, 20)])
    own = {N(f"/{key}"): value for key, value in entries.items()}
    note = DictionaryObject({N("/Type"): N("/Annot"), N("/Rect"): sides, **own})
    notes = writer.pages[0].get("/Annots")
    found = ArrayObject(list(notes) if notes else [])
    found.append(writer._add_object(note))
    writer.pages[0][N("/Annots")] = found


CASES["redact_overlay.pdf"] = pdf(lambda w: annot(w, Subtype=N("/Redact"), OverlayText=TextStringObject(P)))
CASES["popup_rc.pdf"] = pdf(
    lambda w: annot(w, Subtype=N("/Text"), RC=TextStringObject(f"<body><p>{P}</p></body>"))
)
CASES["contents_utf8.pdf"] = pdf(
    lambda w: annot(w, Subtype=N("/Text"), Contents=ByteStringObject(b"\xef\xbb\xbf" + P.encode()))
)
CASES["widget_tu.pdf"] = pdf(
    lambda w: annot(w, Subtype=N("/Widget"), FT=N("/Tx"), T=TextStringObject("x"), TU=TextStringObject(P))
)
CASES["widget_mk.pdf"] = pdf(
    lambda w: annot(
        w,
        Subtype=N("/Widget"),
        FT=N("/Btn"),
        T=TextStringObject("x"),
        MK=DictionaryObject({N("/CA"): TextStringObject(P)}),
    )
)


def without_widget(w: Writer) -> None:
    f = w._add_object(
        DictionaryObject({N("/FT"): N("/Tx"), N("/T"): TextStringObject("pt"), N("/V"): TextStringObject(P)})
    )
    w._root_object[N("/AcroForm")] = DictionaryObject({N("/Fields"): ArrayObject([f])})


CASES["field_without_widget.pdf"] = pdf(without_widget)
CASES["action_js.pdf"] = pdf(
    lambda w: annot(
        w,
        Subtype=N("/Link"),
        A=DictionaryObject({N("/S"): N("/JavaScript"), N("/JS"): TextStringObject(f"app.alert('{P}')")}),
    )
)
CASES["action_launch.pdf"] = pdf(
    lambda w: annot(
        w,
        Subtype=N("/Link"),
        A=DictionaryObject(
            {
                N("/S"): N("/Launch"),
                N("/F"): TextStringObject("C:/x/Lena Okafor 40718823 congestive heart failure.doc"),
            }
        ),
    )
)
CASES["uri_percent.pdf"] = pdf(
    lambda w: annot(
        w,
        Subtype=N("/Link"),
        A=DictionaryObject(
            {N("/S"): N("/URI"), N("/URI"): TextStringObject("https://x/?q=" + urllib.parse.quote(P))}
        ),
    )
)
CASES["dest_name.pdf"] = pdf(
    lambda w: w.add_named_destination("Lena Okafor 40718823 congestive heart failure", 0)
)
CASES["outline.pdf"] = pdf(lambda w: w.add_outline_item(title=P, page_number=0))
CASES["info_custom.pdf"] = pdf(lambda w: w.add_metadata({"/PatientNote": P}))
CASES["pagelabels.pdf"] = pdf(
    lambda w: w._root_object.__setitem__(
        N("/PageLabels"),
        DictionaryObject(
            {N("/Nums"): ArrayObject([NumberObject(0), DictionaryObject({N("/P"): TextStringObject(P)})])}
        ),
    )
)
CASES["ocg_name.pdf"] = pdf(
    lambda w: w._root_object.__setitem__(
        N("/OCProperties"),
        DictionaryObject(
            {
                N("/OCGs"): ArrayObject(
                    [
                        w._add_object(
                            DictionaryObject({N("/Type"): N("/OCG"), N("/Name"): TextStringObject(P)})
                        )
                    ]
                ),
                N("/D"): DictionaryObject(),
            }
        ),
    )
)
CASES["struct_alt.pdf"] = pdf(
    lambda w: w._root_object.__setitem__(
        N("/StructTreeRoot"),
        w._add_object(
            DictionaryObject(
                {
                    N("/Type"): N("/StructTreeRoot"),
                    N("/K"): w._add_object(
                        DictionaryObject({N("/S"): N("/Figure"), N("/Alt"): TextStringObject(P)})
                    ),
                }
            )
        ),
    )
)
CASES["struct_title.pdf"] = pdf(
    lambda w: w._root_object.__setitem__(
        N("/StructTreeRoot"),
        w._add_object(
            DictionaryObject(
                {
                    N("/Type"): N("/StructTreeRoot"),
                    N("/K"): w._add_object(
                        DictionaryObject(
                            {
                                N("/S"): N("/Figure"),
                                N("/T"): TextStringObject(P),
                                N("/E"): TextStringObject("x"),
                            }
                        )
                    ),
                }
            )
        ),
    )
)


def sig(w: Writer) -> None:
    annot(
        w,
        Subtype=N("/Widget"),
        FT=N("/Sig"),
        T=TextStringObject("s"),
        V=w._add_object(
            DictionaryObject(
                {
                    N("/Type"): N("/Sig"),
                    N("/Name"): TextStringObject("Lena Okafor"),
                    N("/Reason"): TextStringObject("40718823"),
                    N("/Location"): TextStringObject("congestive heart failure"),
                }
            )
        ),
    )


CASES["signature.pdf"] = pdf(sig)
CASES["attachment_desc.pdf"] = pdf(
    lambda w: w.add_attachment("Lena Okafor.txt", b"MRN 40718823 congestive heart failure")
)


def thread(w: Writer) -> None:
    w._root_object[N("/Threads")] = ArrayObject(
        [w._add_object(DictionaryObject({N("/I"): DictionaryObject({N("/Title"): TextStringObject(P)})}))]
    )


CASES["thread.pdf"] = pdf(thread)


def outside(c: canvas.Canvas) -> None:
    c.drawString(72, 5000, P)
    c.drawString(72, 700, "hi")


CASES["outside_page.pdf"] = drawn(outside)


def white(c: canvas.Canvas) -> None:
    c.setFillColorRGB(1, 1, 1)
    c.drawString(72, 700, P)


CASES["white.pdf"] = drawn(white)


def inv(c: canvas.Canvas) -> None:
    t = c.beginText(72, 700)
    t.setTextRenderMode(3)
    t.textLine(P)
    c.drawText(t)


CASES["invisible.pdf"] = drawn(inv)


def covered(c: canvas.Canvas) -> None:
    c.drawString(72, 700, P)
    c.setFillColorRGB(0, 0, 0)
    c.rect(60, 690, 500, 30, fill=1)


CASES["covered.pdf"] = drawn(covered)


def glyphs(c: canvas.Canvas) -> None:
    x = 72
    for char in P:
        c.drawString(x, 700, char)
        x += c.stringWidth(char, "Helvetica", 12)


CASES["glyph_by_glyph.pdf"] = drawn(glyphs)


def rotated(c: canvas.Canvas) -> None:
    c.rotate(90)
    c.drawString(72, -100, P)


CASES["rotated.pdf"] = drawn(rotated)


def tiny(c: canvas.Canvas) -> None:
    c.setFont("Helvetica", 0.3)
    c.drawString(72, 700, P)


CASES["tiny.pdf"] = drawn(tiny)


def form(c: canvas.Canvas) -> None:
    c.beginForm("f")
    c.drawString(72, 700, P)
    c.endForm()
    c.drawString(10, 10, "x")


CASES["unused_form.pdf"] = drawn(form)


def pattern(w: Writer) -> None:
    st = StreamObject()
    st._data = b"BT /F1 10 Tf 5 5 Td (" + P.encode() + b") Tj ET"
    st.update(
        {
            N("/Type"): N("/Pattern"),
            N("/PatternType"): NumberObject(1),
            N("/PaintType"): NumberObject(1),
            N("/TilingType"): NumberObject(1),
            N("/BBox"): ArrayObject([FloatObject(0), FloatObject(0), FloatObject(600), FloatObject(20)]),
            N("/XStep"): FloatObject(600),
            N("/YStep"): FloatObject(20),
            N("/Resources"): DictionaryObject(
                {
                    N("/Font"): DictionaryObject(
                        {
                            N("/F1"): DictionaryObject(
                                {
                                    N("/Type"): N("/Font"),
                                    N("/Subtype"): N("/Type1"),
                                    N("/BaseFont"): N("/Helvetica"),
                                }
                            )
                        }
                    )
                }
            ),
        }
    )
    cast("DictionaryObject", w.pages[0]["/Resources"])[N("/Pattern")] = DictionaryObject(
        {N("/P1"): w._add_object(st)}
    )


CASES["pattern.pdf"] = pdf(pattern)


def xmp_on_image(w: Writer) -> None:
    st = StreamObject()
    st._data = (
        f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:description>{P}</dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"
    ).encode()
    st.update({N("/Type"): N("/Metadata"), N("/Subtype"): N("/XML")})
    w.pages[0][N("/Metadata")] = w._add_object(st)


CASES["xmp_page.pdf"] = pdf(xmp_on_image)


def hexstr(w: Writer) -> None:
    w._root_object[N("/Vendor")] = DictionaryObject(
        {N("/Note"): ByteStringObject(("\ufeff" + P).encode("utf-16-be"))}
    )


CASES["hex_utf16_dict.pdf"] = pdf(hexstr)


def enc(w: Writer) -> None:
    annot(w, Subtype=N("/Text"), Contents=TextStringObject(P))
    w.encrypt("", "owner")


CASES["encrypted_empty_note.pdf"] = pdf(enc)


def a85(w: Writer) -> None:
    w.pages[0].get_contents()
    s2 = StreamObject()
    s2._data = base64.a85encode(zlib.compress(b"BT /F1 12 Tf 72 600 Td (" + P.encode() + b") Tj ET")) + b"~>"
    s2.update({N("/Filter"): ArrayObject([N("/ASCII85Decode"), N("/FlateDecode")])})
    w.pages[0][N("/Vendor")] = w._add_object(s2)


CASES["a85_stream_unused.pdf"] = pdf(a85)


def lzwhex(w: Writer) -> None:
    s2 = StreamObject()
    s2._data = (b"BT /F1 12 Tf 72 600 Td (" + P.encode() + b") Tj ET").hex().encode() + b">"
    s2.update({N("/Filter"): N("/ASCIIHexDecode")})
    w.pages[0][N("/Vendor")] = w._add_object(s2)


CASES["hex_stream_unused.pdf"] = pdf(lzwhex)


def richmedia(w: Writer) -> None:
    s2 = StreamObject()
    s2._data = P.encode()
    w.pages[0][N("/Vendor")] = w._add_object(s2)


CASES["plain_stream.pdf"] = pdf(richmedia)
CASES["after_eof.pdf"] = pdf(lambda _: None) + b"\n" + P.encode() + b"\n"
CASES["comment.pdf"] = pdf(lambda _: None).replace(b"\n1 0 obj", b"\n% " + P.encode() + b"\n1 0 obj", 1)


@pytest.mark.parametrize("name", CASES)
def test_text_in_a_further_place_of_a_pdf_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    shown = " ".join(document.text.split())
    for word in WORDS:
        assert word in shown


def test_what_programs_write_into_a_pdf_is_no_text(read: Read) -> None:
    text = read(pdf(lambda _: None), "a.pdf").text
    assert "ReportLab" not in text.replace("Producer: ReportLab", "").replace("Creator: ReportLab", "")
