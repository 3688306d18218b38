"""One's own account: password, sessions, tokens; and the address behind a proxy."""

import re
from collections.abc import Callable

import pytest
from fastapi import FastAPI

from phiscan.config import Config
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.app import create_app
from phiscan.web.request_context import Settings
from tests.web.clock import Clock
from tests.web.conftest import OWN, PASSWORD, Browser

Visit = Callable[[str], Browser]
NEW = "another horse battery"


def test_a_new_password_signs_every_other_browser_out(browser: Visit, app: FastAPI) -> None:
    here, there = browser("lead").client, browser("lead").client
    before = here.cookies["phiscan"]
    sent = {"password": PASSWORD, "chosen": NEW, "again": NEW}
    assert here.post("/account/password", data=sent, headers=OWN).status_code == 303
    assert here.cookies["phiscan"] != before
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 303
    old = Browser(app).client.post("/sign-in", data={"name": "lead", "password": PASSWORD}, headers=OWN)
    assert old.status_code == 401
    Browser(app).sign_in("lead", NEW)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"password": "wrong", "chosen": NEW, "again": NEW}, "The present password was not right."),
        ({"password": PASSWORD, "chosen": NEW, "again": NEW + "x"}, "The two new passwords differ."),
        ({"password": PASSWORD, "chosen": "short", "again": "short"}, "expected 12 to 256 characters"),
    ],
)
def test_a_password_that_does_not_do_is_told_and_not_shown(
    sent: dict[str, str], words: str, browser: Visit
) -> None:
    visitor = browser("lead").client
    answer = visitor.post("/account/password", data=sent, headers=OWN)
    assert answer.status_code == 400
    assert words in answer.text
    assert NEW not in answer.text
    assert visitor.get("/account").status_code == 200


def test_wrong_present_passwords_count_as_at_the_sign_in(browser: Visit, app: FastAPI) -> None:
    visitor = browser("lead").client
    sent = {"password": "wrong", "chosen": NEW, "again": NEW}
    for _ in range(5):
        assert visitor.post("/account/password", data=sent, headers=OWN).status_code == 400
    right = {**sent, "password": PASSWORD}
    assert visitor.post("/account/password", data=right, headers=OWN).status_code == 400
    resting = Browser(app).client.post("/sign-in", data={"name": "lead", "password": PASSWORD}, headers=OWN)
    assert resting.status_code == 401


def test_sessions_are_listed_and_ended_one_by_one_or_all(browser: Visit, store: Store, clock: Clock) -> None:
    here, there = browser("lead").client, browser("lead").client
    lead = store.users.named("lead")
    newest, oldest = store.users.sessions(lead.id, now=clock())
    page = here.get("/account").text
    assert page.count("/end") == 3
    assert page.count(">this browser<") == 1
    assert here.post(f"/account/sessions/{newest.id}/end", headers=OWN).status_code == 303
    assert there.get("/account").status_code == 303
    assert here.get("/account").status_code == 200
    stranger = browser("reader").client
    assert stranger.post(f"/account/sessions/{oldest.id}/end", headers=OWN).status_code == 303
    assert here.get("/account").status_code == 200  # not theirs to end
    assert here.post("/account/sessions/end", headers=OWN).status_code == 303
    assert here.get("/account").status_code == 303


NIGHTLY = {"label": "<b>nightly", "days": "3", "scope": "read", "password": PASSWORD}


def test_a_token_is_shown_once_and_only_its_owner_takes_it_back(browser: Visit, app: FastAPI) -> None:
    visitor = browser("lead").client
    page = visitor.post("/account/tokens", data=NIGHTLY, headers=OWN).text
    (token,) = re.findall(r"phiscan_[\w-]{43}", page)
    assert "&lt;b&gt;nightly" in page
    assert token not in visitor.get("/account").text
    bearer = {"authorization": f"Bearer {token}"}
    program = Browser(app).client
    assert program.get("/api/v1/me", headers=bearer).json()["name"] == "lead"
    (number,) = re.findall(r"/account/tokens/(\d+)/revoke", page)
    other = browser("reader").client.post(f"/account/tokens/{number}/revoke", headers=OWN)
    assert other.status_code == 400
    assert program.get("/api/v1/me", headers=bearer).status_code == 200
    assert visitor.post(f"/account/tokens/{number}/revoke", headers=OWN).status_code == 303
    assert program.get("/api/v1/me", headers=bearer).status_code == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"label": ""},
        {"days": "0"},
        {"days": "91"},
        {"scope": "everything"},
        {"scope": ""},
        {"password": ""},
        {"password": "wrong"},
    ],
)
def test_a_token_without_a_purpose_or_an_end_is_refused(
    changed: dict[str, str], browser: Visit, store: Store
) -> None:
    answer = browser("lead").client.post("/account/tokens", data={**NIGHTLY, **changed}, headers=OWN)
    assert answer.status_code in {400, 422}
    assert store.users.tokens() == []


