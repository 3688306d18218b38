"""Comments, mentions and tags: screened, hidden from a blind reviewer, kept when a file moves, taken back."""

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.model import EntityType, Verdict
from phiscan.review.store import Store
from phiscan.review.worklist.model import WorkFilter
from phiscan.store import identity
from phiscan.store.tables.desk import audit_log, incident_entry
from tests.review.desk import ANY, line, listed, scanned
from tests.review.results import KEY, NOW, finding, later, referred, scan
from tests.review.test_purging import purge, scan_at, years


def said(store: Store, file_id: int, viewer: str = "bea") -> list[tuple[str, str, str]]:
    found = store.desk.history(file_id, viewer=viewer)
    return [(one.what, one.reason, one.note) for one in found if one.what in {"comment", "tag", "untag"}]


def test_a_mention_waits_until_it_is_answered(store: Store) -> None:
    first, second, *_rest = scanned(store)
    store.desk.comment(first, "Is this\r\nyours?", to="bea", by="ada", now=later(1))
    store.desk.comment(second, "To nobody", by="bea", now=later(1))
    store.desk.comment(second, "And this?", to="bea", by="ada", now=later(2))
    assert store.desk.n_open_mentions(viewer="bea") == 2
    assert [one.text for one in store.desk.mentions(viewer="bea")] == ["And this?", "Is this\nyours?"]
    store.desk.comment(first, "No", to="ada", by="bea", now=later(3))
    assert store.desk.n_open_mentions(viewer="bea") == 1
    assert [one.is_answered for one in store.desk.mentions(viewer="bea")] == [False, True]
    assert [one.text for one in store.desk.mentions(viewer="ada")] == ["No"]
    assert said(store, first) == [("comment", "bea", "Is this\nyours?"), ("comment", "ada", "No")]
    for text in ("", " \n", "x" * 1001):
        with pytest.raises(InputError, match="comment"):
            store.desk.comment(first, text, by="ada", now=later(4))


def test_identifiers_of_the_file_are_masked_and_the_log_has_no_text(store: Store) -> None:
    found = (finding("Chidi Okafor", kind=EntityType.PERSON), finding("613-555-0199", start=40))
    scan(store, [replace(referred("a.txt"), findings=found), referred("b.txt")])
    store.database.give_key(identity.OPTION, KEY)
    store.desk.comment(1, "Okafor, 613-555-0199, template", to="bea", by="ada", now=later(1))
    assert said(store, 1) == [("comment", "bea", "[PERSON], [PHONE], template")]
    with pytest.raises(InputError, match="no name or number"):
        store.desk.tag([1, 2], "urgent okafor", by="ada", now=later(2))
    assert store.desk.tag([2], "Okafor", by="ada", now=later(2)) == 1
    with store.database.read() as connection:
        logged = connection.execute(sa.select(audit_log.c.details)).scalars().all()
    assert logged[-1]["kind"] == "tag"
    assert not [one for one in logged if "template" in str(one) or "kafor" in str(one)]
    assert store.verify_audit().ok


def test_tags_of_many_items_filter_the_list(store: Store) -> None:
    numbers = scanned(store)
    assert store.desk.tag(numbers[:3], "Legal  ward-3 legal", by="ada", now=later(1)) == 6
    assert store.desk.tag(numbers[:4], "legal", by="bea", now=later(2)) == 1
    assert store.desk.known_tags() == ["legal", "ward-3"]
    assert line(store, numbers[0]).tags == ("legal", "ward-3")
    assert listed(store, WorkFilter(tag="legal")) == numbers[:4]
    assert store.desk.size(WorkFilter(tag="legal"), viewer="ada", now=NOW) == 4
    assert store.queue_size(wanted=WorkFilter(tag="legal")) == 4
    assert {one.tags for one in store.queue(wanted=WorkFilter(tag="ward-3"))} == {("legal", "ward-3")}
    assert store.desk.tag(numbers, "ward-3", remove=True, by="bea", now=later(3)) == 3
    assert listed(store, WorkFilter(tag="ward-3")) == []
    assert said(store, numbers[0])[-1] == ("untag", "ward-3", "")
    for words in ("", " ", "x" * 31, "a\x07b", " ".join(map(str, range(11)))):
        with pytest.raises(InputError, match="tag: expected"):
            store.desk.tag(numbers, words, by="ada", now=later(4))


