from __future__ import annotations

import pytest

from phiscan.model import EntityType
from phiscan.screen.recognizers.organization.residences import residences_by_room


@pytest.mark.parametrize(
    ("text", "home", "room"),
    [
        ("11:30 Kees - Country Haven rm 12 - feed", "Country Haven", "rm 12"),
        ("Location: HOLY FAMILY HOME / ROOM 318, A", "HOLY FAMILY HOME", "ROOM 318"),
        ("à la Maison Reine-Marie (chambre 11) puis", "Maison Reine-Marie", "chambre 11"),
        ("CONFERENCE    Peace Villa - Wing C - x", "Peace Villa", "Wing C"),
        ("lives at Golden Plough Lodge, room 214-B.", "Golden Plough Lodge", "room 214-B"),
        ("Résidence Le Renouveau #6 -> visite", "Résidence Le Renouveau", "#6"),
        ("Manor of the Lakes, Rm. 3", "Manor of the Lakes", "Rm. 3"),
        ("12 Manor Court, rm 3", None, None),
        ("the nursing home room 4", None, None),
        ("Group Home rm 2", None, None),
        ("Meeting Agenda, room 12", None, None),
        ("Peace Villa rooms 12", None, None),
    ],
)
def test_a_home_is_told_by_the_room_behind_it(text: str, home: str | None, room: str | None) -> None:
    found = {f.entity_type: text[f.span.start : f.span.end] for f in residences_by_room(text)}
    assert found.get(EntityType.ORGANIZATION) == home
    assert found.get(EntityType.LOCATION) == room
