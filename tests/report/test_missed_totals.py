"""The totals beside the log-linear models: each from the metrics, null with its reason where undefined."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from phiscan.metrics.capture_recapture.captures import capture_table
from phiscan.metrics.capture_recapture.missed import estimate_missed
from phiscan.metrics.capture_recapture.strata import stratified_total
from phiscan.report.sections.missed import Capture
from phiscan.report.sections.screened import Estimate
from tests.report.synthetic import Fill, captured, marked

# Confirmed files by history, and what is read as text and as PDF.
COUNTS = {
    (1, 1, 1): (9, 6),
    (1, 1, 0): (5, 4),
    (1, 0, 1): (4, 6),
    (0, 1, 1): (5, 3),
    (1, 0, 0): (6, 5),
    (0, 1, 0): (4, 7),
    (0, 0, 1): (3, 5),
}


def confirmed(filled: Fill, formats: Sequence[str] = ("text/plain", "application/pdf")) -> Capture:
    kinds = [
        (history, media_type)
        for history, sizes in COUNTS.items()
        for media_type, size in zip(formats, sizes, strict=True)
        for _ in range(size)
    ]
    results = zip(marked(history for history, _ in kinds), kinds, strict=True)
    return captured(filled, [replace(one, media_type=media_type) for one, (_, media_type) in results])


def named(found: Sequence[Estimate], part: str) -> Estimate:
    return next(e for e in found if part in e.name)


def test_takes_every_total_from_the_metrics(filled: Fill) -> None:
    found = confirmed(filled).totals
    expected = estimate_missed(capture_table(list(COUNTS), [sum(sizes) for sizes in COUNTS.values()]))
    assert expected.averaged
    assert expected.model_range
    assert named(found, "lower bound").value == expected.lower_bound.total
    assert named(found, "Sample coverage C").value == expected.coverage.coverage
    assert named(found, "independent").value == expected.coverage.independent_total
    assert named(found, "corrected for dependence").value == expected.coverage.total
    assert named(found, "one-step").value == expected.coverage.one_step_total
    assert (named(found, "averaged").value, named(found, "averaged").ci95) == (
        expected.averaged.total,
        expected.averaged.ci95,
    )
    assert (named(found, "Smallest").value, named(found, "Largest").value) == expected.model_range
    best = next(fit for fit in expected.models if fit.model == expected.selected_aic)
    assert (named(found, "lowest AIC").value, named(found, "lowest AIC").ci95) == (best.total, best.ci95)
    assert expected.selected_bic in named(found, "lowest BIC").name
    n, once, twice = named(found, "lower bound").inputs.values()
    assert expected.lower_bound.total == n + once**2 / (2 * twice)
    inputs = named(found, "independent").inputs
    assert expected.coverage.independent_total == pytest.approx(inputs["D"] / inputs["C"], abs=1e-9)


def test_adds_up_the_formats(filled: Fill) -> None:
    capture = confirmed(filled)
    tables = {
        name: capture_table(list(COUNTS), [sizes[place] for sizes in COUNTS.values()])
        for place, name in enumerate(("Plain text", "PDF"))
    }
    expected = stratified_total(tables)
    assert {part.name: part.total for part in capture.formats} == dict(expected.strata)
    summed = named(capture.totals, "sum over the formats")
    assert (summed.value, summed.ci95) == (expected.combined.total, expected.combined.ci95)


def test_one_format_has_nothing_to_add_up_and_no_confirmed_file_no_total(filled: Fill) -> None:
    capture = confirmed(filled, ("text/plain", "text/plain"))
    summed = named(capture.totals, "sum over the formats")
    assert (capture.formats, summed.value) == ((), None)
    assert "fewer than two formats" in (summed.reason or "")
    nothing = captured(filled, marked([(True, True, True)]), [None])
    assert nothing.totals == ()
    assert nothing.reason
