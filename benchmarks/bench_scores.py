"""Time the scores: approximate randomization over 1,000 records, and span scoring against a naive scorer.

    .venv/bin/python -m pytest -m bench -s benchmarks/bench_scores.py

The naive alternative, in the same run and on the same data, compares every span of a record with every other
and takes the first that fits, as span evaluators commonly do; its randomization recounts per shuffle.
"""

import random
import time

import pytest

from papers.areas import area_estimates
from papers.intervals import bootstrap_interval
from phiscan.metrics.deidentification.randomization import randomization_test
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    instance_counts,
)
from phiscan.metrics.ranking import rank

TYPES = ("PATIENT", "DOCTOR", "HOSPITAL", "DATE", "ID", "LOCATION", "PHONE", "AGE")


def _records(n_records: int, n_spans: int) -> list[tuple[AnnotatedText, AnnotatedText]]:
    """Make gold spans apart from each other and a system that drops, moves, retypes and adds some."""
    choose = random.Random(7)
    pairs = []
    for number in range(n_records):
        gold, system = [], []
        for index in range(n_spans):
            span = LabelledSpan(40 * index, 40 * index + choose.randint(3, 30), choose.choice(TYPES))
            gold.append(span)
            draw = choose.random()
            if draw < 0.85:
                system.append(span)
            elif draw < 0.9:
                system.append(LabelledSpan(span.start, span.end + 5, span.type))
            elif draw < 0.95:
                system.append(LabelledSpan(span.start, span.end, choose.choice(TYPES)))
        choose.shuffle(system)
        pairs.append(
            (AnnotatedText(str(number), None, tuple(gold)), AnnotatedText(str(number), None, tuple(system)))
        )
    return pairs


def _naive(pairs: list[tuple[AnnotatedText, AnnotatedText]]) -> InstanceCounts:
    total = InstanceCounts()
    for gold, system in pairs:
        used: list[LabelledSpan] = []
        correct = substitution = insertion = 0
        for span in system.spans:
            if span in gold.spans:
                correct += 1
                used.append(span)
                continue
            for truth in gold.spans:
                if (
                    set(range(span.start, span.end)) & set(range(truth.start, truth.end))
                    and truth not in used
                ):
                    substitution += 1
                    used.append(truth)
                    break
            else:
                insertion += 1
        total += InstanceCounts(correct, substitution, insertion, len(gold.spans) - len(used))
    return total


@pytest.mark.bench
def test_time_span_scores() -> None:
    pairs = _records(1_000, 40)
    begin = time.perf_counter()
    ours = sum(instance_counts(pairs), InstanceCounts())
    middle = time.perf_counter()
    naive = _naive(pairs)
    end = time.perf_counter()
    assert (ours.correct, ours.n_gold, ours.n_system) == (naive.correct, naive.n_gold, naive.n_system)
    n_spans = ours.n_gold + ours.n_system
    print(
        f"\nspans, 1,000 records, {n_spans:,} spans: ours {middle - begin:.2f} s "
        f"({n_spans / (middle - begin):,.0f} spans/s), naive {end - middle:.2f} s "
        f"({n_spans / (end - middle):,.0f} spans/s), ratio {(end - middle) / (middle - begin):.1f}"
    )


@pytest.mark.bench
def test_time_approximate_randomization() -> None:
    first = list(instance_counts(_records(1_000, 10)))
    second = [InstanceCounts(c.correct, c.substitution, c.insertion, c.deletion) for c in reversed(first)]
    begin = time.perf_counter()
    randomization_test(first, second, shuffles=9_999)
    middle = time.perf_counter()
    flip, shuffles = random.Random(1), 200
    for _ in range(shuffles):
        coins = [flip.random() < 0.5 for _ in first]
        one = [b if coin else a for a, b, coin in zip(first, second, coins, strict=True)]
        _ = sum(one, InstanceCounts()).rates
    naive = (time.perf_counter() - middle) * 9_999 / shuffles
    print(
        f"\nrandomization, 1,000 records, 9,999 shuffles, 3 measures: ours {middle - begin:.2f} s, "
        f"naive {naive:.1f} s (from {shuffles} shuffles), ratio {naive / (middle - begin):.0f}"
    )


@pytest.mark.bench
def test_time_ranking() -> None:
    generator = random.Random(3)
    labels = [index % 10 == 0 for index in range(100_000)]
    scores = [generator.gauss(float(label), 1) for label in labels]
    begin = time.perf_counter()
    ranking = rank(scores, labels)
    areas = area_estimates(ranking)
    middle = time.perf_counter()
    bootstrap_interval(ranking, replicates=200)
    end = time.perf_counter()
    print(
        f"\nranking, 100,000 examples: areas {middle - begin:.2f} s, 200 resamples {end - middle:.2f} s; "
        f"AP {areas.average_precision:.4f}"
    )
