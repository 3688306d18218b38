"""Comments, mentions and tags at the desk; several items of the list at once, taken back as a whole."""

import re
from dataclasses import replace

from phiscan.model import Verdict
from phiscan.review.store import Store
from phiscan.review.worklist.model import WorkFilter, WorkState
from phiscan.review.worklist.reading import UNDECIDED
from tests.review.desk import scanned
from tests.review.results import referred, scan
from tests.web.clock import Clock
from tests.web.conftest import Browser, Visit

LEGAL = WorkFilter(state=WorkState.ANY, tag="legal")


def send(seat: Browser, path: str, **form: object) -> str:
    """Send a form and return the page that follows."""
    answer = seat.post(path, data=form)
    assert answer.status_code == 303, answer.text
    return seat.get(answer.headers["location"]).text


def numbers(store: Store, clock: Clock, wanted: WorkFilter = UNDECIDED) -> list[int]:
    found = store.desk.items(wanted, viewer="lead", now=clock()).items
    return sorted(one.file_id for one in found)


def z_form(page: str) -> dict[str, str]:
    """Return the fields of the form that the key z sends."""
    form = re.search(r'<form[^>]*action="(/queue/undo|/undo)">(?:(?!</form>).)*data-key="z"', page, re.DOTALL)
    assert form, page
    return {"action": form[1], **dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[0]))}


def take_back(seat: Browser, page: str, clock: Clock) -> str:
    clock.turn(seconds=1)
    form = z_form(page)
    return send(seat, form.pop("action"), **form)


def test_a_comment_to_a_colleague_is_listed_until_answered(browser: Visit, store: Store) -> None:
    reviewer, lead = browser("reviewer"), browser("lead")
    (number, *_rest) = scanned(store, 5)
    page = send(reviewer, f"/items/{number}/comments", text="Is <b>this</b> the ward's?", to="lead")
    assert "Your comment is recorded" in page
    assert "Is &lt;b&gt;this&lt;/b&gt; the ward" in page
    assert 'Mentions <span class="n">1</span>' in lead.get("/queue").text
    assert 'Review <span class="n">1</span>' in lead.get("/trend").text
    page = lead.get("/mentions").text
    assert "Is &lt;b&gt;this" in page
    assert f'href="/items/{number}#discussion"' in page
    send(lead, f"/items/{number}/comments", text="Yes", to="reviewer")
    assert '<span class="n">' not in lead.get("/mentions").text
    page = lead.get(f"/items/{number}").text
    assert page.index("the ward") < page.index("Yes") < page.index('id="history"')
    assert page.count("commented") == 2
    for name, status in (("auditor", 400), ("nobody", 400), ("reader", 303)):
        answer = reviewer.post(f"/items/{number}/comments", data={"text": "x", "to": name})
        assert answer.status_code == status


def test_tags_of_one_item_and_of_the_chosen_ones(browser: Visit, store: Store, clock: Clock) -> None:
    seat = browser("lead")
    chosen = scanned(store, 5)[:3]
    page = send(seat, f"/items/{chosen[0]}/tags", tag="legal", what="tag")
    assert "#legal" in page
    assert "added a tag: legal" in page
    page = send(seat, "/queue/tag", tag="legal urgent", what="tag", file=chosen)
    assert page.count("#legal") == page.count("#urgent") == 3
    assert numbers(store, clock, LEGAL) == chosen
    page = seat.get("/queue?tag=legal&text=").text
    assert page.count("data-row") == 3
    assert "<option selected>legal</option>" in page
    clock.turn(seconds=1)
    page = take_back(seat, send(seat, "/queue/tag", tag="legal", what="untag", file=chosen), clock)
    assert "Taken back" in page
    assert numbers(store, clock, LEGAL) == chosen
    send(seat, f"/items/{chosen[0]}/tags", tag="legal", what="untag")
    assert numbers(store, clock, LEGAL) == chosen[1:]
    assert "Nothing was chosen" in send(seat, "/queue/tag", tag="legal", what="tag")
    refused = seat.post("/queue/tag", data={"tag": "", "what": "tag", "file": chosen})
    assert (refused.status_code, "tag: expected 1 to 10 words" in refused.text) == (400, True)
    (item,) = seat.get("/api/v1/queue?tag=legal&limit=1").json()["items"]
    assert item["tags"] == ["legal", "urgent"]


def test_a_verdict_and_an_assignment_of_the_chosen_are_one_act(
    browser: Visit, store: Store, clock: Clock
) -> None:
    seat = browser("lead")
    chosen = scanned(store, 5)[:3]
    store.desk.decide(chosen[0], Verdict.PHI, reviewer="reviewer", now=clock())
    page = send(seat, "/queue/decide", verdict="not_phi", file=chosen, list="order=oldest")
    assert "Recorded: not PHI for 2 files. 1 file is left out: it is blind, decided or hidden." in page
    page = take_back(seat, page, clock)
    assert "Undone: not PHI for 2 files." in page
    assert 'data-key="y"' in page
    assert set(chosen[1:]) <= set(numbers(store, clock))
    assert "Nothing was chosen" in send(seat, "/queue/decide", verdict="phi")

    page = send(seat, "/queue/assign", assignee="reviewer", file=chosen)
    assert page.count("for reviewer") == 2  # the third is decided, and no longer in this list
    mine = WorkFilter(state=WorkState.ANY, assignee="reviewer")
    assert numbers(store, clock, mine) == chosen
    form = z_form(page)
    assert "Taken back" in take_back(seat, page, clock)
    assert numbers(store, clock, mine) == []
    assert "it was changed since" in send(seat, form.pop("action"), **form)
    other = browser("reviewer").post("/queue/undo", data=form)
    assert other.headers["location"].endswith("said=not_taken_back")


def test_a_group_is_decided_but_for_what_is_not_ticked(browser: Visit, store: Store, clock: Clock) -> None:
    names = [f"copy {number}.txt" for number in range(3)]
    scan(store, [replace(referred(name), signature=b"\1" * 256) for name in names], minutes=2)
    copies = [store.find(name) for name in names]
    group = store.desk.item(copies[0], viewer="reviewer", now=clock()).group_id
    form = {"verdict": "not_phi", "file": copies[1:], "token": "once"}
    page = browser("reviewer").post(f"/groups/{group}/decide", data=form)
    assert "2 files are recorded as not PHI." in page.text
    assert re.findall(r'name="file" value="(\d+)" checked', page.text) == [str(copies[0])]
    assert [store.item(number).verdict for number in copies] == [None, Verdict.NOT_PHI, Verdict.NOT_PHI]


def test_a_blind_item_has_no_discussion(browser: Visit, store: Store, clock: Clock) -> None:
    seat = browser("lead")
    chosen = scanned(store, 5)
    send(seat, "/queue/tag", tag="surely-phi", what="tag", file=chosen)
    send(seat, f"/items/{chosen[0]}/comments", text="surely PHI")
    store.desk.draw_sample(n_queued=len(chosen), n_unreferred=0, by="lead", now=clock())
    page = browser("reviewer").get(f"/items/{chosen[0]}").text
    assert "surely" not in page
    assert "/comments" not in page
    assert "surely-phi</span>" not in browser("reviewer").get("/queue").text
    refused = seat.post(f"/items/{chosen[0]}/comments", data={"text": "x"})
    assert (refused.status_code, "reviewed blind" in refused.text) == (400, True)
