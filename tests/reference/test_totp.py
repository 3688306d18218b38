"""The one-time codes against the test values of RFC 6238 (appendix B) and RFC 4226 (appendix D)."""

import pytest

from phiscan.review.accounts.second_factor import STEP_S, code_at

SECRET = b"12345678901234567890"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1_111_111_109, "07081804"),
        (1_111_111_111, "14050471"),
        (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"),
        (20_000_000_000, "65353130"),
    ],
)
def test_rfc_6238(seconds: int, code: str) -> None:
    assert code_at(SECRET, seconds // STEP_S, digits=8) == code


def test_rfc_4226() -> None:
    expected = ["755224", "287082", "359152", "969429", "338314"]
    expected += ["254676", "287922", "162583", "399871", "520489"]
    assert [code_at(SECRET, count) for count in range(10)] == expected
