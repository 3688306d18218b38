"""PDF letters whose codes have no meaning, or that are drawn without a size or in another order."""

# ruff: noqa: E501 (a case is read best on one line)

import os
from collections.abc import Callable

import numpy as np
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from phiscan.extract.ocr import recognition as ocr
from phiscan.extract.pdf.words import has_numbers_of_glyphs, odd_runs
from phiscan.model import Document
from tests.extract.pdf_bytes import PARKING, PATIENT, WORDS, Pdf

Read = Callable[..., Document]
needs_tesseract = pytest.mark.skipif(
    not ocr.languages() and "CI" not in os.environ, reason="tesseract is not installed"
)


def by_number(text: str, *, beside: str = "") -> bytes:
    pdf = Pdf(f"{beside}BT /F9 10 Tf 72 600 Td <{''.join(f'{ord(char) - 29:04X}' for char in text)}> Tj ET")
    inner = pdf.add(
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Arial/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 600/FontDescriptor<</Type/FontDescriptor/FontName/Arial/Flags 4/FontBBox[0 0 600 800]/ItalicAngle 0/Ascent 800/Descent 0/CapHeight 700/StemV 80>>>>"
    )
    outer = pdf.add(
        f"<</Type/Font/Subtype/Type0/BaseFont/Arial/Encoding/Identity-H/DescendantFonts[{inner} 0 R]>>"
    )
    pdf.set_page(fonts=f"/F9 {outer} 0 R")
    return pdf.data()


def sized(before: str) -> bytes:
    pdf = Pdf()
    font, codes = pdf.own_font()
    pdf.stream(f"{PARKING}q {before} <{codes}> Tj ET Q", number=4)
    pdf.set_page(fonts=f"/F9 {font} 0 R")
    return pdf.data()


CASES = {
    "numbers of glyphs": by_number(PATIENT),
    "numbers of glyphs beside a text": by_number(PATIENT, beside=PARKING),
    "font of no size": sized("BT /F9 0 Tf 72 600 Td"),
    "letters of no width": sized("BT /F9 12 Tf 0 Tz 72 600 Td"),
    "matrix of nothing": sized("0 0 0 0 0 0 cm BT /F9 1 Tf 72 600 Td"),
    "matrix of hardly anything": sized("0.0001 0 0 0.0001 0 0 cm BT /F9 1 Tf 72 600 Td"),
}


def placed() -> list[tuple[str, float]]:
    """Return each character of the patient with its distance from the first."""
    at, found = 0.0, []
    for char in PATIENT:
        found.append((char, at))
        at += stringWidth(char, "Helvetica", 10)
    return found


def single(matrix: str) -> str:
    return "".join(f"{matrix.format(x=72 + at)} Tm ({char}) Tj " for char, at in reversed(placed()))


def kerned() -> str:
    widths = [stringWidth(char, "Helvetica", 1000) for char in reversed(PATIENT)]
    back = [one + two for one, two in zip(widths, [*widths[1:], 0.0], strict=True)]
    return (
        "540 700 Td ["
        + "".join(f"({char}) {step:.0f} " for char, step in zip(reversed(PATIENT), back, strict=True))
        + "] TJ"
    )


def twice(right: float, up: float) -> str:
    """Draw each character, and its shadow."""
    return "".join(
        f"1 0 0 1 {72 + at:.2f} 700 Tm ({char}) Tj "
        f"1 0 0 1 {72 + at + right:.2f} {700 + up:.2f} Tm ({char}) Tj "
        for char, at in placed()
    )


ORDERS = {
    "shadows near by": twice(1, -1),
    "shadows below": twice(2, -2),
    "shadows at the side": twice(3, 0),
    "each glyph by itself, the last first": single("1 0 0 1 {x:.2f} 700"),
    "each glyph by itself along a turned line": single("0 1 -1 0 100 {x:.2f}"),
    "steps back between the glyphs": kerned(),
    "mirrored glyphs": f"-1 0 0 1 540 700 Tm ({PATIENT}) Tj",
    "mirrored glyphs from their end": f"-1 0 0 1 540 700 Tm ({PATIENT[::-1]}) Tj",
    "one glyph below the other": "".join(
        f"1 0 0 1 72 {780 - 9 * number} Tm ({char}) Tj " for number, char in enumerate(PATIENT)
    ),
}
CASES |= {name: Pdf(f"{PARKING}BT /F1 10 Tf {drawn} ET").data() for name, drawn in ORDERS.items()}


@pytest.mark.parametrize("name", CASES)
def test_letters_are_read(read_bytes: Read, name: str) -> None:
    text = " ".join(read_bytes(CASES[name], "a.pdf").text.split())
    for word in WORDS:
        assert word in text


