"""One's own account: password, sessions, tokens; and the address behind a proxy."""

import re

from fastapi import FastAPI

from phiscan.config import Config
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.app import create_app
from phiscan.web.request_context import Settings
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Browser, Visit

NEW = "another horse battery"


def test_a_new_password_signs_every_other_browser_out(browser: Visit, app: FastAPI) -> None:
    here, there = browser("lead"), browser("lead")
    before = here.cookies["phiscan"]
    sent = {"password": PASSWORD, "chosen": NEW, "again": NEW}
    assert here.post("/account/password", data=sent).status_code == 303
    assert here.cookies["phiscan"] != before
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 303
    old = Browser(app).post("/sign-in", data={"name": "lead", "password": PASSWORD})
    assert old.status_code == 401
    Browser(app).sign_in("lead", NEW)


def test_a_password_that_does_not_do_is_told_and_not_shown(browser: Visit) -> None:
    visitor = browser("lead")
    for present, chosen, again, words in (
        ("wrong", NEW, NEW, "The present password was not right."),
        (PASSWORD, NEW, NEW + "x", "The two new passwords differ."),
        (PASSWORD, "short", "short", "expected 12 to 256 characters"),
    ):
        sent = {"password": present, "chosen": chosen, "again": again}
        answer = visitor.post("/account/password", data=sent)
        assert answer.status_code == 400
        assert words in answer.text
        assert NEW not in answer.text
    assert visitor.get("/account").status_code == 200


def test_wrong_present_passwords_count_as_at_the_sign_in(browser: Visit, app: FastAPI) -> None:
    visitor = browser("lead")
    sent = {"password": "wrong", "chosen": NEW, "again": NEW}
    for _ in range(5):
        assert visitor.post("/account/password", data=sent).status_code == 400
    right = {**sent, "password": PASSWORD}
    assert visitor.post("/account/password", data=right).status_code == 400
    resting = Browser(app).post("/sign-in", data={"name": "lead", "password": PASSWORD})
    assert resting.status_code == 401


def test_sessions_are_listed_and_ended_one_by_one_or_all(browser: Visit, store: Store, clock: Clock) -> None:
    here, there = browser("lead"), browser("lead")
    lead = store.users.named("lead")
    newest, oldest = store.users.sessions(lead.id, now=clock())
    page = here.get("/account").text
    assert page.count("/end") == 3
    assert page.count(">this browser<") == 1
    assert here.post(f"/account/sessions/{newest.id}/end").status_code == 303
    assert there.get("/account").status_code == 303
    assert here.get("/account").status_code == 200
    stranger = browser("reader")
    assert stranger.post(f"/account/sessions/{oldest.id}/end").status_code == 303
    assert here.get("/account").status_code == 200  # not theirs to end
    assert here.post("/account/sessions/end").status_code == 303
    assert here.get("/account").status_code == 303


NIGHTLY = {"label": "<b>nightly", "days": "3", "scope": "read", "password": PASSWORD}


def test_a_token_is_shown_once_and_only_its_owner_takes_it_back(browser: Visit, app: FastAPI) -> None:
    visitor = browser("lead")
    page = visitor.post("/account/tokens", data=NIGHTLY).text
    (token,) = re.findall(r"phiscan_[\w-]{43}", page)
    assert "&lt;b&gt;nightly" in page
    assert token not in visitor.get("/account").text
    bearer = {"authorization": f"Bearer {token}"}
    program = Browser(app)
    assert program.get("/api/v1/me", headers=bearer).json()["name"] == "lead"
    (number,) = re.findall(r"/account/tokens/(\d+)/revoke", page)
    other = browser("reader").post(f"/account/tokens/{number}/revoke")
    assert other.status_code == 400
    assert program.get("/api/v1/me", headers=bearer).status_code == 200
    assert visitor.post(f"/account/tokens/{number}/revoke").status_code == 303
    assert program.get("/api/v1/me", headers=bearer).status_code == 401


def test_a_token_without_a_purpose_or_an_end_is_refused(browser: Visit, store: Store) -> None:
    visitor = browser("lead")
    changes = ["label=", "days=0", "days=91", "scope=everything", "scope=", "password=", "password=wrong"]
    for name, _equals, value in (change.partition("=") for change in changes):
        answer = visitor.post("/account/tokens", data={**NIGHTLY, name: value})
        assert answer.status_code in {400, 422}, (name, value)
    assert store.users.tokens() == []


def test_a_token_does_what_it_was_made_for_and_no_more(browser: Visit, app: FastAPI, store: Store) -> None:
    program, visitor = Browser(app), browser("lead")
    for scope, status in (("read", 200), ("admin", 403)):
        page = visitor.post("/account/tokens", data={**NIGHTLY, "scope": scope}).text
        (token,) = re.findall(r"phiscan_[\w-]{43}", page)
        bearer = {"authorization": f"Bearer {token}"}
        assert program.get("/api/v1/queue", headers=bearer).status_code == status
        sent = {"verdict": "phi", "seen": 1}
        assert program.post("/api/v1/items/1/verdict", headers=bearer, json=sent).status_code == 403
    assert [one.used is not None for one in store.users.tokens()] == [True, True]


def test_tokens_are_taken_back_when_the_access_of_their_person_changes(store: Store, clock: Clock) -> None:
    users, lead = store.users, store.users.named("lead")
    for change in (
        lambda: users.set_password(lead.id, "another long password", by="x", now=clock()),
        lambda: users.end_sessions(lead.id, by="x", now=clock()),
        lambda: users.set_role(lead.id, Role.REVIEWER, by="x", now=clock()),
        lambda: users.disable(lead.id, by="x", now=clock()),
    ):
        token = users.make_token(lead.id, label="x", days=9, by="lead", now=clock())
        assert users.bearer(token, now=clock()) is not None
        change()
        assert users.bearer(token, now=clock()) is None
    assert store.verify_audit().ok


def test_only_the_proxy_says_where_a_browser_is(store: Store, clock: Clock) -> None:
    settings = Settings(hosts=("desk.example",), is_https=True, proxies=("10.0.0.0/24",))
    app, lead = create_app(store, Config(), settings, now=clock), store.users.named("lead").id
    for peer, lines, seen in (
        ("10.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        # What the browser itself wrote is not believed, nor in a header line of its own.
        ("10.0.0.1", ["1.1.1.1, 203.0.113.5"], "203.0.113.5"),
        ("10.0.0.1", ["1.1.1.1", "203.0.113.5"], "203.0.113.5"),
        ("10.0.0.1", ["203.0.113.5, 10.0.0.2"], "203.0.113.5"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["x" * 200], "x" * 64),
        ("10.9.0.1", ["203.0.113.5"], None),
        ("203.0.113.5", ["10.0.0.1"], None),
    ):
        headers = [("host", "desk.example"), *(("x-forwarded-for", line) for line in lines)]
        sent = {"name": "lead", "password": PASSWORD}
        answer = Browser(app, peer).post("/sign-in", data=sent, headers=headers)
        sessions = store.users.sessions(lead, now=clock())
        assert answer.status_code == (303 if seen else 403)
        assert [one.address for one in sessions] == [seen] * (seen is not None), lines
        for one in sessions:
            store.users.end_sessions(lead, one.id, by="lead", now=clock())
