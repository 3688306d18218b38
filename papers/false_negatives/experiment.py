"""Three decision trees on disjoint features: positives that each pair missed, actual and estimated.

Source: Mane et al. (2004), section 3, Figure 2 and Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from papers.drawing import new_figure, save
from papers.false_negatives.spambase import SUBSETS, Messages
from phiscan.metrics.capture_recapture.two_list import chapman, lincoln_petersen
from phiscan.metrics.detector_accuracy import DetectorAccuracy, detector_accuracy
from phiscan.metrics.independence import feature_information, verdict_dependence

Floats = npt.NDArray[np.float64]
# Table 4: estimated and actual numbers of positives that both classifiers missed.
PAPER = {("A", "B"): (4, 31), ("A", "C"): (3, 5), ("B", "C"): (3, 8)}
PAPER_ACCURACY = {"A": 0.95, "B": 0.93, "C": 0.74}
TABLE_3_SLIP = (
    "Table 3 of the paper adds n11 and n21 up to n1, what the first classifier found. Its text calls n12 what"
    " only the first one found, so n1 is n11 + n12: the two cells beside the diagonal are exchanged. The"
    " estimate n12 n21 / n11 is the same either way."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two classifiers on the test messages."""

    first: str
    second: str
    features: Floats  # mutual information of each two features, nats, over the spam
    verdict_nats: float
    p_value: float
    actual: int
    estimated: float | None
    chapman: float | None
    positives: int


@dataclass(frozen=True, slots=True)
class Classifier:
    """One classifier: its actual accuracy, and the one estimated from each pair."""

    name: str
    training_accuracy: float
    actual: DetectorAccuracy
    estimated: dict[str, DetectorAccuracy]  # by pair


@dataclass(frozen=True, slots=True)
class Experiment:
    """The results of one split."""

    pairs: tuple[Pair, ...]
    classifiers: tuple[Classifier, ...]


def experiment(messages: Messages, *, seed: int = 0) -> Experiment:
    """Train A, B and C on half the messages, and estimate on the other half."""
    x_train, x_test, y_train, y_test = train_test_split(
        messages.x, messages.y, test_size=0.5, stratify=messages.y, random_state=seed
    )
    spam = x_test[y_test]
    predictions, trained = {}, {}
    for name, columns in SUBSETS.items():
        depth, leaf = (4, 20) if name == "C" else (12, 5)
        tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=seed)
        tree.fit(x_train[:, columns], y_train)
        predictions[name] = np.asarray(tree.predict(x_test[:, columns]), dtype=bool)
        trained[name] = float(tree.score(x_train[:, columns], y_train))
    pairs = []
    for first, second in combinations(SUBSETS, 2):
        one, two = predictions[first][y_test], predictions[second][y_test]
        cells = int((one & two).sum()), int((one & ~two).sum()), int((~one & two).sum())
        shared = verdict_dependence(*cells, int((~one & ~two).sum()))
        pairs.append(
            Pair(
                first,
                second,
                feature_information(spam[:, SUBSETS[first]], spam[:, SUBSETS[second]]),
                shared.nats,
                shared.p_value,
                shared.n - sum(cells),
                lincoln_petersen(*cells).missed,
                chapman(*cells).missed,
                len(spam),
            )
        )
    classifiers = tuple(
        _classifier(name, y_test, trained[name], pairs, all_classifiers=predictions) for name in SUBSETS
    )
    return Experiment(tuple(pairs), classifiers)


def _classifier(
    name: str,
    truth: npt.NDArray[np.bool_],
    trained: float,
    pairs: Sequence[Pair],
    *,
    all_classifiers: dict[str, npt.NDArray[np.bool_]],
) -> Classifier:
    predictions = all_classifiers[name]
    tp, fp = int((predictions & truth).sum()), int((predictions & ~truth).sum())
    estimated = {}
    for pair in pairs:
        found = int(((all_classifiers[pair.first] | all_classifiers[pair.second]) & truth).sum())
        total = None if pair.estimated is None else max(found + pair.estimated, tp)
        key = f"{pair.first} and {pair.second}"
        estimated[key] = detector_accuracy(tp, total, fp=fp, files=len(truth))
    actual = detector_accuracy(tp, float(truth.sum()), fp=fp, files=len(truth))
    return Classifier(name, trained, actual, estimated)


