"""Places and organizations that are called as people are."""

from __future__ import annotations

import pytest

from phiscan.model import EntityType, Finding, PiiBit, Reason, Span
from phiscan.screen.filters.false_names import PlaceFields, as_location, in_block
from phiscan.screen.ner.spans import Tagged

_TABLE = (
    "id;name;street;city;employer\n1;Ann Roy;2 Sean Common;Port Denise;Omar Falk\n2;Kim Li;3 Elm;Lyss;B\n"
)


def _kind(text: str, name: str) -> EntityType | None:
    start = text.index(name)
    return PlaceFields(text).kind(Span(start, start + len(name)))


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (_TABLE, "Port Denise", EntityType.LOCATION),
        (_TABLE, "Sean Common", EntityType.STREET_ADDRESS),
        (_TABLE, "Omar Falk", EntityType.ORGANIZATION),
        (_TABLE, "Ann Roy", None),
        ("Seen in May. Place of birth: Port Joshua", "Port Joshua", EntityType.LOCATION),
        ('{"last": "Roy", "city": "Colette Ouest"}', "Colette Ouest", EntityType.LOCATION),
        ('{"street": "9908 Taylor Locks"}', "Taylor Locks", EntityType.STREET_ADDRESS),
        ('{"last": "Roy", "city": "Colette Ouest"}', "Roy", None),
        ("Facility: Omar Falk", "Omar Falk", EntityType.ORGANIZATION),
        ("bulevardul Olegario Pages 95", "Olegario Pages", EntityType.STREET_ADDRESS),
        ("12 rue de la Marie Roy", "Marie Roy", EntityType.STREET_ADDRESS),
        ("Address: Ann Roy, 12 Elm Street", "Ann Roy", None),  # an address begins with who lives there
        ("Patient: Ann Roy", "Ann Roy", None),
        ("Clinic: seen by Ann Roy", "Ann Roy", None),
        ("city;name\nLyss;Ann Roy", "Lyss", None),  # one row is no column
    ],
)
def test_kind_of_a_field(text: str, name: str, expected: EntityType | None) -> None:
    assert _kind(text, name) is expected


def _tagged(text: str, *names: tuple[str, str]) -> list[Tagged]:
    places = [(text.index(name), name, kind) for name, kind in names]
    return [Tagged(start, start + len(name), kind, 0.9, second=False) for start, name, kind in places]


@pytest.mark.parametrize(
    ("text", "kinds", "expected"),
    [
        (">12 Elm St\n>West Daniel\n>Gabon", ("ADR", "PER", "LOC"), True),
        ("12 Elm St\nWest Daniel\n33316", ("ADR", "PER", "ADR"), True),
        ("12 Elm St\nWest Daniel\n14 Main St", ("ADR", "PER", "ADR"), False),  # streets and people by turns
        ("12 Elm St\nsee West Daniel\nGabon", ("ADR", "PER", "LOC"), False),
        ("Apt Roy\nWest Daniel\nGabon", ("PER", "PER", "LOC"), False),
        ("12 Elm St, West Daniel\nGabon", ("ADR", "PER", "LOC"), False),
    ],
)
def test_line_between_street_and_country(text: str, kinds: tuple[str, ...], expected: bool) -> None:
    lines = [line.strip(">") for line in text.replace(", ", "\n").replace("see ", "").split("\n")]
    tagged = _tagged(text, *zip(lines, kinds, strict=True))
    assert in_block(text, tagged, 1) is expected
    assert not in_block(text, tagged, 0)


def test_placed_keeps_how_sure_it_was() -> None:
    bits = frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME})
    sure = Finding(Span(0, 7), EntityType.PERSON, "s", 0.6, bits, (Reason("model", "s", 0.6),))
    doubt = Finding(Span(0, 7), EntityType.PERSON, "s", 0.1, frozenset(), (Reason("doubt", "d", 0.1),))
    assert as_location(sure, EntityType.LOCATION).score == sure.score
    assert not as_location(sure, EntityType.LOCATION).bits & bits
    assert not as_location(sure, EntityType.LOCATION).is_doubtful
    assert as_location(doubt, EntityType.LOCATION).is_doubtful
