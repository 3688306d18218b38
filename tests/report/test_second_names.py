"""The fourth list stands on its random sample alone, and leaves the estimate of the three as it is."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from phiscan.metrics.capture_recapture.captures import capture_table
from phiscan.metrics.capture_recapture.missed import estimate_missed
from phiscan.model import SECOND_NAMES, SECOND_NAMES_NEAR, Referral, Verdict
from phiscan.report.gather import gather
from phiscan.report.pack import pack
from phiscan.review.store import Store
from tests.report.page import visible_text
from tests.report.synthetic import NOW, Made, screened

Fill = Callable[..., Made]
THREE = ("patterns", "names", "text")
HISTORIES = [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


def history(number: int) -> tuple[int, int, int]:
    return HISTORIES[number**3 // 5 % 7]


def filled_with(filled: Fill, *, second: bool) -> Made:
    """Fill a store with 140 confirmed files, every fourth drawn, and five near misses, one confirmed."""
    results = []
    for number in range(140):
        said = list(zip(THREE, map(bool, history(number)), strict=True))
        if second and number % 4 == 0:
            said.append((SECOND_NAMES, number % 3 > 0))
        made = screened(f"{number}.txt", Referral.REFERRED, number=number)
        results.append(replace(made, detectors=tuple(said)))
    for number in range(140, 145):
        no = tuple((name, False) for name in THREE)
        near = ((SECOND_NAMES_NEAR, number < 143),) if second else ()
        made = screened(f"{number}.txt", Referral.HEALTH_ONLY, number=number)
        results.append(replace(made, detectors=no + near))
    made_store = filled(results)
    verdicts = [(number + 1, Verdict.PHI) for number in (*range(140), 142)]
    Store(made_store.database).decide_all(verdicts, reviewer="A", now=NOW)
    return made_store


def test_a_fourth_list_on_the_sample(filled: Fill) -> None:
    made = filled_with(filled, second=True)
    found = gather(made.database, now=NOW).data
    family = found.second_family
    assert (family.read, family.sampled) == (145, 35)
    assert family.capture.detectors == (*THREE, SECOND_NAMES)
    counts = Counter((*history(number), int(number % 3 > 0)) for number in range(0, 140, 4))
    expected = estimate_missed(capture_table(list(counts), list(counts.values()))).averaged
    assert expected is not None
    assert family.missed_of_all == pytest.approx(expected.missed * 145 / 35)
    assert sum(history.files for history in family.histories) == 35
    assert (family.near_misses, family.near_misses_named) == (5, 3)
    assert (family.near_misses_named_open, family.near_misses_phi) == (2, 1)
    page = visible_text(pack(gather(made.database, now=NOW))["report.html"])
    assert "looked in 35 of the 145 files that were read" in page
    assert "in 3 of 5 the second family finds somebody named in full; 2 of those have no verdict" in page


def test_the_estimate_of_the_three_does_not_know_it(filled: Fill) -> None:
    whole = gather(filled_with(filled, second=True).database, now=NOW).data
    assert whole.capture.detectors == THREE
    assert sum(history.files for history in whole.histories) == 145
    assert len(whole.detectors) == 3


def test_without_it_there_is_a_reason(filled: Fill) -> None:
    made = filled_with(filled, second=False)
    family = gather(made.database, now=NOW).data.second_family
    assert family.missed_of_all is None
    assert family.reason == "the second family ran on no file of the sample"
    assert "Not known: the second family ran on no file" in visible_text(
        pack(gather(made.database, now=NOW))["report.html"]
    )
