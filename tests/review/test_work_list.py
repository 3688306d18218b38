"""The review list: kept as the tables change, filtered, ordered, paged, and silent about blind items."""

import random
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise, product

import pytest
import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.model import EntityType, Outcome, Referral, Verdict
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.store import Store
from phiscan.review.worklist import reading
from phiscan.review.worklist.model import WorkFilter, WorkOrder, WorkState
from phiscan.store.tables.desk import work_item
from tests.review.desk import ANY, agrees_with_the_truth, line, listed, rows, scanned, share
from tests.review.results import NOW, ROOT, clear, failed, later, pii_only, referred, scan


def test_holds_what_was_referred_the_riskiest_first(store: Store) -> None:
    scan(store)
    items = store.desk.items(viewer="ana", now=NOW).items
    assert [item.path for item in items] == ["a/letter.txt", "c/referral.txt"]
    first = items[0]
    assert (first.n_people, first.n_findings, first.health_score, first.exposure) == (3, 2, 0.8, "group")
    assert first.risk == pytest.approx(3 * 3 * 2 * 0.8)  # twice, as a group may read it
    assert (first.state, first.owner, first.new, first.n_group) == (WorkState.UNDECIDED, "1000", True, 1)


@pytest.mark.parametrize("seed", range(4))
def test_is_what_the_other_tables_say_whatever_happens(store: Store, seed: int) -> None:
    lot = random.Random(seed)
    files = share(10)
    scan(store, [*files, clear("x.txt"), pii_only("y.csv")])
    desk = store.desk
    desk.set_policy(second_review=0.5, hide_limit=3, by="lead", now=NOW)
    for step in range(40):
        now = later(step + 2)
        number, person = lot.randint(1, 10), lot.choice(["ana", "bob", "eve"])
        try:
            match lot.randrange(9):
                case 0 | 1 | 2:
                    verdict = lot.choice(list(Verdict))
                    desk.decide(number, verdict, reviewer=person, now=now, override=True)
                case 3:
                    desk.undo_last(by=person, now=now)
                case 4:
                    store.assign_all([number], person, by="lead", now=now)
                case 5:
                    some = lot.sample(files, 5)
                    changed = replace(some[0], content_hash=f"other {step}", signature=b"\1" * 256)
                    seen = [store.find(one.source.display) for one in some[1:]]
                    state = store.begin_scan([ROOT], versions={}, options={"n": step}, now=now)
                    store.record(state.id, "v", [changed, failed("z.bin")], unchanged=seen)
                    store.finish_scan(state.id, status="complete", seconds=1.0, now=now)
                case 6:
                    desk.draw_sample(n_queued=2, n_unreferred=2, by="lead", now=now, seed=str(step))
                case 7:
                    found = store.item(number).findings[0]
                    target = SuppressionScope(
                        kind=SuppressionKind.RULE, target=found.source, root_id=1, folder="letters"
                    )
                    (made,) = desk.suppress([target], reason="r", until=later(10_000), by=person, now=now)
                    desk.lift_suppression(made.id, by=person, now=now)
                case _:
                    open_now = desk.disagreements(lead="zoe")
                    if open_now:
                        desk.adjudicate(open_now[0].id, Verdict.PHI, lead="zoe", now=now)
        except (ConflictError, InputError):
            continue  # what cannot be done must leave the list right, too
    assert agrees_with_the_truth(store)
    assert store.verify_audit().ok
    assert store.queue_size() == len(store.queue())
    assert store.queue_size(verdicts=[None]) == len(store.queue(verdicts=[None]))


def test_files_leave_the_list_and_come_back(store: Store) -> None:
    scan(store, [referred("a.txt"), referred("b.txt"), referred("c.txt")])
    scan(store, [failed("c.txt")], unchanged=["a.txt"], minutes=1)
    assert listed(store) == [1]
    scan(store, [replace(referred("c.txt"), referral=Referral.CLEAR)], unchanged=["b.txt"], minutes=2)
    assert listed(store) == [2]
    scan(store, [referred("c.txt")], unchanged=["a.txt", "b.txt"], minutes=3)
    assert listed(store) == [1, 2, 3]
    assert agrees_with_the_truth(store)


def test_a_running_scan_takes_nothing_away(store: Store) -> None:
    scan(store, [referred("a.txt"), referred("b.txt")])
    scan(store, [referred("a.txt")], minutes=1, complete=False)
    assert listed(store) == [1, 2]


FILTERS = [
    (WorkFilter(folder="letters/new"), [2]),
    (WorkFilter(folder="letters"), [1, 2]),
    (WorkFilter(root_id=1), [1, 2, 3]),
    (WorkFilter(root_id=2), []),
    (WorkFilter(media_type="application/pdf"), [3]),
    (WorkFilter(entity_type=EntityType.PERSON), [1, 2, 3]),
    (WorkFilter(entity_type=EntityType.SIN), []),
    (WorkFilter(min_score=0.9), [3]),
    (WorkFilter(max_score=0.8), [1, 2]),
    (WorkFilter(owner="1000"), [1, 2, 3]),
    (WorkFilter(owner="1"), []),
    (WorkFilter(text="éLISE"), [2]),
    (WorkFilter(text="100%_"), [3]),
    (WorkFilter(text="_"), [3]),
    (WorkFilter(assignee="bob"), [1]),
    (WorkFilter(assignee=""), [2, 3]),
    (WorkFilter(new=True), [1, 2, 3]),
    (WorkFilter(suppressed=True), []),
    (WorkFilter(group_id=1), []),
]


