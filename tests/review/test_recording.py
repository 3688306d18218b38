"""Recording: once or twice the same, whole batches or nothing, and what is known afterwards."""

from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.errors import StoreError
from phiscan.model import FailReason, FileResult, Outcome
from phiscan.review.store import Store
from phiscan.store.tables.scans import file
from phiscan.store.tables.scans import finding as finding_table
from tests.empty_database import new_store
from tests.review.results import (
    NOW,
    ROOT,
    SHARE,
    VERSIONS,
    clear,
    failed,
    finding,
    later,
    referred,
    scan,
    source,
    url_of,
)
from tests.review.test_purging import count, everything


def test_recording_twice_is_recording_once(tmp_path: Path) -> None:
    found = []
    for times in (1, 2):
        with new_store(tmp_path / f"{times}.db") as store:
            state = store.begin_scan([ROOT], versions=VERSIONS, options={}, now=NOW)
            for _ in range(times):
                store.record(state.id, "v1", SHARE)
            store.finish_scan(state.id, status="complete", seconds=2.0, now=NOW)
            found.append(everything(store))
            assert count(store, finding_table) == 6
    assert found[0] == found[1]


def test_replaces_what_the_same_scan_said_before(store: Store) -> None:
    number = scan(store, [referred("x.txt")], complete=False)
    store.record(number, "v1", [failed("x.txt")])
    summary = store.summary(number)
    assert (summary.screened, summary.failed, summary.referred) == (0, {"corrupt": 1}, 0)
    detail = store.item(store.find("x.txt"))
    assert (detail.findings, detail.terms, detail.unread) == ((), (), ())
    assert (detail.outcome, detail.reason) == (Outcome.FAILED, FailReason.CORRUPT)


def test_takes_the_last_of_two_results_for_one_file_in_a_batch(store: Store) -> None:
    scan(store, [referred("x.txt"), clear("x.txt")])
    assert store.summary().crawled == 1
    assert store.summary().referred == 0


def test_resumed_scan_has_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    with new_store(tmp_path / "undisturbed") as store:
        scan(store, SHARE)
        undisturbed = everything(store)
    for cut in range(len(SHARE)):
        path = tmp_path / f"cut{cut}"
        with new_store(path) as store:
            first = store.begin_scan([ROOT], versions=VERSIONS, options={}, now=NOW)
            store.record(first.id, "v1", SHARE[:cut])  # and then killed
        with Store.open(url_of(path)) as store:
            second = store.begin_scan([ROOT], versions=VERSIONS, options={}, now=later(5))
            assert second.resumed
            assert (second.id, second.started) == (first.id, NOW)
            known = store.known(ROOT, [result.source.path for result in SHARE])
            assert len(known) == cut
            assert {file.seen_scan_id for file in known.values()} <= {first.id}
            again = [file.file_id for file in known.values()]
            store.record(second.id, "v1", SHARE[cut:], unchanged=again)
            store.finish_scan(second.id, status="complete", seconds=1.5, now=later(1))
            assert everything(store) == undisturbed


@pytest.mark.parametrize(
    "change", [{"roots": [b"/other"]}, {"versions": {"phiscan": "9"}}, {"options": {"full": True}}]
)
def test_begins_a_new_scan_when_something_else_is_asked(store: Store, change: dict[str, object]) -> None:
    asked = {"roots": [ROOT], "versions": VERSIONS, "options": {}}
    first = store.begin_scan(**asked, now=NOW)  # type: ignore[arg-type]
    store.finish_scan(first.id, status="stopped", seconds=1.0, now=NOW)
    other = store.begin_scan(**{**asked, **change}, now=later(1))  # type: ignore[arg-type]
    assert not other.resumed
    assert other.id != first.id


def test_begins_a_new_scan_after_a_complete_one(store: Store) -> None:
    first = scan(store)
    assert scan(store, minutes=10) == first + 1


def test_does_not_resume_a_scan_after_a_later_complete_one(store: Store) -> None:
    stopped = scan(store, SHARE[:2], complete=False)
    full = store.begin_scan([ROOT], versions=VERSIONS, options={"full": True}, now=later(1))
    store.record(full.id, "v1", SHARE)
    store.finish_scan(full.id, status="complete", seconds=1.0, now=later(2))
    state = store.begin_scan([ROOT], versions=VERSIONS, options={}, now=later(3))
    assert not state.resumed
    assert state.id > full.id > stopped


