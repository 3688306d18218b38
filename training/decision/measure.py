"""Measure P(PHI) with whole families left out: referrals beside simpler rules, and calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from phiscan.health.text_detector import TextModel
from phiscan.metrics.intervals import clopper_pearson
from training.decision.features import Described
from training.decision.fit import (
    TEXT_C,
    WORDS_C,
    Floats,
    Ints,
    balanced,
    document_scores,
    fit_joint,
    fit_rows,
    input_rows,
    passage_scores,
    passage_text_scores,
    rows_alone,
    text_rows,
    text_scores,
    weights_of,
    word_rows,
)

N_FOLDS = 6
SHORT_CHARS = 220
N_BINS = 10
NAIVE_CONCEPTS = 3
OWN_SOURCES = ("own:", "hand:", "short:", "tables:", "written:", "bg:", "ord:")
RULES = ("P(PHI)", "old table", "naive", "equation 4", "A", "B", "C")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Log-odds (balanced, not calibrated) of each document by models that never saw its family."""

    in_file: Floats
    alone: Floats
    text: Floats
    rows: list[Floats]  # the inputs of every passage within its file
    rows_alone: list[Floats]  # and as if it were the file


def folds_of(documents: Sequence[Described]) -> Ints:
    """Return a fold per document; a family lies in one fold, and each fold has families of every kind."""
    families = sorted({one.family for one in documents})
    draw = np.random.default_rng(2008)
    fold: dict[str, int] = {}
    for kind in ("own:", "hand:", "short:", "tables:", "unseen", "written:", "bg:", "ord:", ""):
        of_kind = [name for name in families if name not in fold and name.startswith(kind)]
        for place, name in enumerate(draw.permutation(of_kind).tolist()):
            fold[name] = (place + len(fold)) % N_FOLDS
    return np.array([fold[one.family] for one in documents])


def left_out(documents: Sequence[Described]) -> LeftOut:
    """Score every document by models of the other folds; the joint models learn from left-out scores too."""
    is_phi = np.array([one.is_phi for one in documents])
    weights, fold = weights_of(documents), folds_of(documents)
    words, texts = word_rows(documents), text_rows(documents)
    by_words: list[Floats] = [np.zeros(0)] * len(documents)
    by_text = np.zeros(len(documents))
    of_passages: list[Floats] = [np.zeros(0)] * len(documents)
    for number in range(N_FOLDS):
        learn, held = fold != number, np.flatnonzero(fold == number)
        of_words = passage_scores(words, fit_rows(words, is_phi, weights, learn, WORDS_C), len(documents))
        for at in held.tolist():
            by_words[at] = of_words[at]
        text_model = fit_rows(texts, is_phi, weights, learn, TEXT_C)
        by_text[held] = text_scores(texts, text_model, len(documents))[held]
        reader = TextModel(text_model.weights.astype(np.float32), text_model.intercept)
        for at in held.tolist():
            of_passages[at] = passage_text_scores(documents[at], reader)
        print(f"fold {number + 1} of {N_FOLDS}", flush=True)
    rows = input_rows(documents, by_words, by_text)
    by_itself = rows_alone(documents, rows, of_passages)
    in_file, alone = np.zeros(len(documents)), np.zeros(len(documents))
    for number in range(N_FOLDS):
        learn, places = np.flatnonzero(fold != number), np.flatnonzero(fold == number).tolist()
        for inputs, scores in ((rows, in_file), (by_itself, alone)):
            model = fit_joint(inputs, is_phi, weights, learn)
            scores[places] = document_scores([inputs[at] for at in places], model)
    return LeftOut(in_file, alone, by_text, rows, by_itself)


