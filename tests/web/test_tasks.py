"""Tasks after the verdict: opened by it, closed by the next scan, handed off without a value."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from phiscan.model import FileResult, Verdict
from phiscan.review.decisions.remedies import TaskState
from phiscan.review.store import Store
from tests.review.results import NOW, later, referred, scan
from tests.web.conftest import Browser

Visit = Callable[[str], Browser]
DAYS = 60
WIDE = 0o100644


def readable(name: str, mode: int, content: str = "") -> FileResult:
    result = referred(name, root=b"/wide", content=content or f"hash of {name}")
    return replace(result, source=replace(result.source, mode=mode, ctime_ns=mode))


@pytest.fixture
def confirmed(store: Store) -> dict[str, int]:
    """Scan files that everyone may read beside the first scan's, confirm them, and return their numbers."""
    names = ("open.txt", "gone.txt", "closed.txt", "edited.txt", "other.txt")
    scan(store, [readable(name, WIDE) for name in names], root=b"/wide", minutes=2)
    numbers = {name: store.find(name) for name in names}
    for name, number in numbers.items():
        verdict = Verdict.NOT_PHI if name == "other.txt" else Verdict.PHI
        store.desk.decide(number, verdict, reviewer="reviewer", now=later(5))
    return numbers


def states(store: Store, minutes: int = 6) -> dict[str, TaskState]:
    found = store.desk.tasks(due_days=DAYS, now=later(minutes))
    return {one.path: one.state for one in found}


def test_a_verdict_opens_a_task_and_the_next_scan_closes_it(store: Store, confirmed: dict[str, int]) -> None:
    assert states(store) == dict.fromkeys(
        ("open.txt", "gone.txt", "closed.txt", "edited.txt"), TaskState.OPEN
    )
    task = next(one for one in store.desk.tasks(due_days=DAYS, now=later(6)) if one.path == "open.txt")
    assert task.due == later(5) + timedelta(days=DAYS)
    assert task.remedy.startswith("Restrict access now")
    assert task.proof_scan is None
    proof = scan(
        store,
        [readable("closed.txt", 0o100600), readable("edited.txt", WIDE, "another content")],
        unchanged=["open.txt", "other.txt"],
        root=b"/wide",
        minutes=10,
    )
    assert states(store, 20) == {
        "open.txt": TaskState.OPEN,
        "gone.txt": TaskState.GONE,
        "closed.txt": TaskState.RESTRICTED,
        "edited.txt": TaskState.CHANGED,
    }
    found = {one.path: one for one in store.desk.tasks(due_days=DAYS, now=later(20))}
    assert {found[name].proof_scan for name in ("gone.txt", "closed.txt", "edited.txt")} == {proof}
    assert found["gone.txt"].proved == later(11)
    store.desk.undo(confirmed["open.txt"], by="reviewer", now=later(21))
    assert "open.txt" not in states(store, 22)


def test_an_open_task_is_overdue_after_its_day(store: Store, confirmed: dict[str, int]) -> None:
    assert confirmed
    late = NOW + timedelta(days=DAYS + 1)
    assert {one.state for one in store.desk.tasks(due_days=DAYS, now=late)} == {TaskState.OVERDUE}


def test_a_verdict_that_awaits_a_blind_second_one_is_no_task_yet(store: Store) -> None:
    store.desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=NOW)
    store.desk.decide(1, Verdict.PHI, reviewer="reviewer", now=later(5))
    assert store.desk.tasks(due_days=DAYS, now=later(6)) == ()
    store.desk.decide(1, Verdict.PHI, reviewer="lead", now=later(7))
    assert len(store.desk.tasks(due_days=DAYS, now=later(8))) == 1


def test_the_page_and_the_hand_off_list(browser: Visit, store: Store, confirmed: dict[str, int]) -> None:
    assert confirmed
    client = browser("reviewer").client
    page = client.get("/tasks").text
    assert "4 open." in page
    assert "Restrict access now" in page
    answer = client.get("/tasks.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["path"] for row in rows] == ["closed.txt", "edited.txt", "gone.txt", "open.txt"]
    assert {row["state"] for row in rows} == {"open"}
    assert "attachment" in answer.headers["content-disposition"]
    entry = store.users.log(action="export").entries[0]
    assert (entry.actor, entry.details["value"]) == ("reviewer", "tasks")
    assert browser("reader").client.get("/tasks.csv").status_code == 403
