"""Tests of number_series: codes that are written like one that a label named."""

from __future__ import annotations

import pytest

from phiscan.model import EntityType, Finding, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.recognizers.identifiers.number_series import MAX_CHARS, series


def found(text: str, value: str, kind: EntityType = EntityType.DEVICE) -> list[tuple[str, EntityType]]:
    start = text.index(value)
    first = Finding(Span(start, start + len(value)), kind, "test", 0.8, bits_of(kind), ())
    return [(finding.span.of(text), finding.entity_type) for finding in series(text, [first])]


@pytest.mark.parametrize(
    ("text", "value", "others"),
    [
        ("serials 1644N0PQX/1644N0PR3, date", "1644N0PQX", ["1644N0PR3"]),
        ("lots B1190 and B1191; B2", "B1190", ["B1191"]),
        ("unit gs100-441802 swapped for gs100-447193 because", "gs100-441802", ["gs100-447193"]),
        ("D 7214400918 - G 7214400925.", "7214400918", ["7214400925"]),
        ("batteries BAT711882 BAT711883", "BAT711882", ["BAT711883"]),
        ("Acct. Nos.: V00441879206; V00442015533", "V00441879206", ["V00442015533"]),
        ("24M-318-0092. Recollect 24M-318-0117 if", "24M-318-0092", ["24M-318-0117"]),
    ],
)
def test_finds_what_is_written_like_its_neighbour(text: str, value: str, others: list[str]) -> None:
    assert found(text, value) == [(other, EntityType.DEVICE) for other in others]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("serial 1644N0PQX, model 2244N0PR3", "1644N0PQX"),
        ("lot 7214400918 of 9914400925", "7214400918"),
        ("lot B1190, see C1191", "B1190"),
        ("file 20240312 on 20240315", "20240312"),
        ("no 118 and 119", "118"),
        ("lot V00441879206 of V00442015533", "V00441879206"),
        ("lot 7214400918, 7219900925", "7214400918"),
        ("serial AB44182 a@AB44183.org $AB44184 AB44185.50", "AB44182"),
    ],
)
def test_leaves_what_only_looks_a_little_like_it(text: str, value: str) -> None:
    assert not found(text, value)


def test_the_kind_is_that_of_the_nearest_neighbour() -> None:
    text = "order K118820 claim K771402 and K118821"
    kinds = {"K118820": EntityType.OTHER_ID, "K771402": EntityType.HEALTH_PLAN}
    known = [
        Finding(Span(text.index(v), text.index(v) + 7), k, "t", 0.8, bits_of(k), ()) for v, k in kinds.items()
    ]
    assert [(f.span.of(text), f.entity_type) for f in series(text, known)] == [
        ("K118821", EntityType.OTHER_ID)
    ]


def test_looks_at_no_long_text() -> None:
    assert not found("lots B1190 and B1191 " + "x " * MAX_CHARS, "B1190")
