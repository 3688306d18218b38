"""What the cascade missed is estimated from its audit sample, and the interval holds the truth."""

import pytest

from phiscan.metrics.cascade import NO_SAMPLE, cascade_loss
from phiscan.report.summary import _of_the_cascade


def test_an_estimate_is_the_share_of_the_sample_times_what_was_left_out() -> None:
    loss = cascade_loss(
        n_left_out=1000, n_left_out_identified=100, n_audit=50, n_audit_referred=1, n_audit_identified=20
    )
    assert loss.referrals.n_files == 20.0
    # Exact binomial interval of 1 of 50: 0.000506 to 0.106470.
    assert (loss.referrals.low, loss.referrals.high) == (0, 107)
    assert loss.identified.n_files == 300.0  # 400 less the 100 that are known
    # Of 20 of 50: 0.264078 to 0.548206.
    assert (loss.identified.low, loss.identified.high) == (164, 449)


def test_without_a_sample_nothing_is_estimated_and_the_reason_is_given() -> None:
    loss = cascade_loss(n_left_out=10)
    assert loss.referrals.n_files is loss.referrals.high is None
    assert loss.to_json()["reason"] == NO_SAMPLE


def test_where_nothing_was_left_out_nothing_is_missed() -> None:
    loss = cascade_loss()
    assert (loss.referrals.n_files, loss.referrals.high, loss.to_json()["reason"]) == (0.0, 0, None)


@pytest.mark.parametrize(
    "counts", [{"n_left_out": -1}, {"n_audit_referred": 2, "n_audit": 1, "n_left_out": 3}]
)
def test_impossible_counts_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected"):
        cascade_loss(**counts)


def test_a_report_says_what_was_left_out_and_what_that_missed() -> None:
    loss = cascade_loss(n_left_out=950, n_audit=50, n_audit_referred=1, n_audit_identified=20)
    (said,) = _of_the_cascade(loss)
    assert "950 files were not searched" in said
    assert f"between 0 and {loss.referrals.high:,} referrals" in said
    (unknown,) = _of_the_cascade(cascade_loss(n_left_out=3))
    assert "No file was drawn" in unknown
    assert not list(_of_the_cascade(cascade_loss()))
