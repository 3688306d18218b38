"""The numbers of a scan, and the files behind them."""

from dataclasses import replace

import pytest

from phiscan.model import FailReason, Outcome, UnreadPart
from phiscan.review.store import ScanSummary, Store
from tests.review.results import SHARE, VERSIONS, clear, failed, later, referred, scan

pytestmark = pytest.mark.usefixtures("database")


def adds_up(summary: ScanSummary) -> bool:
    known = summary.screened + summary.unchanged
    return summary.crawled == known + sum(summary.skipped.values()) + sum(summary.failed.values())


def test_counts_every_outcome(store: Store) -> None:
    scan(store)
    summary = store.summary()
    assert summary.roots == ("/share",)
    assert (summary.crawled, summary.screened, summary.unchanged) == (6, 4, 0)
    assert (summary.skipped, summary.failed) == ({"empty": 1}, {"corrupt": 1})
    assert (summary.screened_positive, summary.referred, summary.people_at_risk) == (3, 2, 4)
    assert summary.by_detector == {"patterns": 3, "names": 3, "text": 0}
    assert (summary.bytes, summary.seconds, summary.n_unread_parts) == (400, 1.5, 2)
    assert summary.versions == VERSIONS
    assert (summary.started, summary.ended) == (
        "2026-11-20T08:30:00.000000+00:00",
        "2026-11-20T08:31:00.000000+00:00",
    )
    assert adds_up(summary)


def test_counts_standing_results_of_unchanged_files(store: Store) -> None:
    scan(store)
    names = [result.source.display for result in SHARE]
    scan(store, [clear("new.txt")], unchanged=names, minutes=5)
    summary = store.summary()
    assert (summary.crawled, summary.screened, summary.unchanged) == (7, 1, 4)
    assert (summary.screened_positive, summary.referred, summary.people_at_risk) == (3, 2, 4)
    assert (summary.bytes, summary.n_unread_parts) == (100, 2)
    assert adds_up(summary)


def test_never_calls_a_file_unchanged_that_still_cannot_be_read(store: Store) -> None:
    scan(store)
    scan(store, unchanged=[result.source.display for result in SHARE], results=[], minutes=5)
    summary = store.summary()
    assert (summary.skipped, summary.failed) == ({"empty": 1}, {"corrupt": 1})
    broken = next(row for row in store.rows() if row.path == "b/broken.docx")
    assert (broken.outcome, broken.reason, broken.standing) == (Outcome.FAILED, "corrupt", True)


def test_bytes_are_those_that_were_read(store: Store) -> None:
    results = [replace(referred("a"), bytes_read=40), replace(failed("b"), bytes_read=7), referred("c")]
    scan(store, results)
    assert store.summary().bytes == 40 + 7 + 100


def test_a_long_file_that_its_samples_refer_counts_as_read(store: Store) -> None:
    parts = tuple(UnreadPart(f"bytes {start}-", FailReason.SAMPLED) for start in (100, 300))
    scan(store, [replace(referred("long.csv"), unread=parts), referred("letter.txt")])
    summary = store.summary()
    assert (summary.n_sampled_files, summary.n_unread_parts) == (1, 1)


def test_an_older_scan_keeps_its_numbers(store: Store) -> None:
    first = scan(store)
    before, rows = store.summary(first), list(store.rows(first))
    scan(store, [clear("a/letter.txt")], unchanged=["c/referral.txt"], minutes=5)
    assert store.summary(first) == before
    assert list(store.rows(first)) == rows
    assert [head.n_crawled for head in store.scans()] == [6, 2]


def test_the_latest_scan_is_the_one_that_ended_last(store: Store) -> None:
    stopped = scan(store, SHARE[:1], complete=False)
    other = scan(store, [clear("x")], root=b"/other", minutes=2)
    assert store.summary().scan == other
    again = store.begin_scan([b"/share"], versions=VERSIONS, options={}, now=later(9))
    assert again.id == stopped
    store.finish_scan(again.id, status="stopped", seconds=0.5, now=later(10))
    assert store.summary().scan == stopped


def test_rows_are_ordered_and_one_per_crawled_file(store: Store) -> None:
    scan(store)
    rows = list(store.rows())
    assert [row.path for row in rows] == sorted(result.source.display for result in SHARE)
    assert len(rows) == store.summary().crawled
    letter = rows[0]
    assert (letter.n_people, letter.n_findings, letter.hamming, letter.health_score) == (3, 2, 0, 0.8)
    assert letter.detectors == (("patterns", True), ("names", True), ("text", False))
    assert [part.locator for part in letter.unread] == ["scan.zip!/a.pdf"]
    assert letter.vector == SHARE[0].vector


def test_an_empty_share_has_numbers_too(store: Store) -> None:
    scan(store, [])
    assert store.summary().crawled == 0
    assert store.summary().people_at_risk == 0
    assert list(store.rows()) == []
