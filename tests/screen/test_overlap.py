from dataclasses import replace

from phiscan.model import EntityType, Finding, PiiBit, Reason, Span, bits_of
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.recognizer import Priority
from phiscan.screen.resolution import resolve
from tests.screen.whole import screened


def finding(start: int, end: int, kind: EntityType, score: float, source: str) -> Finding:
    return Finding(Span(start, end), kind, source, score, bits_of(kind), (Reason("rule", source, score),))


def test_the_higher_score_stands_and_keeps_the_others_reason() -> None:
    low = finding(0, 9, EntityType.PHONE, 0.6, "phone")
    high = finding(2, 9, EntityType.SSN, 0.9, "ssn")
    (kept,) = resolve([low, high])
    assert (kept.entity_type, kept.span) == (EntityType.SSN, Span(2, 9))
    assert [reason.detail for reason in kept.reasons] == ["ssn", "phone"]
    assert kept.bits == {PiiBit.SSN}


def test_a_priority_outranks_a_confidence_that_stays_as_it_is() -> None:
    cue = finding(0, 9, EntityType.LOCATION, 0.86, "places")
    model = replace(finding(0, 9, EntityType.PERSON, 0.97, "tagger"), priority=Priority.MODEL)
    (kept,) = resolve([model, cue])
    assert (kept.entity_type, kept.score) == (EntityType.LOCATION, 0.86)
    (kept,) = resolve([model, replace(cue, score=0.8)])
    assert (kept.entity_type, kept.score) == (EntityType.PERSON, 0.97)


def test_the_tagger_is_as_confident_as_its_model_and_ranks_below_labels() -> None:
    text = "Patient seen today. Daniel Kowalski lives in Guelph with Margaret Kowalski and Emily Tremblay.\n"
    findings = screened(text).findings
    sure = [one for one in findings if one.source == TAGGER and one.score > Priority.MODEL / 1000]
    assert sure
    assert all(one.rank == Priority.MODEL for one in sure)


def test_two_views_of_one_name_are_united() -> None:
    left = finding(0, 8, EntityType.PERSON, 0.6, "a")
    right = finding(5, 14, EntityType.PERSON, 0.9, "b")
    (kept,) = resolve([left, right])
    assert kept.span == Span(0, 14)


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


def test_findings_that_only_touch_both_stand() -> None:
    left = finding(0, 5, EntityType.PHONE, 0.6, "a")
    right = finding(5, 9, EntityType.EMAIL, 0.6, "b")
    assert resolve([right, left]) == (left, right)


def test_a_doubtful_address_takes_no_part_of_what_stands() -> None:
    doubt = (Reason("doubt", "unsure", 0.19),)
    whole = Finding(Span(0, 40), EntityType.STREET_ADDRESS, "model", 0.19, frozenset(), doubt)
    parts = [
        finding(0, 12, EntityType.LOCATION, 0.6, "a"),
        finding(20, 27, EntityType.POSTAL_CODE, 0.9, "b"),
    ]
    kept = resolve([whole, *parts])
    assert [one.span for one in kept] == [Span(0, 12), Span(20, 27)]
    assert not any(one.is_doubtful for one in kept)
