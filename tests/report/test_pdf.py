import io
import re

import pypdf
import pypdfium2
import pytest
from lxml import etree

from phiscan.model import FailReason, Referral
from phiscan.report.gather import ReportData, gather
from phiscan.report.rendering.html import render
from phiscan.report.rendering.pdf import _drawn_width, _register_fonts, _widths, render_pdf
from tests.report.synthetic import NOW, Fill, Made, failed, screened


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return " ".join(page.get_textpage().get_text_range() for page in document).replace("\r\n", " ")


def page_of(made: Made) -> str:
    return render(gather(made.database, now=NOW).data)


@pytest.fixture(scope="module")
def page(data: ReportData) -> str:
    return render(data)


@pytest.fixture(scope="module")
def pdf(page: str) -> bytes:
    return render_pdf(page)


def test_says_what_the_page_says(data: ReportData, pdf: bytes) -> None:
    text = text_of(pdf)
    assert f"{data.overall.tdp.value:.1%}" in text
    assert f"{data.overall.final_frp.high:.1%}" in text
    for sentence in data.limits:
        assert sentence.split(". ")[0][:60] in text.replace("- ", "")
    assert all(headline.name.split()[0] in text for headline in data.headlines)


def test_neither_page_nor_pdf_shows_an_escaped_character(page: str, pdf: bytes) -> None:
    shown = etree.HTML(page).xpath("string()") + text_of(pdf)
    assert "'s" in shown
    assert re.findall(r".{0,30}&(?:#\w+|lt|gt|quot|amp|apos|nbsp);", shown) == []


def test_the_answers_fill_one_sheet_and_the_rest_begins_on_the_next(pdf: bytes) -> None:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    first, second = (document[place].get_textpage().get_text_range() for place in (0, 1))
    assert "How many incidents are open?" in first
    assert "could not be read" in first
    assert "What was found" not in first
    assert "\nWhat was found\r" in second[:120]
    assert document.get_metadata_value("CreationDate") == "D:20261120120000+00'00'"


@pytest.mark.parametrize("results", [[], [screened("a.txt", Referral.CLEAR)], [failed("a.txt")]])
def test_renders_what_there_is(filled: Fill, results: list[object]) -> None:
    assert render_pdf(page_of(filled(results))).startswith(b"%PDF-")


def test_is_the_same_for_the_same_page(page: str, pdf: bytes) -> None:
    assert render_pdf(page) == pdf


def test_spells_out_what_the_font_cannot_draw(filled: Fill) -> None:
    made = filled(
        [screened("患者.txt", Referral.REFERRED), screened("<b>&.txt", Referral.REFERRED, number=2)]
    )
    text = text_of(render_pdf(page_of(made)))
    assert "<U+60A3><U+8005>.txt" in text.replace(" ", "")
    assert "<b>&.txt" in text


@pytest.mark.parametrize("name", ["w" * 255, "WWWW mmmm " * 25, "患" * 85, "m" * 60 + " " + "i" * 190])
def test_shortens_a_path_that_would_fill_more_than_a_page(filled: Fill, name: str) -> None:
    path = "/".join([name] * 17) + "/last.txt"
    made = filled(
        [screened(path, Referral.REFERRED), failed(f"{path}.pdf", number=2)],
        roots=(b"/srv/" + path.encode(),),
    )
    page = page_of(made)
    text = text_of(render_pdf(page)).replace(" ", "").replace("\ufffe", "")
    assert path in page
    assert "[\N{HORIZONTAL ELLIPSIS}]" in text
    assert "last.txt" in text


def elements(pdf: bytes) -> list[pypdf.generic.DictionaryObject]:
    """Return the elements of the tag tree, in reading order."""
    catalog = pypdf.PdfReader(io.BytesIO(pdf)).trailer["/Root"]
    assert catalog["/MarkInfo"]["/Marked"]
    assert catalog["/Lang"] == "en"
    stack, found = [catalog["/StructTreeRoot"]["/K"][0].get_object()], []
    while stack:
        element = stack.pop()
        found.append(element)
        inside = [one.get_object() for one in element.get("/K", [])]
        stack += [one for one in reversed(inside) if "/S" in one]
    return found


def test_is_tagged_with_headings_tables_and_what_pictures_show(page: str, pdf: bytes) -> None:
    found = elements(pdf)
    roles = [one["/S"] for one in found]
    assert roles[:1] == ["/Document"]
    assert roles.count("/H1") == 1
    assert roles.count("/Table") == page.count("<table")
    # The contents at the side of the page are links, and are no part of the paper.
    assert 0 < roles.count("/LI") == roles.count("/LBody") < page.count("<li")
    assert all(one["/Alt"] and one["/K"] for one in found if one["/S"] == "/Figure")
    assert "/Figure" in roles
    scopes = {one["/A"]["/Scope"] for one in found if one["/S"] == "/TH"}
    assert scopes == {"/Column", "/Row"}
    for one in found:
        if one["/S"] == "/TR":
            assert {cell.get_object()["/S"] for cell in one["/K"]} <= {"/TH", "/TD"}


def test_no_text_is_outside_of_the_tags_and_each_mark_has_its_element(pdf: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf))
    tree = reader.trailer["/Root"]["/StructTreeRoot"]
    by_page = tree["/ParentTree"]["/Nums"]
    for number, sheet in enumerate(reader.pages):
        assert sheet["/StructParents"] == by_page[2 * number] == number
        depth, marks = 0, 0
        for operands, operator in sheet.get_contents().operations:
            if operator in {b"BDC", b"BMC"}:
                depth += 1
                marks += operator == b"BDC"
            elif operator == b"EMC":
                depth -= 1
            elif operator in {b"Tj", b"TJ"}:
                assert depth == 1, operands
        assert depth == 0
        assert marks == len(by_page[2 * number + 1])


def test_a_table_of_many_pages_holds_every_file_and_its_head_is_read_once(filled: Fill) -> None:
    long = "long name " * 30  # of fewer lines the table ends on its first page
    made = filled([failed(f"{long}x{number}.pdf", FailReason.CORRUPT, number) for number in range(30)])
    pdf = render_pdf(page_of(made))
    text = text_of(pdf)
    assert all(f"x{number}.pdf" in text for number in range(30))
    heads = [one for one in elements(pdf) if one["/S"] == "/TH" and one["/A"]["/Scope"] == "/Column"]
    assert heads
    assert all(len(one["/K"]) == 1 for one in heads)


def test_columns_get_room_by_what_they_hold_and_never_less_than_a_word() -> None:
    rows = "".join(
        f"<tr><td>{number}</td><td>short</td><td>{'many words of text ' * 20}</td></tr>"
        for number in range(5)
    )
    lines = [list(row) for row in etree.fromstring(f"<table>{rows}</table>")]
    _register_fonts()
    widths = _widths(lines, 400)
    assert sum(widths) <= 401
    assert widths[2] > 300
    assert widths[1] >= _drawn_width("short")
