"""A PDF of very many pages: the first ones and a spread of the others."""

import pytest
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen import canvas

from phiscan.config import Limits
from phiscan.extract import extract_bytes
from phiscan.extract.pdf import reader as pdf


def test_pages_that_do_not_fit_are_spread_and_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("pdf") / "a.pdf"
    made = canvas.Canvas(str(path), pagesize=letter)
    for number in range(1, 61):
        made.drawString(40, 700, f"This is page number {number} of the report")
        made.showPage()
    made.save()
    monkeypatch.setattr(pdf, "MOST_PAGES", 20)
    monkeypatch.setattr(pdf, "_FIRST_PAGES", 10)
    document = extract_bytes(path.read_bytes(), "a.pdf", Limits())
    pages = [
        int(part.locator.removeprefix("#p")) for part in document.segments if part.locator[2:].isdecimal()
    ]
    assert pages == [*range(1, 11), *range(11, 61, 5)]
    assert [part.detail for part in document.unread] == ["not read: 40 of 60 pages, spread after page 10"]
    assert document.n_chars_unread > 1_000
