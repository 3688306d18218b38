"""Build the model of P(PHI) and the text detector, and measure both by leave-family-out cross-validation.

Run from the checkout: ``python -m training.decision.build --work DIR [--ordinary DIR]``. The work folder
caches the screened texts, so that a second run takes seconds. ``--measure`` writes no model.
"""

# ruff: noqa: S301 (the pickles are written by this command)

from __future__ import annotations

import argparse
import pickle
from pathlib import Path

import numpy as np

from phiscan.decision.model import INPUTS, MODEL_FILE, threshold_of
from phiscan.health.classifier import TEXT_MODEL_FILE
from phiscan.health.patient_classifier import log_odds_of
from phiscan.health.term_lexicon import load_lexicon
from training.decision.features import Described, described, screened
from training.decision.fit import (
    TEXT_C,
    WORDS_C,
    fit_joint,
    fit_rows,
    text_rows,
    weights_of,
    word_rows,
)
from training.decision.measure import (
    LeftOut,
    calibration,
    calibration_error,
    left_out,
    plot,
    probabilities,
    reliability,
    table,
)
from training.decision.padded_texts import padded_texts
from training.decision.sources import ROOT, samples

VERSION, TEXT_VERSION = "phi-5", "text-7"
PREVALENCE, MISSED_FILE_COST = 0.01, 60.0
MESSAGE_LOG_ODDS = 4.0  # of a message of care, both sides equally frequent: 56 of 57 are PHI
ALONE_MARGIN = 0.5  # log-odds that a passage judged alone must be surer by
TEXT_FALSE_RATE = 0.01  # share of ordinary files above the text detector's threshold, left out
CARD = ROOT / "docs" / "reference" / "model-card-probability.md"
PLOT = ROOT / "docs" / "reference" / "reliability.svg"


def documents_of(work: Path, ordinary: Path | None) -> list[Described]:
    """Return the features of all samples: computed, or from the cache of an earlier run."""
    kept = work / "described.pickle"
    if kept.exists():
        return list(pickle.loads(kept.read_bytes()))
    raw = work / "screened"
    if not raw.is_dir():
        raw.mkdir(parents=True)
        every = list(samples(ordinary))
        screened([*every, *padded_texts(every)], raw)
    lexicon = load_lexicon()
    found = [
        described(one, lexicon)
        for path in sorted(raw.glob("*.pickle"))
        for one in pickle.loads(path.read_bytes())
    ]
    kept.write_bytes(pickle.dumps(found))
    return found


def calibrated(scores: LeftOut, documents: list[Described]) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Return the log-odds of each document, balanced, and (slope, intercept) of each regression.

    The maximum of two calibrated log-odds is too high on average; the mean excess is subtracted from both.
    """
    lines = [calibration(part, documents) for part in (scores.in_file, scores.alone)]
    odds = np.maximum(
        lines[0][0] * scores.in_file + lines[0][1], lines[1][0] * scores.alone + lines[1][1] - ALONE_MARGIN
    )
    slope, intercept = calibration(odds, documents)
    lines = [
        (slope * lines[0][0], slope * lines[0][1] + intercept),
        (slope * lines[1][0], slope * (lines[1][1] - ALONE_MARGIN) + intercept),
    ]
    message = np.array([bool(one.message) for one in documents])
    odds = slope * odds + intercept
    return np.where(message, np.maximum(odds, MESSAGE_LOG_ODDS), odds), lines


def write_models(documents: list[Described], scores: LeftOut, lines: list[tuple[float, float]]) -> None:
    """Fit on all documents and write both models, with weights in half precision."""
    is_phi = np.array([one.is_phi for one in documents])
    weights, everybody = weights_of(documents), np.ones(len(documents), dtype=np.bool_)
    words, texts = word_rows(documents), text_rows(documents)
    of_words = fit_rows(words, is_phi, weights, everybody, WORDS_C)
    of_text = fit_rows(texts, is_phi, weights, everybody, TEXT_C)
    # The joint models are fitted on held-out scores: those on training texts are too good.
    numbers = np.arange(len(documents))
    in_file = fit_joint(scores.rows, is_phi, weights, numbers)
    alone = fit_joint(scores.rows_alone, is_phi, weights, numbers)
    n_cues = len(words.cue_names)
    constants = {
        "words_intercept": of_words.intercept,
        "in_file_intercept": lines[0][0] * in_file.intercept + lines[0][1],
        "alone_intercept": lines[1][0] * alone.intercept + lines[1][1],
        "message_log_odds": MESSAGE_LOG_ODDS,
    }
    MODEL_FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        MODEL_FILE,
        words=of_words.weights[n_cues:].astype(np.float16),
        cue_names=np.array(words.cue_names),
        cues=of_words.weights[:n_cues].round(4),
        inputs=np.array(INPUTS),
        in_file=lines[0][0] * in_file.weights,
        alone=lines[1][0] * alone.weights,
        usual=in_file.usual,
        constant_names=np.array(list(constants)),
        constants=np.array(list(constants.values())),
        version=np.array(VERSION),
    )
    ordinary = np.array([one.family.startswith(("bg:", "ord:")) for one in documents])
    threshold = float(np.quantile(scores.text[ordinary], 1 - TEXT_FALSE_RATE))
    np.savez_compressed(
        TEXT_MODEL_FILE,
        weights=of_text.weights.astype(np.float16),
        constants=np.array([of_text.intercept, threshold]),
        version=np.array(TEXT_VERSION),
    )
    for path in (MODEL_FILE, TEXT_MODEL_FILE):
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
    for name, one, other in zip(INPUTS, in_file.weights.tolist(), alone.weights.tolist(), strict=True):
        print(f"  {name:24}{one:8.3f}{other:8.3f}")


def main() -> None:
    """Screen, cross-validate, then fit on all documents and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for the cache of screened texts")
    parser.add_argument("--ordinary", type=Path, help="folder that ordinary_files.py filled")
    parser.add_argument("--measure", action="store_true", help="write no model")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    documents = documents_of(options.work, options.ordinary)
    is_phi = np.array([one.is_phi for one in documents])
    print(f"{int(is_phi.sum())} PHI and {int((~is_phi).sum())} other texts")
    scores = left_out(documents)
    balanced_odds, judges = calibrated(scores, documents)
    referred = probabilities(balanced_odds + log_odds_of(PREVALENCE)) >= threshold_of(MISSED_FILE_COST)
    lines = list(table(documents, referred))
    weights = weights_of(documents)
    share = np.where(is_phi, weights / weights[is_phi].sum(), weights / weights[~is_phi].sum())
    bins = reliability(probabilities(balanced_odds), is_phi, share)
    lines += [
        "",
        f"Expected calibration error: {calibration_error(bins):.3f} with as much PHI as not.",
        "",
        "| predicted | observed |",
        "| --- | --- |",
        *(f"| {predicted:.3f} | {observed:.3f} |" for predicted, observed, _ in bins),
    ]
    print("\n".join(lines))
    (options.work / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (options.work / "left_out.pickle").write_bytes(
        pickle.dumps((scores, [one.identifier for one in documents]))
    )
    if not options.measure:
        write_models(documents, scores, judges)
        plot(bins, PLOT)


if __name__ == "__main__":
    main()
