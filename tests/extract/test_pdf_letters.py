"""PDF letters whose codes have no meaning, or that are drawn without a size."""

# ruff: noqa: E501 (a case is read best on one line)

import os
from collections.abc import Callable

import numpy as np
import pytest

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
    modules = (
        np.asarray(
            zxingcpp.write_barcode_to_image(
                zxingcpp.create_barcode(text, getattr(zxingcpp.BarcodeFormat, kind)), scale=1
            )
        )
        < 128
    )
    if kind == "Code128":
        modules = modules[modules.shape[0] // 2 : modules.shape[0] // 2 + 1]
        squares = [f"{50 + 2 * x} 500 2 60 re" for x in np.flatnonzero(modules[0])]
    else:
        squares = [f"{100 + 4 * x} {500 - 4 * y} 4 4 re" for y, x in zip(*np.nonzero(modules), strict=True)]
    document = read_bytes(
        Pdf(PARKING + (" ".join(squares) + " f" if as_one else " f ".join([*squares, ""]))).data(), "a.pdf"
    )
    assert text in document.text
