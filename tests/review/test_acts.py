"""Undo and redo: a reviewer's own last act as a whole, named, and never a lead's adjudication."""

from dataclasses import replace

import pytest

from phiscan.errors import ConflictError
from phiscan.model import Verdict
from phiscan.review.store import Store
from tests.review.results import later, referred, scan

PHI, NOT_PHI = Verdict.PHI, Verdict.NOT_PHI


@pytest.fixture
def group(store: Store) -> int:
    """Scan four near-duplicates and two files alone; return the number of the group."""
    copies = [replace(referred(f"copy {n}.txt"), signature=b"\1" * 256) for n in range(4)]
    scan(store, [*copies, referred("alone.txt"), referred("other.txt")])
    (number,) = {item.group_id for item in store.desk.items(viewer="ana", now=later(0)).items} - {None}
    assert number is not None
    return number


def states(store: Store) -> dict[str, str]:
    items = [store.desk.item(n, viewer="ana", now=later(9)) for n in range(1, 7)]
    return {item.path: item.state.value for item in items}


def test_a_group_is_undone_and_redone_as_a_whole(store: Store, group: int) -> None:
    desk = store.desk
    alone = store.find("alone.txt")
    desk.decide(alone, PHI, reviewer="ana", now=later(1))
    done = desk.decide_group(
        group, NOT_PHI, reviewer="ana", now=later(2), reason="fictitious", note="a template"
    )
    assert len(done.decided) == 4
    act = desk.last_act(by="ana")
    assert act is not None
    assert (len(act.file_ids), act.path, act.verdict) == (4, "copy 0.txt", NOT_PHI)
    assert desk.undo_last(by="ana", now=later(3)).file_ids == act.file_ids
    assert states(store) == {
        **{f"copy {n}.txt": "undecided" for n in range(4)},
        "alone.txt": "phi",
        "other.txt": "undecided",
    }
    undone = desk.last_undone(by="ana")
    assert undone is not None
    assert undone.file_ids == act.file_ids
    assert desk.redo_last(by="ana", now=later(4)).file_ids == act.file_ids
    assert [states(store)[f"copy {n}.txt"] for n in range(4)] == ["not_phi"] * 4
    entry = desk.history(1, viewer="ana")[-1]
    assert (entry.what, entry.reason, entry.note) == ("decide", "fictitious", "a template")
    with pytest.raises(ConflictError, match="nothing to redo"):
        desk.redo_last(by="ana", now=later(5))
    # Undone twice: the group, then what came before it.
    desk.undo_last(by="ana", now=later(6))
    assert desk.undo_last(by="ana", now=later(7)).file_ids == (alone,)
    with pytest.raises(ConflictError, match="nothing to undo"):
        desk.undo_last(by="ana", now=later(8))
    assert store.verify_audit().ok


def test_what_others_decided_meanwhile_is_not_undone_or_redone(store: Store, group: int) -> None:
    desk = store.desk
    desk.decide_group(group, NOT_PHI, reviewer="ana", now=later(1))
    desk.decide(1, PHI, reviewer="bob", now=later(2), override=True)
    assert len(desk.undo_last(by="ana", now=later(3)).file_ids) == 3
    desk.decide(2, PHI, reviewer="bob", now=later(4))
    with pytest.raises(ConflictError, match="decided as phi by bob meanwhile"):
        desk.redo_last(by="ana", now=later(5))
    assert states(store)["copy 2.txt"] == "undecided"  # all or none


def test_redo_is_offered_until_the_next_verdict(store: Store, group: int) -> None:
    desk = store.desk
    assert group
    desk.decide(5, PHI, reviewer="ana", now=later(1))
    desk.undo_last(by="ana", now=later(2))
    assert desk.last_undone(by="ana") is not None
    assert desk.last_undone(by="bob") is None
    desk.decide(6, PHI, reviewer="ana", now=later(3))
    assert desk.last_undone(by="ana") is None


def test_an_adjudication_is_no_act_to_be_undone_by_the_way(store: Store, group: int) -> None:
    desk = store.desk
    assert group
    desk.set_policy(second_review=1.0, hide_limit=20, by="lea", now=later(0))
    desk.decide(5, PHI, reviewer="ana", now=later(1))
    desk.decide(5, NOT_PHI, reviewer="bob", now=later(2))
    (case,) = desk.disagreements(lead="lea")
    desk.decide(6, PHI, reviewer="lea", now=later(3))
    desk.adjudicate(case.id, PHI, lead="lea", now=later(4))
    act = desk.last_act(by="lea")
    assert act is not None
    assert act.file_ids == (6,)
    desk.undo_last(by="lea", now=later(5))
    assert states(store)["alone.txt"] == "phi"
