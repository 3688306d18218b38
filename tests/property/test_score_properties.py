"""What every score must satisfy, whatever the input."""

import json
import math
from collections import Counter
from random import Random
from xml.sax.saxutils import escape

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from papers.areas import area_estimates
from phiscan.metrics.deidentification.randomization import randomization_test
from phiscan.metrics.deidentification.span_formats import parse_brat, parse_jsonl
from phiscan.metrics.deidentification.span_tokens import NOT_OF_A_VOCABULARY, token_extents, token_scores
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    align,
    instance_counts_by_type,
    scheme_counts,
)
from phiscan.metrics.differential_privacy import NOISES, noise_scale, release, smooth_sensitivity
from phiscan.metrics.hierarchy import Hierarchy, score_hierarchy
from phiscan.metrics.ranking import (
    Ranking,
    auc_roc,
    curve,
    minimum_aucpr,
    minimum_average_precision,
    minimum_precision,
    rank,
)
from phiscan.metrics.rates import OverlapCounts
from phiscan.report.spans.files import parse_i2b2

LIMITED = settings(max_examples=60, deadline=None)

TEXT = "Mr. John Smith seen 10/29 at MGH <&> 'x' by Dr. Huntington\nfor Huntington é𝒳 555-1234"


@st.composite
def spans(draw: st.DrawFn, length: int = len(TEXT)) -> LabelledSpan:
    start = draw(st.integers(0, length - 1))
    end = draw(st.integers(start + 1, min(length, start + 12)))
    return LabelledSpan(start, end, draw(st.sampled_from(["DATE", "ID", "PATIENT"])))


span_lists = st.lists(spans(), max_size=8)
rankings = st.builds(
    lambda positives, negatives: rank(
        [*positives, *negatives], [True] * len(positives) + [False] * len(negatives)
    ),
    st.lists(st.integers(-5, 5), min_size=1, max_size=15),
    st.lists(st.integers(-5, 5), min_size=1, max_size=15),
)


def _most_pairs(gold: list[LabelledSpan], system: list[LabelledSpan]) -> int:
    """Return the largest number of overlapping one-to-one pairs, by trying every choice."""
    if not gold:
        return 0
    first, rest = gold[0], gold[1:]
    best = _most_pairs(rest, system)
    for index, span in enumerate(system):
        if span.start < first.end and first.start < span.end:
            best = max(best, 1 + _most_pairs(rest, system[:index] + system[index + 1 :]))
    return best


@LIMITED
@given(st.lists(spans(16), max_size=5), st.lists(spans(16), max_size=5))
def test_alignment_has_the_fewest_errors(gold: list[LabelledSpan], system: list[LabelledSpan]) -> None:
    both = Counter(gold) & Counter(system)
    rest_gold = list((Counter(gold) - both).elements())
    rest_system = list((Counter(system) - both).elements())
    counts = align(gold, system).counts
    assert counts.correct == both.total()
    assert counts.substitution == _most_pairs(rest_gold, rest_system)


@LIMITED
@given(span_lists, span_lists, st.randoms(use_true_random=False))
def test_alignment_is_independent_of_order(
    gold: list[LabelledSpan], system: list[LabelledSpan], random: Random
) -> None:
    before = align(gold, system)
    shuffled_gold, shuffled_system = list(gold), list(system)
    random.shuffle(shuffled_gold)
    random.shuffle(shuffled_system)
    assert align(shuffled_gold, shuffled_system) == before


@LIMITED
@given(span_lists, span_lists)
def test_every_span_is_counted_once(gold: list[LabelledSpan], system: list[LabelledSpan]) -> None:
    counts = align(gold, system).counts
    assert (counts.n_gold, counts.n_system) == (len(gold), len(system))
    swapped = align(system, gold).counts
    assert (swapped.insertion, swapped.deletion) == (counts.deletion, counts.insertion)
    pair = (AnnotatedText("a", TEXT, tuple(gold)), AnnotatedText("a", None, tuple(system)))
    by_type = sum(instance_counts_by_type([pair]).values(), InstanceCounts())
    assert by_type.correct == counts.correct
    assert (by_type.n_gold, by_type.n_system) == (len(gold), len(system))
    for scheme in scheme_counts([pair]).values():
        assert (scheme.possible, scheme.actual) == (len(gold), len(system))


