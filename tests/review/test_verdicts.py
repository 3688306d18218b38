"""Verdicts at the desk: one per form, about what was seen, taken back, for a whole group."""

from dataclasses import replace

import pytest

from phiscan.errors import ConflictError, InputError
from phiscan.model import Verdict
from phiscan.review.store import Store
from phiscan.review.worklist.model import MAX_NOTE_CHARS, REASONS, WorkFilter, WorkState
from tests.review.desk import agrees_with_the_truth, line, listed, scanned, share
from tests.review.results import NOW, SHARE, later, referred, scan


def decisions(store: Store, number: int) -> list[tuple[str, str]]:
    return [(one.reviewer, one.verdict.value) for one in store.item(number).decisions]


def test_a_form_is_good_for_one_file_and_person(store: Store) -> None:
    scanned(store, 2)
    store.desk.decide(1, Verdict.PHI, reviewer="ana", now=NOW, token="form")
    for number, reviewer in ((2, "ana"), (1, "bob")):
        with pytest.raises(InputError, match="this form was sent before"):
            store.desk.decide(number, Verdict.PHI, reviewer=reviewer, now=NOW, token="form")


def test_refuses_a_verdict_on_content_that_has_changed(store: Store) -> None:
    scan(store, [referred("a.txt", content="one")])
    seen = line(store, 1).examination_id
    scan(store, [referred("a.txt", content="one")], minutes=1)
    store.desk.decide(1, Verdict.PHI, reviewer="ana", now=NOW, seen=seen)  # examined anew, the same content
    scan(store, [referred("a.txt", content="two")], minutes=2)
    with pytest.raises(ConflictError, match=r"a\.txt: the file has changed since it was shown"):
        store.desk.decide(1, Verdict.PHI, reviewer="ana", now=NOW, seen=seen)
    assert line(store, 1).state is WorkState.UNDECIDED
    with pytest.raises(InputError, match="result 99 is not one of this file"):
        store.desk.decide(1, Verdict.PHI, reviewer="ana", now=NOW, seen=99)


def test_undo_lets_what_stood_before_stand_again(store: Store) -> None:
    number = scanned(store, 1)[0]
    desk = store.desk
    desk.decide(number, Verdict.PHI, reviewer="ana", now=NOW)
    desk.decide(number, Verdict.NOT_PHI, reviewer="ana", now=later(1))
    desk.undo(number, by="ana", now=later(2))
    assert line(store, number).state is WorkState.PHI
    assert store.item(number).verdict is Verdict.PHI
    desk.undo(number, by="ana", now=later(3))
    assert line(store, number).state is WorkState.UNDECIDED
    assert (store.queue_size(verdicts=[None]), store.item(number).reviewer) == (1, "")
    with pytest.raises(ConflictError, match="nothing to undo: no verdict by ana is current"):
        desk.undo(number, by="ana", now=later(4))
    assert decisions(store, number) == [("ana", "phi"), ("ana", "not_phi")]
    told = [(one.what, one.is_current) for one in desk.history(number, viewer="ana")]
    assert told == [("decide", False), ("decide", False), ("undo", False), ("undo", False)]
    assert store.verify_audit().ok
    assert agrees_with_the_truth(store)


def test_refuses_what_is_no_item_and_texts_that_are_too_long(store: Store) -> None:
    scan(store, SHARE)
    for number, field, text, words in (
        (99, "reviewer", "ana", "file 99: there is no such file"),
        (4, "reviewer", "ana", r"b/broken\.docx: its content was never read"),
        (1, "reviewer", " ", "reviewer: expected a name"),
        (1, "note", "x" * (MAX_NOTE_CHARS + 1), "note: expected at most"),
        (1, "reason", "x" * 201, "reason: expected at most"),
        (1, "token", "x" * 201, "token: expected at most"),
        (1, "reviewer", "x" * 10_001, "reviewer: expected at most"),
    ):
        with pytest.raises(InputError, match=words):
            store.desk.decide(number, Verdict.PHI, now=NOW, **{"reviewer": "ana", field: text})
    assert decisions(store, 1) == []


