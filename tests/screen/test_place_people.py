from __future__ import annotations

from dataclasses import replace

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.filters.organizations_as_persons import without_organizations
from phiscan.screen.filters.places_as_persons import without_places

PERSON, PLACE, FIRM = EntityType.PERSON, EntityType.LOCATION, EntityType.ORGANIZATION


def person(text: str, name: str) -> Finding:
    start = text.index(name)
    span = Span(start, start + len(name))
    return Finding(
        span, PERSON, "names.tagger", 0.84, bits_of(PERSON), (Reason("model", "names.tagger", 0.84),)
    )


@pytest.mark.parametrize(
    ("text", "name", "parts"),
    [
        ("avion de Kuujjuaq", "Kuujjuaq", [("Kuujjuaq", PLACE)]),
        ("(Yolande, de Tracadie)", "de Tracadie", [("Tracadie", PLACE)]),
        ("stéphane à Repentigny", "stéphane à Repentigny", [("stéphane", PERSON), ("Repentigny", PLACE)]),
        ("Mehta, Grand-Sault", "Mehta, Grand-Sault", [("Mehta", PERSON), ("Grand-Sault", PLACE)]),
        ("Zorb - Pukatawagan", "Zorb - Pukatawagan", [("Zorb", PERSON), ("Pukatawagan", PLACE)]),
        ("bed 14 Fitzwilliam still", "Fitzwilliam", [("Fitzwilliam", PERSON)]),
        ("Regina Roy", "Regina Roy", [("Regina Roy", PERSON)]),
        ("seen by Digby", "Digby", [("Digby", PERSON)]),  # families are called so
    ],
)
def test_parts_people_from_places(text: str, name: str, parts: list[tuple[str, EntityType]]) -> None:
    found = without_places(text, [person(text, name)], load_gazetteer())
    assert [(one.span.of(text), one.entity_type) for one in found] == parts


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Ermineskin Jr Sr High", FIRM),
        ("SageWest Orthopedics", FIRM),
        ("Rio Verde Citrus Packing", FIRM),
        ("Jean Baker", PERSON),
        ("Orthopedics", PERSON),
        ("Roy, Hardware", PERSON),
        ("Ann Hall", PERSON),
    ],
)
def test_a_name_that_ends_in_a_word_for_an_organization_is_one(name: str, kind: EntityType) -> None:
    (found,) = without_organizations(name, [person(name, name)], load_gazetteer())
    assert found.entity_type is kind


def test_what_is_doubtful_stays_so() -> None:
    text = "avion de Kuujjuaq"
    doubtful = replace(person(text, "Kuujjuaq"), bits=frozenset())
    (found,) = without_places(text, [doubtful], load_gazetteer())
    assert found.entity_type is PLACE
    assert not found.bits