@LIMITED
@given(span_lists, span_lists)
def test_every_token_is_counted_as_a_naive_loop_counts_it(
    gold: list[LabelledSpan], system: list[LabelledSpan]
) -> None:
    pair = (AnnotatedText("a", TEXT, tuple(gold)), AnnotatedText("a", None, tuple(system)))
    scores = token_scores([pair], vocabulary={"John", "Huntington"})

    def touches(extent: tuple[int, int], found: list[LabelledSpan]) -> bool:
        return any(set(range(*extent)) & set(range(span.start, span.end)) for span in found)

    extents = token_extents(TEXT)
    assert [TEXT[a:b] for a, b in extents] == TEXT.split()
    truly = [touches(extent, gold) for extent in extents]
    said = [touches(extent, system) for extent in extents]
    assert scores.overall.tp == sum(t and s for t, s in zip(truly, said, strict=True))
    assert scores.overall.fp == sum(s and not t for t, s in zip(truly, said, strict=True))
    assert scores.overall.fn == sum(t and not s for t, s in zip(truly, said, strict=True))
    plain = {word for word, t in zip(TEXT.split(), truly, strict=True) if not t}
    assert scores.ambiguous.total == sum(
        t and word in plain for word, t in zip(TEXT.split(), truly, strict=True)
    )
    assert scores.out_of_vocabulary is not None
    assert scores.out_of_vocabulary.total == sum(
        word not in {"John", "Huntington"}
        for word, extent in zip(TEXT.split(), extents, strict=True)
        if touches(extent, [span for span in gold if span.type not in NOT_OF_A_VOCABULARY])
    )


counts = st.builds(InstanceCounts, st.integers(0, 4), st.integers(0, 2), st.integers(0, 4), st.integers(0, 4))


@LIMITED
@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=12), st.integers(0, 5))
def test_p_values_lie_between_their_bounds(
    pairs: list[tuple[InstanceCounts, InstanceCounts]], seed: int
) -> None:
    first = [a for a, _ in pairs]
    second = [
        InstanceCounts(min(b.correct, a.n_gold), 0, b.insertion, a.n_gold - min(b.correct, a.n_gold))
        for a, b in pairs
    ]
    one = randomization_test(first, second, shuffles=50, seed=seed)
    for result in one.values():
        assert result.p_value is None or 1 / 51 <= result.p_value <= 1
    other = randomization_test(second, first, shuffles=50, seed=seed)
    for name, result in one.items():
        if result.difference is not None:
            assert other[name].difference == -result.difference
            assert other[name].p_value == result.p_value


@LIMITED
@given(rankings)
def test_no_ranking_falls_below_the_unachievable_region(ranking: Ranking) -> None:
    areas = area_estimates(ranking)
    points = curve(ranking)
    for recall, precision in zip(points.recall.tolist(), points.precision.tolist(), strict=True):
        assert precision >= minimum_precision(recall, ranking.skew) - 1e-12
    assert areas.average_precision >= minimum_average_precision(ranking.n, ranking.m) - 1e-12
    assert areas.interpolated_convex >= minimum_aucpr(ranking.skew) - 1e-12
    assert areas.interpolated_max >= minimum_aucpr(ranking.skew) - 1e-12


@LIMITED
@given(rankings)
def test_estimates_keep_their_order_and_range(ranking: Ranking) -> None:
    areas = area_estimates(ranking)
    assert areas.lower_trapezoid <= areas.upper_trapezoid + 1e-12
    assert areas.interpolated_mean <= areas.interpolated_max + 1e-12
    assert areas.interpolated_median <= areas.interpolated_max + 1e-12
    assert areas.interpolated_max <= areas.interpolated_convex + 1e-12
    for name in areas.__slots__:
        value = getattr(areas, name)
        assert value is None or 0 < value <= 1 + 1e-12


@LIMITED
@given(rankings)
def test_perfect_and_reversed_rankings_are_the_ends(ranking: Ranking) -> None:
    mirrored = Ranking(-ranking.scores[::-1], ranking.positives[::-1], ranking.negatives[::-1])
    assert auc_roc(ranking) + auc_roc(mirrored) == pytest.approx(1)
    n, m = ranking.n, ranking.m
    best = area_estimates(rank([1] * n + [0] * m, [True] * n + [False] * m))
    assert best.average_precision == best.lower_trapezoid == best.interpolated_max == 1


