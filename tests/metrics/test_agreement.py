"""Agreement where all files are alike: an interval with a width, or none with a reason."""

import pytest

from phiscan.metrics.agreement import ALL_EQUAL, agreement
from phiscan.metrics.intervals import clopper_pearson


@pytest.mark.parametrize("labels", [["phi"] * 3 + ["no"] * 2, ["phi", "no"]])
def test_full_agreement_has_no_interval_without_a_width(labels: list[str]) -> None:
    found = agreement(labels, labels)
    for figure in (found.kappa, found.positive_agreement):
        assert (figure.value, figure.ci95, figure.reason) == (1.0, None, ALL_EQUAL)
    low, _ = clopper_pearson(len(labels), len(labels))
    assert found.pabak.ci95 == pytest.approx((2 * low - 1, 1.0))


def test_full_disagreement_has_a_width_too() -> None:
    found = agreement(["phi", "no", "phi"], ["no", "phi", "no"])
    assert found.pabak.value == -1.0
    assert found.pabak.ci95 is not None
    assert found.pabak.ci95[0] == -1.0
    assert found.pabak.ci95[1] > -1.0
    assert found.positive_agreement.ci95 is None