def calibration(scores: Floats, documents: Sequence[Described]) -> tuple[float, float]:
    """Return slope and intercept of Platt scaling on left-out scores, both sides weighing the same."""
    is_phi = np.array([one.is_phi for one in documents])
    each = balanced(weights_of(documents), is_phi)
    model = LogisticRegression(C=1e6).fit(scores[:, None], is_phi, sample_weight=each)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def probabilities(log_odds: Floats) -> Floats:
    """Return the probabilities of log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -30, 30))))


def reliability(
    p_phi: Floats, is_phi: npt.NDArray[np.bool_], weights: Floats
) -> list[tuple[float, float, float]]:
    """Return (mean predicted, observed share, weight) in ten bins of equal width."""
    bins = np.minimum((p_phi * N_BINS).astype(int), N_BINS - 1)
    found = []
    for number in range(N_BINS):
        inside = bins == number
        if weight := float(weights[inside].sum()):
            found.append(
                (
                    float(np.average(p_phi[inside], weights=weights[inside])),
                    float(np.average(is_phi[inside], weights=weights[inside])),
                    weight,
                )
            )
    return found


def calibration_error(bins: Sequence[tuple[float, float, float]]) -> float:
    """Return the expected calibration error: the mean distance of predicted and observed, by weight."""
    total = sum(weight for _, _, weight in bins)
    return sum(abs(predicted - observed) * weight for predicted, observed, weight in bins) / total


def groups(documents: Sequence[Described]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield the rows of the table: a name, and which documents it has."""
    family = np.array([one.family for one in documents])
    is_phi = np.array([one.is_phi for one in documents])
    short = np.array([one.n_chars <= SHORT_CHARS for one in documents])
    starts = np.char.startswith
    for name in sorted({str(name) for name in family if not name.startswith(OWN_SOURCES)}):
        for side, chosen in (("PHI", is_phi), ("other", ~is_phi)):
            yield f"{side}: {name}", chosen & (family == name)
    for kind, label in (
        ("own:", "own texts"),
        ("hand:", "everyday texts"),
        ("short:", "short texts alone"),
        ("written:", "texts written apart from the program"),
        ("tables:", "tables"),
    ):
        yield f"PHI: {label}", is_phi & starts(family, kind)
        yield f"other: {label}", ~is_phi & starts(family, kind)
    yield "PHI: short texts", is_phi & short
    yield "other: short texts", ~is_phi & short
    for name in sorted({str(name) for name in family if name.startswith("bg:")}):
        yield f"background: {name[3:]}", family == name
    yield "background, all", starts(family, "bg:")
    yield "other ordinary files, all", starts(family, "ord:")


def rules(
    documents: Sequence[Described], referred: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return what each rule refers."""
    return {
        "P(PHI)": referred,
        "naive": np.array([one.n_concepts >= NAIVE_CONCEPTS and one.is_named for one in documents]),
        "equation 4": np.array([one.hamming == 0 and one.n_concepts > 0 for one in documents]),
        "A": np.array([one.detectors["patterns"] for one in documents]),
        "B": np.array([one.detectors["names"] for one in documents]),
        "C": np.array([one.detectors["text"] for one in documents]),
    }


def table(documents: Sequence[Described], referred: npt.NDArray[np.bool_]) -> Iterator[str]:
    """Yield a Markdown table: what each rule refers of every group of documents."""
    said = rules(documents, referred)
    yield "| documents | number | P(PHI) | 95% | " + " | ".join(RULES[1:]) + " |"
    yield "| --- " * (3 + len(RULES)) + "|"
    for name, chosen in groups(documents):
        number = int(chosen.sum())
        if not number:
            continue
        found = int(referred[chosen].sum())
        low, high = clopper_pearson(found, number)
        others = " | ".join(f"{said[rule][chosen].mean():.3f}" for rule in RULES[1:])
        yield f"| {name} | {number} | {found / number:.3f} | {low:.3f} to {high:.3f} | {others} |"


def plot(bins: Sequence[tuple[float, float, float]], path: Path) -> None:
    """Write the reliability plot as SVG."""
    total = sum(weight for _, _, weight in bins)
    dots = "\n".join(
        f'<circle cx="{40 + 320 * p:.1f}" cy="{360 - 320 * o:.1f}" r="{3 + 12 * (w / total) ** 0.5:.1f}"'
        ' fill="#1f5fa8" fill-opacity="0.7"/>'
        for p, o, w in bins
    )
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400"'
        ' font-family="sans-serif" font-size="12">\n'
        "<title>Reliability of P(PHI): predicted probability against observed share</title>\n"
        '<rect x="40" y="40" width="320" height="320" fill="none" stroke="#888"/>\n'
        '<line x1="40" y1="360" x2="360" y2="40" stroke="#888" stroke-dasharray="4 4"/>\n'
        f"{dots}\n"
        '<text x="200" y="390" text-anchor="middle">predicted probability, 0 to 1</text>\n'
        '<text x="16" y="200" text-anchor="middle" transform="rotate(-90 16 200)">'
        "observed share, 0 to 1</text>\n"
        "</svg>\n",
        encoding="utf-8",
    )
