from pathlib import Path

import numpy as np
import pytest

from phiscan.decision.evidence import N_EVIDENCE, NAMES_OF_EVIDENCE
from phiscan.decision.model import (
    INPUTS,
    MODEL_FILE,
    SHORT_TEXT_CHARS,
    alone_rows,
    inputs_of,
    load_phi_model,
    log_odds_of,
    threshold_of,
)
from phiscan.decision.reasons import WORDS, applies
from phiscan.errors import ModelError
from phiscan.health.patient_classifier import probability_of
from phiscan.model import LIKE
from training.decision.fit import NON_NEGATIVE

MODEL = load_phi_model()


def row_of(vector: np.ndarray, n_chars: int, text: float, n_text_chars: int) -> np.ndarray:
    lengths = np.array([np.log1p(n_chars / 100)])
    return inputs_of(np.zeros(1), vector[None], lengths, text, n_text_chars)[0]


def test_more_evidence_never_lowers_the_probability() -> None:
    for judge in (MODEL.in_file, MODEL.alone):
        weights = dict(zip(INPUTS, judge.weights.tolist(), strict=True))
        assert all(weights[name] >= 0 for name in NON_NEGATIVE)


def test_a_passage_that_is_judged_by_itself_does_not_look_at_its_file() -> None:
    vector = np.ones(N_EVIDENCE)
    short, long = (row_of(vector, 90, text, n) for text, n in ((3.0, 90), (-3.0, 90_000)))
    assert MODEL.in_file.log_odds(short) > MODEL.in_file.log_odds(long)
    place = [(500, 590)]
    inputs = [alone_rows(row[None], place)[0] for row in (short, long)]
    for row in inputs:
        row[INPUTS.index("text_detector")] = 1.0  # of the passage
    assert MODEL.alone.log_odds(inputs[0]) == MODEL.alone.log_odds(inputs[1])


def test_the_shorter_a_text_with_a_name_by_a_health_term_the_more_it_counts() -> None:
    vector = np.zeros(N_EVIDENCE)
    at = INPUTS.index("short_text")

    def short_text(n_text_chars: int) -> float:
        return float(row_of(vector, min(n_text_chars, 60), 0.0, n_text_chars)[at])

    assert short_text(60) == 0.0  # nobody is named by a health term
    vector[NAMES_OF_EVIDENCE.index("name_by_health")] = 1.0
    assert 1.0 > short_text(60) > short_text(200) > 0.0
    assert short_text(SHORT_TEXT_CHARS) == short_text(10_000) == 0.0


def test_the_threshold_weighs_a_missed_file_against_reviews() -> None:
    assert threshold_of(19.0) == pytest.approx(0.05)
    for probability in (0.001, 0.5, 0.97):
        assert probability_of(log_odds_of(probability)) == pytest.approx(probability)


def test_prevalence_moves_all_probabilities_alike() -> None:
    rare, common = MODEL.at_prevalence(0.01), MODEL.at_prevalence(0.5)
    assert common.prior - rare.prior == pytest.approx(log_odds_of(0.5) - log_odds_of(0.01))


def test_a_damaged_or_foreign_model_is_refused_by_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(MODEL_FILE.read_bytes()[:1000])
    with pytest.raises(ModelError, match=r"broken\.npz"):
        load_phi_model(broken)
    with np.load(MODEL_FILE, allow_pickle=False) as file:
        arrays = dict(file)
    foreign = tmp_path / "foreign.npz"
    np.savez(foreign, **{**arrays, "inputs": np.array(["other"])})
    with pytest.raises(ModelError, match="inputs: expected"):
        load_phi_model(foreign)
    endless = tmp_path / "endless.npz"
    np.savez(endless, **{**arrays, "alone": np.full(len(INPUTS), np.nan)})
    with pytest.raises(ModelError, match="weights: expected finite"):
        load_phi_model(endless)


@pytest.mark.parametrize(
    ("name", "value", "contribution", "expected"),
    [
        ("people", 0.0, 0.3, False),  # its weight is below 0, and nobody is named: no "several times"
        ("people", 0.7, 0.3, False),  # named once
        ("people", 1.2, 0.3, True),
        ("people", 3.0, -0.3, False),  # a list of patients: many names speak neither for nor against PHI
        ("cells", 2.0, -0.3, False),
        ("words", -0.5, 0.3, False),  # more like a record than usual, and yet not like one
        ("name_by_health", 0.05, 0.3, False),  # 240 characters apart
        ("person_and_words", 0.0, 0.4, False),
        ("person_and_words", 0.0, -0.4, False),  # nobody is identified
        ("person_and_words", -2.0, -0.4, True),
        ("name", 1.0, 0.2, True),
        ("name", 0.0, -0.2, True),
        ("clinical", 0.7, -0.1, False),  # fewer than usual, and yet one: no "it names no illness"
        ("concepts", 1.0, -0.1, False),
        ("concepts", 0.693, -0.1, True),  # "hardly any"
        ("concepts", 1.1, 0.1, False),  # two are not several
        ("no_concept", 0.0, -0.1, False),
        ("encoder", 2.0, 1.0, True),
        ("encoder", -2.0, -1.0, True),
        ("encoder", -0.5, 0.3, False),  # it says no, only less than the other evidence does
    ],
)
def test_a_sentence_states_what_is_true_of_the_passage(
    name: str, value: float, contribution: float, expected: bool
) -> None:
    assert applies(name, value, contribution) is expected


def test_every_input_has_sentences() -> None:
    assert set(WORDS) == {*INPUTS, "encoder", LIKE}
