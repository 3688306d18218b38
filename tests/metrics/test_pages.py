"""The pages say the same assumption as the program's answers."""

from pathlib import Path

import pytest

from phiscan.metrics import agreement, elusion, screening, verification
from phiscan.metrics.capture_recapture import loglinear, two_list

PAGES = Path(__file__).parents[2] / "docs" / "explanation"


@pytest.mark.parametrize(
    ("page", "assumption"),
    [
        ("screened-positives", screening.ASSUMPTION),
        ("capture-recapture", two_list.ASSUMPTION),
        ("capture-recapture", loglinear.ASSUMPTION),
        ("elusion-sampling", elusion.ASSUMPTION),
        ("agreement-and-verification", agreement.ASSUMPTION),
        ("agreement-and-verification", verification.VERIFIED_ASSUMPTION),
        ("agreement-and-verification", verification.PREVALENCE_ASSUMPTION),
    ],
)
def test_says_the_assumption_of_the_answer(page: str, assumption: str) -> None:
    text = " ".join((PAGES / f"{page}.md").read_text(encoding="utf-8").split())
    assert assumption in text


@pytest.mark.parametrize(
    "page", ["screened-positives", "capture-recapture", "elusion-sampling", "agreement-and-verification"]
)
def test_shows_a_picture_that_is_there(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    picture = text.split("](images/")[1].split(")")[0]
    assert (PAGES / "images" / picture).is_file()