def test_adds_up_the_seconds_of_a_stopped_scan(store: Store) -> None:
    first = store.begin_scan([ROOT], versions=VERSIONS, options={}, now=NOW)
    store.finish_scan(first.id, status="stopped", seconds=2.0, now=later(1))
    assert store.summary().status == "stopped"
    store.begin_scan([ROOT], versions=VERSIONS, options={}, now=later(2))
    assert store.summary().status == "running"
    store.finish_scan(first.id, status="complete", seconds=3.0, now=later(3))
    assert (store.summary().seconds, store.summary().status) == (5.0, "complete")


def test_knows_the_latest_examination(store: Store) -> None:
    scan(store)
    second = scan(
        store, [replace(SHARE[0], source=source("a/letter.txt", mtime_ns=9))], unchanged=["b/minutes.txt"]
    )
    known = store.known(ROOT, [b"a/letter.txt", b"b/minutes.txt", b"never.txt"])
    assert set(known) == {b"a/letter.txt", b"b/minutes.txt"}
    letter, minutes = known[b"a/letter.txt"], known[b"b/minutes.txt"]
    assert (letter.mtime_ns, letter.scan_id, letter.seen_scan_id) == (9, second, second)
    assert (minutes.mtime_ns, minutes.scan_id, minutes.seen_scan_id) == (1, 1, second)
    assert (minutes.size, minutes.ctime_ns, minutes.inode) == (100, 2, 3)
    assert (minutes.outcome, minutes.reason, minutes.versions_key) == (Outcome.SCREENED, "", "v1")
    assert minutes.content_hash == "hash of b/minutes.txt"
    assert store.known(b"/elsewhere", [b"a/letter.txt"]) == {}


def test_keeps_numbers_and_names_of_hostile_file_systems(store: Store) -> None:
    odd = replace(
        source("x"), path=b"\xff\x00\xe2\x80\xae.txt", inode=2**64 - 1, device=2**63, mtime_ns=2**70
    )
    scan(store, [replace(clear("x"), source=odd, detail="\udcff\x00")])
    (known,) = store.known(ROOT, [odd.path]).values()
    assert (known.inode, known.mtime_ns) == (2**64 - 1, 2**63 - 1)
    assert store.item(known.file_id).detail == "\\udcff\\x00"


def test_writes_nothing_of_a_batch_with_an_unmasked_preview(store: Store) -> None:
    bad = replace(referred("x.txt"), findings=(replace(finding("613-555-0199"), preview="613-555-0199"),))
    with pytest.raises(StoreError, match=r"^x\.txt: finding 0: its preview is not masked; not recorded$"):
        scan(store, [clear("fine.txt"), bad])
    assert count(store, file) == 0


@pytest.mark.parametrize("score", [-0.1, 1.1])
def test_refuses_what_the_tables_forbid_in_one_line(store: Store, score: float) -> None:
    with pytest.raises(
        StoreError, match=r"^\w+://.*: CHECK constraint failed: ck_examination_health_score_range$"
    ):
        scan(store, [replace(clear("x.txt"), health_score=score)])


def test_refuses_a_file_seen_again_that_was_never_examined(store: Store) -> None:
    number = scan(store)
    with pytest.raises(StoreError, match="files 99 to 99: one was seen again, but it was never examined"):
        store.record(number, "v1", [], unchanged=[99])


def test_refuses_an_unchanged_result(store: Store) -> None:
    with pytest.raises(ValueError, match="by its number"):
        scan(store, [FileResult(source("x"), Outcome.UNCHANGED)])


def test_refuses_a_scan_that_does_not_exist(store: Store) -> None:
    with pytest.raises(StoreError, match="scan 7: there is no such scan"):
        store.finish_scan(7, status="complete", seconds=0.0, now=NOW)
    with pytest.raises(StoreError, match="scan 7: there is no such scan"):
        store.summary(7)
    scan(store)
    with pytest.raises(StoreError, match="scan 7: there is no such scan"):
        store.record(7, "v1", [], unchanged=[1])


def test_a_file_seen_again_and_then_read_after_all_counts_once(store: Store) -> None:
    scan(store)
    second = scan(store, [], unchanged=["a/letter.txt"], minutes=5, complete=False)
    store.record(second, "v2", [clear("a/letter.txt")])
    summary = store.summary(second)
    assert (summary.crawled, summary.screened, summary.unchanged, summary.referred) == (1, 1, 0, 0)


def test_what_a_copys_name_promises_is_its_own(tmp_path: Path) -> None:
    first = replace(clear("a.jpg"), detail="the name promises image/jpeg")
    copy = replace(clear("b.txt"), content_hash=first.content_hash, is_copy=True)
    with new_store(tmp_path / "phiscan.db") as store:
        scan(store, [first, copy])
        assert [store.item(number).detail for number in (1, 2)] == ["the name promises image/jpeg", ""]
