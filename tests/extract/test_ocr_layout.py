"""The words of a scanned page put together: columns, rows, blank lines, lines that go on; light and faxes."""

import os
import re

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from phiscan.config import Limits
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.ocr import recognition as ocr
from phiscan.extract.ocr.images import read_image
from phiscan.extract.ocr.layout import Word, laid_out, words_of
from phiscan.extract.ocr.recognition import even_light
from tests.extract.packages import saved

needs_tesseract = pytest.mark.skipif(
    not ocr.languages() and "CI" not in os.environ, reason="tesseract is not installed"
)
LETTER, LINE = 10, 30  # pixels


def seen(*lines: str, block: int = 1, left: int = 0, top: int = 0) -> list[Word]:
    """Return the words of lines of equally wide letters, each line at its place; an empty one is blank."""
    return [
        Word(
            word[0],
            left + LETTER * word.start(),
            top + LINE * number,
            left + LETTER * word.end(),
            top + LINE * number + 20,
            (block, 1, number),
            90.0,
        )
        for number, line in enumerate(lines)
        for word in re.finditer(r"\S+", line)
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("Name: Okafor, Lena       DOB: 1961-03-12", "MRN:  0048213           Sex: F"),  # columns
        ("Okafor", "Ward 4", "", "Plan"),
        ("flu shot @ Kitsap clinic",),
    ],
)
def test_lines_stay_as_they_are_on_the_page(lines: tuple[str, ...]) -> None:
    assert laid_out(seen(*lines)) == "\n".join(lines)


def test_a_mail_address_is_read_without_spaces() -> None:
    text = laid_out(seen("write to lena.okafor @ mail.example today"))
    assert text == "write to lena.okafor@mail.example today"


def test_cells_seen_column_by_column_are_rows() -> None:
    names = seen("Name", "Okafor", "Tremblay", block=1)
    days = seen("Born", "1961-03-12", "1974-11-30", block=2, left=200)
    numbers = seen("Chart", "40022", "40871", block=3, left=400)
    assert [line.split() for line in laid_out([*names, *days, *numbers]).split("\n")] == [
        ["Name", "Born", "Chart"],
        ["Okafor", "1961-03-12", "40022"],
        ["Tremblay", "1974-11-30", "40871"],
    ]


def test_columns_of_prose_stay_one_after_the_other() -> None:
    one = seen("the wards were all full that", "week and nobody could say why", block=1)
    other = seen("since then the board has met", "twice and asked for new beds", block=2, left=400)
    text = laid_out([*one, *other])
    assert text.index("nobody") < text.index("since")
    assert "\n\nsince" in text


def test_paragraphs_of_the_recogniser_are_no_blank_lines() -> None:
    names = ("Okafor", "Tremblay", "Girard")
    page = [word for at, name in enumerate(names) for word in seen(name, block=at + 1, top=at * LINE)]
    assert laid_out(page) == "Okafor\nTremblay\nGirard"


def test_a_line_that_the_paper_ended_goes_on() -> None:
    page = seen(
        "Thank you for seeing Lena again, whose stay began on the second of",
        "April in the old wing. She lives with her sister Maude, who will be",
        "pleased to hear from you, and came with her. She was well until May",
        "Plan: none",
    )
    first, *others = laid_out(page).split("\n")
    assert first.count("second of April") == first.count("will be pleased") == 1
    assert others == ["Plan: none"]


def test_a_line_that_had_room_for_the_next_word_ends() -> None:
    page = seen(
        "This is a long line of a letter that goes to the very margin here",
        "and so is this, which is nearly as long as the first one was, yes",
        "and this one as well ends where the paper does, near the edge now",
        "but not this one.",
        "Yours truly,",
        "Lena Okafor",
    )
    assert laid_out(page).endswith("\nYours truly,\nLena Okafor")


def test_two_lines_that_fill_the_paper_are_one() -> None:
    first = "Thank you for seeing Lena again, whose stay began on the second of"
    page = seen(first, "April in the old wing.", left=100)
    assert [laid_out(page, width).count("\n") for width in (860, 2000)] == [0, 1]
    assert laid_out(page).count("\n") == 1


LINES_OF_THEIR_OWN = {
    "items of a list": seen(
        "1. Home oxygen from the usual firm, and a walker, before the weekend",
        "2. Bloods on Monday at the laboratory beside the old town hall there",
        "3. See the family doctor within two weeks of the day of going home",
    ),
    "rows between delimiters": seen(
        "dossier;nom;naissance;appareil;serie;implantation;remarque ici bien",
        "D-1144;Lévesque Rolande;1928-03-09;stim;69440718;2021-05-11;96 ans",
        "AD-117;Hébert Marie;1933-01-25;stim;512044;2023-02-02;rappel et vu",
    ),
    "rows of a table": seen(
        "40022   Okafor, Lena Marguerite     1961-03-12   Ward 4 East, bed 11",
        "40871   Tremblay-Girard, Huguette   1974-11-30   Ward 4 East, bed 12",
        "41009   Wachter, Leo                1950-01-27   Ward 4 West, bed 2b",
    ),
}


@pytest.mark.parametrize("name", LINES_OF_THEIR_OWN)
def test_what_is_no_prose_is_not_joined(name: str) -> None:
    assert laid_out(LINES_OF_THEIR_OWN[name]).count("\n") == 2


