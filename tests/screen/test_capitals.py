"""Lines in capitals: names are found in them, and words of every day are nobody."""

import pytest

from tests.screen.whole import screened, values


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


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("LE TEST SE FAIT À LA MAISON, AVEC UN PETIT APPAREIL", "PERSON"),
        ("ON A MANQUÉ SON RENDEZ-VOUS, C'EST DOMMAGE POUR LE FILS", "PERSON"),
        ("TREATMENT OF TRACHEOBRONCHOPATHIA OSTEOPLASTICA IS HARD TO COME BY", "PERSON"),
    ],
)
def test_sentences_in_capitals_name_nobody(text: str, kind: str) -> None:
    assert values(text, kind) == []


def test_a_label_says_more_than_a_list_of_words() -> None:
    assert values("NOM: MAISON\nPRÉNOM: WILL\nDDN: 1990-01-02", "PERSON") == ["MAISON", "WILL"]


def test_a_line_with_small_letters_is_judged_as_before() -> None:
    text = "Moved to LIST UPDATED, NS, says the sheet"
    with_small = [finding.span.of(text) for finding in screened(text).findings]
    assert with_small == [finding.span.of(text) for finding in screened(f"{text}\nALL IN CAPITALS").findings]
