"""The experiment of Mane et al. (2004): pairs of trees, and what their overlap estimates."""

from pathlib import Path

import numpy as np
import pytest

from papers.false_negatives.experiment import experiment
from papers.false_negatives.spambase import SUBSETS, read_spambase, simulated_data
from phiscan.errors import InputError
from phiscan.metrics.detector_accuracy import detector_accuracy


def test_the_features_of_the_three_are_disjoint() -> None:
    columns = [column for subset in SUBSETS.values() for column in subset]
    assert sorted(columns) == list(range(57))


def test_the_dependent_pair_estimates_worst_as_in_table_4() -> None:
    found = experiment(simulated_data())
    error = {
        f"{pair.first}{pair.second}": abs((pair.estimated or 0) - pair.actual) / pair.actual
        for pair in found.pairs
    }
    assert error["AB"] > 2 * max(error["AC"], error["BC"])
    information = {f"{pair.first}{pair.second}": pair.features.mean() for pair in found.pairs}
    assert information["AB"] > max(information["AC"], information["BC"])
    # Though B is the more accurate one, as in the paper.
    accuracy = {one.name: one.training_accuracy for one in found.classifiers}
    assert accuracy["B"] > accuracy["C"]


def test_counts_what_both_really_missed() -> None:
    found = experiment(simulated_data(seed=3))
    for one in found.classifiers:
        actual = one.actual
        assert actual.fn is not None
        assert actual.tp + actual.fn == found.pairs[0].positives
        for pair in found.pairs:
            if one.name in {pair.first, pair.second}:
                assert pair.actual <= actual.fn


def test_the_last_step_follows_the_estimate() -> None:
    with pytest.raises(ValueError, match="at least 80 actual positives"):
        detector_accuracy(80, 79.0)
    assert detector_accuracy(80, None).reason == "the number of actual positives is unknown"
    assert detector_accuracy(80, 100.0, fp=10, files=100).tn is None


def test_reads_spambase_and_names_what_is_wrong(tmp_path: Path) -> None:
    made = simulated_data(n=40)
    rows = [",".join(map(str, [*x, int(y)])) for x, y in zip(made.x, made.y, strict=True)]
    path = tmp_path / "spambase.data"
    path.write_text("\n".join(rows) + "\n")
    found = read_spambase(path)
    assert np.array_equal(found.x, made.x)
    assert np.array_equal(found.y, made.y)
    assert found.sha256 is not None
    path.write_text(rows[0] + "\n" + rows[1].replace(",", ",x", 1) + "\n")
    with pytest.raises(InputError, match="row 2: expected 57 numbers"):
        read_spambase(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_spambase(tmp_path / "none")