def private(text: str) -> bytes:
    codes = "\n".join(f"<{ord(char):02X}> <{0xE000 + ord(char):04X}>" for char in sorted(set(text)))
    lines = "".join(
        f"1 0 0 1 72 {720 - 14 * number} Tm (This letter is about parking, line {number}.) Tj\n"
        for number in range(20)
    )
    pdf = Pdf(f"BT /F1 12 Tf {lines} /F9 12 Tf 1 0 0 1 72 200 Tm ({text}) Tj ET")
    table = pdf.stream(
        f"begincmap 1 begincodespacerange <00><FF> endcodespacerange {len(set(text))} beginbfchar\n{codes}\nendbfchar endcmap"
    )
    font = pdf.add(
        f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode {table} 0 R>>"
    )
    pdf.set_page(fonts=f"/F9 {font} 0 R")
    return pdf.data()


@needs_tesseract
def test_a_line_of_private_codes_on_a_good_page_is_read_as_a_picture(read_bytes: Read) -> None:
    document = read_bytes(private("Patient Lena Okafor"), "a.pdf")
    assert document.locate(document.text.index("Okafor")) == "#p1/letters1"


@needs_tesseract
def test_letters_that_nothing_explains_are_listed(read_bytes: Read) -> None:
    pdf = Pdf()
    unknown = pdf.add(
        f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[1{''.join(f'/g{number}' for number in range(1, 30))}]>>>>"
    )
    pdf.set_page(fonts=f"/F9 {unknown} 0 R")
    pdf.stream(
        f"{PARKING}BT /F9 12 Tf 72 600 Td <{''.join(f'{number:02X}' for number in range(1, 30)) * 3}> Tj ET",
        number=4,
    )
    assert "does not say what they are" in " ".join(
        part.detail for part in read_bytes(pdf.data(), "a.pdf").unread
    )


def test_bullets_and_names_in_capitals_are_no_garbage() -> None:
    assert not odd_runs("\uf0b7 one\n\uf0b7 two\n\uf0b7 three\n")
    assert not has_numbers_of_glyphs(
        "INTERNATIONALIZATION\nhttps://x.example/ABC-DEFGHI\n1234-5678-9012-3456\n" * 50
    )


@pytest.mark.parametrize(
    ("kind", "text", "as_one"),
    [("QRCode", PATIENT, False), ("QRCode", PATIENT, True), ("Code128", "OKAFOR 40718823", False)],
)
def test_a_code_that_is_drawn_beside_a_text_is_decoded(
    read_bytes: Read, kind: str, text: str, as_one: bool
) -> None:
    zxingcpp = pytest.importorskip("zxingcpp")
    made = zxingcpp.create_barcode(text, getattr(zxingcpp.BarcodeFormat, kind))
    modules = np.asarray(made.to_image(scale=1)) < 128
    if kind == "Code128":
        modules = modules[modules.shape[0] // 2 : modules.shape[0] // 2 + 1]
        squares = [f"{50 + 2 * x} 500 2 60 re" for x in np.flatnonzero(modules[0])]
    else:
        squares = [f"{100 + 4 * x} {500 - 4 * y} 4 4 re" for y, x in zip(*np.nonzero(modules), strict=True)]
    drawn = " ".join(squares) + " f" if as_one else " f ".join([*squares, ""])
    assert text in read_bytes(Pdf(PARKING + drawn).data(), "a.pdf").text


def boxed(text: str) -> str:
    return "".join(f"1 0 0 1 {72 + 18 * number} 700 Tm ({char}) Tj " for number, char in enumerate(text))


@pytest.mark.parametrize(
    ("drawn", "read_as"),
    [
        (boxed("40718823"), "40718823"),
        (boxed("OKAFOR"), "OKAFOR"),
        (boxed("0123456789"), "0 1 2 3 4 5 6 7 8 9"),  # a scale
        (boxed("0010110010"), "0 0 1 0 1 1 0 0 1 0"),
    ],
)
def test_signs_in_boxes_are_a_word(read_bytes: Read, drawn: str, read_as: str) -> None:
    assert read_bytes(Pdf(f"BT /F1 10 Tf {drawn} ET").data(), "a.pdf").text.split("\n")[0] == read_as


def test_a_page_in_reading_order_is_left_as_it_is(read_bytes: Read) -> None:
    lines = "".join(
        f"1 0 0 1 72 {700 - 14 * number} Tm (Line {number} of a letter) Tj " for number in range(20)
    )
    text = read_bytes(Pdf(f"BT /F1 10 Tf {lines} ET").data(), "a.pdf").text
    assert text == "".join(f"Line {number} of a letter\n" for number in range(20))
