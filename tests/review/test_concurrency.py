"""Reviewers in several processes decide while a scan records: nothing lost, nothing doubled."""

import multiprocessing
from typing import Any

from phiscan.model import Verdict
from phiscan.review.store import Store
from tests.review.results import NOW, referred, scan

N_REVIEWERS = 3
N_DECISIONS = 20
N_FILES = 15
N_SCANS = 5


def _review(url: str, reviewer: str) -> None:
    with Store.open(url) as store:
        for number in range(N_DECISIONS):
            store.decide_all(
                [(number % N_FILES + 1, Verdict.PHI)], reviewer=reviewer, note=str(number), now=NOW
            )


def _scan(url: str) -> None:
    with Store.open(url) as store:
        for number in range(N_SCANS):
            scan(store, [referred(f"new{number}-{n:02}.txt") for n in range(20)], minutes=number + 1)


def at_once(*calls: tuple[Any, ...]) -> None:
    """Call functions with their arguments, each in a process of its own; none may fail."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=one, args=given, daemon=True) for one, *given in calls]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(calls)


def test_reviewers_and_a_scan_write_at_once(store: Store, url: str) -> None:
    scan(store, [referred(f"{n:02}.txt") for n in range(N_FILES)])
    names = [f"reviewer {n}" for n in range(N_REVIEWERS)]
    at_once(*((_review, url, name) for name in names), (_scan, url))
    check = store.verify_audit()
    assert (check.ok, check.n_rows) == (True, N_REVIEWERS * N_DECISIONS)
    made = sorted(
        (decision.reviewer, int(decision.note))
        for number in range(1, N_FILES + 1)
        for decision in store.item(number).decisions
    )
    assert made == sorted((name, number) for name in names for number in range(N_DECISIONS))
    assert [head.n_crawled for head in store.scans()] == [N_FILES] + [20] * N_SCANS


def _create(url: str) -> None:
    Store.open(url, create=True).close()


def test_several_processes_make_one_database(empty_url: str) -> None:
    at_once(*[(_create, empty_url)] * 3)
    with Store.open(empty_url) as store:
        assert store.scans() == []
