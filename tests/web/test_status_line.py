"""The status line: the same figures on every page, and how many blind items it takes to stop safely."""

import re
from dataclasses import replace

from phiscan.metrics.remaining import remaining
from phiscan.model import OCR_PENDING, FailReason, UnreadPart, Verdict
from phiscan.model.frame import FrameCounts, FramePart
from phiscan.review.store import Store
from phiscan.web.pages import stop_words
from tests.review.results import NOW, clear, later, referred, scan
from tests.web.conftest import Visit

PAGES = ("/queue", "/items/1", "/left", "/incidents", "/suppressions", "/second-review", "/scans", "/search")


def test_every_page_shows_the_same_figures(browser: Visit, store: Store) -> None:
    scan(store, [referred(f"more {n}.txt") for n in range(4)], root=b"/share", minutes=2)
    numbers = [item.file_id for item in store.desk.items(viewer="lead", now=NOW).items]
    store.desk.decide(numbers[0], Verdict.PHI, reviewer="lead", now=later(1))
    store.desk.skip(numbers[1], reviewer="lead", now=NOW)
    client = browser("lead")
    lines = {
        re.search(r'id="status".*?</p>', client.get(page.replace("1", str(numbers[2]))).text)
        for page in PAGES
    }
    found = {line[0] for line in lines if line}
    assert 'id="status"' not in browser("auditor").get("/scans").text
    assert len(lines) == len(PAGES)
    assert len(found) == 1
    words = re.findall("<span>(.*?)</span>", found.pop())
    assert words[:4] == [f"{len(numbers) - 2} open", "1 decided", "1 skipped", f"{len(numbers)} in all"]
    queue = client.get("/queue").text
    assert f"<dt>Open</dt><dd>{len(numbers) - 2}<small>of {len(numbers)} in all" in queue


def counted(listed: FramePart, **other: int) -> FrameCounts:
    known = FrameCounts(listed, FramePart(0, 0, 0), listed.open, 0, 0, 0, 0, is_drawn=True, is_scanned=True)
    return replace(known, **other)  # type: ignore[arg-type]


def test_the_number_of_blind_items_is_the_least_that_makes_it_safe() -> None:
    order = (False,) * 20 + (None,) * 280
    known = remaining(counted(FramePart(320, 0, 60, 400, 60, order)))
    assert known.needed is not None
    assert f"safe to stop after {known.needed} more blind items without PHI" in stop_words(known)

    def is_safe(n_more: int) -> bool:
        filled = (False,) * (20 + n_more) + (None,) * (280 - n_more)
        return remaining(counted(FramePart(320 - n_more, 0, 60, 400, 60, filled))).safe

    assert is_safe(known.needed)
    assert not is_safe(known.needed - 1)


def test_reviewed_items_behind_a_gap_count_and_gaps_are_filled_first() -> None:
    gap = (*(False,) * 20, None, *(False,) * 10, *(None,) * 269)
    stopped = (False,) * 20 + (None,) * 280
    needed, without = (
        remaining(counted(FramePart(320, 0, 60, 400, 60, order))).needed for order in (gap, stopped)
    )
    assert needed is not None
    assert without is not None
    assert needed == without - 10  # all but the item in the gap count


def test_what_is_missing_to_stop_is_said() -> None:
    part = FramePart(5, 5, 0)
    undrawn = remaining(replace(counted(part), is_drawn=False))
    assert stop_words(undrawn) == (
        "left in the list at most 5, missed in the rest at most 0; not safe to stop: no random sample drawn"
    )
    done = FramePart(0, 0, 2, 400, 2, (False,) * 5)
    assert stop_words(remaining(counted(done))).endswith("; safe to stop")
    arrived = FramePart(12, 12, 2, 400, 2, (False,) * 5)
    assert stop_words(remaining(counted(arrived))).endswith(
        "not safe to stop: 12 files arrived since the sample"
    )
    small = FramePart(390, 0, 2, 400, 2, (False, None, None))
    assert stop_words(remaining(counted(small))).endswith("a larger random sample is needed")
    for reason in ("unsure", "disputes", "unread"):
        assert stop_words(remaining(counted(done, **{reason: 1}))).endswith(
            "disputed, unsure or unread files"
        )


def test_page_of_a_scan_says_what_waits_for_ocr(browser: Visit, store: Store) -> None:
    client = browser("lead")
    assert "Waiting for OCR" not in client.get("/scans").text
    page = UnreadPart("#p2", FailReason.NEEDS_OCR, OCR_PENDING)
    scan(store, [replace(clear("half.pdf"), unread=(page,)), clear("whole.pdf")], minutes=2)
    shown = client.get("/scans").text
    assert "<dt>Waiting for OCR</dt><dd>1<small>1 file with 1 page or picture waits for OCR" in shown
