"""Columns whose numbers all carry a check digit are found without a header; other numbers are not."""

import pytest

from phiscan.model import Document, EntityType
from phiscan.screen.recognizers.identifiers.table_numbers import MIN_CHECKED, checked_column_findings

PROVIDERS = ("1730440660", "1065750626", "1584939189", "1588294250", "1848817957")


def _found(text: str) -> list[tuple[EntityType, str]]:
    findings = checked_column_findings(Document(text, (), ""))
    return [(one.entity_type, one.span.of(text)) for one in findings]


@pytest.mark.parametrize("delimiter", ["\t", "|", ";", ","])
def test_finds_a_column_without_header(delimiter: str) -> None:
    text = "\n".join(delimiter.join(("99285", number, '"a, b"', "410.75")) for number in PROVIDERS)

    assert _found(text) == [(EntityType.LICENSE, number) for number in PROVIDERS]


def test_finds_grouped_health_and_social_insurance_numbers() -> None:
    cards = ("1234 567 897", "9876 543 217", "5584 449 069", "4099 663 801")
    social = ("046 454 286", "130 692 544", "934 745 860", "511 002 289")
    text = "\n".join(f"{card};{number};x" for card, number in zip(cards, social, strict=True))

    found = _found(text)

    assert [value for kind, value in found if kind is EntityType.HEALTH_CARD] == list(cards)
    assert {kind for kind, value in found if value in social} <= {EntityType.SIN}


def test_takes_neither_too_few_nor_numbers_that_fail() -> None:
    few = "\n".join(f"{number},x" for number in PROVIDERS[: MIN_CHECKED - 1])
    same = "\n".join(f"{PROVIDERS[0]},x" for _ in range(9))
    wrong = "\n".join(f"{int(number) + 1},x" for number in PROVIDERS)
    mixed = "\n".join(f"{number},x" for number in (*PROVIDERS[:3], "1234567890"))

    assert [_found(text) for text in (few, same, wrong, mixed)] == [[], [], [], []]


def test_takes_no_plain_numbers() -> None:
    text = "\n".join(f"{1_000_000_000 + 7919 * row},{row}" for row in range(400))

    assert _found(text) == []
