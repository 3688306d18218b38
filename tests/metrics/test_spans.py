"""Instance, token and scheme scores: cases that decide a convention."""

import pytest

from phiscan.metrics.deidentification.randomization import randomization_test
from phiscan.metrics.deidentification.span_tokens import Subset, token_scores
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    align,
)
from phiscan.metrics.rates import Rates, rates


def span(start: int, end: int, kind: str = "ID") -> LabelledSpan:
    return LabelledSpan(start, end, kind)


def test_prefers_equal_extents_then_types_among_equal_pairings() -> None:
    gold = [span(0, 10, "ID"), span(5, 15, "DATE")]
    system = [span(4, 15, "DATE"), span(0, 10, "PATIENT")]
    assert align(gold, system).near == ((gold[0], system[1]), (gold[1], system[0]))


def test_refuses_thousands_of_spans_on_top_of_each_other() -> None:
    gold = [span(0, 10_000 + index) for index in range(3_000)]
    system = [span(0, 20_000 + index) for index in range(3_000)]
    with pytest.raises(ValueError, match="3000 gold and 3000 system spans"):
        align(gold, system)


def test_has_no_rate_without_a_denominator() -> None:
    assert rates(0, 0, 5) == Rates(None, 0.0, None)
    assert rates(0, 5, 0) == Rates(0.0, None, None)
    assert rates(0, 0, 0).reason.startswith("nothing in the gold standard and nothing")
    assert rates(1, 1, 1).reason == ""


def test_ignores_case_only_when_asked() -> None:
    pair = (AnnotatedText("a", "May may", (span(0, 3),)), AnnotatedText("a", None, ()))
    assert token_scores([pair], {"may"}).ambiguous.total == 0
    folded = token_scores([pair], {"may"}, normalise=str.casefold)
    assert folded.ambiguous.total == 1
    assert folded.out_of_vocabulary is not None
    assert folded.out_of_vocabulary.total == 0


def test_scores_subsets_with_their_precision() -> None:
    gold = AnnotatedText(
        "a", "Dr. Can can Boston MA 9/10", (span(4, 7, "DOCTOR"), span(12, 18, "LOCATION"), span(22, 26))
    )
    system = AnnotatedText("a", None, (span(4, 11, "DOCTOR"), span(19, 21, "LOCATION")))
    scores = token_scores([(gold, system)], {"boston"}, normalise=str.casefold)
    # "Can" is PHI and "can" is not: one found, one marked for nothing.
    assert scores.ambiguous.rates.precision == 0.5
    assert scores.ambiguous.rates.recall == 1.0
    # Out of vocabulary: Can (found), MA (marked for nothing); Boston is known, 9/10 is a date.
    assert scores.out_of_vocabulary == Subset(found=1, total=1, spurious=2)


def test_calls_a_token_of_two_types_ambiguous_too() -> None:
    gold = AnnotatedText("a", "Lee of Lee", (span(0, 3, "DOCTOR"), span(7, 10, "PATIENT")))
    scores = token_scores([(gold, AnnotatedText("a", None, (span(0, 3, "DOCTOR"),)))])
    assert scores.ambiguous.total == 0
    assert scores.ambiguous_any == Subset(found=1, total=2, spurious=0)


def test_never_shows_text_in_a_representation() -> None:
    assert "secret" not in repr(AnnotatedText("a", "secret", (span(0, 6),)))


def test_counts_ties_in_exact_arithmetic() -> None:
    # 3/10 - 1/10 and 4/10 - 2/10 are equal, though not as floating-point numbers.
    first = [InstanceCounts(correct=3, deletion=7)]
    second = [InstanceCounts(correct=1, deletion=9)]
    assert randomization_test(first, second, shuffles=99)["recall"].p_value == 1.0
