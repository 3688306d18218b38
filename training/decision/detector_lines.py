"""Calibrate the three detectors: Platt scaling of their margins, cross-validated by families.

Run from the checkout: ``python -m training.decision.detector_lines --work DIR``, after
``training.decision.build`` has filled DIR. Writes
phiscan/health/data/detectors.json and prints the reliability of each detector.
"""

# ruff: noqa: S301 (the pickles are written by training.decision.build)

from __future__ import annotations

import argparse
import json
import math
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from phiscan.health.classifier import TEXT_MODEL_FILE
from phiscan.health.detectors import DETECTORS, DETECTORS_FILE, FORMAT_VERSION, MARGIN_RANGE, detector_margins
from phiscan.health.text_detector import load_text_model
from training.decision.fit import Flags, Floats, balanced, weights_of
from training.decision.measure import (
    N_FOLDS,
    calibration_error,
    folds_of,
    probabilities,
    reliability,
)

VERSION = "detectors-1"
# Detector B's prototypes were chosen among these texts: its margins on them are too good.
SEEN_BY_B = "own:"

Line = tuple[float, float, float]  # slope, intercept, log-odds without the detector's required feature


def fit_line(values: Floats, is_phi: Flags, weights: Floats) -> Line:
    """Return the Platt scaling of a detector's margins; NaN: its required feature is missing."""
    has = ~np.isnan(values)
    model = LogisticRegression(C=1e6).fit(values[has][:, None], is_phi[has], sample_weight=weights[has])
    phi, other = weights[~has & is_phi].sum() + 1.0, weights[~has & ~is_phi].sum() + 1.0
    without = 0.0 if has.all() else math.log(phi / other)
    return float(model.coef_[0][0]), float(model.intercept_[0]), without


def log_odds(values: Floats, line: Line) -> Floats:
    """Return the log-odds of margins."""
    slope, intercept, without = line
    return np.where(np.isnan(values), without, slope * np.nan_to_num(values) + intercept)


def margins_of(screened: Sequence[Any], text: dict[str, float]) -> dict[str, Floats]:
    """Return the margins of each detector on the samples; those of C by held-out models."""
    cut = load_text_model(TEXT_MODEL_FILE).threshold
    rows = [
        dict(detector_margins(one.document, one.screening, one.health, text[one.identifier] - cut))
        for one in screened
        for one in screened
    ]
    found = {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows]) for name in DETECTORS
    }
    return {name: np.clip(values, -MARGIN_RANGE, MARGIN_RANGE) for name, values in found.items()}


def main() -> None:
    """Read the screened samples, fit and cross-validate each calibration, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder that training.decision.build filled")
    work = parser.parse_args().work
    scores, identifiers = pickle.loads((work / "left_out.pickle").read_bytes())
    text = dict(zip(identifiers, scores.text.tolist(), strict=True))
    screened = [
        one
        for path in sorted((work / "screened").glob("*.pickle"))
        for one in pickle.loads(path.read_bytes())
        if one.identifier in text
    ]
    is_phi = np.array([one.is_phi for one in screened])
    weights, fold = balanced(weights_of(screened), is_phi), folds_of(screened)
    family = np.array([one.family for one in screened])
    lines: dict[str, dict[str, float]] = {}
    for name, values in margins_of(screened, text).items():
        fair = ~np.char.startswith(family, SEEN_BY_B) if name == "names" else np.ones(len(family), np.bool_)
        odds = np.empty(len(values))
        for number in range(N_FOLDS):
            learn, held = fair & (fold != number), fold == number
            odds[held] = log_odds(values[held], fit_line(values[learn], is_phi[learn], weights[learn]))
        share = np.where(
            is_phi, weights / weights[fair & is_phi].sum(), weights / weights[fair & ~is_phi].sum()
        )
        bins = reliability(probabilities(odds[fair]), is_phi[fair], share[fair])
        line = fit_line(values[fair], is_phi[fair], weights[fair])
        lines[name] = dict(
            zip(("slope", "intercept", "without"), (round(part, 4) for part in line), strict=True)
        )
        print(f"{name}: {int(fair.sum())} texts, {lines[name]}, error {calibration_error(bins):.3f}")
        for predicted, observed, weight in bins:
            print(f"  | {predicted:.3f} | {observed:.3f} | {weight / 2:.3f} |")
    written = {"format": FORMAT_VERSION, "version": VERSION, "detectors": lines}
    DETECTORS_FILE.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
