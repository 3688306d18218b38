from dataclasses import replace

import pytest

from phiscan.model import EntityType, Finding, PiiBit, Reason, Span, bits_of
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.recognizer import Priority
from phiscan.screen.resolution import resolve
from tests.screen.whole import screened


def finding(start: int, end: int, kind: EntityType, score: float, source: str) -> Finding:
    return Finding(Span(start, end), kind, source, score, bits_of(kind), (Reason("rule", source, score),))


CUE = finding(0, 9, EntityType.LOCATION, 0.86, "places")
MODEL = replace(finding(0, 9, EntityType.PERSON, 0.97, "tagger"), priority=Priority.MODEL)
DOUBTED = finding(0, 40, EntityType.STREET_ADDRESS, 0.19, "model").set_aside("doubt", "unsure")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        # A priority outranks a confidence, which stays as it is.
        ([MODEL, CUE], [("LOCATION", 0, 9, 0.86)]),
        ([MODEL, replace(CUE, score=0.8)], [("PERSON", 0, 9, 0.97)]),
        # Two views of one name are united.
        (
            [finding(0, 8, EntityType.PERSON, 0.6, "a"), finding(5, 14, EntityType.PERSON, 0.9, "b")],
            [("PERSON", 0, 14, 0.9)],
        ),
        # Findings that only touch both stand.
        (
            [finding(5, 9, EntityType.EMAIL, 0.6, "b"), finding(0, 5, EntityType.PHONE, 0.6, "a")],
            [("PHONE", 0, 5, 0.6), ("EMAIL", 5, 9, 0.6)],
        ),
        # A doubtful address takes no part of what stands.
        (
            [
                DOUBTED,
                finding(0, 12, EntityType.LOCATION, 0.6, "a"),
                finding(20, 27, EntityType.POSTAL_CODE, 0.9, "b"),
            ],
            [("LOCATION", 0, 12, 0.6), ("POSTAL_CODE", 20, 27, 0.9)],
        ),
    ],
)
def test_of_findings_that_overlap_one_stands(
    given: list[Finding], kept: list[tuple[str, int, int, float]]
) -> None:
    found = resolve(given)
    assert [(one.entity_type, one.span.start, one.span.end, one.score) for one in found] == kept


def test_the_higher_score_stands_and_keeps_the_others_reason() -> None:
    low = finding(0, 9, EntityType.PHONE, 0.6, "phone")
    high = finding(2, 9, EntityType.SSN, 0.9, "ssn")
    (kept,) = resolve([low, high])
    assert (kept.entity_type, kept.span) == (EntityType.SSN, Span(2, 9))
    assert [reason.detail for reason in kept.reasons] == ["ssn", "phone"]
    assert kept.bits == {PiiBit.SSN}


def test_the_tagger_is_as_confident_as_its_model_and_ranks_below_labels() -> None:
    text = "Patient seen today. Daniel Kowalski lives in Guelph with Margaret Kowalski and Emily Tremblay.\n"
    findings = screened(text).findings
    sure = [one for one in findings if one.source == TAGGER and one.score > Priority.MODEL / 1000]
    assert sure
    assert all(one.rank == Priority.MODEL for one in sure)


def test_a_labelled_address_stays_whole_with_the_bits_of_its_parts() -> None:
    whole = finding(0, 40, EntityType.STREET_ADDRESS, 0.7, "label")
    parts = [
        finding(0, 12, EntityType.STREET_ADDRESS, 0.8, "street"),
        finding(14, 30, EntityType.LOCATION, 0.6, "city"),
        finding(32, 40, EntityType.POSTAL_CODE, 0.8, "code"),
    ]
    (kept,) = resolve([*parts, whole])
    assert kept.span == Span(0, 40)
    assert kept.bits == {PiiBit.STREET_ADDRESS, PiiBit.LOCATION}
    assert {reason.detail for reason in kept.reasons} >= {"label", "street", "city", "code"}
