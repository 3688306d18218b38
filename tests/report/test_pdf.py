import io
from collections.abc import Callable

import pypdfium2
import pytest

from phiscan.model import FailReason, Referral
from phiscan.report.gather import gather
from phiscan.report.rendering.html import render
from phiscan.report.rendering.pdf import render_pdf
from tests.report.synthetic import CANARY, NOW, Made, decide_referred, failed, screened, share

Fill = Callable[..., Made]


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return " ".join(page.get_textpage().get_text_range() for page in document).replace("\r\n", " ")


def page_of(made: Made) -> str:
    return render(gather(made.database, now=NOW).data)


def test_says_what_the_page_says(filled: Fill) -> None:
    made = filled(share(400))
    decide_referred(made)
    data = gather(made.database, now=NOW).data
    text = text_of(render_pdf(render(data)))
    assert f"{data.overall.tdp.value:.1%}" in text
    assert f"{data.overall.final_frp.high:.1%}" in text
    for sentence in data.limits:
        assert sentence.split(". ")[0][:60] in text.replace("- ", "")
    assert all(headline.name.split()[0] in text for headline in data.headlines)


def test_holds_every_file_that_the_page_lists(filled: Fill) -> None:
    made = filled([failed(f"x{number}.pdf", FailReason.CORRUPT, number) for number in range(30)])
    text = text_of(render_pdf(page_of(made)))
    assert all(f"x{number}.pdf" in text for number in range(30))


@pytest.mark.parametrize("results", [[], [screened("a.txt", Referral.CLEAR)], [failed("a.txt")]])
def test_renders_what_there_is(filled: Fill, results: list[object]) -> None:
    assert render_pdf(page_of(filled(results))).startswith(b"%PDF-")


def test_is_the_same_for_the_same_page(filled: Fill) -> None:
    page = page_of(filled(share(50)))
    assert render_pdf(page) == render_pdf(page)


def test_spells_out_what_the_font_cannot_draw(filled: Fill) -> None:
    made = filled(
        [screened("患者.txt", Referral.REFERRED), screened("<b>&.txt", Referral.REFERRED, number=2)]
    )
    text = text_of(render_pdf(page_of(made)))
    assert "<U+60A3><U+8005>.txt" in text.replace(" ", "")
    assert "<b>&.txt" in text


def test_holds_no_free_text_of_a_reviewer(filled: Fill) -> None:
    made = filled(share(100))
    decide_referred(made)
    text = text_of(render_pdf(page_of(made)))
    assert not any(word in text for word in CANARY.split())


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