def test_what_a_bracket_opened_goes_on_with_a_figure() -> None:
    page = seen(
        "The test that was done in the old wing by Maude Okafor (on the Feb",
        "9) showed no change from what was seen there in the autumn by her.",
        "She lives with her sister, who will be pleased to hear from us all",
    )
    assert "(on the Feb 9) showed" in laid_out(page)


PROSE = (
    ("Seen", 0, 40),
    ("with", 46, 84),
    ("her", 90, 120),
    ("sister", 126, 180),
    ("so", 186, 206),
    ("at", 212, 228),
)


def boxes(*words: tuple[str, int, int]) -> list[Word]:
    """Return the words of one line, after those of a sentence, with left and right."""
    return [Word(text, left, 0, right, 20, (1, 1, 1), 90.0) for text, left, right in (*PROSE, *words)]


def test_a_space_beside_a_narrow_one_is_none() -> None:
    assert laid_out(boxes(("2024-1", 234, 284), ("1-18", 288, 316))).endswith(" at 2024-11-18")
    assert laid_out(boxes(("room", 234, 274), ("1", 280, 284))).endswith(" at room 1")


def test_groups_of_a_number_stay_apart() -> None:
    assert laid_out(boxes(("400", 234, 264), ("117", 270, 296))).endswith(" at 400 117")


def test_gaps_of_equally_wide_type_are_a_letter_wide() -> None:
    lines = seen("Seen with her sister Maude today", "about nothing else whatever")
    odd = [
        Word(";1049927", 0, 2 * LINE, 80, 2 * LINE + 20, (1, 1, 3), 90.0),
        Word(";", 84, 2 * LINE, 88, 2 * LINE + 20, (1, 1, 3), 90.0),
        Word("Okafor", 94, 2 * LINE, 150, 2 * LINE + 20, (1, 1, 3), 90.0),
    ]
    assert laid_out([*lines, *odd]).endswith("\n;1049927;Okafor")


def test_nothing_seen_is_no_text() -> None:
    assert laid_out([]) == ""
    assert words_of("level\tpage_num\n") == []


def page_of(lines: list[str], *, ink: int = 0) -> Image.Image:
    page = Image.new("L", (1700, 160 + 60 * len(lines)), 255)
    pen = ImageDraw.Draw(page)
    for number, line in enumerate(lines):
        pen.text((120, 80 + 60 * number), line, fill=ink, font=ImageFont.load_default(size=32))
    return page


LINES = [
    "Arthritis and Lupus Care, Burlington",
    "Thank you for seeing Lena Okafor of Waterdown",
    "Her sister Maude came along and told the story",
    "She has been well since the last visit in May",
    "We shall see her again before the summer",
    "Morning stiffness of an hour and a half",
] * 3


def shaded(page: Image.Image) -> Image.Image:
    grey = np.asarray(page, dtype=np.float32) / 255
    across = np.linspace(235, 150, grey.shape[1])[None, :]
    return Image.fromarray((across * (0.3 + 0.7 * grey)).astype(np.uint8))


def test_paper_in_uneven_light_becomes_white() -> None:
    page = even_light(shaded(page_of(LINES)))
    paper = np.asarray(page)[:40]
    assert paper.min() > 235
    assert np.asarray(page).min() < 100


def test_even_paper_is_left_alone() -> None:
    page = page_of(LINES)
    assert even_light(page) is page
    grey = page.point(lambda level: level * 3 // 4)
    assert even_light(grey) is grey


def test_a_dark_banner_stays_dark() -> None:
    page = page_of(LINES)
    page.paste(10, (0, 0, 1700, 70))
    evened = np.asarray(even_light(shaded(page)))
    assert evened[:40].max() < 128


@needs_tesseract
def test_a_shaded_copy_is_read() -> None:
    rng = np.random.default_rng(7)
    copy = shaded(page_of(LINES, ink=60))
    noisy = np.asarray(copy, dtype=np.float32) + rng.normal(0, 6, copy.size[::-1])
    text = ocr.picture_text(Image.fromarray(noisy.clip(0, 255).astype(np.uint8)), 60)
    assert text.count("Okafor") == 3
    assert text.count("stiffness") == 3


def test_a_fax_is_read_in_square_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen_sizes: list[tuple[tuple[int, int], int]] = []

    def look(image: Image.Image, _seconds: float) -> str:
        seen_sizes.append((image.size, len(image.getcolors() or ())))
        return "words"

    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", look)
    page = page_of(LINES).resize((867, 539)).convert("1")
    read_image(Content(saved(page, "TIFF", compression="group4", dpi=(204, 98)), "fax.tiff"), Sink(Limits()))
    (((width, height), n_levels),) = seen_sizes
    assert (width, height) == (867, round(539 * 204 / 98))
    assert n_levels > 2  # the stairs of its letters are smoothed


@pytest.mark.parametrize(
    ("column", "cell"),
    [(6, "x"), (6, "9999999"), (8, "-9999999"), (2, "1e3"), (10, "nan"), (10, "inf"), (10, "101"), (10, "")],
)
def test_table_with_an_impossible_number_is_refused(column: int, cell: str) -> None:
    row = ["5", "1", "1", "1", "1", "1", "10", "20", "90", "30", "91.5", "Okafor"]
    assert [word.text for word in words_of("head\n" + "\t".join(row))] == ["Okafor"]
    row[column] = cell
    with pytest.raises(ValueError, match=r"number|confidence|int|float"):
        words_of("head\n" + "\t".join(row))
