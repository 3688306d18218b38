"""A decision is about a content: it stands after a move and for identical files, and for no other bytes."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from phiscan.errors import ConflictError
from phiscan.model import FILE_NAME, EntityType, FileResult, Span, StoredTerm, Verdict, WindowBag
from phiscan.report.gather import gather
from phiscan.review.decisions.incidents import TaskState
from phiscan.review.decisions.learning import reviewed_files
from phiscan.review.retention import Retention
from phiscan.review.store import Store
from phiscan.review.worklist.model import HistoryEntry, WorkState
from phiscan.store.tables.desk import audit_log, decision
from tests.review.desk import agrees_with_the_truth, line
from tests.review.results import NOW, finding, later, referred, scan
from tests.review.test_purging import hold, purge, scan_at, years

pytestmark = pytest.mark.usefixtures("database")

PHI, NOT_PHI = Verdict.PHI, Verdict.NOT_PHI
SAME = "bytes of the letter"


def letter(name: str, *, root: bytes = b"/share", mode: int = 0o100644, content: str = SAME) -> FileResult:
    result = referred(name, root=root, content=content)
    return replace(result, source=replace(result.source, mode=mode))


def named(result: FileResult, *, person: str = "", concept: str = "") -> FileResult:
    """Return a result with findings in the file's own name."""
    found = replace(finding(person or "-", kind=EntityType.PERSON), locator=FILE_NAME)
    terms = (StoredTerm(concept, 1, Span(0, 5), FILE_NAME),) if concept else ()
    return replace(
        result, findings=(*result.findings, *([found] * bool(person))), terms=(*result.terms, *terms)
    )


def decided(store: Store, verdict: Verdict = PHI, name: str = "letter.txt") -> int:
    scan(store, [letter(name), referred("other.txt")])
    number = store.find(name)
    store.desk.decide(number, verdict, reviewer="ana", now=later(2), reason="fictitious", note="see 4")
    return number


def entry(store: Store, name: str) -> HistoryEntry:
    return store.desk.history(store.find(name), viewer="bob")[-1]


def logged(store: Store, action: str) -> list[dict[str, object]]:
    with store.database.read() as connection:
        query = sa.select(audit_log.c.details).where(audit_log.c.action == action).order_by(audit_log.c.id)
        return [dict(details) for details in connection.execute(query).scalars()]


@pytest.mark.parametrize(
    ("root", "verdict"), [(b"/share", PHI), (b"/share", Verdict.UNSURE), (b"/elsewhere", NOT_PHI)]
)
def test_verdict_reason_and_note_follow_a_moved_file(store: Store, root: bytes, verdict: Verdict) -> None:
    old = decided(store, verdict)
    scan(
        store,
        [letter("archive/2026.txt", root=root)],
        root=root,
        unchanged=["other.txt"] * (root == b"/share"),
        minutes=5,
    )
    moved = store.find("archive/2026.txt")
    item = line(store, moved, viewer="bob")
    assert (item.state.value, item.reviewer, item.decided) == (verdict.value, "ana", later(2))
    last = entry(store, "archive/2026.txt")
    assert (last.reason, last.note, last.path, last.is_current) == ("fictitious", "see 4", "letter.txt", True)
    carried = {"file": moved, "made_about": old}
    assert [{name: one[name] for name in carried} for one in logged(store, "carry")] == [carried]
    assert store.verify_audit().ok
    assert agrees_with_the_truth(store)


def test_the_assignee_follows_a_moved_file(store: Store) -> None:
    scan(store, [letter("letter.txt")])
    store.assign_all([store.find("letter.txt")], "bea", by="ada", now=later(2))
    scan(store, [letter("moved.txt")], minutes=5)
    assert line(store, store.find("moved.txt")).assignee == "bea"


def test_an_identical_file_is_decided_with_the_first_as_one_decision(store: Store) -> None:
    scan(store, [letter("letter.txt"), letter("copy.txt"), referred("other.txt")])
    first, copy = store.find("letter.txt"), store.find("copy.txt")
    store.desk.decide(first, PHI, reviewer="ana", now=later(2))
    scan(store, [letter("late.txt")], unchanged=["letter.txt", "copy.txt", "other.txt"], minutes=5)
    late = store.find("late.txt")
    assert [line(store, number).state for number in (first, copy, late)] == [WorkState.PHI] * 3
    assert [one["file"] for one in logged(store, "carry")] == [copy, late]
    report = gather(store.database, now=later(9)).data
    assert [(one.reviewer, one.phi) for one in report.reviewers] == [("ana", 1)]
    assert [(one.decision, one.file, one.standing) for one in report.decisions] == [(1, first, True)]
    assert report.double_review.files == 0
    assert store.desk.progress(since=NOW).by_reviewer == {"ana": 1}
    exported = {row.path: row.verdict for row in store.rows(None)}
    assert exported == {"letter.txt": PHI, "copy.txt": PHI, "late.txt": PHI, "other.txt": None}
    assert agrees_with_the_truth(store)


