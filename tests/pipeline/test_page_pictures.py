"""Pictures of a reveal: the page as it was read, a box over each word that was found, and nothing kept."""

import io
import re
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from phiscan.config import Config, Limits
from phiscan.extract import extract_bytes
from phiscan.extract.ocr import recognition
from phiscan.extract.ocr.layout import SeenPicture, Word, current_log, logged_pictures, word_spans
from phiscan.model import Document, EntityType, Segment
from phiscan.pipeline.rereading.reveal import MAX_SHOWN, PagePicture, WordBox, _placed, read_shown
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.store import Store
from phiscan.web.app import create_app
from phiscan.web.routes.reveal import picture_views
from tests.pipeline.harness import ToolHere, source_of
from tests.web.conftest import PASSWORD, Browser

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
LINES = (
    "Lakeside Cardiology Clinic",
    "Patient: Torvald Karrowick",
    "Date of birth: 1961-03-07   Health card: 1234 567 897",
    "He has type 2 diabetes and hypertension, takes metformin,",
    "and had chest pain on exertion since January.",
)
needs_tesseract = pytest.mark.skipif(not recognition.languages(), reason="tesseract is not installed")


def page_of(lines: tuple[str, ...] = LINES) -> Image.Image:
    page = Image.new("L", (1240, 1000), 255)
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(30)
    for number, line in enumerate(lines):
        draw.text((90, 90 + 60 * number), line, fill=0, font=font)
    return page


def png_of(page: Image.Image) -> bytes:
    stream = io.BytesIO()
    page.save(stream, "PNG")
    return stream.getvalue()


def test_a_word_that_is_changed_in_the_text_has_no_place() -> None:
    words = [Word(text, 0, 0, 1, 1, (1, 1, 1), 90.0) for text in ("Ann", "mailto", "x", "@", "y.org")]
    assert word_spans("Ann x@y.org", words) == [(0, 3), None, (4, 5), (5, 6), (6, 11)]


@needs_tesseract
def test_each_word_is_boxed_where_it_is_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "scan.png").write_bytes(png_of(page_of()))
    shown = read_shown(source_of(tmp_path, "scan.png"), Limits(), (), 0)
    (picture,) = shown.pictures
    text = shown.document.text
    assert Image.open(io.BytesIO(picture.jpeg)).width == min(1200, picture.width)
    first = next(word for word in picture.words if text[word.start : word.end] == "Torvald")
    scale = picture.width / 1240
    assert abs(first.top / scale - 155) < 15
    assert 190 * scale < first.left < first.right < 400 * scale
    assert text[picture.start : picture.end].startswith("Lakeside")
    assert read_shown(source_of(tmp_path, "scan.png"), Limits(), (), len(text)).pictures == ()
    assert "Torvald" not in repr(shown.pictures)


@needs_tesseract
def test_a_scan_keeps_no_pictures() -> None:
    data = png_of(page_of())
    assert current_log() is None
    alone = extract_bytes(data, "scan.png", Limits())
    with logged_pictures() as log:
        logged = extract_bytes(data, "scan.png", Limits())
    assert len(log.pictures) == 1
    assert current_log() is None
    assert logged == alone


@pytest.mark.slow
@needs_tesseract
def test_a_few_pictures_of_many_are_shown_from_the_place_that_is_asked_for(tmp_path: Path) -> None:
    pages = [page_of((f"Page number {number}", *LINES)) for number in range(MAX_SHOWN + 2)]
    pages[0].save(tmp_path / "fax.tif", save_all=True, append_images=pages[1:])
    whole = read_shown(source_of(tmp_path, "fax.tif"), Limits(ocr_s=120), (), 0)
    assert (len(whole.pictures), whole.n_pictures) == (MAX_SHOWN, MAX_SHOWN + 2)
    rest = read_shown(source_of(tmp_path, "fax.tif"), Limits(ocr_s=120), (), whole.pictures[-1].end + 1)
    assert [one.locator for one in rest.pictures] == ["#p9", "#p10"]


def test_a_picture_whose_text_was_cut_is_left_out_and_the_next_one_is_found() -> None:
    text = "Ann Roy\nasthma\nwhole"
    document = Document(
        text, (Segment("#p1", 0, 7), Segment("#p2", 8, 14), Segment("#p3", 15, 20)), "application/pdf"
    )
    seen = [
        SeenPicture(place, words, b"jpeg", 10, 10, ())
        for place, words in (("#p1", "Ann Roy"), ("#p2", "asthma and more"), ("#p4", ""), ("#p3", "whole"))
    ]
    found = [(one.locator, one.start, one.end) for one in _placed(document, seen)]
    assert found == [("#p1", 0, 7), ("#p4", 7, 7), ("#p3", 15, 20)]


def test_a_finding_over_two_lines_has_two_boxes() -> None:
    words = (
        WordBox(10, 14, 500, 40, 560, 60),
        WordBox(15, 20, 30, 80, 90, 100),
        WordBox(21, 25, 95, 82, 140, 101),
    )
    picture = PagePicture("#p2", 0, 30, 600, 800, b"jpeg", words)
    (view,) = picture_views([picture], [(10, 20, EntityType.PERSON.value), (40, 50, EntityType.DATE.value)])
    assert view.where == "page 2"
    assert [(one.position, one.type, one.x, one.y) for one in view.boxes] == [
        (0, EntityType.PERSON, 496, 36),
        (0, EntityType.PERSON, 26, 76),
    ]


@pytest.mark.slow
@needs_tesseract
def test_a_scanned_page_is_revealed_as_an_image_and_kept_nowhere(tool_here: ToolHere, tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    (share / "scan.png").write_bytes(png_of(page_of()))
    (share / "letter.txt").write_text("\n".join(LINES))
    assert tool_here.run("init").returncode == 0
    done = tool_here.run("scan", share, "--exit-zero")
    assert done.returncode == 0, done.stderr
    with Store.open(f"sqlite:///{tool_here.database}") as store:
        store.users.add(name="lea", role=Role.LEAD, password=PASSWORD, by="test", now=NOW)
        visit = Browser(create_app(store, Config(home=tool_here.home))).sign_in("lea")
        form = {"purpose": PURPOSES[0]}
        number = store.find("scan.png")
        masked = visit.get(f"/items/{number}?prose=1")
        assert "data:image" not in masked.text
        assert "data:" not in masked.headers["content-security-policy"]
        page = visit.post(f"/items/{number}/reveal", data=form)
        assert page.headers["cache-control"] == "no-store"
        assert "img-src 'self' data:;" in page.headers["content-security-policy"]
        found = re.search(r'src="data:image/jpeg;base64,([^"]+)"', page.text)
        assert found
        image = b64decode(found[1])
        assert Image.open(io.BytesIO(image)).format == "JPEG"
        assert re.search(
            r'<a href="#f\d+" tabindex="-1" data-position="\d+"><title>name</title><rect', page.text
        )
        assert [one.reason for one in store.desk.history(number, viewer="lea")] == [PURPOSES[0]]
        plain = visit.post(f"/items/{store.find('letter.txt')}/reveal", data=form)
        assert "img-src 'self';" in plain.headers["content-security-policy"]
        assert "data:image" not in plain.text
        kept = [path for path in (*tool_here.temp.rglob("*"), *tool_here.home.rglob("*")) if path.is_file()]
        assert not [path for path in kept if image[:200] in path.read_bytes()]
        visit.__exit__()
        Browser.opened.remove(visit)
