"""The check before the recogniser: what holds no text is not read, and no word is lost by it."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from phiscan.extract.ocr import recognition
from phiscan.extract.ocr.recognition import may_hold_text


def _word(size: int, *, ink: int = 0, paper: int = 255, turns: int = 0) -> Image.Image:
    image = Image.new("L", (1200, 900), paper)
    ImageDraw.Draw(image).text((213, 307), "Lena", fill=ink, font=ImageFont.load_default(size))
    return image.rotate(90 * turns, expand=True)


@pytest.mark.parametrize("size", [9, 16, 48, 300])
@pytest.mark.parametrize("turns", [0, 1])
def test_one_word_alone_on_a_page_is_seen(size: int, turns: int) -> None:
    assert may_hold_text(_word(size, turns=turns))
    assert may_hold_text(_word(size, ink=255, paper=30, turns=turns))


@pytest.mark.parametrize("size", [12, 24, 120])
def test_faint_word_is_seen(size: int) -> None:
    assert may_hold_text(_word(size, ink=190, paper=225))


def _frame() -> Image.Image:
    image = Image.new("L", (1200, 900), 255)
    ImageDraw.Draw(image).line((0, 300, 1200, 300), fill=0, width=3)
    return image


BLANK = {
    "blank page": Image.new("L", (1700, 2200), 250),
    "gradient": Image.linear_gradient("L").resize((900, 700)),
    "spot of light": Image.radial_gradient("L").resize((900, 700)),
    "rule": _frame(),
}


@pytest.mark.parametrize("name", BLANK)
def test_picture_without_letters_is_not_given_to_the_recogniser(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not may_hold_text(BLANK[name])

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(recognition, "_recognise", refuse)
    assert recognition.picture_text(BLANK[name], 10) == ""


def test_small_picture_is_left_to_the_recogniser() -> None:
    assert may_hold_text(Image.new("L", (60, 200), 255))


def test_turned_readings_end_when_one_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = [
        recognition._Reading("noise", 12, 1),
        recognition._Reading("right", 12, 12),
        recognition._Reading("never", 99, 99),
    ]
    monkeypatch.setattr(recognition, "_recognise", lambda *_, **__: readings.pop(0))
    assert recognition.picture_text(_word(300), 10) == "right"
    assert len(readings) == 1


def test_turned_readings_end_where_two_turns_show_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = recognition._Reading("", 0, 0)
    readings = [nothing, nothing, recognition._Reading("never", 9, 9)]
    monkeypatch.setattr(recognition, "_recognise", lambda *_, **__: readings.pop(0))
    assert recognition.picture_text(_word(300), 10) == ""
    assert len(readings) == 1


def test_words_seen_in_one_turn_are_looked_for_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = recognition._Reading("", 0, 0)
    readings = [nothing, recognition._Reading("noise", 8, 0), nothing, recognition._Reading("right", 8, 8)]
    monkeypatch.setattr(recognition, "_recognise", lambda *_, **__: readings.pop(0))
    assert recognition.picture_text(_word(300), 10) == "right"
