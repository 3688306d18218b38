"""Places of the gazetteer: spellings of their names, and findings after a preposition."""

from __future__ import annotations

import pytest

from phiscan.lexicon.capitalized_words import tokenize
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.location import places_after_prepositions


def places(text: str) -> list[str]:
    gazetteer = load_gazetteer()
    found = places_after_prepositions(text, tokenize(text, gazetteer), gazetteer)
    return [one.span.of(text) for one in found]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a sister in Matane.", "Matane"),
        ("transfer from Swift Current", "Swift Current"),
        ("an estate, late of Pouch Cove / MCP", "Pouch Cove"),
        ("THE STORE IN FRUITVALE. HER SON", "FRUITVALE"),
        ("vient de loin, revient vers Wotton QC J0A", "Wotton"),
    ],
)
def test_a_place_after_a_preposition_is_found(text: str, place: str) -> None:
    assert places(text) == [place]


@pytest.mark.parametrize(
    "text",
    [
        "seen by Lumsden today",  # no preposition
        "in Orange and in Reading",  # ordinary words
        "sent to Swift Current General Hospital",  # a part of a longer name
        "in Zorbly we met",  # no place of the lists
        "",
    ],
)
def test_names_words_and_parts_of_longer_names_are_not(text: str) -> None:
    assert places(text) == []


@pytest.mark.parametrize("name", ["St. John's", "St Paul", "St-Jérôme", "Ft. Smith", "Kimmirut", "Peguis"])
def test_a_place_is_known_however_its_first_word_is_shortened(name: str) -> None:
    assert load_gazetteer().is_place(name)


@pytest.mark.parametrize("name", ["St Zorb", "Ft", "Mt Zorbly"])
def test_a_name_on_no_list_is_no_place(name: str) -> None:
    assert not load_gazetteer().is_place(name)


@pytest.mark.parametrize(("name", "is_word"), [("Mobile", True), ("Reading", True), ("Duluth", False)])
def test_some_places_are_words_first(name: str, is_word: bool) -> None:
    assert load_gazetteer().is_everyday_place(name) is is_word
