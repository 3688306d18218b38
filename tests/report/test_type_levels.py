"""Identifier types as a hierarchy: counts are preserved upwards, a file counts once per label."""

from collections import Counter

from phiscan.report.gather import ReportData
from phiscan.report.rendering.html import render
from phiscan.report.sections.counts import ANY_KIND, type_levels
from phiscan.report.sections.reviewers import NO_SPANS, NO_TOPICS
from tests.report.page import visible_text


def test_counts_a_file_once_per_label_and_findings_as_often_as_they_are() -> None:
    findings = {
        1: Counter(HEALTH_CARD=3, HEALTH_PLAN=1),  # both are (I)
        2: Counter(HEALTH_CARD=1, PERSON=2),
    }
    distinct = {"HEALTH_CARD": 2, "HEALTH_PLAN": 1, "PERSON": 2}
    found = {c.name: c for c in type_levels(findings, distinct, frozenset({1})).counts}
    plan = found["(I) Health plan beneficiary numbers"]
    assert (plan.level, plan.parent) == (1, ANY_KIND)
    assert (plan.findings, plan.distinct, plan.files, plan.phi_files) == (5, 3, 2, 1)
    everything = found[ANY_KIND]
    assert (everything.level, everything.parent) == (2, "")
    assert (everything.findings, everything.distinct, everything.files, everything.phi_files) == (7, 5, 2, 1)
    card = found["HEALTH_CARD"]
    assert (card.level, card.parent, card.findings, card.files) == (0, plan.name, 4, 2)


def test_every_level_adds_up_to_the_findings(data: ReportData) -> None:
    total = sum(kind.findings for kind in data.findings_by_type)
    for level in range(3):
        assert sum(c.findings for c in data.type_levels.counts if c.level == level) == total
    assert {c.name: c.findings for c in data.type_levels.counts if c.level == 0} == {
        kind.entity_type: kind.findings for kind in data.findings_by_type
    }


def test_labels_stand_before_those_below_them(data: ReportData) -> None:
    seen = {""}
    for count in data.type_levels.counts:
        assert count.parent in seen
        seen.add(count.name)


def test_nothing_found_has_no_level() -> None:
    assert type_levels({}, {}, frozenset()).counts == ()


def test_says_that_scores_need_corrected_spans_and_topics(data: ReportData) -> None:
    text = visible_text(render(data))
    assert NO_SPANS in text
    assert NO_TOPICS in text
