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


def test_a_line_with_small_letters_is_judged_as_before() -> None:
    text = "Moved to LIST UPDATED, NS, says the sheet"
    with_small = [finding.span.of(text) for finding in screened(text).findings]
    assert with_small == [finding.span.of(text) for finding in screened(f"{text}\nALL IN CAPITALS").findings]
