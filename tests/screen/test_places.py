from __future__ import annotations

import pytest

from phiscan.lexicon.capitalized_words import tokenize
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.location.gazetteer_places import SCORE, SURE, find_places


def places(text: str) -> list[tuple[str, float]]:
    gazetteer = load_gazetteer()
    return [
        (found.span.of(text), found.score)
        for found in find_places(text, tokenize(text, gazetteer), gazetteer)
    ]


@pytest.mark.parametrize(
    ("text", "place", "score"),
    [
        ("he moved to Vancouver in May", "Vancouver", SURE),
        ("a sister in Matane.", "Matane", SURE),
        ("transfer from Swift Current", "Swift Current", SURE),
        ("Fredy Zorb (Iqaluit; 867 555-0100)", "Iqaluit", SCORE),
        ("Zorb,Fredy,Edmundston,NB", "Edmundston", SCORE),
        ("inf. EMP d'Edmundston, et moi", "Edmundston", SCORE),
        (
            "that lady from Yuma w/ the PFO",
            "Yuma",
            SCORE,
        ),  # a city that is written so often that it is a word
        ("CALLS FROM TALLAHASSEE, 850", "TALLAHASSEE", SCORE),
        ("TSDM 2 Naomi, Lethbridge\nMOST", "Lethbridge", SCORE),
        ("le fils vient de Trois-Pistoles en auto", "Trois-Pistoles", SCORE),
        ("Zorb,Fredy,Caraquet,NB", "Caraquet", SCORE),
        ("an estate, late of Pouch Cove / MCP", "Pouch Cove", SURE),
        ("H.B., 92M, of Fruitvale. Admitted", "Fruitvale", SURE),
        ("THE STORE IN FRUITVALE WITH HER SON", "FRUITVALE", SURE),
        ("11 Main, Wotton QC J0A", "Wotton", SCORE),
        ("La TEP sera faite a Sherbrooke.", "Sherbrooke", SCORE),
        ("NEE A FRUITVALE, QC", "FRUITVALE", SURE),
        ("SEJOUR A ABIDJAN DEC. 2023", "ABIDJAN", SURE),
        ("elle demeure 4 Caraquet", "Caraquet", SURE),
    ],
)
def test_finds_places_and_towns_where_a_place_is_meant(text: str, place: str, score: float) -> None:
    assert (place, score) in places(text)


@pytest.mark.parametrize(
    "text",
    [
        "In Carpenter syndrome the toes",  # a town, a family and a syndrome
        "seen by Lumsden today",
        "the Marathon was long",
        "in March we met",
        "in Orange and in Reading",
    ],
)
def test_takes_no_name_or_word_for_a_town(text: str) -> None:
    assert places(text) == []


@pytest.mark.parametrize("name", ["St. John's", "St Paul", "St-Jérôme", "Ft. Smith", "Kimmirut", "Peguis"])
def test_knows_a_place_however_its_first_word_is_shortened(name: str) -> None:
    assert load_gazetteer().is_place(name)


@pytest.mark.parametrize("name", ["St Zorb", "Ft", "Mt Zorbly"])
def test_knows_no_place_that_is_on_no_list(name: str) -> None:
    assert not load_gazetteer().is_place(name)


def test_a_name_before_a_comma_and_a_first_name_is_no_town() -> None:
    assert places("Mar 5\tSt. Croix, Leo\t501") == []


@pytest.mark.parametrize(
    ("text", "place"),
    [("fly Zorb - Iqaluit - on", "Iqaluit"), ("- Sioux Lookout -> Thunder", "Sioux Lookout")],
)
def test_finds_a_place_between_dashes_and_arrows(text: str, place: str) -> None:
    assert (place, SCORE) in places(text)
