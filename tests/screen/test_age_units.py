"""Ages over 89 are shown with their units."""

from __future__ import annotations

import pytest

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.recognizers.identifiers.dates import with_units


def shown(text: str, *numbers: str) -> list[str]:
    """Return what is shown of ages whose numbers are found."""
    findings = [
        Finding(
            Span(text.index(number), text.index(number) + len(number)),
            EntityType.AGE_OVER_89, "age", 0.8, frozenset(), (Reason("rule", "age", 0.8),),
        )
        for number in numbers
    ]  # fmt: skip
    return [finding.span.of(text) for finding in with_units(text, findings)]


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("a 93-year-old woman", "93-year-old"),
        ("now 93 years old.", "93 years old"),
        ("93 y.o. F", "93 y.o."),
        ("93yo, frail", "93yo"),
        ("93 yom with", "93 yom"),
        ("93Y F", "93Y"),
        ("agee de 93 ans, seule", "93 ans"),
        ("93 ANS", "93 ANS"),
        ("93 ans et 11 mois", "93 ans et 11 mois"),
        ("93y3m today", "93y3m"),
        ("M. Sok 93 a. : PPC", "93 a."),
        ("93 a.m. shift", "93"),
        ("93 yoga mats", "93"),
        ("93 analyses", "93"),
        ("93F", "93"),
        ("93", "93"),
    ],
)
def test_an_age_is_shown_with_its_unit(text: str, age: str) -> None:
    assert shown(text, "93") == [age]


def test_a_unit_ends_before_the_next_finding() -> None:
    assert shown("93 yrs 94 yrs", "93", "94") == ["93 yrs", "94 yrs"]
    assert shown("93 ans et 94 mois", "93", "94") == ["93 ans", "94"]
    assert shown("nobody") == []