def test_one_changed_byte_is_undecided_with_the_earlier_verdict_in_view(store: Store) -> None:
    number = decided(store)
    scan(store, [letter("letter.txt", content="one byte more")], unchanged=["other.txt"], minutes=5)
    assert line(store, number).state is WorkState.UNDECIDED
    last = entry(store, "letter.txt")
    assert (last.verdict, last.is_current, last.same_content, last.path) == (PHI, False, False, "")
    scan(store, [letter("letter.txt")], unchanged=["other.txt"], minutes=9)  # restored from a backup
    assert line(store, number).state is WorkState.PHI


def test_undo_and_a_later_verdict_are_for_all_identical_files(store: Store) -> None:
    scan(store, [letter("letter.txt"), letter("copy.txt")])
    store.desk.decide(1, PHI, reviewer="ana", now=later(2))
    with pytest.raises(ConflictError, match="decided as phi by ana meanwhile"):
        store.desk.decide(2, NOT_PHI, reviewer="bob", now=later(3))
    store.desk.decide(2, NOT_PHI, reviewer="bob", now=later(3), override=True)
    assert [line(store, n).reviewer for n in (1, 2)] == ["bob", "bob"]
    store.desk.undo(1, by="bob", now=later(4))
    assert [line(store, n).reviewer for n in (1, 2)] == ["ana", "ana"]
    assert not entry(store, "copy.txt").is_current  # bob's undoing comes last
    store.desk.undo(2, by="ana", now=later(5))
    assert [line(store, n).state for n in (1, 2)] == [WorkState.UNDECIDED] * 2
    assert agrees_with_the_truth(store)


def test_a_dispute_is_one_wherever_the_file_is(store: Store) -> None:
    store.desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=NOW)
    decided(store)
    scan(store, [letter("moved.txt"), letter("copy.txt")], unchanged=["other.txt"], minutes=5)
    moved, copy = store.find("moved.txt"), store.find("copy.txt")
    assert {line(store, n, viewer="bob").state for n in (moved, copy)} == {WorkState.UNDECIDED}
    assert store.desk.second_review_counts().waiting == 1
    assert "ana" not in repr(store.desk.history(moved, viewer="bob"))
    store.desk.decide(copy, NOT_PHI, reviewer="bob", now=later(6))
    (dispute,) = store.desk.disagreements(lead="eve")
    assert (dispute.file_id, dispute.first_reviewer, dispute.second_reviewer) == (moved, "ana", "bob")
    assert len(store.desk.ratings()) == 1
    store.desk.adjudicate(dispute.id, NOT_PHI, lead="eve", now=later(7))
    assert [line(store, n).state for n in (moved, copy)] == [WorkState.NOT_PHI] * 2
    assert store.desk.disagreements(lead="zoe") == ()
    assert agrees_with_the_truth(store)


def tasks(store: Store) -> dict[str, TaskState]:
    return {one.path: one.state for one in store.desk.tasks(now=later(9))}


def test_the_task_follows_a_moved_file_and_is_done_where_fewer_can_read_it(store: Store) -> None:
    decided(store)
    assert tasks(store) == {"letter.txt": TaskState.OPEN}
    scan(store, [letter("moved.txt")], unchanged=["other.txt"], minutes=3)
    assert tasks(store) == {"moved.txt": TaskState.OPEN}
    assert [task.confirmed for task in store.desk.tasks(now=later(9))] == [later(2)]
    scan(store, [letter("safe/moved.txt", mode=0o100600)], unchanged=["other.txt"], minutes=5)
    assert tasks(store) == {"safe/moved.txt": TaskState.RESTRICTED}


def test_an_identical_file_has_a_task_of_its_own(store: Store) -> None:
    decided(store)
    scan(store, [letter("copy.txt")], unchanged=["letter.txt", "other.txt"], minutes=3)
    assert tasks(store) == {"letter.txt": TaskState.OPEN, "copy.txt": TaskState.OPEN}
    scan(store, [], unchanged=["copy.txt", "other.txt"], minutes=5)
    assert tasks(store) == {"letter.txt": TaskState.GONE, "copy.txt": TaskState.OPEN}


