import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.location import SCORE, SURE, cities


def found(text: str) -> list[tuple[str, float]]:
    return [(one.span.of(text), one.score) for one in cities(text, load_gazetteer())]


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("Regina  SK  S4P 0W5", "Regina  SK"),
        ("Antigonish N.S.", "Antigonish N.S."),
        ("Duluth MN", "Duluth MN"),
        ("Winnipeg, Man. until", "Winnipeg, Man."),
        ("Bathurst (N.-B.)   E2A 1C1", "Bathurst (N.-B.)"),
        ("pt from moose jaw sk, sister", "moose jaw sk"),
        ("Darby, MT  59829", "Darby, MT"),
        ("ST PAUL MN 55104", "ST PAUL MN"),
        ("\nZorbville TX 78596", "Zorbville TX"),  # on no list, but a postal code follows
        ("visiting from Leeds, UK", "Leeds, UK"),
        ("born Lagos, Nigeria", "Lagos, Nigeria"),
        ("HOUMA LA 70360", "HOUMA LA"),
        ("born in Bathurst (N.-B., Canada)", "Bathurst (N.-B."),
    ],
)
def test_finds_a_city_with_its_state(text: str, city: str) -> None:
    assert found(text) == [(city, SURE)]


def test_is_less_sure_of_a_city_that_ends_the_name_of_something_else() -> None:
    assert found("the University of Ottawa, ON") == [("Ottawa, ON", SCORE)]


@pytest.mark.parametrize(
    "text",
    [
        "Ann Tyler, MD",
        "Jackson MS saw her",  # a degree
        "SEEN IN TORONTO ON MONDAY",
        "Superior ID 0000417",
        "Panorama client ID 11884",
        "Brookdale AL unit",
        "12 Main Street SK S0A 1A0",
        "in Mobile OK today",
        "moved OR stayed",
        "Crystal (PR#576)",
        "no state here",
    ],
)
def test_takes_no_degree_or_word_for_a_state(text: str) -> None:
    assert found(text) == []
