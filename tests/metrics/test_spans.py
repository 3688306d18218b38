"""Instance, token and scheme scores: cases that decide a convention."""

import pytest

from phiscan.metrics.deidentification.span_tokens import Subset, covered_tokens, token_extents, token_scores
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    align,
    instance_counts,
    instance_counts_by_type,
)
from phiscan.metrics.rates import Rates, rates


def span(start: int, end: int, kind: str = "ID") -> LabelledSpan:
    return LabelledSpan(start, end, kind)


def test_counts_a_duplicate_as_an_insertion() -> None:
    assert align([span(0, 4)], [span(0, 4), span(0, 4)]).counts == InstanceCounts(correct=1, insertion=1)


def test_pairs_exact_spans_before_anything_else() -> None:
    # Pairing the exact ones leaves the long gold span alone; a larger overlap elsewhere does not matter.
    gold, system = [span(0, 4), span(0, 20)], [span(0, 4), span(30, 40)]
    assert align(gold, system).counts == InstanceCounts(correct=1, insertion=1, deletion=1)


def test_finds_the_pairing_that_a_greedy_scorer_misses() -> None:
    gold, system = [span(0, 10), span(8, 12)], [span(5, 11, "DATE"), span(0, 3, "DATE")]
    assert align(gold, system).counts == InstanceCounts(substitution=2)


def test_prefers_equal_extents_then_types_among_equal_pairings() -> None:
    gold = [span(0, 10, "ID"), span(5, 15, "DATE")]
    system = [span(4, 15, "DATE"), span(0, 10, "PATIENT")]
    assert align(gold, system).near == ((gold[0], system[1]), (gold[1], system[0]))


def test_does_not_pair_spans_that_only_touch() -> None:
    assert align([span(0, 4)], [span(4, 8)]).counts == InstanceCounts(insertion=1, deletion=1)


def test_refuses_thousands_of_spans_on_top_of_each_other() -> None:
    gold = [span(0, 10_000 + index) for index in range(3_000)]
    system = [span(0, 20_000 + index) for index in range(3_000)]
    with pytest.raises(ValueError, match="3000 gold and 3000 system spans"):
        align(gold, system)


def test_counts_a_wrong_type_against_both_types() -> None:
    pair = (AnnotatedText("a", None, (span(0, 4, "DATE"),)), AnnotatedText("a", None, (span(0, 4, "ID"),)))
    assert instance_counts_by_type([pair]) == {
        "DATE": InstanceCounts(deletion=1),
        "ID": InstanceCounts(insertion=1),
    }
    assert instance_counts([pair]) == (InstanceCounts(substitution=1),)


def test_has_no_rate_without_a_denominator() -> None:
    assert rates(0, 0, 5) == Rates(None, 0.0, None)
    assert rates(0, 5, 0) == Rates(0.0, None, None)
    assert rates(0, 0, 0).reason.startswith("nothing in the gold standard and nothing")
    assert rates(1, 1, 1).reason == ""


def test_splits_tokens_at_every_white_space() -> None:
    assert token_extents(" a\tb\u00a0c\n") == [(1, 2), (3, 4), (5, 6)]


def test_covers_a_token_by_any_of_its_characters() -> None:
    extents = token_extents("10/29/1997 x")
    assert covered_tokens(extents, [span(0, 2)]) == {0}
    assert covered_tokens(extents, [span(10, 11)]) == set()  # the space between


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


def test_needs_the_gold_text_for_tokens() -> None:
    document = AnnotatedText("a", None, ())
    with pytest.raises(ValueError, match="needs its text"):
        token_scores([(document, document)])
