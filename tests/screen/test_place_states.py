"""Cities with their state, province or country; a degree or a word is no state."""

import pytest

from tests.screen.whole import values


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Regina  SK  S4P 0W5", ["Regina  SK"]),
        ("Antigonish N.S.", ["Antigonish N.S."]),
        ("Duluth MN", ["Duluth MN"]),
        ("Winnipeg, Man. until", ["Winnipeg, Man."]),
        ("Bathurst (N.-B.)   E2A 1C1", ["Bathurst (N.-B.)"]),
        ("pt from moose jaw sk, sister", ["moose jaw sk"]),
        ("Darby, MT  59829", ["Darby, MT"]),
        ("ST PAUL MN 55104", ["ST PAUL MN"]),
        ("\nZorbville TX 78596", ["Zorbville TX"]),  # on no list, but a postal code follows
        ("visiting from Leeds, UK", ["Leeds, UK"]),
        ("born Lagos, Nigeria", ["Lagos, Nigeria"]),
        ("HOUMA LA 70360", ["HOUMA LA"]),
        ("born in Bathurst (N.-B., Canada)", ["Bathurst (N.-B.", "Canada"]),
        ("the University of Ottawa, ON", []),  # a part of its name
        ("Ann Tyler, MD", []),
        ("Jackson MS saw her", []),  # a degree
        ("SEEN IN TORONTO ON MONDAY", ["TORONTO"]),
        ("Superior ID 0000417", []),
        ("Panorama client ID 11884", []),
        ("Brookdale AL unit", []),
        ("12 Main Street SK S0A 1A0", []),
        ("in Mobile OK today", []),
        ("moved OR stayed", []),
        ("Crystal (PR#576)", []),
    ],
)
def test_a_city_is_found_with_its_state_and_a_degree_or_word_is_none(text: str, places: list[str]) -> None:
    assert values(text, "LOCATION") == places