@pytest.mark.parametrize(
    ("result", "not_phi_follows"),
    [
        (letter("0412.txt"), True),
        (named(letter("Ann Ex.txt"), person="Ann Ex"), True),  # named in the text, too
        (named(letter("asthma.txt"), concept="asthma"), True),
        (named(letter("Bo Why.txt"), person="Bo Why"), False),
        (named(letter("HIV.txt"), concept="hiv"), False),
    ],
    ids=lambda value: value.source.path.decode() if isinstance(value, FileResult) else "",
)
def test_a_name_that_says_more_needs_a_verdict_of_its_own_unless_it_is_phi_anyway(
    store: Store, result: FileResult, *, not_phi_follows: bool
) -> None:
    number = decided(store, NOT_PHI)
    scan(store, [result], unchanged=["letter.txt", "other.txt"], minutes=5)
    renamed = store.find(result.source.display)
    expected = WorkState.NOT_PHI if not_phi_follows else WorkState.UNDECIDED
    assert line(store, renamed).state is expected
    if not not_phi_follows:
        seen = [one for one in store.desk.history(renamed, viewer="bob") if one.verdict]
        assert [(one.path, one.is_current) for one in seen] == [("letter.txt", False)]
        store.desk.decide(renamed, PHI, reviewer="bob", now=later(6))
        assert line(store, number).state is WorkState.PHI  # on the safe side, until it is decided itself
        store.desk.decide(number, NOT_PHI, reviewer="ana", now=later(7), override=True)
        assert [line(store, one).reviewer for one in (number, renamed)] == ["ana", "bob"]
    store.desk.decide(number, PHI, reviewer="ana", now=later(8), override=True)
    assert line(store, renamed).state is WorkState.PHI
    assert agrees_with_the_truth(store)


def test_a_verdict_by_the_name_alone_does_not_follow_to_another_name(store: Store) -> None:
    scan(store, [letter("letter.txt"), referred("other.txt")])
    store.desk.decide(1, PHI, reviewer="ana", now=later(2), by_name=True)
    scan(store, [letter("moved.txt")], unchanged=["letter.txt", "other.txt"], minutes=5)
    assert line(store, 1).state is WorkState.PHI
    assert line(store, store.find("moved.txt")).state is WorkState.UNDECIDED


def test_files_that_were_not_read_are_not_identical(store: Store) -> None:
    scan(store, [letter("letter.txt"), referred("other.txt")])
    store.desk.decide(1, PHI, reviewer="ana", now=later(2))
    with store.database.read() as connection:
        assert connection.execute(sa.select(decision.c.content_hash)).scalars().all() == [SAME]
    empty = replace(referred("locked.txt"), content_hash="")
    scan(store, [empty, replace(empty, source=referred("locked too.txt").source)], minutes=3)
    assert [row.verdict for row in store.rows(None)] == [None, None]


def test_a_decision_is_kept_while_its_content_is_anywhere(store: Store) -> None:
    scan_at(store, NOW, letter("letter.txt"), referred("other.txt"))
    store.desk.decide(1, PHI, reviewer="ana", now=NOW)
    scan_at(store, years(1), letter("moved.txt"), unchanged=("other.txt",))
    scan_at(store, years(15), unchanged=("moved.txt", "other.txt"))
    purge(store, years(15), policy=Retention())
    assert line(store, store.find("moved.txt")).state is WorkState.PHI
    scan_at(store, years(16), unchanged=("other.txt",))
    purge(store, years(40), policy=Retention())
    with store.database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(decision)).scalar_one() == 0


def test_a_hold_is_on_the_identical_files_too(store: Store) -> None:
    scan_at(store, NOW, letter("letter.txt"), referred("other.txt"))
    hold(store, files=[1])
    scan_at(store, years(1), letter("moved.txt"), unchanged=("other.txt",))
    scan_at(store, years(2), unchanged=("other.txt",))
    purge(store, years(40))
    assert {store.find(name) for name in ("letter.txt", "moved.txt")} == {1, 3}


def test_identical_files_are_one_example_to_learn_from(store: Store) -> None:
    window = WindowBag(500, (("C0011849", 2),))
    scan(store, [replace(letter(name), window=window) for name in ("letter.txt", "copy.txt")])
    store.decide_all([(1, NOT_PHI), (2, PHI)], reviewer="ana", now=later(2))
    assert [(one.file_id, one.is_phi) for one in reviewed_files(store.database)] == [(2, True)]


def test_a_verdict_that_was_taken_back_is_not_learned(store: Store) -> None:
    scan(
        store,
        [
            replace(result, window=WindowBag(500, (("C0011849", 2),)))
            for result in (letter("a.txt"), letter("b.txt", content="other"))
        ],
    )
    desk = store.desk
    desk.decide(1, NOT_PHI, reviewer="ana", now=NOW)
    desk.decide(2, PHI, reviewer="ana", now=NOW)
    desk.decide(2, NOT_PHI, reviewer="ana", now=later(1))
    desk.undo(1, by="ana", now=later(2))
    desk.undo(2, by="ana", now=later(2))
    assert [(one.file_id, one.is_phi) for one in reviewed_files(store.database)] == [(2, True)]
