"""What stands at the ends of a name and is none of it."""

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Span
from phiscan.screen.ner.name_boundaries import NameEnds, parted
from phiscan.screen.ner.spans import Tagged


def _trimmed(text: str) -> str | None:
    """Return what is left of the name in angle brackets."""
    start, end = text.index("<"), text.index(">") - 1
    plain = text.replace("<", "").replace(">", "")
    span = NameEnds(load_gazetteer()).trimmed(plain, Span(start, end))
    return span.of(plain) if span else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Friend Zoraida> brought soup", "Zoraida"),
        ("<Bonjour William>, ca va", "William"),
        ("<Pt Omar Falk> reports pain", "Omar Falk"),
        ("<Well, Vincent>, I am writing", "Vincent"),
        ("21 <h Stiffel Mathilde> (15)", "Stiffel Mathilde"),
        ("<Castillo, Bergthor F> 90 gout", "Castillo, Bergthor"),
        ("<ROY, ANN PAGE> 162", "ROY, ANN"),
        ("<Barbara Yudina Apt>. 675", "Barbara Yudina"),
        ("by <Fintan Donca, M.D.>\nplan", "Fintan Donca"),
    ],
)
def test_what_is_no_name_is_cut_off(text: str, expected: str) -> None:
    assert _trimmed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<Son, Scott> came",  # a family
        "<Son Nguyen> came",
        "<Smith, John M>. seen",  # an initial
        "<Ann Page> called",
        "<Mary Ann Young> 34",
        "<Desmond Best>",
        "<h Roy>",
    ],
)
def test_names_stay_whole(text: str) -> None:
    assert _trimmed(text) == text[text.index("<") + 1 : text.index(">")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BLACK, ZORA A. \\ BLOK, Sue", ["BLACK, ZORA A. ", " BLOK, Sue"]),
        ("BLACK,ZORA \\ BLOK, Sue \\ IWU,AMA", ["BLACK,ZORA ", " BLOK, Sue ", " IWU,AMA"]),
        ("Ann Roy | Omar Falk", ["Ann Roy ", " Omar Falk"]),
        ("SINGH, MAKADRA & CEVALLOS, ANN", ["SINGH, MAKADRA", "CEVALLOS, ANN"]),
        ("Roy, Ann and Falk, Omar", ["Roy, Ann", "Falk, Omar"]),
        ("Roy, Ann", ["Roy, Ann"]),
        ("Ann Roy and Omar Falk", ["Ann Roy and Omar Falk"]),
    ],
)
def test_two_names_are_parted(text: str, expected: list[str]) -> None:
    whole = [Tagged(0, len(text), "PER", 0.9, second=False)]
    assert [text[span.start : span.end] for span in parted(text, whole, "PER")] == expected
    other = [whole[0]._replace(kind="ADR")]
    assert list(parted(text, other, "PER")) == other


def test_what_is_too_long_for_two_names_is_not_taken_apart() -> None:
    text = "SINGH, MAKADRA" + " AND MARY" * 5000 + " & CEVALLOS, ANN"
    span = Tagged(0, len(text), "PER", 0.9, second=False)
    assert list(parted(text, [span], "PER")) == [span]