@pytest.mark.parametrize(
    ("scope", "may"), [("read", {"/api/v1/queue": 200}), ("admin", {"/api/v1/queue": 403})]
)
def test_a_token_does_what_it_was_made_for_and_no_more(
    scope: str, may: dict[str, int], browser: Visit, app: FastAPI, store: Store
) -> None:
    page = browser("lead").client.post("/account/tokens", data={**NIGHTLY, "scope": scope}, headers=OWN).text
    (token,) = re.findall(r"phiscan_[\w-]{43}", page)
    program, bearer = Browser(app).client, {"authorization": f"Bearer {token}"}
    assert {path: program.get(path, headers=bearer).status_code for path in may} == may
    sent = {"verdict": "phi", "seen": 1}
    assert program.post("/api/v1/items/1/verdict", headers=bearer, json=sent).status_code == 403
    assert [one.used is not None for one in store.users.tokens()] == [True]


@pytest.mark.parametrize("event", ["password", "sessions", "role", "disabled"])
def test_tokens_are_taken_back_when_the_access_of_their_person_changes(
    event: str, store: Store, clock: Clock
) -> None:
    users, lead = store.users, store.users.named("lead")
    token = users.make_token(lead.id, label="x", days=9, by="lead", now=clock())
    assert users.bearer(token, now=clock()) is not None
    {
        "password": lambda: users.set_password(lead.id, "another long password", by="x", now=clock()),
        "sessions": lambda: users.end_sessions(lead.id, by="x", now=clock()),
        "role": lambda: users.set_role(lead.id, Role.REVIEWER, by="x", now=clock()),
        "disabled": lambda: users.disable(lead.id, by="x", now=clock()),
    }[event]()
    assert users.bearer(token, now=clock()) is None
    assert store.verify_audit().ok


def test_a_browser_cannot_name_its_address_in_a_header_line_before_the_proxys(
    store: Store, clock: Clock
) -> None:
    settings = Settings(hosts=("desk.example",), is_https=True, proxies=("10.0.0.0/24",))
    visitor = Browser(create_app(store, Config(), settings, now=clock), "10.0.0.1").client
    headers = [*OWN.items(), ("host", "desk.example")]
    headers += [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "203.0.113.5")]
    visitor.post("/sign-in", data={"name": "lead", "password": PASSWORD}, headers=headers)
    (session,) = store.users.sessions(store.users.named("lead").id, now=clock())
    assert session.address == "203.0.113.5"


@pytest.mark.parametrize(
    ("peer", "forwarded", "seen"),
    [
        ("10.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.5", "203.0.113.5"),  # what the browser itself wrote is not believed
        ("10.0.0.1", "203.0.113.5, 10.0.0.2", "203.0.113.5"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "x" * 200, "x" * 64),
        ("10.9.0.1", "203.0.113.5", None),
        ("203.0.113.5", "10.0.0.1", None),
    ],
)
def test_only_the_proxy_says_where_a_browser_is(
    peer: str, forwarded: str, seen: str | None, store: Store, clock: Clock
) -> None:
    settings = Settings(hosts=("desk.example",), is_https=True, proxies=("10.0.0.0/24",))
    visitor = Browser(create_app(store, Config(), settings, now=clock), peer).client
    headers = {**OWN, "host": "desk.example", "x-forwarded-for": forwarded}
    answer = visitor.post("/sign-in", data={"name": "lead", "password": PASSWORD}, headers=headers)
    if seen is None:
        assert answer.status_code == 403
        assert store.users.sessions(store.users.named("lead").id, now=clock()) == []
    else:
        (session,) = store.users.sessions(store.users.named("lead").id, now=clock())
        assert session.address == seen