def test_who_sees_an_item_blind_sees_nothing_of_others(store: Store) -> None:
    numbers = scanned(store)
    store.desk.set_policy(second_review=1.0, hide_limit=20, by="lea", now=NOW)
    store.desk.comment(numbers[0], "PHI, I think", to="bea", by="ada", now=later(1))
    store.desk.tag(numbers[:2], "phi", by="ada", now=later(1))
    store.desk.decide(numbers[0], Verdict.PHI, reviewer="ada", now=later(2))
    assert len(said(store, numbers[0], "ada")) == 2
    assert line(store, numbers[0], viewer="ada").tags == ("phi",)
    assert listed(store, replace(ANY, tag="phi"), viewer="ada") == numbers[:2]
    assert said(store, numbers[0]) == []
    assert line(store, numbers[0], viewer="bea").tags == ()
    assert listed(store, replace(ANY, tag="phi"), viewer="bea") == [numbers[1]]
    assert store.desk.n_open_mentions(viewer="bea") == len(store.desk.mentions(viewer="bea")) == 0
    assert {one.tags for one in store.queue(conceal=True)} == {(), ("phi",)}
    store.desk.comment(numbers[0], "mine", by="bea", now=later(3))  # looks like any other item to her
    assert said(store, numbers[0]) == [("comment", "", "mine")]
    store.desk.decide(numbers[0], Verdict.NOT_PHI, reviewer="bea", now=later(4))
    assert len(said(store, numbers[0])) == 3
    assert store.desk.mentions(viewer="bea")[0].is_answered

    store.desk.draw_sample(n_queued=12, n_unreferred=0, by="lea", now=later(5))
    drawn = next(number for number in numbers if line(store, number).blind)
    assert store.desk.tag([drawn], "legal", by="ada", now=later(6)) == 0
    with pytest.raises(InputError, match="reviewed blind"):
        store.desk.comment(drawn, "look", by="ada", now=later(6))
    blind = [number for number in numbers[1:2] if line(store, number).blind]
    assert all(line(store, number, viewer="bea").tags == () for number in blind)


def test_what_was_assigned_or_tagged_at_once_is_taken_back_at_once(store: Store) -> None:
    numbers = scanned(store)
    store.assign_all(numbers[:2], "ada", by="lea", now=later(1))
    store.assign_all(numbers[:4], "bea", by="lea", now=later(2))
    assert store.desk.take_back(later(2), by="lea", now=later(3)) == 4
    assert [line(store, number).assignee for number in numbers[:4]] == ["ada", "ada", "", ""]
    store.desk.tag(numbers[:1], "legal", by="ada", now=later(4))
    store.desk.tag(numbers[:3], "legal", by="bea", now=later(5))
    store.desk.tag(numbers[2:3], "legal", remove=True, by="ada", now=later(6))
    assert store.desk.take_back(later(5), by="bea", now=later(7)) == 1  # the others were not hers, or changed
    assert listed(store, WorkFilter(tag="legal")) == numbers[:1]
    for by, at in (("bea", later(5)), ("bea", later(4)), ("lea", later(1))):
        with pytest.raises(ConflictError):
            store.desk.take_back(at, by=by, now=later(8))


def test_a_file_that_moves_keeps_its_discussion(store: Store) -> None:
    scan(store, [referred("a/x.txt", content="same")])
    store.desk.comment(1, "Look", to="bea", by="ada", now=later(1))
    store.desk.tag([1], "legal", by="ada", now=later(2))
    for minutes, name in ((10, "b/x.txt"), (20, "a/x.txt")):
        scan(store, [referred(name, content="same")], minutes=minutes)
        number = store.find(name)
        assert said(store, number) == [("comment", "bea", "Look"), ("tag", "legal", "")]
        assert line(store, number).tags == ("legal",)
        assert [(one.path, one.entered) for one in store.desk.mentions(viewer="bea")] == [(name, later(1))]
    assert store.verify_audit().ok


def test_a_discussion_is_purged_with_its_file(store: Store) -> None:
    scan_at(store, years(0), referred("gone.txt"), referred("here.txt"))
    for number in (1, 2):
        store.desk.comment(number, "Look", to="bea", by="ada", now=years(0) + timedelta(days=1))
    scan_at(store, years(1), unchanged=("here.txt",))
    purge(store, years(9))
    with store.database.read() as connection:
        assert connection.execute(sa.select(incident_entry.c.file_id)).scalars().all() == [2]
    assert store.verify_audit().ok
