"""Repeat the experiment of Mane et al. (2004): does the less dependent pair of detectors estimate better?

Three decision trees learn from disjoint feature subsets; each pair's true positives estimate how many
positives that pair missed. Run: python docs/explanation/mane_experiment.py
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from phiscan.metrics.capture_recapture.two_list import lincoln_petersen
from phiscan.metrics.independence import feature_information, verdict_dependence

Subsets = dict[str, list[int]]
DIGIT = 8


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return features and a rare-ish positive class of what scikit-learn ships or makes."""
    cancer, digits = load_breast_cancer(), load_digits()
    made = make_classification(
        n_samples=4000,
        n_features=24,
        n_informative=18,
        n_redundant=6,
        weights=[0.8],
        flip_y=0,
        random_state=4,
    )
    return {
        "breast cancer (malignant)": (cancer.data, cancer.target == 0),
        "digits (the digit 8)": (digits.data, digits.target == DIGIT),
        "made (20% positive)": (made[0], made[1] == 1),
    }


def compare(x: np.ndarray, y: np.ndarray, subsets: Subsets, seed: int) -> list[dict[str, Any]]:
    """Train one tree per subset on half the data; estimate on the other half, per pair of trees."""
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
    positive = x_test[y_test]
    verdicts, accuracy = {}, {}
    for name, columns in subsets.items():
        tree = DecisionTreeClassifier(max_depth=5, min_samples_leaf=5, random_state=seed)
        tree.fit(x_train[:, columns], y_train)
        verdicts[name] = tree.predict(positive[:, columns]).astype(int)
        accuracy[name] = tree.score(x_test[:, columns], y_test)
    rows = []
    for a, b in combinations(subsets, 2):
        both = int((verdicts[a] & verdicts[b]).sum())
        only_a, only_b = int(verdicts[a].sum()) - both, int(verdicts[b].sum()) - both
        actual = len(positive) - both - only_a - only_b
        estimated = lincoln_petersen(both, only_a, only_b).missed
        shared = verdict_dependence(both, only_a, only_b, actual)
        rows.append(
            {
                "pair": f"{a} and {b}",
                "accuracy": (accuracy[a], accuracy[b]),
                "features": feature_information(positive[:, subsets[a]], positive[:, subsets[b]]).mean(),
                "verdicts": shared.nats,
                "p_value": shared.p_value,
                "actual": actual,
                "estimated": np.nan if estimated is None else estimated,
                "positives": len(positive),
            }
        )
    return rows


def one_split() -> None:
    """Print the paper's Table 4 for a split made like the paper's: A and B alike, C apart."""
    cancer = load_breast_cancer()
    names = list(cancer.feature_names)
    size = ["radius", "perimeter", "area", "concavity", "compactness"]
    subsets = {
        "A": [names.index(f"mean {name}") for name in size],
        "B": [names.index(f"worst {name}") for name in size],
        "C": [
            i for i, name in enumerate(names) if any(w in name for w in ("texture", "smoothness", "symmetry"))
        ],
    }
    print("| pair | accuracy | mean feature MI | verdict MI | p | actually missed | estimated |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in compare(cancer.data, cancer.target == 0, subsets, seed=2):
        accuracy = ", ".join(f"{value:.2f}" for value in row["accuracy"])
        print(
            f"| {row['pair']} | {accuracy} | {row['features']:.3f} | {row['verdicts']:.3f} |"
            f" {row['p_value']:.4f} | {row['actual']} | {row['estimated']:.1f} |"
        )


def many_splits(n_splits: int = 200) -> None:
    """Print how often the pair with the lowest mutual information has the smallest error."""
    print(
        "| data | lowest feature MI best | lowest verdict MI best | mean error | error of lowest verdict MI |"
    )
    print("| --- | --- | --- | --- | --- |")
    for name, (x, y) in data_sets().items():
        by_features = by_verdicts = n = 0
        errors, chosen = [], []
        for seed in range(n_splits):
            parts = np.array_split(np.random.default_rng(seed).permutation(x.shape[1]), 3)
            rows = compare(x, y, {k: p.tolist() for k, p in zip("ABC", parts, strict=True)}, seed)
            error = np.array([abs(row["estimated"] - row["actual"]) / row["positives"] for row in rows])
            if not np.isfinite(error).all():
                continue
            n += 1
            best = error.min()
            by_features += error[np.argmin([row["features"] for row in rows])] == best
            by_verdicts += error[np.argmin([row["verdicts"] for row in rows])] == best
            errors.append(error.mean())
            chosen.append(error[np.argmin([row["verdicts"] for row in rows])])
        print(
            f"| {name} | {by_features / n:.0%} of {n} | {by_verdicts / n:.0%} | {np.mean(errors):.3f} |"
            f" {np.mean(chosen):.3f} |"
        )


if __name__ == "__main__":
    one_split()
    print()
    many_splits()
