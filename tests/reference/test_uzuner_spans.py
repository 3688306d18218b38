"""Figures of Uzuner, Luo & Szolovits (2007), and of the SemEval-2013 scheme that nervaluate documents."""

import itertools
from typing import Any

import pytest

from phiscan.metrics.deidentification.randomization import randomization_test
from phiscan.metrics.deidentification.span_tokens import token_scores
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    align,
    scheme_counts,
)
from phiscan.metrics.rates import rates


def span(start: int, end: int, kind: str) -> LabelledSpan:
    return LabelledSpan(start, end, kind)


def test_calls_a_date_marked_as_an_id_a_substitution() -> None:
    assert align([span(0, 5, "DATE")], [span(0, 5, "ID")]).counts == InstanceCounts(substitution=1)


def test_calls_a_date_marked_with_its_year_a_substitution() -> None:
    # "Marking 08/97 as a date when the ground truth marks only 08"
    assert align([span(0, 2, "DATE")], [span(0, 5, "DATE")]).counts == InstanceCounts(substitution=1)


def test_calls_marked_non_phi_an_insertion_and_unmarked_phi_a_deletion() -> None:
    counts = align([span(0, 5, "DATE")], [span(9, 12, "DATE")]).counts
    assert counts == InstanceCounts(insertion=1, deletion=1)


def test_scores_the_locations_of_the_best_system() -> None:
    # "Wellner 3" misses 38, partially matches 7 and mislabels as hospitals 5 of the 119 location instances.
    gold = [span(10 * i, 10 * i + 8, "LOCATION") for i in range(119)]
    system = [span(s.start, s.end - 3, "LOCATION") for s in gold[38:45]]
    system += [span(s.start, s.end, "HOSPITAL") for s in gold[45:50]]
    system += gold[50:]
    counts = align(gold, system).counts
    assert counts == InstanceCounts(correct=69, substitution=12, insertion=0, deletion=38)
    assert counts.rates.recall == 69 / 119
    assert counts.rates.precision == 69 / 81


# Table 3, test sub-corpus: printed percentages, as whole numbers of the instances and tokens of Table 1.
@pytest.mark.parametrize(
    ("found", "total", "printed", "digits"),
    [
        (36, 245, 14.7, 1),  # patients, in record, instances
        (17, 119, 14.3, 1),  # locations, in corpus, instances
        (12, 2161, 0.56, 2),  # dates, in record, tokens
        (1, 1198, 0.08, 2),  # IDs, in corpus, tokens
    ],
)
def test_recomputes_the_ambiguity_percentages_of_table_3(
    found: int, total: int, printed: float, digits: int
) -> None:
    counts = InstanceCounts(correct=found, deletion=total - found)
    assert round(100 * counts.rates.recall, digits) == printed


def test_keeps_rates_exact_for_counts_of_a_thousand_million() -> None:
    found = rates(999_999_999, 1_000_000_000, 1_000_000_001)
    assert found.precision == 0.999999999
    assert found.f1 == 2 * 999_999_999 / 2_000_000_001


def test_scores_tokens_of_a_record_in_the_format_of_figure_1() -> None:
    text = "358-51-76 ADMISSION DATE : 10/29/1997 NAME SLOAN , CHARLES E"
    gold = AnnotatedText("1", text, (span(0, 9, "ID"), span(27, 32, "DATE"), span(43, len(text), "PATIENT")))
    system = AnnotatedText("1", None, (span(0, 9, "ID"), span(43, 48, "PATIENT"), span(10, 19, "ID")))
    scores = token_scores([(gold, system)])
    # PHI tokens: the ID, 10/29/1997 (touched), and SLOAN , CHARLES E.
    assert (scores.overall.tp, scores.overall.fp, scores.overall.fn) == (2, 1, 4)
    assert scores.by_type["PATIENT"].rates.recall == 1 / 4


def test_gives_the_smallest_p_value_of_9999_shuffles() -> None:
    better = [InstanceCounts(correct=10)] * 60
    worse = [InstanceCounts(deletion=10)] * 60
    result = randomization_test(better, worse)["recall"]
    assert result.shuffles == 9_999
    assert result.p_value == 1 / 10_000  # s = (n + 1)/(N + 1) with n = 0


def test_never_calls_two_equal_systems_different() -> None:
    counts = [InstanceCounts(correct=3, substitution=1, deletion=2, insertion=i) for i in range(20)]
    for result in randomization_test(counts, counts, shuffles=99).values():
        assert result.p_value == 1.0
        assert result.difference == 0.0


def test_agrees_with_the_exact_randomization_distribution() -> None:
    first = [InstanceCounts(c, 0, i, 5 - c) for c, i in [(5, 0), (3, 1), (4, 2), (2, 0), (5, 1), (4, 0)]]
    second = [InstanceCounts(c, 0, i, 5 - c) for c, i in [(3, 1), (3, 0), (1, 2), (3, 0), (2, 1), (4, 3)]]

    def f1(counts: Any) -> float:
        return sum(counts, InstanceCounts()).rates.f1

    observed = abs(f1(first) - f1(second))
    extreme = 0
    for coins in itertools.product([False, True], repeat=6):
        one = [b if coin else a for a, b, coin in zip(first, second, coins, strict=True)]
        two = [a if coin else b for a, b, coin in zip(first, second, coins, strict=True)]
        extreme += abs(f1(one) - f1(two)) >= observed - 1e-12
    result = randomization_test(first, second, shuffles=40_000, seed=3)["f1"]
    assert result.difference == pytest.approx(f1(first) - f1(second), abs=1e-15)
    assert result.p_value == pytest.approx(extreme / 64, abs=0.01)


# The six scenarios that the documentation of nervaluate tabulates for SemEval-2013 task 9.1.
SCENARIO_GOLD = (
    span(0, 5, "BRAND"),
    span(23, 31, "DRUG"),
    span(40, 50, "DRUG"),
    span(60, 70, "DRUG"),
    span(85, 99, "GROUP"),
)
SCENARIO_SYSTEM = (
    span(10, 15, "BRAND"),
    span(20, 31, "DRUG"),
    span(40, 50, "BRAND"),
    span(60, 70, "DRUG"),
    span(80, 99, "DRUG"),
)


@pytest.mark.parametrize(
    ("scheme", "counts", "figure"),
    [
        ("type", (2, 2, 0, 1, 1), 0.4),
        ("partial", (2, 0, 2, 1, 1), 0.6),
        ("exact", (2, 2, 0, 1, 1), 0.4),
        ("strict", (1, 3, 0, 1, 1), 0.2),
    ],
)
def test_counts_the_scenarios_of_semeval(scheme: str, counts: Any, figure: float) -> None:
    pair = (AnnotatedText("a", None, SCENARIO_GOLD), AnnotatedText("a", None, SCENARIO_SYSTEM))
    found = scheme_counts([pair])[scheme]
    assert (found.correct, found.incorrect, found.partial, found.missed, found.spurious) == counts
    assert found.rates.precision == pytest.approx(figure)
    assert found.rates.recall == pytest.approx(figure)