def test_filters(store: Store) -> None:
    other = replace(referred("100%_done.pdf"), media_type="application/pdf", health_score=0.9)
    scan(store, [referred("letters/a.txt"), referred("letters/new/Élise.txt"), other])
    store.assign_all([1], "bob", by="lead", now=NOW)
    for wanted, numbers in FILTERS:
        assert listed(store, wanted) == numbers
        assert store.desk.size(wanted, viewer="ana", now=NOW) == len(numbers)


def test_pages_hold_every_item_once_both_ways(store: Store) -> None:
    numbers = scanned(store, 11)
    for order, limit in product(WorkOrder, (1, 3, 50)):
        assert pages_both_ways(store, order, limit) == numbers


def pages_both_ways(store: Store, order: WorkOrder, limit: int) -> list[int]:
    desk, seen, pages, cursor = store.desk, [], [], ""
    while True:
        page = desk.items(viewer="ana", now=NOW, order=order, limit=limit, cursor=cursor)
        pages.append(page)
        seen += [item.file_id for item in page.items]
        if not page.after:
            break
        cursor = page.after
    assert pages[0].before == ""
    for earlier, page in pairwise(pages):
        back = desk.items(viewer="ana", now=NOW, order=order, limit=limit, cursor=page.before)
        assert (back.items, back.after != "") == (earlier.items, True)
    assert [desk.adjacent(number, viewer="ana", now=NOW, order=order) for number in seen] == [*seen[1:], None]
    before = [desk.adjacent(number, viewer="ana", now=NOW, order=order, backward=True) for number in seen]
    assert before == [None, *seen[:-1]]
    if order is WorkOrder.RISK:
        risks = [line(store, number).risk for number in seen]
        assert risks == sorted(risks, reverse=True)
    return sorted(seen)


def test_refuses_a_cursor_of_another_order(store: Store) -> None:
    for cursor in ("x", "a:oldest:0x1.0p+0:1", "a:risk:zz:1", "a:risk:0x1.0p+9999:1"):
        with pytest.raises(InputError, match="cursor: expected one that a page of this order gave"):
            store.desk.items(viewer="ana", now=NOW, cursor=cursor)


def test_the_order_by_doubt_mixes_random_items_in(store: Store) -> None:
    scan(store, [replace(one, health_score=0.99) for one in share(200)])
    doubts = [row.doubt for row in rows(store)]
    at_random = [doubt for doubt in doubts if doubt != pytest.approx(0.49)]
    assert 5 <= len(at_random) <= 40
    assert min(at_random) < 0.1
    assert max(at_random) > 0.4


def test_counts_choices_and_progress(store: Store) -> None:
    numbers = scanned(store, 6)
    desk = store.desk
    desk.decide(numbers[0], Verdict.PHI, reviewer="ana", now=NOW)
    desk.decide(numbers[1], Verdict.NOT_PHI, reviewer="bob", now=later(5))
    desk.skip(numbers[2], reviewer="ana", now=NOW)
    store.assign_all([numbers[3]], "ana", by="lead", now=NOW)
    counts = desk.counts(viewer="ana", now=NOW)
    states = {state.value: n for state, n in counts.by_state.items() if n}
    assert states == {"undecided": 3, "phi": 1, "not_phi": 1, "skipped": 1, "any": 6}
    assert (counts.suppressed, counts.mine) == (0, 1)
    assert desk.counts(viewer="bob", now=NOW).by_state[WorkState.UNDECIDED] == 4
    progress = desk.progress(since=later(1))
    assert (progress.total, dict(progress.by_reviewer), progress.queued, progress.open) == (
        1,
        {"bob": 1},
        6,
        4,
    )
    choices = desk.choices()
    assert choices.roots == ((1, "/share", 6),)
    assert (choices.media_types, choices.owners) == ((("text/plain", 6),), (("1000", 6),))
    assert choices.assignees == (("ana", 1),)


def test_a_skipped_item_comes_back_to_its_reviewer(store: Store) -> None:
    first, *rest = scanned(store, 3)
    store.desk.skip(first, reviewer="ana", now=NOW)
    assert listed(store) == rest
    assert listed(store, WorkFilter(state=WorkState.SKIPPED)) == [first]
    assert line(store, first).skipped
    assert listed(store, viewer="bob") == [first, *rest]
    assert listed(store, now=NOW + timedelta(hours=5)) == [first, *rest]
    assert listed(store, ANY) == [first, *rest]