def test_the_log_holds_no_free_text(store: Store) -> None:
    number = scanned(store, 1)[0]
    store.desk.decide(
        number, Verdict.PHI, reviewer="ana", now=NOW, reason="canary-reason", note="canary-note"
    )
    store.desk.reveal(number, purpose="canary-purpose", by="ana", now=NOW)
    with store.database.read() as connection:
        log = str(connection.exec_driver_sql("SELECT * FROM audit_log").all())
    assert "canary" not in log
    assert "reveal" in log


def test_reasons_are_a_short_list_for_each_verdict() -> None:
    assert set(REASONS) == set(Verdict)
    names = [name for reasons in REASONS.values() for name, _ in reasons]
    assert len(names) == len(set(names))
    assert all(3 <= len(reasons) <= 9 for reasons in REASONS.values())


def grouped(store: Store) -> list[int]:
    """Scan ten files: three copies, two near-duplicates of them, the others alone."""
    files = share(10)
    near = b"\1" * 200 + b"\2" * 56
    signatures = [b"\1" * 256] * 3 + [near] * 2 + [bytes([9 + n]) * 256 for n in range(5)]
    files = [replace(one, signature=signed) for one, signed in zip(files, signatures, strict=True)]
    files[1] = replace(files[1], content_hash=files[0].content_hash)
    scan(store, files)
    return [1, 2, 3]


def test_a_group_is_decided_once_with_exceptions(store: Store) -> None:
    grouped(store)
    desk = store.desk
    item = line(store, 1)
    assert (item.group_id, item.n_group) == (1, 3)
    members = desk.group(1, viewer="ana")
    first = members[0].content_hash
    assert [(one.file_id, one.content_hash == first, one.similarity) for one in members] == [
        (1, True, 1.0),
        (2, True, 1.0),
        (3, False, 1.0),
    ]
    made = desk.decide_group(1, Verdict.NOT_PHI, reviewer="ana", now=NOW, exceptions=[3, 2], token="t")
    assert [one.file_id for one in made.decided] == [1, 2]  # identical: either both or none
    assert made.left_out == ((3, "excepted"),)
    again = desk.decide_group(1, Verdict.NOT_PHI, reviewer="ana", now=later(1), exceptions=[3], token="t")
    assert [(one.file_id, one.repeated) for one in again.decided] == [(1, True)]
    assert again.left_out == ((2, "decided before"), (3, "excepted"))
    assert decisions(store, 1) == decisions(store, 2) == [("ana", "not_phi")]
    with pytest.raises(InputError, match="group 99: there is no such group"):
        desk.decide_group(99, Verdict.PHI, reviewer="ana", now=NOW)


def test_a_group_neither_shows_nor_decides_its_blind_items(store: Store) -> None:
    grouped(store)
    desk = store.desk
    desk.draw_sample(n_queued=2, n_unreferred=0, by="lead", now=NOW)
    items = {item.file_id: item for item in desk.items(viewer="ana", now=NOW).items}
    blind = {number for number, item in items.items() if item.blind}
    assert len(blind) == 2
    assert {(items[number].group_id, items[number].n_group) for number in blind} == {(None, 1)}
    for number in {1, 2, 3} - blind:
        assert (items[number].group_id, items[number].n_group) == (1, len({1, 2, 3} - blind))
    seen = {member.file_id for member in desk.group(1, viewer="ana")}
    assert seen == {1, 2, 3} - blind
    assert set(listed(store, WorkFilter(group_id=1))) == seen
    made = desk.decide_group(1, Verdict.PHI, reviewer="ana", now=NOW)
    assert {one.file_id for one in made.decided} == seen
    assert made.left_out == ()
