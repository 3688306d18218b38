from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.location.location_cues import LocationCueRecognizer


def places(text: str) -> list[str]:
    return [one.span.of(text) for one in LocationCueRecognizer(load_gazetteer()).recognize(text)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("67M from Gander w/ NSTEMI", "Gander"),
        ("they hail from Dauphin", "Dauphin"),
        ("medevac from Rankin Inlet at 0340", "Rankin Inlet"),
        ("airlift out of Sachigo Lake; ETA", "Sachigo Lake"),
        ("demeure seule à St-Raymond", "St-Raymond"),
        ("en provenance de Chapais par", "Chapais"),
        ("originaire d'Alma, vit", "Alma"),
        ("sa fille de Rimouski veut", "Rimouski"),
        ("Place of death: Twillingate", "Twillingate"),
        ("resident of Zorbuktuk since", "Zorbuktuk"),  # on no list
        ("fished out of Rencontre East until", "Rencontre East"),
        ("moved here from Moncton 2 yrs", "Moncton"),
        ("arrivée du Mexique lundi", "Mexique"),
        ("quartier Limoilou, seule", "Limoilou"),
        ("parish: Calcasieu", "Calcasieu"),
    ],
)
def test_finds_a_place_where_one_is_due(text: str, place: str) -> None:
    assert places(text) == [place]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("from Zorbkeeng First Nation, flew", "Zorbkeeng First Nation"),
        ("on the Pine Ridge Reservation, SD", "Pine Ridge Reservation"),
        ("stationed at CFB Cold Lake in 2019", "CFB Cold Lake"),
        ("the Rural Municipality of Springfield", "Rural Municipality of Springfield"),
        ("a cottage on Bruce Peninsula now", "Bruce Peninsula"),
        ("enrolled, Navajo Nation", "Navajo Nation"),
        ("sent to Fort Novosel will", "Fort Novosel"),
    ],
)
def test_finds_what_says_that_it_is_a_place(text: str, place: str) -> None:
    assert place in places(text)


@pytest.mark.parametrize(
    "text",
    [
        "transferred from Brantford General",
        "letter of Gander",
        "bills were never returned to Congress",
        "from Pyxis to Gravity",
        "lives in Stepdown for now",
        "Gastric Band in situ, Ovarian Reserve low",
        "Read to pt in Navajo (Etta)",
        "CFB Cold Lake Hospital",
        "moved to Chair, back to Bed",
        "retour à Domicile",
        "Peacefully at Tri-County Manor, surrounded",
        "quartier Urgence, secteur B",
        "70F from Emerg",
    ],
)
def test_takes_no_ward_word_or_organization_for_a_place(text: str) -> None:
    assert places(text) == []
