"""PDF lines whose glyphs are drawn in another order than they are read."""

from collections.abc import Callable

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from phiscan.model import Document
from tests.extract.pdf_bytes import PARKING, PATIENT, WORDS, Pdf

Read = Callable[..., Document]


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


CASES = {
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


@pytest.mark.parametrize("name", CASES)
def test_a_line_in_another_order_is_read(read_bytes: Read, name: str) -> None:
    text = read_bytes(Pdf(f"{PARKING}BT /F1 10 Tf {CASES[name]} ET").data(), "a.pdf").text
    for word in WORDS:
        assert word in text


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
