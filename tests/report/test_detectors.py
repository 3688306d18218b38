"""Each detector's confusion matrix under the estimated total, and how its features depend."""

from dataclasses import replace

import numpy as np
import pytest

from phiscan.model import PiiBit, PiiVector, Verdict
from phiscan.report.sections.missed import MIN_COMPARED, Capture
from tests.report.synthetic import Fill, captured, marked


def of_a_share(filled: Fill, more: list[tuple[bool, ...]]) -> Capture:
    """Report on 60 PHI files that three find independently with recall 0.7, 200 others, and open ones."""
    random = np.random.default_rng(1)
    phi = [tuple(random.random(3) < 0.7) for _ in range(60)]
    others = [(number < 5, False, False) for number in range(200)]
    verdicts = [Verdict.PHI if any(one) else None for one in phi]
    verdicts += [Verdict.NOT_PHI if any(one) else None for one in others] + [None for _ in more]
    return captured(filled, marked([*phi, *others, *more]), verdicts)


def test_gives_every_detector_its_fn_tn_and_accuracy(filled: Fill) -> None:
    found = of_a_share(filled, [])
    assert found.models is not None
    assert found.models.averaged is not None
    total = found.models.averaged.total
    for row in found.accuracy:
        assert row.tn is not None
        assert row.fn == pytest.approx(total - row.tp)
        assert row.tn == pytest.approx(260 - total - row.fp)
        assert row.accuracy == pytest.approx((row.tp + row.tn) / 260)
        assert row.by == "averaged over models"
    assert [row.fp for row in found.accuracy] == [5, 0, 0]


def test_leaves_tn_unknown_while_marked_files_are_open(filled: Fill) -> None:
    patterns, names, _ = of_a_share(filled, [(False, True, False)]).accuracy
    assert patterns.tn is not None
    assert names.tn is None
    assert "1 files that it marked are not verified" in (names.reason or "")


@pytest.mark.parametrize("n_files", [40, MIN_COMPARED - 1])
def test_measures_the_dependence_of_features_over_confirmed_files(filled: Fill, n_files: int) -> None:
    vectors = [PiiVector(frozenset({PiiBit.PHONE, PiiBit.FIRST_NAME})), PiiVector(frozenset())] * n_files
    results = zip(marked([(True, True, True)] * n_files), vectors, strict=False)
    pair, *others = captured(filled, [replace(one, vector=vector) for one, vector in results]).features
    assert (pair.first, pair.second, pair.compared) == ("patterns", "names", n_files)
    assert all(other.mean is None and other.reason for other in others)
    if n_files < MIN_COMPARED:
        assert (pair.mean, pair.reason is None) == (None, False)
        return
    assert (pair.first_feature, pair.second_feature) == ("PhoneNumber", "FirstName")
    assert pair.highest == pytest.approx(np.log(2))
    assert pair.mean is not None
    assert pair.mean < pair.highest
