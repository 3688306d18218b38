"""Folders: totals that agree with the list, a map whose boxes fill it, and what is assigned and decided."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.errors import InputError
from phiscan.model import Verdict
from phiscan.report.gather import gather
from phiscan.review.decisions.verdicts import MAX_AT_ONCE
from phiscan.review.store import Store
from phiscan.review.worklist.model import Exposure, WorkFilter, WorkState
from phiscan.review.worklist.reading import FolderTotal
from phiscan.web.routes.folders import WIDE, Box, folder_view, split
from tests.review.results import NOW, later, referred, scan
from tests.web.conftest import Visit

ROOT = b"/folders"


def readable(name: str, mode: int, n_people: int) -> object:
    result = referred(name, root=ROOT, n_people=n_people)
    return replace(result, source=replace(result.source, mode=mode))


@pytest.fixture
def share(store: Store) -> int:
    """Scan a share with folders in two levels, and return the number of its root."""
    files = [
        readable("Clinic/2023/Ärzte.txt", 0o100644, 40),
        readable("Clinic/2023/b.txt", 0o100600, 2),
        readable("Clinic/c.txt", 0o100640, 5),
        readable("clinic/d.txt", 0o100644, 3),
        readable("Ward %_/e.txt", 0o100644, 10),
        readable("top.txt", 0o100644, 1),
    ]
    scan(store, files, root=ROOT, minutes=3)  # type: ignore[arg-type]
    return next(number for number, path, _ in store.desk.choices().roots if path == ROOT.decode())


def by_name(totals: tuple[FolderTotal, ...]) -> dict[str, FolderTotal]:
    return {one.name: one for one in totals}


def test_a_level_adds_up_what_the_list_shows(store: Store, share: int) -> None:
    level = store.desk.folder(share, viewer="reviewer", now=later(9))
    found = by_name(level.children)
    assert {name: (one.n_files, one.people) for name, one in found.items()} == {
        "Clinic": (4, 50),
        "Ward %_": (1, 10),
        "": (1, 1),
    }
    assert level.total.n_files == sum(one.n_files for one in level.children) == 6
    assert found["Clinic"].by_exposure == {Exposure.EVERYONE: 2, Exposure.OWNER: 1, Exposure.GROUP: 1}
    assert {one.name: one.folder for one in found["Clinic"].below} == {"2023": "Clinic/2023", "": "Clinic"}
    assert level.children[0].name == "Clinic"  # most people first
    for one in level.children:
        if one.name:
            wanted = WorkFilter(root_id=share, folder=one.folder)
            assert store.desk.size(wanted, viewer="reviewer", now=later(9)) == one.n_open
            inside = store.desk.folder(share, one.folder, viewer="reviewer", now=later(9))
            assert (inside.total.n_files, inside.total.people) == (one.n_files, one.people)
    roots = store.desk.folder(None, viewer="reviewer", now=later(9))
    assert {one.name for one in roots.children} == {path for _, path, _ in store.desk.choices().roots}


def test_people_at_risk_are_one_figure_wherever_they_are_shown(store: Store, share: int) -> None:
    """Decided files, identical files, secret verdicts, blind and hidden items, in several folders."""
    desk = store.desk
    one = readable("Clinic/2023/b.txt", 0o100600, 2)
    copies = [
        replace(readable(name, 0o100644, 7), content_hash="same")  # type: ignore[type-var]
        for name in ("Clinic/same.txt", "Clinic/2023/same.txt", "Ward %_/same.txt")
    ]
    others = ["Clinic/2023/Ärzte.txt", "Clinic/c.txt", "clinic/d.txt", "Ward %_/e.txt", "top.txt"]
    number = scan(store, [one, *copies], unchanged=others, root=ROOT, minutes=5)  # type: ignore[list-item]
    desk.decide(store.find("Clinic/c.txt"), Verdict.NOT_PHI, reviewer="reviewer", now=later(7))
    desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=later(8))
    desk.decide(store.find("clinic/d.txt"), Verdict.NOT_PHI, reviewer="reviewer", now=later(9))  # secret
    for n_blind in (0, 3):
        if n_blind:
            desk.draw_sample(n_queued=n_blind, n_unreferred=0, by="lead", now=later(10))
        expected = 40 + 2 + 3 + 10 + 1 + 7
        assert store.summary(number).people_at_risk == expected
        report = gather(store.database, number, now=later(12)).data
        assert report.people.at_risk == expected
        for viewer in ("reviewer", "other"):
            share_of = desk.folder(share, viewer=viewer, now=later(12))
            shown = {one.name: one.people for one in share_of.children}
            everywhere = desk.folder(None, viewer=viewer, now=later(12)).total
            others_at_risk = store.summary(1).people_at_risk
            assert everywhere.people == expected + others_at_risk
            assert everywhere.people_apart >= expected - share_of.total.people >= 0
            if not n_blind:
                folders = {one.name: one.people for one in report.folders}
                assert shown == {"Clinic": 40 + 2 + 3 + 7, "Ward %_": 17, "": 1}
                assert share_of.total.people == expected
                assert folders["Ward %_"] == 17


def test_a_verdict_that_is_secret_counts_as_open_and_what_is_not_phi_adds_no_people(
    store: Store, share: int
) -> None:
    store.desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=NOW)
    number = store.find("Clinic/c.txt")
    store.desk.decide(number, Verdict.NOT_PHI, reviewer="reviewer", now=later(9))
    own = store.desk.folder(share, "Clinic", viewer="reviewer", now=later(10)).total
    other = store.desk.folder(share, "Clinic", viewer="lead", now=later(10)).total
    assert (own.n_open, own.by_state[WorkState.NOT_PHI], own.people) == (3, 1, 50)
    assert (other.n_open, other.by_state[WorkState.NOT_PHI], other.people) == (4, 0, 50)
    store.desk.decide(number, Verdict.NOT_PHI, reviewer="lead", now=later(11))
    assert store.desk.folder(share, "Clinic", viewer="reviewer", now=later(12)).total.people == 45


def test_a_blind_item_adds_no_people(store: Store, share: int) -> None:
    before = store.desk.folder(share, viewer="reviewer", now=later(9)).total
    store.desk.draw_sample(n_queued=50, n_unreferred=0, by="lead", now=later(9), seed="any")
    after = store.desk.folder(share, viewer="reviewer", now=later(10)).total
    assert before.people > 0 == after.people
    assert after.n_files == before.n_files


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40), st.floats(10, 2000), st.floats(10, 2000))
def test_boxes_fill_the_area_in_proportion_and_stay_inside(
    weights: list[int], width: float, height: float
) -> None:
    boxes = split(sorted(weights, reverse=True), Box(5, 7, width, height))
    total = sum(weights)
    for weight, box in zip(sorted(weights, reverse=True), boxes, strict=True):
        assert math.isclose(box.width * box.height, width * height * weight / total, rel_tol=1e-6)
        assert box.x >= 5 - 1e-6
        assert box.y >= 7 - 1e-6
        assert box.x + box.width <= 5 + width + 1e-6 * width
        assert box.y + box.height <= 7 + height + 1e-6 * height
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert wide <= 1e-6 * width or high <= 1e-6 * height


def test_the_map_shows_every_folder_of_the_table(store: Store, share: int) -> None:
    level = store.desk.folder(share, viewer="reviewer", now=later(9))
    view = folder_view(level, root_id=share, folder="", roots={share: "/folders"}, size="people", items=())
    wide = next(boxes for name, _, boxes in view["maps"] if name == "wide")
    assert [box.url for box in wide] == [row["url"] for row in view["rows"]]
    assert math.isclose(sum(one.box.width * one.box.height for one in wide), WIDE.width * WIDE.height)


def test_the_page_leads_down_and_shows_no_script_of_a_name(browser: Visit, share: int) -> None:
    client = browser("reader")
    page = client.get(f"/folders?root={share}").text
    assert f"/folders?root={share}&amp;folder=Clinic" in page
    assert "50 people" in page
    assert "/folders/assign" not in page
    assert "/folders/decide" not in page
    inside = client.get(f"/folders?root={share}&folder=Clinic&size=files").text
    assert "2023" in inside
    assert client.get("/folders?root=1&size=colour").status_code == 400
    assert "No referred file lies here" in client.get(f"/folders?root={share}&folder=nowhere").text


def test_a_lead_assigns_the_open_files_of_a_folder(browser: Visit, store: Store, share: int) -> None:
    lead = browser("lead")
    form = {"root": str(share), "folder": "Clinic/2023", "assignee": "reviewer"}
    answer = lead.post("/folders/assign", data=form)
    assert answer.headers["location"] == f"/folders?root={share}&folder=Clinic%2F2023&said=assigned"
    mine = store.desk.items(WorkFilter(assignee="reviewer"), viewer="reviewer", now=later(9)).items
    assert {item.path for item in mine} == {"Clinic/2023/Ärzte.txt", "Clinic/2023/b.txt"}
    answer = lead.post("/folders/assign", data={**form, "folder": "nowhere"})
    assert answer.headers["location"].endswith("said=none")
    assert browser("reviewer").post("/folders/assign", data=form).status_code == 403


def test_the_files_of_a_folder_are_decided_at_once_and_undone_at_once(
    browser: Visit, store: Store, share: int
) -> None:
    client = browser("reviewer")
    page = client.get(f"/folders/decide?root={share}&folder=Clinic").text
    chosen = [int(number) for number in re.findall(r'name="file" value="(\d+)"', page)]
    names = {
        store.find(path): path for path in ("Clinic/2023/Ärzte.txt", "Clinic/2023/b.txt", "Clinic/c.txt")
    }
    assert set(names) < set(chosen)
    assert len(chosen) == 4
    elsewhere = store.find("Ward %_/e.txt")
    form = {"root": str(share), "folder": "Clinic", "verdict": "not_phi", "token": "once"}
    done = client.post("/folders/decide", data={**form, "file": [*map(str, names), str(elsewhere)]})
    assert "3 files are recorded as not PHI." in done.text
    decided = {item.path: item.verdict for item in store.queue() if item.verdict}
    assert decided == dict.fromkeys(names.values(), Verdict.NOT_PHI)
    assert "Nothing was chosen" in client.post("/folders/decide", data=form).text
    client.post("/undo")
    assert [item for item in store.queue() if item.verdict] == []
    other_reason = {**form, "file": list(names), "reason": "billing", "note": "mine"}
    wrong = client.post("/folders/decide", data=other_reason)
    assert (wrong.status_code, "that reason belongs to another verdict" in wrong.text) == (409, True)
    assert ">mine</textarea>" in wrong.text
    assert client.get(f"/folders/decide?root={share}").status_code == 400
    assert store.verify_audit().ok


def test_no_more_files_than_a_person_looks_over_are_decided_at_once(store: Store, share: int) -> None:
    assert share
    for files in (range(MAX_AT_ONCE + 1), (99_999,)):
        with pytest.raises(InputError, match="files: "):
            store.desk.decide_chosen(list(files), Verdict.PHI, reviewer="reviewer", now=later(9))


def test_a_blind_file_is_not_decided_with_its_folder(browser: Visit, store: Store, share: int) -> None:
    store.desk.draw_sample(n_queued=50, n_unreferred=0, by="lead", now=later(9), seed="any")
    page = browser("reviewer").get(f"/folders/decide?root={share}&folder=Clinic").text
    assert 'name="file"' not in page
    assert "4 files are reviewed blind" in page
