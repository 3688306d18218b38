"""Blind items without a risk, and adjudication with the differences of the two verdicts marked."""

import re

import httpx
from hypothesis import given
from hypothesis import strategies as st

from phiscan.model import Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.review.worklist.model import FileRecord
from phiscan.web.routes.quality import differing_words
from tests.review.results import NOW
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Visit


def test_a_blind_item_has_no_risk(browser: Visit, store: Store) -> None:
    store.desk.draw_sample(n_queued=2, n_unreferred=2, by="lead", now=NOW)
    client = browser("lead")
    items = client.get("/api/v1/queue").json()["items"]
    assert {item["blind"] for item in items} >= {True}
    for item in items:
        shown = client.get(f"/api/v1/items/{item['file']}").json()
        assert (item["risk"] is None) is (shown["found"] == []) is (shown["detectors"] == {}) is item["blind"]
    page = client.get("/queue").text
    risks = re.findall(r'data-label="Risk">(.*?)</td>', page)
    assert risks.count("\N{EN DASH}") == sum(item["blind"] for item in items)


def test_adjudication_marks_what_differs(browser: Visit, store: Store, clock: Clock) -> None:
    store.users.add(name="third", role=Role.LEAD, password=PASSWORD, by="test", now=NOW)
    desk = store.desk
    desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=clock())
    desk.decide(1, Verdict.PHI, reviewer="lead", now=clock(), note="a letter with a <name>")
    desk.decide(1, Verdict.NOT_PHI, reviewer="reviewer", now=clock(), note="a letter without names")
    page = browser("third").get("/adjudication").text
    marked = re.findall(r"<mark>(.*?)</mark>", page)
    assert marked == ["with a &lt;name&gt;", "without names"]
    assert page.count("Reason: none") == 2


def test_a_blind_item_is_decided_once_it_is_revealed_or_by_its_name(browser: Visit, store: Store) -> None:
    store.desk.draw_sample(n_queued=2, n_unreferred=2, by="lead", now=NOW)
    client = browser("reviewer")
    first, second, third, _ = (item for item in store.desk.items(viewer="a", now=NOW).items if item.blind)

    def decide(item: FileRecord, **more: str) -> httpx.Response:
        form = {
            "verdict": "not_phi",
            "token": f"{item.file_id} {more}",
            "seen": str(item.examination_id),
            "note": "kept",
            **more,
        }
        return client.post(f"/items/{item.file_id}/decide", data=form)

    refused = decide(first)
    assert refused.status_code == 409
    assert "you have not opened it" in refused.text
    assert "kept</textarea>" in refused.text
    body = {"verdict": "not_phi", "seen": first.examination_id}
    address = f"/api/v1/items/{first.file_id}/verdict"
    answer = client.post(address, json=body)
    assert (answer.status_code, "not opened it" in answer.text) == (400, True)
    assert client.post(address, json={**body, "by_name": True}).is_success
    assert decide(second, by_name="1").status_code == 303
    for opened_by, status in (("lead", 409), ("reviewer", 303)):
        store.desk.reveal(third.file_id, purpose="To decide whether it is PHI", by=opened_by, now=NOW)
        assert decide(third).status_code == status
    counts = store.desk.left()
    assert (counts.by_name, counts.listed.reviewed + counts.rest.reviewed) == (2, 1)
    page = client.get(f"/items/{third.file_id}").text
    assert "Blind review" not in page
    assert ">new<" not in page
    assert "Blind review" in client.get(f"/items/{second.file_id}").text


def test_adjudication_shows_the_evidence_of_a_blind_file(browser: Visit, store: Store, clock: Clock) -> None:
    store.users.add(name="third", role=Role.LEAD, password=PASSWORD, by="test", now=NOW)
    store.desk.draw_sample(n_queued=2, n_unreferred=0, by="lead", now=NOW)
    store.desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=clock())
    for reviewer, verdict in (("lead", Verdict.PHI), ("reviewer", Verdict.NOT_PHI)):
        assert store.desk.item(1, viewer=reviewer, now=NOW).blind
        store.desk.decide_all([(1, verdict)], reviewer=reviewer, now=clock(), opened=True)
    lead = browser("third")
    assert '<p class="why">Identifying and health' in lead.get("/adjudication").text
    assert "Blind review" not in lead.get("/items/1").text


@given(st.text(), st.text())
def test_no_word_of_a_note_is_lost(own: str, other: str) -> None:
    runs = differing_words(own, other)
    assert " ".join(text for text, _differs in runs).split() == own.split()
    assert not any(differs for _text, differs in differing_words(own, own))
