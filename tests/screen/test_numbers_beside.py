from __future__ import annotations

from collections.abc import Callable

import pytest

from phiscan.model import EntityType, Finding, Screening, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.recognizers.identifiers.related_numbers import numbers_after_names


def found(text: str, name: str, kind: EntityType = EntityType.PERSON) -> list[tuple[str, EntityType]]:
    start = text.index(name)
    person = Finding(Span(start, start + len(name)), kind, "test", 0.8, bits_of(kind), ())
    return [(finding.span.of(text), finding.entity_type) for finding in numbers_after_names(text, [person])]


@pytest.mark.parametrize(
    ("text", "name", "number"),
    [
        ("and Duc Pham 5517718", "Duc Pham", "5517718"),
        ("fille | Le Van Binh, 338117 | attente", "Le Van Binh", "338117"),
        ("10-02   Lizotte M.  88-2017  PTG D", "Lizotte M.", "88-2017"),
        ("Roy-Diallo C 66-8120 bil.", "Roy-Diallo C", "66-8120"),
        ("Ann Roy (R0448210)", "Ann Roy", "R0448210"),
    ],
)
def test_takes_a_number_behind_a_person_for_a_chart(text: str, name: str, number: str) -> None:
    assert found(text, name) == [(number, EntityType.MRN)]


def test_takes_nine_digits_in_the_next_cell_for_a_card() -> None:
    assert found("Stelmaschuk Orest\t448119027\t1934", "Stelmaschuk Orest") == [
        ("448119027", EntityType.HEALTH_CARD)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Ann Roy 12",
        "Ann Roy, 4150550199",
        "Ann Roy 555-0171",
        "Ann Roy, 20240312",
        "Ann Roy\t125000\t",
        "Ann Roy 500000 mg",
        "Ann Roy 2019-2020",
        "Ann Roy has 338117",
        "Ann Roy 338117.50",
    ],
)
def test_leaves_years_days_money_and_phones(text: str) -> None:
    assert found(text, "Ann Roy") == []


def test_asks_for_a_full_name_of_a_person() -> None:
    assert found("Roy 338117", "Roy") == []
    assert found("Ann Roy 338117", "Ann Roy", EntityType.HEALTH_PROFESSIONAL) == []


def test_leaves_what_another_finding_has() -> None:
    text = "Ann Roy 338117"
    findings = [
        Finding(Span(*span), kind, "test", 0.8, bits_of(kind), ())
        for span, kind in (((0, 7), EntityType.PERSON), ((8, 14), EntityType.PHONE))
    ]
    assert list(numbers_after_names(text, findings)) == []


def test_stands_in_the_screening_of_a_document(screened: Callable[[str], Screening]) -> None:
    text = "Patient: Duc Pham 5517718, stable"
    assert ("5517718", EntityType.MRN) in [(f.span.of(text), f.entity_type) for f in screened(text).findings]


@pytest.mark.parametrize(
    ("text", "name", "number"),
    [
        ("F. Tremblay-Savard inf. clin. (2114407)", "F. Tremblay-Savard", "2114407"),
        ("Champoux, Élise (1-14207)   Tél", "Champoux, Élise", "1-14207"),
        ("par S. Ilunga, t.m. 12 884, le 12", "S. Ilunga", "12 884"),
        ("Vérifié par K. Bisson t.i.m. (4471-R) avec", "K. Bisson", "4471-R"),
        ("A. Dufresne MLT 28817", "A. Dufresne", "28817"),
        ("Becky Stoltz, RN (584417)", "Becky Stoltz", "584417"),
    ],
)
def test_takes_a_number_behind_a_professional_for_a_licence(text: str, name: str, number: str) -> None:
    assert found(text, name, EntityType.HEALTH_PROFESSIONAL) == [(number, EntityType.LICENSE)]


@pytest.mark.parametrize(
    "text",
    [
        "Dufresne 28817",
        "Dufresne (2024)",
        "Dufresne MD 4165550199",
        "Dufresne MD (416 555-0199)",
        "Dufresne RN 12/03/2024",
        "Dufresne MD 20240312",
    ],
)
def test_takes_no_phone_day_or_bare_number_for_a_licence(text: str) -> None:
    assert not found(text, "Dufresne", EntityType.HEALTH_PROFESSIONAL)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Castellanos Ruby / EC 55 09 13 / acct", "EC 55 09 13"),
        ("Castellanos Ruby (#4418), née", "4418"),
        ("Castellanos Ruby (93 M, 1988710), lots", "1988710"),
    ],
)
def test_takes_charts_in_pairs_and_behind_an_age(text: str, number: str) -> None:
    assert found(text, "Castellanos Ruby") == [(number, EntityType.MRN)]


def behind_initials(text: str) -> list[tuple[str, EntityType]]:
    return [(finding.span.of(text), finding.entity_type) for finding in numbers_after_names(text, [])]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("pt JT (4471-20) tolerated dialysis", "4471-20"),
        ("R.B. / 118204 - chemo", "118204"),
        ("😀 S.K.\t118204\tHb 78", "118204"),
        ("A.B.  Record: 448812", "448812"),
        ("J. D. H118204 fell", "H118204"),
        ("Usagère M.G., 00-44-17 : plaie", "00-44-17"),
    ],
)
def test_takes_a_number_behind_initials_for_a_chart(text: str, number: str) -> None:
    assert behind_initials(text) == [(number, EntityType.MRN)]


@pytest.mark.parametrize(
    "text",
    [
        "P.O. 118204",
        "Ann Roy, M.D. 118204",
        "R.S.O. 199012",
        "vitamin B.C. 118204 units",
        "J.D. 2024-03",
        "J.D. 118204 mg",
        "J.D. 45",
        "JT 118204",
        "e.g. 118204",
    ],
)
def test_leaves_numbers_behind_other_letters_with_points(text: str) -> None:
    assert behind_initials(text) == []
