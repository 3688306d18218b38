"""The status line: the same figures on every page, and how many blind items it takes to stop safely."""

import re
from collections.abc import Callable
from dataclasses import replace

from phiscan.metrics import elusion
from phiscan.model import OCR_PENDING, FailReason, UnreadPart, Verdict
from phiscan.review.store import Store
from phiscan.review.worklist.sampling import LeftCounts, SampleReview
from phiscan.web.status_line import blind_needed, stop_words
from tests.review.results import NOW, clear, later, referred, scan
from tests.web.conftest import Browser

Visit = Callable[[str], Browser]
PAGES = ("/queue", "/items/1", "/left", "/tasks", "/suppressions", "/second-review", "/scans", "/search")


def test_every_page_shows_the_same_figures(browser: Visit, store: Store) -> None:
    scan(store, [referred(f"more {n}.txt") for n in range(4)], root=b"/share", minutes=2)
    numbers = [item.file_id for item in store.desk.items(viewer="lead", now=NOW).items]
    store.desk.decide(numbers[0], Verdict.PHI, reviewer="lead", now=later(1))
    store.desk.skip(numbers[1], reviewer="lead", now=NOW)
    client = browser("lead").client
    lines = {
        re.search(r'id="status".*?</p>', client.get(page.replace("1", str(numbers[2]))).text)
        for page in PAGES
    }
    found = {line[0] for line in lines if line}
    assert len(lines) == len(PAGES)
    assert len(found) == 1
    words = re.findall("<span>(.*?)</span>", found.pop())
    assert words[:4] == [f"{len(numbers) - 2} open", "1 decided", "1 skipped", f"{len(numbers)} in all"]
    queue = client.get("/queue").text
    assert f"<dt>Open</dt><dd>{len(numbers) - 2}<small>of {len(numbers)} in all" in queue


def test_the_number_of_blind_items_is_the_least_that_makes_it_safe() -> None:
    sample = SampleReview(population=400, drawn=300, found=60, verdicts=(False,) * 20)
    needed = blind_needed(sample, 60, 320)
    assert needed is not None

    def is_safe(reviewed: int) -> bool:
        upper = elusion.elusion(400, reviewed, 0, sequential=True).upper_sequential or 0
        lower = elusion.recall_lower(60, min(max(upper - 60, 0), 320))
        return max(upper - 60, 0) == 0 or (lower is not None and lower >= 0.95)

    assert is_safe(20 + needed)
    assert not is_safe(20 + needed - 1)


def test_reviewed_items_behind_a_gap_count_and_gaps_are_filled_first() -> None:
    gap = (False,) * 20 + (None,) + (False,) * 10
    sample = SampleReview(population=400, drawn=300, found=60, verdicts=gap)
    stopped = SampleReview(population=400, drawn=300, found=60, verdicts=gap[:20])
    needed, without = blind_needed(sample, 60, 320), blind_needed(stopped, 60, 320)
    assert needed is not None
    assert without is not None
    # All but the item in the gap count, so that so many fewer remain to be reviewed.
    assert needed == without - 10


def test_what_is_missing_to_stop_is_said() -> None:
    assert "no random sample" in stop_words(LeftCounts(5, 0, (), None, None))
    small = SampleReview(population=400, drawn=5, found=2, verdicts=(False,))
    assert "larger random sample" in stop_words(LeftCounts(390, 2, (), small, None))
    assert stop_words(LeftCounts(0, 2, (), small, None)) == "safe to stop"


def test_page_of_a_scan_says_what_waits_for_ocr(browser: Visit, store: Store) -> None:
    client = browser("lead").client
    assert "Waiting for OCR" not in client.get("/scans").text
    page = UnreadPart("#p2", FailReason.NEEDS_OCR, OCR_PENDING)
    scan(store, [replace(clear("half.pdf"), unread=(page,)), clear("whole.pdf")], minutes=2)
    shown = client.get("/scans").text
    assert "<dt>Waiting for OCR</dt><dd>1<small>1 file with 1 page or picture waits for OCR" in shown