def payload(messages: Messages, found: Experiment) -> dict[str, Any]:
    """Return the JSON object of ``phiscan benchmark false-negatives``."""
    return {
        "data": {
            "source": messages.source,
            "sha256": messages.sha256,
            "messages": len(messages.y),
            "spam": int(messages.y.sum()),
        },
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "mean_feature_nats": float(pair.features.mean()),
                "verdict_nats": pair.verdict_nats,
                "p_value": pair.p_value,
                "actually_missed": pair.actual,
                "estimated": pair.estimated,
                "chapman": pair.chapman,
                "positives": pair.positives,
                "paper": dict(zip(("estimated", "actual"), PAPER[pair.first, pair.second], strict=True)),
            }
            for pair in found.pairs
        ],
        "classifiers": [
            {
                "classifier": one.name,
                "training_accuracy": one.training_accuracy,
                "paper_training_accuracy": PAPER_ACCURACY[one.name],
                "actual": asdict(one.actual),
                "estimated": {name: asdict(item) for name, item in one.estimated.items()},
            }
            for one in found.classifiers
        ],
        "notes": [
            "Two lists have one log-linear model, [1,2]: it is Lincoln-Petersen, n12 n21 / n11 missed.",
            TABLE_3_SLIP,
        ],
    }


def markdown(shape: dict[str, Any]) -> list[str]:
    """Return the tables as Markdown lines."""
    data = shape["data"]
    hashed = f", SHA-256 {data['sha256']}" if data["sha256"] else ""
    lines = [
        f"Data: {data['source']}{hashed}; {data['messages']:,} messages, {data['spam']:,} spam.",
        "",
        "### Table 4: positives that both missed (paper's in brackets)",
        "",
        "| pair | mean feature MI | verdict MI | p | estimated | actual |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for pair in shape["pairs"]:
        estimated = "-" if pair["estimated"] is None else f"{pair['estimated']:.1f}"
        lines.append(
            f"| {pair['first']} and {pair['second']} | {pair['mean_feature_nats']:.4f} |"
            f" {pair['verdict_nats']:.4f} | {pair['p_value']:.3f} |"
            f" {estimated} ({pair['paper']['estimated']}) |"
            f" {pair['actually_missed']} ({pair['paper']['actual']}) |"
        )
    lines += [
        "",
        "### The last step: each classifier's confusion matrix from the estimate of actual positives",
        "",
        "| classifier | from | FN | TN | accuracy |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in shape["classifiers"]:
        for source, item in [*one["estimated"].items(), ("the labels", one["actual"])]:
            cells = [
                "-" if item[key] is None else f"{item[key]:{form}}"
                for key, form in (("fn", ".1f"), ("tn", ".1f"), ("accuracy", ".4f"))
            ]
            lines.append(f"| {one['classifier']} | {source} | " + " | ".join(cells) + " |")
    accuracies = ", ".join(
        f"{one['classifier']} {one['training_accuracy']:.2f} ({one['paper_training_accuracy']})"
        for one in shape["classifiers"]
    )
    return [*lines, "", f"Training accuracy (paper's): {accuracies}.", "", *shape["notes"], ""]


def page_lines(shape: dict[str, Any]) -> list[str]:
    """Return the table of the page: estimated and actual numbers of files that two classifiers missed."""
    source = shape["data"]["source"]
    lines = [
        f"| pair ({source}) | mean feature MI, nats | estimated | actual | paper: estimated, actual |",
        "| --- | --- | --- | --- | --- |",
    ]
    for pair in shape["pairs"]:
        estimated = "-" if pair["estimated"] is None else f"{pair['estimated']:.1f}"
        lines.append(
            f"| {pair['first']} and {pair['second']} | {pair['mean_feature_nats']:.4f} | {estimated} |"
            f" {pair['actually_missed']} | {pair['paper']['estimated']}, {pair['paper']['actual']} |"
        )
    return lines


def plot(found: Experiment, path: Path) -> None:
    """Draw Figure 2: the mutual information of each two features, for every pair of classifiers."""
    figure = new_figure(10.0, 3.6)
    highest = max(float(pair.features.max()) for pair in found.pairs)
    for axes, pair in zip(figure.subplots(1, len(found.pairs)), found.pairs, strict=True):
        image = axes.imshow(
            pair.features.T, origin="lower", aspect="auto", vmin=0, vmax=highest, cmap="viridis"
        )
        axes.set(xlabel=f"features of {pair.first}", ylabel=f"features of {pair.second}")
        axes.set_title(f"{pair.first} and {pair.second}: mean {pair.features.mean():.4f} nats", fontsize=9)
    figure.colorbar(image, ax=figure.axes, label="mutual information given spam, nats")
    save(figure, path)
