from __future__ import annotations

import pytest

from phiscan.screen.gazetteer import load_gazetteer
from phiscan.screen.name_tokens import tokenize
from phiscan.screen.places import SCORE, SURE, find_places


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
        ("Zorb,Fredy,Caraquet,NB", "Caraquet", SCORE),
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
    ],
)
def test_takes_no_name_or_word_for_a_town(text: str) -> None:
    assert places(text) == []
