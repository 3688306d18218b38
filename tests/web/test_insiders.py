"""What somebody with an account would try: other numbers, blind items, disagreements, odd texts."""

from datetime import timedelta
from itertools import product
from urllib.parse import quote

import pytest

from phiscan.model import EntityType, Reason, Verdict
from phiscan.pipeline.rereading.reveal import Rereader, Veto, Vetoes
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from tests.review.results import NOW
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Visit

LISTED, UNLISTED = 1, 3  # a referred file, and one that is read and clear


@pytest.fixture
def disputed(store: Store, clock: Clock) -> int:
    """Return an item that the lead called PHI and the reviewer did not; a third person has an account."""
    store.users.add(name="third", role=Role.REVIEWER, password=PASSWORD, by="test", now=NOW)
    desk = store.desk
    desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=clock())
    desk.decide(LISTED, Verdict.PHI, reviewer="lead", now=clock())
    desk.decide(LISTED, Verdict.NOT_PHI, reviewer="reviewer", now=clock())
    return LISTED


def test_only_what_is_in_the_list_is_decided_or_corrected(browser: Visit, store: Store) -> None:
    visitor = browser("lead")
    seen = store.desk.item(LISTED, viewer="lead", now=NOW).examination_id
    form = {"verdict": "phi", "seen": str(UNLISTED), "token": "t"}
    sent = {"verdict": "phi", "seen": UNLISTED}
    assert visitor.post(f"/items/{UNLISTED}/decide", data=form).status_code == 400
    assert visitor.post(f"/items/{UNLISTED}/skip").status_code == 400
    assert visitor.post(f"/api/v1/items/{UNLISTED}/verdict", json=sent).status_code == 400
    assert visitor.get(f"/items/{UNLISTED}").status_code == 404
    purpose = {"purpose": "To check the screening"}
    assert visitor.post(f"/items/{UNLISTED}/reveal", data=purpose).status_code == 400
    mark = {"mark": "right", "seen": 2, "position": 0}  # a file with identifiers, and not referred
    assert visitor.post("/api/v1/items/2/spans", json=mark).status_code == 400
    assert visitor.post(f"/api/v1/items/{LISTED}/spans", json={**mark, "seen": seen}).is_success


def test_a_blind_item_does_not_say_whether_something_was_found(browser: Visit, store: Store) -> None:
    store.desk.draw_sample(n_queued=2, n_unreferred=2, by="lead", now=NOW)
    visitor = browser("lead")
    answers = set()
    blind = [item for item in store.desk.items(viewer="lead", now=NOW).items if item.blind]
    assert len(blind) == 4
    for item in blind:
        for mark in ("right", "spurious", "withdrawn"):
            sent = {"mark": mark, "seen": item.examination_id, "position": 0}
            answer = visitor.post(f"/api/v1/items/{item.file_id}/spans", json=sent)
            answers.add((answer.status_code, answer.text))
    assert len(answers) == 1
    assert answers.pop()[0] == 400


def test_what_was_vetoed_is_told_to_reviewers_and_of_no_blind_item(
    browser: Visit, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Veto(EntityType.SIN, "ca.sin.1", (Reason("veto", "sin", 0.0),), "p1", 7, "999 999 999")
    told = Vetoes("hash", (refused,), 3)
    monkeypatch.setattr(Rereader, "vetoes", lambda *_: told)
    address = f"/items/{LISTED}"
    assert "Search the file" in browser("lead").get(address).text
    page = browser("lead").get(address + "?vetoed=1").text
    assert "999 999 999" in page
    assert "character 7: no such value has been issued" in page
    assert "ca.sin" not in page
    assert "and 2 more" in page
    page = browser("reader").get(address + "?vetoed=1").text
    assert "999 999 999" not in page
    assert "Search the file" not in page
    store.desk.draw_sample(n_queued=2, n_unreferred=0, by="lead", now=NOW)
    assert "999 999 999" not in browser("lead").get(address + "?vetoed=1").text


def test_a_third_person_does_not_settle_a_disagreement(browser: Visit, store: Store, disputed: int) -> None:
    visitor = browser("third")
    seen = store.desk.item(disputed, viewer="third", now=NOW).examination_id
    for override in (False, True):
        sent = {"verdict": "not_phi", "seen": seen, "override": override}
        answer = visitor.post(f"/api/v1/items/{disputed}/verdict", json=sent)
        assert answer.status_code == 400
        assert "a lead who is neither settles it" in answer.json()["detail"]
    form = {"verdict": "phi", "seen": str(seen), "token": "t", "override": "1"}
    assert visitor.post(f"/items/{disputed}/decide", data=form).status_code == 400
    assert len(store.desk.disagreements(lead="somebody else")) == 1


def test_nobody_is_both_reviewers(store: Store, disputed: int, clock: Clock) -> None:
    desk = store.desk
    desk.undo(disputed, by="lead", now=clock())
    desk.decide(disputed, Verdict.NOT_PHI, reviewer="reviewer", now=clock())  # now it is the first verdict
    assert desk.ratings() == ()
    assert desk.second_review_counts().waiting == 1
    desk.decide(disputed, Verdict.UNSURE, reviewer="third", now=clock() + timedelta(minutes=1))
    (pair,) = desk.ratings()
    assert (pair.first_reviewer, pair.second_reviewer) == ("reviewer", "third")
    (case,) = desk.disagreements(lead="lead")
    assert (case.first, case.second) == (Verdict.NOT_PHI, Verdict.UNSURE)


ODD = ("\x00", "a\x00b", "%", "_", "\\", "\\%", "\ufffd", "\u202e", "\U0001f600", "1" * 400, "x" * 10_000)
ANY_TEXT = ("text", "folder", "owner", "assignee", "type")
OTHERS = ("kind", "min", "root", "group", "order", "at", "said")


def test_no_filter_breaks_the_list_or_is_repeated(browser: Visit) -> None:
    visitor = browser("lead")
    for text in map(quote, ODD):
        single = [f"{field}={text}" for field in (*ANY_TEXT, *OTHERS)]
        whole = "&".join(single[: len(ANY_TEXT)])
        pages = product(["/queue"], [whole, *single[len(ANY_TEXT) :]])
        for path, query in (*pages, ("/queue/next", whole), *product(["/api/v1/queue"], single)):
            answer = visitor.get(f"{path}?{query}")
            assert answer.status_code in {200, 303, 400}, (path, query[:40])
            assert "x" * 1000 not in answer.text


def test_the_marks_of_a_pattern_stand_for_themselves_in_a_filter(browser: Visit) -> None:
    visitor = browser("lead")
    assert visitor.get("/api/v1/queue", params={"text": "LETTER"}).json()["n"] == 1
    for text in ("%", "_", "l_tter", "let%", "\\"):
        assert visitor.get("/api/v1/queue", params={"text": text}).json()["n"] == 0, text
        assert visitor.get("/api/v1/queue", params={"folder": text}).json()["n"] == 0, text
    for text in ("\x00", "letter\x00"):
        assert visitor.get("/api/v1/queue", params={"text": text}).status_code == 400


def test_a_time_beyond_the_calendar_is_refused(browser: Visit) -> None:
    visitor = browser("lead")
    sent = {"kind": "rule", "target": "us.phone.1", "root": 1, "folder": "a", "reason": "x"}
    for until in ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"):
        answer = visitor.post("/api/v1/suppressions", json={**sent, "until": until})
        assert answer.status_code == 400
        assert "until: expected" in answer.json()["detail"]
