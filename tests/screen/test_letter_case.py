"""Texts of one letter case: names are found in them, and words of every day are nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.config import Config
from phiscan.health.classifier import build_classifier, classify
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.lexicon.ordinary_words import load_ordinary
from phiscan.normalize.letter_case import (
    Recaser,
    in_capitals,
    in_small_letters,
    is_small,
    with_capitals,
)
from tests.screen.whole import plain, screened, values


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("HIS BROTHER LIVES OUT IN HAZARD, KY WITH FOUR DOGS", "LOCATION", "HAZARD, KY"),
        ("DISCHARGED TO SANDSTONE LODGE.", "ORGANIZATION", "SANDSTONE LODGE"),
        ("COPIE : CLINIQUE MÉDICALE DU QUAI, TÉLÉC.", "ORGANIZATION", "CLINIQUE MÉDICALE DU QUAI"),
        ("CALLED BY HOPE YOUNG FROM ROOM 4 AT NINE", "PERSON", "HOPE YOUNG"),
        ("MOTHER CAME IN AT NINE. SON ROB CALLED FROM WORK", "PERSON", "ROB"),
        ("CITY = 'RED DEER' AND LAST_NAME = 'OKAFOR'", "LOCATION", "RED DEER"),
        ("PT LOUISE SEEN BY NURSE TODAY AND SHE FEELS WELL", "PERSON", "LOUISE"),
        ("AU 12 RUE DES ERABLES EST, QUEBEC. ELLE VA", "STREET_ADDRESS", "12 RUE DES ERABLES EST"),
        ("AU 12 RUE DES ERABLES EST, QUEBEC. ELLE VA", "LOCATION", "QUEBEC"),
    ],
)
def test_a_name_in_capitals_is_found_in_its_sentence(text: str, kind: str, value: str) -> None:
    assert value in values(text, kind)


def test_a_line_with_small_letters_is_judged_as_before() -> None:
    text = "Moved to LIST UPDATED, NS, says the sheet"
    with_small = [finding.span.of(text) for finding in screened(text).findings]
    assert with_small == [finding.span.of(text) for finding in screened(f"{text}\nALL IN CAPITALS").findings]


PROSE = "The patient was seen by Dr. Roy at the clinic. She lives with her son in Guelph and takes insulin."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROSE.lower(), True),
        ("call mrs roy re MRI and ECG tmrw at 2 pls, son rob knows", True),
        (PROSE, False),
        (PROSE.upper(), False),
        ("", False),
        ("ann roy", False),
        ("name,dob\n1,2\n", False),
        ("12 34 56 78 90", False),
    ],
)
def test_a_text_in_small_letters_is_known(text: str, expected: bool) -> None:
    assert is_small(text) is expected


@given(st.text())
def test_a_reading_is_as_long_as_its_text(text: str) -> None:
    assert len(in_capitals(text)) == len(in_small_letters(text)) == len(text)
    assert len(_recased(text)) == len(text)


@given(st.text(alphabet="abcdé '-.,@\n", max_size=60))
def test_only_the_case_changes(text: str) -> None:
    assert in_small_letters(_recased(text)) == text


def _recased(text: str) -> str:
    return Recaser(load_gazetteer(), load_ordinary()).recased(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("pt xiomara okafor was here", "pt Xiomara Okafor was here"),
        ("daughter of xiomara st-onge, d'amours", "daughter of Xiomara St-Onge, D'Amours"),
        ("seen by dr j. finch today", "seen by Dr J. Finch today"),
        ("moved to thunder bay with her cat", "moved to Thunder Bay with her cat"),
        ("the bay under thunder", "the bay under thunder"),
        ("hope she will rest", "hope she will rest"),
        ("write to xiomara@okafor.example", "write to xiomara@okafor.example"),
    ],
)
def test_names_get_a_capital_and_words_get_none(text: str, meant: str) -> None:
    assert _recased(text) == meant


def test_a_capital_stands_behind_an_apostrophe_as_well() -> None:
    assert with_capitals("l'écuyer, o'brien's", [(0, 8), (10, 19)]) == "L'Écuyer, O'Brien's"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("ORGANIZATION", "sandstone lodge"),
        ("LOCATION", "perrysburg"),
        ("STREET_ADDRESS", "204-2255 w 4th ave."),
        ("OTHER_ID", "w0712 24 118803 was"),
        ("HEALTH_CARD", "lebf 2956 0417"),
        ("VEHICLE", "kwfb204"),
    ],
)
def test_what_is_told_by_its_capitals_is_found_without(kind: str, value: str) -> None:
    text = (
        "she was cleared and could go back to sandstone lodge. old addr 204-2255 w 4th ave. her aunt is in "
        "perrysburg, oh since may. unit w0712 24 118803 was hung at ten. carte ramq lebf 2956 0417. licence "
        "plate kwfb204, and nobody else came by all day long"
    )
    assert value in values(text, kind)


def test_codes_in_small_letters_are_health() -> None:
    classifier_hits = _health("patient,dx\nroy,f33.1\nlee,f43.10\n")
    assert classifier_hits == {"icd:F33", "icd:F43"}
    assert _health("firmware v10.2, build e2") == set()


def _health(text: str) -> set[str]:
    return {hit.concept for hit in classify(plain(text), build_classifier(Config())).terms}
