from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from phiscan.config import Config
from phiscan.health import build_classifier
from phiscan.health.features import Window
from phiscan.health.learned_versions import apply_model
from phiscan.health.learning import Example, Learned, learn, model_of, near_duplicates
from phiscan.health.logistic_regression import fit_ridge
from phiscan.health.review_correction import Adjustment, log_odds
from phiscan.health.text_detector import N_BUCKETS, TextModel, features, load_text_model, masked
from phiscan.health.text_detector_learning import learn_text, save_text

CLASSIFIER = build_classifier(Config())
THRESHOLD = 0.02  # of the probability of PHI


def example(number: int, *, is_phi: bool, more: dict[str, int] | None = None) -> Example:
    counts = {**CLASSIFIER.bags[number], **(more or {})}
    return Example(f"reviewed/{number}", counts, 900, is_phi, patient_score=0.8, log_odds=-2.0)


def two_kinds(n_files: int = 30) -> list[Example]:
    """Notes are PHI; notes full of prices are not."""
    return [
        example(number, is_phi=number < n_files, more={} if number < n_files else {"cue:price": 5})
        for number in range(2 * n_files)
    ]


@pytest.fixture(scope="module")
def learned() -> Learned:
    return learn(two_kinds(), CLASSIFIER, THRESHOLD)


def test_a_correction_spares_others_and_keeps_phi_on_held_out_files(learned: Learned) -> None:
    is_phi = np.arange(60) < 30
    assert learned.adjustment is not None
    assert (learned.after & ~is_phi).sum() < (learned.before & ~is_phi).sum() / 2
    assert (learned.after & is_phi).sum() >= (learned.before & is_phi).sum() - 1


def test_it_scores_new_files_so_too(learned: Learned) -> None:
    after = apply_model(CLASSIFIER, model_of(learned, base=CLASSIFIER.version))
    assert after.adjustment is not None
    bag = dict(CLASSIFIER.bags[100])
    note, priced = Window(0, 900, bag), Window(0, 900, {**bag, "cue:price": 5})
    assert after.adjustment.score(0.9, note) >= 0.5 > after.adjustment.score(0.9, priced)
    assert len(after.bags) == len(after.prototype_names) > len(CLASSIFIER.bags)


def test_the_threshold_of_the_distance_only_widens(learned: Learned) -> None:
    for k, (threshold, _) in learned.thresholds.items():
        assert threshold >= CLASSIFIER.thresholds[k][0]


def test_labels_without_any_pattern_teach_no_correction() -> None:
    draw = np.random.default_rng(1)
    shuffled = [example(number, is_phi=bool(draw.integers(2))) for number in range(60)]
    found = learn(shuffled, CLASSIFIER, THRESHOLD)
    assert found.adjustment is None
    assert "on held-out files a correction would spare" in found.reason


def test_too_few_of_one_verdict_teach_prototypes_only() -> None:
    found = learn([example(number, is_phi=True) for number in range(12)], CLASSIFIER, THRESHOLD)
    assert found.adjustment is None
    assert found.reason.endswith("there are 12 phi and 0 not_phi")
    assert found.prototypes
    with pytest.raises(ValueError, match="at least one"):
        learn([], CLASSIFIER, THRESHOLD)


def test_copies_are_one_prototype_and_never_their_own_neighbours() -> None:
    copies = [replace(example(0, is_phi=True), name=f"reviewed/{number}") for number in range(9)]
    found = learn([*copies, example(5, is_phi=True)], CLASSIFIER, THRESHOLD)
    assert [name for name, _ in found.prototypes] == ["reviewed/0", "reviewed/5"]
    assert near_duplicates(np.array([[1.0, 0.99, 0.1], [0.99, 1.0, 0.1], [0.1, 0.1, 1.0]])).tolist() == [
        0,
        0,
        2,
    ]


def test_a_feature_of_few_files_gets_no_weight() -> None:
    examples = two_kinds()
    examples[0] = replace(examples[0], counts={**examples[0].counts, "dx:very-rare": 9})
    found = learn(examples, CLASSIFIER, THRESHOLD)
    assert found.adjustment is not None
    assert "dx:very-rare" not in found.adjustment.weights


def test_learning_twice_gives_the_same_bytes(learned: Learned) -> None:
    again = learn(two_kinds(), CLASSIFIER, THRESHOLD)
    assert model_of(again, base="x") == model_of(learned, base="x")


def test_without_weights_the_score_is_the_shipped_one() -> None:
    plain = Adjustment(slope=1.0, intercept=0.0, weights={})
    window = Window(0, 900, dict(CLASSIFIER.bags[0]))
    assert [round(plain.score(score, window), 6) for score in (0.1, 0.5, 0.9)] == [0.1, 0.5, 0.9]
    assert log_odds(0.0) == -log_odds(1.0)


@pytest.mark.parametrize(("n_files", "n_features"), [(30, 50), (80, 12)])
def test_the_ridge_fit_is_the_minimum_that_scipy_finds(n_files: int, n_features: int) -> None:
    draw = np.random.default_rng(7)
    rows = draw.normal(size=(n_files, n_features))
    targets = draw.random(n_files) < 1 / (1 + np.exp(-2 * rows[:, 0]))
    start, strength = np.zeros(n_features), np.full(n_features, 0.7)
    start[0] = 1.0
    signs = np.where(targets, 1.0, -1.0)

    def loss(weights: np.ndarray) -> float:
        pulled = weights - start
        return float(np.logaddexp(0, -signs * (rows @ weights)).sum() + 0.35 * pulled @ pulled)

    best = minimize(loss, start, method="BFGS")
    assert loss(fit_ridge(rows, targets, start, strength)) <= best.fun + 1e-6


def test_detector_c_learns_a_step_and_moves_no_bucket_of_few_files(tmp_path: object) -> None:
    zero = TextModel(np.zeros(N_BUCKETS, dtype=np.float32), 0.0, 0.0)
    texts = [f"Progress report of the ward, day {n}: resting." for n in range(15)]
    texts += [f"Minutes of the garden club, meeting {n}: tulips." for n in range(15)]
    texts[0] += " Zqxjvwk"
    files = [[features(masked(text, []))] for text in texts]
    is_phi = np.arange(30) < 15
    found = learn_text(files, is_phi, np.arange(30), zero)
    assert found.model is not None
    assert found.after.tolist() == is_phi.tolist()
    rare = set(features(masked("zqxjvwk", []))[0].tolist()) - {
        bucket for file in files[1:] for bucket in file[0][0].tolist()
    }
    assert rare
    assert not found.model.weights[sorted(rare)].any()
    path = tmp_path / "text.npz"  # type: ignore[operator]
    save_text(found.model, path)
    assert np.abs(load_text_model(path).weights - found.model.weights).max() < 1e-3
    few = learn_text(files[:3], is_phi[:3], np.arange(3), zero)
    assert few.model is None
    assert "there are 3 phi and 0 not_phi" in few.reason