def test_a_blind_item_gives_nothing_away(store: Store) -> None:
    """Every field that is not of the file system is the same for both kinds of blind items."""
    scan(store, [*share(10), *(clear(f"clear/{n}.txt") for n in range(5)), pii_only("staff.csv")])
    store.desk.draw_sample(n_queued=4, n_unreferred=4, by="lead", now=NOW, seed="s")
    blind = [item for item in store.desk.items(viewer="ana", now=NOW).items if item.blind]
    assert len(blind) == 8
    told = {
        (
            item.vector.names,
            item.n_people,
            item.n_findings,
            item.health_score,
            item.case,
            item.state,
            item.suppressed,
        )
        for item in blind
    }
    assert told == {((), 0, 0, None, "", WorkState.UNDECIDED, False)}
    kinds = {row.file_id: row.referred for row in rows(store) if row.blind}
    assert sorted(kinds.values()) == [False] * 4 + [True] * 4
    for number in kinds:
        detail = store.desk.detail(number, viewer="ana", now=NOW)
        assert (detail.reasons, detail.findings, detail.terms, detail.unread) == ((), (), (), ())
        assert detail.outcome is Outcome.SCREENED
        assert (detail.reason, detail.detail, detail.health_distance) == ("", "", None)
    for wanted in (WorkFilter(entity_type=EntityType.PERSON), WorkFilter(min_score=0.0)):
        assert not {*listed(store, wanted)} & {*kinds}
    assert store.queue_size() == 10  # the contract's queue holds referred files only


def test_the_place_of_an_item_is_the_one_that_it_has_in_the_list(store: Store) -> None:
    names = [f"{'ab'[number % 2]}/{number}.txt" for number in range(12)]
    scan(store, [referred(name, n_people=number % 5) for number, name in enumerate(names)])
    store.desk.decide(store.find(names[3]), Verdict.PHI, reviewer="ana", now=NOW)
    for order, wanted in product(WorkOrder, (WorkFilter(), WorkFilter(folder="a"), WorkFilter(text="b/"))):
        places_are_right(store, order, wanted, store.find(names[3]))


def places_are_right(store: Store, order: WorkOrder, wanted: WorkFilter, decided: int) -> None:
    items = store.desk.items(wanted, viewer="ana", now=later(1), order=order).items
    assert len(items) >= 5
    for at, item in enumerate(items, 1):
        place = store.desk.place(item.file_id, wanted, viewer="ana", now=later(1), order=order)
        assert (place.position, place.total, place.is_exact) == (at, len(items), True)
        assert place.following[:2] == tuple(one.file_id for one in items[at : at + 2])
    gone = store.desk.place(decided, wanted, viewer="ana", now=later(1), order=order)
    assert (gone.position, gone.total) == (None, len(items))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MAX_COUNTED", 2)
        last = store.desk.place(items[-1].file_id, wanted, viewer="ana", now=later(1), order=order)
    is_whole = wanted == WorkFilter()
    assert last.is_exact is not is_whole
    assert last.position == (3 if is_whole else len(items))


FOLDER_NAMES = [
    "letters/a.txt",
    "Letters/b.txt",
    "letters/new/c.txt",
    "letters/é.txt",
    "letters/\U0001f600",
    "letters",
    "letters0/d.txt",
    "letters!/e.txt",
    "letters.old/f.txt",
    "letter/g.txt",
    "x/letters/h.txt",
]


def test_the_items_of_a_folder_are_the_same_with_and_without_its_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan(store, [referred(name) for name in FOLDER_NAMES])
    for max_rows in (0, 4, 10_000):  # never by the index, too many, by the index
        monkeypatch.setattr(reading, "MAX_FOLDER_ROWS", max_rows)
        for folder in ("letters", "/LETTERS/", "letters/new", "x"):
            items_of_folder_are_right(store, folder)


def items_of_folder_are_right(store: Store, folder: str) -> None:
    wanted = WorkFilter(root_id=1, folder=folder)
    expected = {
        name for name in FOLDER_NAMES if name.casefold().startswith(folder.strip("/").casefold() + "/")
    }
    items = store.desk.items(wanted, viewer="ana", now=NOW).items
    assert {item.path for item in items} == expected
    assert store.desk.size(wanted, viewer="ana", now=NOW) == len(expected)
    assert len(store.desk.numbers(wanted, viewer="ana", now=NOW, limit=50)) == len(expected)
    assert store.desk.folder(1, folder, viewer="ana", now=NOW).total.n_files == len(expected)
    placed = [store.desk.place(item.file_id, wanted, viewer="ana", now=NOW) for item in items]
    assert [place.position for place in placed] == list(range(1, len(expected) + 1))
    assert {place.total for place in placed} == {len(expected)}


def test_a_small_folder_is_read_by_its_index_alone(store: Store) -> None:
    scan(store)
    if store.database._engine.dialect.name != "sqlite":
        pytest.skip("the plan of the other database depends on its statistics")
    wanted = WorkFilter(root_id=1, folder="a")
    with store.database.read() as connection:
        query = reading.narrowed(connection, sa.select(work_item.c.file_id), wanted, "ana", NOW)
        text = query.compile(connection, compile_kwargs={"literal_binds": True})
        plan = " ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}"))
    assert "SEARCH work_item USING INDEX ix_work_item_folder (root_id=? AND path_folded>?" in plan
