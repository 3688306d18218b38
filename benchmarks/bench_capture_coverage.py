"""Coverage of the reported interval of the missed-PHI estimate in simulations.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_capture_coverage.py``. Each simulated share
has a known number of PHI files; each file is found by some of three detectors. Two worlds:

* *real*: the scores of the shipped detectors on held-out PHI documents (every family the same weight), cut
  where each detector has the recall given, so that hard files are hard for several of them as much as they
  really are. At the shipped thresholds none of these documents is missed by all three, and there would be
  nothing to estimate. Needs the development texts.
* *independent*: the same three recalls, each detector deciding alone.

Beside the share of intervals that hold the truth stand the median estimate of the missed files and how often
the report warns (whatever would make a reader distrust the number), for each method that the report shows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.bench_referral_share import DATA, texts
from phiscan import screen
from phiscan.config import Config
from phiscan.health import detectors
from phiscan.health.classifier import build_classifier, classify
from phiscan.health.detectors import DETECTORS
from phiscan.health.file_evidence import NAMES
from phiscan.health.text_detector import masked
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.missed import estimate_missed
from phiscan.metrics.intervals import clopper_pearson
from phiscan.model import Document, Segment
from phiscan.report.sections.missed import coverage_warnings, pair_estimates

N_SHARES = 100
SIZES = (100, 500)
RECALLS = ((0.7, 0.8, 0.6), (0.5, 0.6, 0.5))
SEED = 2008


@dataclass
class Tally:
    """The results of one method over all shares."""

    held: int = 0
    given: int = 0
    missed: list[float] | None = None


def scores() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return each detector's score of every held-out PHI document, (documents, 3), and the weights."""
    screener, classifier = screen.build_screener(Config()), build_classifier(Config())
    rows, families = [], []
    for family, label, text in texts():
        if label != "PHI":
            continue
        document = Document(text, (Segment("", 0, len(text)),), "text/plain")
        screening = screen.screen(document, screener)
        health = classify(document, classifier)
        identified = any(
            finding.entity_type not in detectors._NAME_TYPES and finding.bits - detectors._WEAK
            for finding in screening.findings
        )
        n_concepts = len({hit.concept for hit in health.terms})
        density = 1000 * len(health.terms) / len(text)
        spans = [finding.span for finding in screening.findings] + [hit.span for hit in health.terms]
        rows.append(
            (
                identified * min(n_concepts / detectors.MIN_CONCEPTS, density / detectors.MIN_DENSITY),
                health.by_concepts if screening.vector.bits & NAMES else 0.0,
                classifier.text_model.decide(masked(text, spans)),
            )
        )
        families.append(family)
    counts = Counter(families)
    weights = np.array([1 / counts[family] / len(counts) for family in families])
    return np.array(rows), weights


def histories(
    found: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], recalls: tuple[float, ...]
) -> npt.NDArray[np.float64]:
    """Return the probability of each capture history (bit j: detector j + 1) at these recalls."""
    shares = np.zeros(8)
    found_by = np.zeros(found.shape, dtype=bool)
    for place, recall in enumerate(recalls):
        order = np.argsort(-found[:, place], kind="stable")
        reached = np.cumsum(weights[order])
        found_by[order[reached <= recall + 1e-9], place] = True
    for row, weight in zip(found_by, weights, strict=True):
        shares[sum(1 << place for place in range(3) if row[place])] += weight
    return shares


def independent(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    recalls = [sum(shares[h] for h in range(8) if h >> place & 1) for place in range(3)]
    made = np.ones(8)
    for history in range(8):
        for place, recall in enumerate(recalls):
            made[history] *= recall if history >> place & 1 else 1 - recall
    return made


def simulate(name: str, shares: npt.NDArray[np.float64]) -> None:
    draw = np.random.default_rng(SEED)
    for size in SIZES:
        methods: dict[str, Tally] = {}
        truth, warned = [], 0
        for _ in range(N_SHARES):
            counts = draw.multinomial(size, shares)
            truth.append(int(counts[0]))
            table = CaptureTable(3, (0, *(int(count) for count in counts[1:])))
            models = estimate_missed(table)
            warned += bool(coverage_warnings(pair_estimates(table, DETECTORS)))
            fits = {fit.model: fit for fit in models.models}
            chosen = {
                "model of the lowest AIC": fits.get(models.selected_aic or ""),
                "model of the lowest BIC": fits.get(models.selected_bic or ""),
                "average over the models": models.averaged,
            }
            intervals = {
                method: (one.missed, one.ci95) if one else (None, None) for method, one in chosen.items()
            }
            if models.model_range is not None:
                low, high = models.model_range
                intervals["range of the models"] = (low - table.n_found, (low, high))
            for method, (missed, interval) in intervals.items():
                tally = methods.setdefault(method, Tally(missed=[]))
                if interval is None or missed is None:
                    continue
                tally.given += 1
                tally.held += interval[0] <= size <= interval[1]
                tally.missed.append(missed)  # type: ignore[union-attr]
        print(
            f"| {name}, {size} PHI files; missed by all three: median {np.median(truth):.0f};"
            f" the report warns in {warned / N_SHARES:.2f} of the shares | | | |"
        )
        for method, tally in methods.items():
            low, high = clopper_pearson(tally.held, N_SHARES)
            held = f"{tally.held / N_SHARES:.2f} [{low:.2f}, {high:.2f}]"
            median = np.median(tally.missed or [np.nan])
            print(f"| {method} | {tally.given / N_SHARES:.2f} | {held} | {median:.0f} |")


@pytest.mark.bench
@pytest.mark.timeout(3000)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_coverage_of_the_intervals() -> None:
    found, weights = scores()
    print("\n| method | gives an interval | holds the truth [95%] | median missed |")
    print("| --- | --- | --- | --- |")
    for recalls in RECALLS:
        shares = histories(found, weights, recalls)
        assert abs(shares.sum() - 1) < 1e-9
        simulate(f"real, recalls {recalls}", shares)
        simulate(f"independent, recalls {recalls}", independent(shares))