@LIMITED
@given(
    st.sampled_from(["auc_roc", "average_precision", "accuracy"]),
    st.integers(0, 40),
    st.floats(0.01, 3),
    st.data(),
)
def test_smooth_sensitivity_is_smooth(metric: str, n: int, beta: float, data: st.DataObject) -> None:
    total = 40
    neighbour = data.draw(st.sampled_from([size for size in (n - 1, n, n + 1) if 0 <= size <= total]))
    here = smooth_sensitivity(metric, n, total - n, beta)
    there = smooth_sensitivity(metric, neighbour, total - neighbour, beta)
    assert here <= math.exp(beta) * there * (1 + 1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_has_its_distribution_and_stays_on_the_grid(noise: str) -> None:
    from scipy import stats  # noqa: PLC0415 (only this test)

    drawn = np.array([release(0.75, 0.02, noise) for _ in range(1_500)])
    assert (drawn * 2**40 == np.round(drawn * 2**40)).all()
    expected = stats.laplace(0.75, 0.02) if noise == "laplace" else stats.cauchy(0.75, 0.02)
    # One false alarm in a hundred million runs; a scale that is 2.5 times wrong is far beyond it.
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-8
    assert stats.kstest((drawn - 0.75) * 2.5 + 0.75, expected.cdf).pvalue < 1e-3


def test_more_privacy_needs_more_noise() -> None:
    scales = [
        noise_scale("auc_roc", 500, 500, epsilon=e, delta=1e-6, noise="laplace").scale for e in (0.1, 1, 5)
    ]
    assert scales == sorted(scales, reverse=True)


trees = st.dictionaries(
    st.integers(1, 12), st.sets(st.integers(0, 11), min_size=1, max_size=2), min_size=1, max_size=12
).map(lambda edges: {f"n{c}": {f"n{min(p, c - 1)}" for p in parents} for c, parents in edges.items()})


@LIMITED
@given(trees, st.data())
def test_levels_add_up_to_all(parents: dict[str, set[str]], data: st.DataObject) -> None:
    tree = Hierarchy(parents)
    labels = st.dictionaries(st.sampled_from(sorted(tree.labels)), st.integers(0, 3), max_size=5)
    documents = st.dictionaries(st.sampled_from(["a", "b"]), labels, max_size=2)
    gold, system = data.draw(documents), data.draw(documents)
    levels, overall = score_hierarchy(tree, gold, system)
    assert sum((level.count_preserving for level in levels), OverlapCounts()) == overall.count_preserving
    assert sum((level.set_based for level in levels), OverlapCounts()) == overall.set_based
    n_gold = sum(count for labels in gold.values() for count in labels.values())
    assert levels[0].count_preserving.tp + levels[0].count_preserving.fn == n_gold
    for level in levels:
        # Set-based counts are at most the count-preserving ones, and both swap with the two sides.
        assert level.set_based.tp <= level.count_preserving.tp
    mirrored, _ = score_hierarchy(tree, system, gold)
    assert [m.count_preserving.fp for m in mirrored] == [v.count_preserving.fn for v in levels]


@LIMITED
@given(st.lists(spans(), max_size=6))
def test_every_format_is_read_as_it_is_written(found: list[LabelledSpan]) -> None:
    document = AnnotatedText("a", TEXT, tuple(found))
    assert parse_jsonl("f", json.dumps({"id": "a", "text": TEXT, "spans": found})) == [document]
    lines = [f"T{n}\t{kind} {start} {end}\tx\n" for n, (start, end, kind) in enumerate(found)]
    assert parse_brat("f", "a", "".join(lines), TEXT) == document
    tags = "".join(f'<A start="{start}" end="{end}" TYPE="{kind}"/>' for start, end, kind in found)
    assert parse_i2b2("f", "a", f"<d><TEXT>{escape(TEXT)}</TEXT><TAGS>{tags}</TAGS></d>") == [document]
    apart: list[LabelledSpan] = []
    marked, reached = "", 0
    for start, end, kind in sorted(found):
        if start >= reached:
            apart.append(LabelledSpan(start, end, kind))
            marked += f'{escape(TEXT[reached:start])}<PHI TYPE="{kind}">{escape(TEXT[start:end])}</PHI>'
            reached = end
    record = f'<RECORD ID="a"><TEXT>{marked}{escape(TEXT[reached:])}</TEXT></RECORD>'
    assert parse_i2b2("f", "other", record) == [AnnotatedText("a", TEXT, tuple(apart))]
