from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.health import decision_table as decision
from phiscan.health.decision_table import TABLE
from phiscan.model import (
    Document,
    EntityType,
    Finding,
    HealthScore,
    PiiBit,
    PiiVector,
    Referral,
    Screening,
    Segment,
    Span,
    TermHit,
    WindowBag,
)

NAME = {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}


def screening(bits: set[PiiBit], *, hamming: int = 2, people: int = 0, birth: bool = False) -> Screening:
    findings = [Finding(Span(0, 4), EntityType.OTHER_ID, "test", 0.9, frozenset({bit})) for bit in bits]
    if birth:
        findings.append(Finding(Span(0, 4), EntityType.DATE_OF_BIRTH, "test", 0.9, frozenset({PiiBit.DATE})))
    return Screening(tuple(findings), PiiVector(frozenset(bits)), hamming, (), "", 0, people)


def document(locator: str = "") -> Document:
    return Document("text", (Segment(locator, 0, 4),), "text/plain")


def health(score: float, n_terms: int = 3) -> HealthScore:
    terms = tuple(TermHit(Span(i, i + 1), f"dx:term-{i}") for i in range(n_terms))
    return HealthScore(score, 1.0, "letters/1", terms)


def decide(
    made: Document, seen: Screening, measured: HealthScore, *, layout: bool = False
) -> tuple[Referral, str]:
    return decision.decide(made, seen, measured, layout=layout)


@pytest.mark.parametrize(
    ("seen", "measured", "referral", "case"),
    [
        (screening(NAME | {PiiBit.PHONE}, hamming=0), health(0.9), Referral.REFERRED, "concept"),
        (screening({PiiBit.MRN}), health(0.9), Referral.REFERRED, "patient_identifier"),
        (screening({PiiBit.DATE}, birth=True), health(0.9), Referral.REFERRED, "birth_date"),
        (screening({PiiBit.LAST_NAME}), health(0.7), Referral.REFERRED, "bare_name"),
        (screening({PiiBit.PHONE}), health(0.8), Referral.REFERRED, "contact"),
        (screening({PiiBit.MRN}), health(0.3, 1), Referral.REFERRED, "thin_record"),
        (screening(NAME, people=2, birth=True), health(0.4), Referral.REFERRED, "patient_list"),
        (screening(NAME, people=5), health(0.4), Referral.REFERRED, "people_list"),
        (screening({PiiBit.ORGANIZATION}), health(0.9), Referral.HEALTH_ONLY, "health_without_person"),
        (screening(NAME | {PiiBit.EMAIL}, hamming=0), health(0.1), Referral.PII_ONLY, "person_by_name"),
        (screening({PiiBit.SIN}), health(0.0, 0), Referral.PII_ONLY, "person_by_identifier"),
        (screening({PiiBit.STREET_ADDRESS, PiiBit.PHONE}), health(0.1), Referral.CLEAR, "neither"),
    ],
)
def test_each_row_applies_to_its_case(
    seen: Screening, measured: HealthScore, referral: Referral, case: str
) -> None:
    assert decide(document(), seen, measured) == (referral, case)


def test_a_mails_own_header_lends_its_address_to_nobody() -> None:
    seen = screening({PiiBit.EMAIL})
    assert decide(document("#headers"), seen, health(0.9))[1] == "health_without_person"
    assert decide(document("leaflet.eml!/#headers"), seen, health(0.9))[1] == "health_without_person"
    assert decide(document("#body"), seen, health(0.9))[1] == "contact"


def test_cases_are_unique_and_the_last_row_takes_everything() -> None:
    assert len({row.case for row in TABLE}) == len(TABLE)
    assert TABLE[-1].case == decide(document(), screening(set()), health(0.0, 0))[1]


@given(
    bits=st.sets(st.sampled_from(list(PiiBit))),
    extra=st.sampled_from(list(PiiBit)),
    score=st.floats(0, 1),
    more=st.floats(0, 1),
    hamming=st.integers(0, 3),
    people=st.integers(0, 5),
    layout=st.booleans(),
)
def test_more_evidence_never_withdraws_a_referral(
    *, bits: set[PiiBit], extra: PiiBit, score: float, more: float, hamming: int, people: int, layout: bool
) -> None:
    low, high = sorted((score, more))
    less = screening(bits, hamming=hamming, people=people)
    before, _ = decide(document(), less, health(low), layout=layout)
    greater = screening(bits | {extra}, hamming=hamming, people=people + 1)
    after, _ = decide(document(), greater, health(high), layout=True)
    assert before is not Referral.REFERRED or after is Referral.REFERRED


@given(score=st.floats(0, 1), people=st.integers(0, 9))
def test_nothing_is_referred_without_anything_identifying(score: float, people: int) -> None:
    seen = screening({PiiBit.ORGANIZATION, PiiBit.DATE, PiiBit.HEALTH_PROFESSIONAL}, people=people)
    assert decide(document(), seen, health(score))[0] in {Referral.HEALTH_ONLY, Referral.CLEAR}


def test_a_layout_lifts_a_doubtful_record_and_nothing_else() -> None:
    named, measured = screening({PiiBit.LAST_NAME}, people=1), health(0.3, 2)
    assert decide(document(), named, measured)[1] == "person_by_name"
    assert decide(document(), named, measured, layout=True) == (Referral.REFERRED, "laid_out_as_a_record")
    assert decide(document(), named, health(0.3, 1), layout=True)[1] == "person_by_name"
    assert decide(document(), named, health(0.1, 2), layout=True)[1] == "person_by_name"
    assert decide(document(), screening({PiiBit.PHONE}), measured, layout=True)[1] == "neither"


def test_a_list_needs_its_terms_close_together_and_specialties_are_none() -> None:
    seen, measured = screening(NAME, people=5), health(0.4)
    far = replace(measured, window=WindowBag(900, (("cue:staff", 2), ("dx:term-0", 1), ("kind:dx", 1))))
    roster = replace(measured, window=WindowBag(900, (("spec:a", 1), ("spec:b", 1), ("spec:c", 1))))
    near = replace(measured, window=WindowBag(900, (("dx:a", 1), ("dx:b", 1), ("rx:c", 2))))
    cases = [decide(document(), seen, one)[1] for one in (far, roster, near)]
    assert cases == ["person_by_name", "person_by_name", "people_list"]
