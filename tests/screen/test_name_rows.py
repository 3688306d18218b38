from __future__ import annotations

from collections.abc import Callable

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.person.row_heads import row_names

Found = Callable[[str], set[tuple[str, str]]]
PERSON = "PERSON"
LIST = (
    "0905 bernard, rose / nov 21 2009\n0910 macdonald, will / feb 14 2010\n"
    "0915 reyes, ana / mar 3 2010\n0920 chen, hope / may 2\n"
)


def test_several_rows_say_that_each_begins_with_a_name(found: Found) -> None:
    names = {name for kind, name in found(LIST) if kind == PERSON}
    assert names == {"bernard, rose", "macdonald, will", "reyes, ana", "chen, hope"}


@pytest.mark.parametrize(
    "text",
    [
        "1. aspirin, daily\n2. ramipril, morning\n3. metformin, evening\n",
        "- asthma, mild\n- eczema, severe\n- anemia, chronic\n",
        "1. Toronto, York\n2. Kingston, Frontenac\n3. Austin, Travis\n4. Paris, Lamar\n",
    ],
)
def test_rows_of_drugs_conditions_and_places_are_no_names(text: str) -> None:
    assert not list(row_names(text, load_gazetteer()))


def test_a_whole_name_is_found_again_in_its_own_letters(found: Found) -> None:
    text = "Patient: Doug Prince\nDOB 1950-01-02\n\nthe pump was checked by Doug Prince on 03/11/2024\n"
    assert {name for _, name in found(text)} >= {"Doug Prince"}


def test_an_unknown_word_in_a_column_of_names_is_one(found: Found) -> None:
    head = "DOS|SURGEON|IMPLANT\n"
    text = head + "29JAN|STARK|TKA\n30JAN|MENDOZA|THA\n31JAN|DELACROIX-HUNTZ|ACDF\n"
    assert ("HEALTH_PROFESSIONAL", "DELACROIX-HUNTZ") in found(text)
