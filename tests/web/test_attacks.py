"""What somebody would try: other sites and hosts, fixed sessions, guessed passwords, names of files."""

import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from phiscan.config import Config
from phiscan.review.accounts import passwords
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.access import Permission, Routes
from phiscan.web.app import ROUTES, create_app
from phiscan.web.request_context import Settings
from tests.review.results import referred, scan, url_of
from tests.review.test_audit import tamper
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Browser, Visit

# Other sites


FOREIGN: list[dict[str, str]] = [
    {},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
    {"sec-fetch-site": "cross-site", "origin": "http://localhost"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost.evil.example"},
    {"origin": "https://localhost"},
    {"referer": "http://localhost/account"},
    {"authorization": "Bearer nothing"},
]


def test_an_unsafe_request_of_another_site_is_refused(browser: Visit) -> None:
    visitor = browser("lead")
    del visitor.headers["sec-fetch-site"]
    for headers in FOREIGN:
        for path in ("/sign-out", "/account/tokens", "/api/v1/items/1/verdict", "/sign-in"):
            answers = [
                visitor.request(method, path, headers=headers).status_code
                for method in ("POST", "PUT", "PATCH", "DELETE")
            ]
            assert answers == [403] * 4, (path, headers)
    assert visitor.get("/account").status_code == 200


def test_our_own_forms_pass_by_either_header(browser: Visit) -> None:
    assert browser("lead").post("/sign-out").status_code == 303
    older = browser("lead")
    del older.headers["sec-fetch-site"]
    assert older.post("/sign-out", headers={"origin": "http://localhost"}).status_code == 303


def test_a_program_with_a_token_and_no_cookie_passes(app: FastAPI, store: Store, clock: Clock) -> None:
    token = store.users.make_token(store.users.named("lead").id, label="x", days=1, by="test", now=clock())
    visitor = Browser(app)
    del visitor.headers["sec-fetch-site"]
    headers = {"authorization": f"Bearer {token}"}
    sent = {"verdict": "phi", "seen": 1}
    assert visitor.post("/api/v1/items/1/verdict", headers=headers, json=sent).status_code == 200
    visitor.cookies.set("anything", "1")
    assert visitor.post("/api/v1/items/1/verdict", headers=headers, json=sent).status_code == 403


def test_another_site_may_lead_here_but_load_nothing(browser: Visit) -> None:
    visitor = browser("lead")
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert visitor.get("/account", headers=link).status_code == 200
    for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest}
        assert visitor.get("/account", headers=headers).status_code == 403


def test_names_that_are_ours_are_taken_and_no_others(app: FastAPI) -> None:
    visitor = Browser(app)
    others = [
        "evil.example",
        "localhost.evil.example",
        "localhost:80:80",
        "",
        "127.0.0.2",
        "[::1",
        "LOCALHOST@x",
    ]
    for host in others:
        assert visitor.get("/healthz", headers={"host": host}).status_code == 400, host
    for host in ("localhost", "LocalHost:8470", "127.0.0.1:8470", "[::1]:8470"):
        assert visitor.get("/healthz", headers={"host": host}).status_code == 200, host


# Sessions


def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(app: FastAPI, store: Store) -> None:
    begun = Browser(app).post("/sign-in", data={"name": "lead", "password": PASSWORD})
    plain, known = begun.headers.get_list("set-cookie")
    assert re.fullmatch(r"phiscan=[\w-]{43}; HttpOnly; Path=/; SameSite=strict", plain)
    assert re.fullmatch(
        r"phiscan-browser=\d+\.[0-9a-f]{64}; HttpOnly; Max-Age=7776000; Path=/; SameSite=strict", known
    )
    behind_tls = create_app(store, Config(), Settings(hosts=("desk.example",), is_https=True))
    visitor = Browser(behind_tls)
    answer = visitor.post(
        "/sign-in", data={"name": "lead", "password": PASSWORD}, headers={"host": "desk.example"}
    )
    cookie, known = answer.headers.get_list("set-cookie")
    assert re.fullmatch(r"__Host-phiscan=[\w-]{43}; HttpOnly; Path=/; SameSite=strict; Secure", cookie)
    assert known.startswith("__Host-phiscan-browser=")
    assert known.endswith("; Secure")
    assert "max-age" in answer.headers["strict-transport-security"]


def test_a_session_that_somebody_planted_is_not_the_one_that_begins(app: FastAPI) -> None:
    thief = Browser(app).sign_in("reader")
    planted = thief.cookies["phiscan"]
    victim = Browser(app)
    answer = victim.post(
        "/sign-in", data={"name": "lead", "password": PASSWORD}, headers={"cookie": f"phiscan={planted}"}
    )
    begun = answer.cookies["phiscan"]
    assert begun != planted
    assert thief.get("/account").status_code == 303  # the planted one is over
    again = Browser(app).sign_in("lead").cookies["phiscan"]
    assert again not in {begun, planted}
    made_up = Browser(app)
    assert made_up.get("/account", headers={"cookie": "phiscan=chosen-by-me"}).status_code == 303


def test_a_session_ends_when_idle_and_when_old(browser: Visit, clock: Clock) -> None:
    visitor = browser("lead")
    clock.turn(minutes=14)
    assert visitor.get("/account").status_code == 200
    clock.turn(minutes=14)
    assert visitor.get("/account").status_code == 200
    clock.turn(minutes=16)
    assert visitor.get("/account").status_code == 303
    busy = browser("lead")
    for _ in range(43):  # in ten hours
        clock.turn(minutes=14)
        last = busy.get("/account").status_code
    assert last == 303


def test_signing_out_ends_the_session_on_the_server(browser: Visit) -> None:
    visitor = browser("lead")
    stolen = visitor.cookies["phiscan"]
    answer = visitor.post("/sign-out")
    assert answer.status_code == 303
    assert '"cache"' in answer.headers["clear-site-data"]
    visitor.cookies.clear()
    assert visitor.get("/account", headers={"cookie": f"phiscan={stolen}"}).status_code == 303


def test_disabling_or_a_new_password_ends_sessions_and_tokens(
    browser: Visit, store: Store, clock: Clock
) -> None:
    users = store.users
    lead = users.named("lead")
    token = users.make_token(lead.id, label="x", days=1, by="test", now=clock())
    bearer = {"authorization": f"Bearer {token}"}
    first, admin = browser("lead"), browser("admin")
    assert first.get("/api/v1/me", headers=bearer).status_code == 200
    assert admin.post(f"/users/{lead.id}/disable").status_code == 303
    assert first.get("/account").status_code == 303
    assert browser("").get("/api/v1/me", headers=bearer).status_code == 401
    assert admin.post(f"/users/{lead.id}/enable").status_code == 303
    second = browser("lead")
    sent = {"password": "another horse battery"}
    assert admin.post(f"/users/{lead.id}/password", data=sent).status_code == 303
    assert second.get("/account").status_code == 303


def test_a_new_role_counts_at_once(browser: Visit, store: Store, clock: Clock) -> None:
    visitor = browser("auditor")
    assert visitor.get("/log").status_code == 200
    users = store.users
    users.set_role(users.named("auditor").id, Role.READER, by="test", now=clock())
    assert visitor.get("/log").status_code == 403


def test_nobody_changes_their_own_account_as_an_administrator(browser: Visit, store: Store) -> None:
    admin = store.users.named("admin")
    visitor = browser("admin")
    assert visitor.post(f"/users/{admin.id}/role", data={"role": "lead"}).status_code == 400
    sent = {"role": "lead"}
    assert visitor.patch(f"/api/v1/users/{admin.id}", json=sent).status_code == 400
    assert store.users.named("admin").role == "admin"


def test_an_expired_or_revoked_token_is_worth_nothing(app: FastAPI, store: Store, clock: Clock) -> None:
    users, lead = store.users, store.users.named("lead")
    visitor = Browser(app)
    short = {"authorization": "Bearer " + users.make_token(lead.id, label="a", days=1, by="t", now=clock())}
    long = {"authorization": "Bearer " + users.make_token(lead.id, label="b", days=9, by="t", now=clock())}
    clock.turn(days=2)
    assert visitor.get("/api/v1/me", headers=short).status_code == 401
    assert visitor.get("/api/v1/me", headers=long).status_code == 200
    users.revoke_token(users.tokens(lead.id)[0].id, user_id=lead.id, by="t", now=clock())
    assert visitor.get("/api/v1/me", headers=long).status_code == 401
    for token in ("", "x", "phiscan_", "é", "a" * 5000):
        bad = {"authorization": f"Bearer {token}".encode()}
        assert visitor.get("/api/v1/me", headers=bad).status_code == 401  # type: ignore[arg-type]


# Passwords


def _try(app: FastAPI, name: str, password: str, address: str = "198.51.100.7") -> int:
    visitor = Browser(app, address)
    return visitor.post("/sign-in", data={"name": name, "password": password}).status_code


def test_guessing_rests_the_account_then_locks_it_until_a_lead_unlocks(
    app: FastAPI, store: Store, clock: Clock, browser: Visit
) -> None:
    for _ in range(5):
        assert _try(app, "reader", "wrong") == 401
    assert _try(app, "reader", PASSWORD) == 401
    clock.turn(minutes=16)
    assert _try(app, "reader", PASSWORD) == 303  # it wakes by itself
    for _ in range(4):
        for _ in range(5):
            assert _try(app, "reviewer", "wrong") == 401
        assert _try(app, "reviewer", PASSWORD, "198.51.100.8") == 401  # it rests
        clock.turn(minutes=16)
    reviewer = store.users.named("reviewer")
    assert reviewer.locked is not None
    assert _try(app, "reviewer", PASSWORD, "198.51.100.8") == 401
    lead = browser("lead")  # nobody else's is
    assert "reviewer" in lead.get("/locked").text
    answer = lead.post(f"/users/{reviewer.id}/unlock")
    assert (answer.status_code, answer.headers["location"]) == (303, "/locked")
    assert "No account is locked" in lead.get("/locked").text
    assert _try(app, "reviewer", PASSWORD, "198.51.100.8") == 303
    actions = [entry.action for entry in store.users.log(limit=1000).entries]
    assert actions.count("user_lock") == 1
    assert actions.count("sign_in_failed") >= 24
    assert store.verify_audit().ok


def test_an_address_that_tries_many_names_is_refused(app: FastAPI, clock: Clock) -> None:
    answers = [_try(app, f"name {i}", "wrong") for i in range(32)]
    assert answers == [401] * 30 + [429] * 2
    assert _try(app, "lead", PASSWORD) == 429
    assert _try(app, "lead", PASSWORD, "198.51.100.9") == 303
    clock.turn(minutes=16)
    assert _try(app, "lead", PASSWORD) == 303


def test_every_way_to_fail_is_answered_alike_and_no_password_is_kept(
    app: FastAPI, store: Store, tmp_path: Path, clock: Clock
) -> None:
    users = store.users
    users.disable(users.named("reader").id, by="test", now=clock())
    pages = set()
    for name, password in (("lead", "Canary-9-wrong"), ("Canary-7-typed-as-name", "x"), ("reader", PASSWORD)):
        answer = Browser(app).post("/sign-in", data={"name": name, "password": password})
        assert answer.status_code == 401
        pages.add(re.sub(r'nonce="[^"]*"', "", answer.text))
    assert len(pages) == 1
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("phiscan.db*"))
    assert b"Canary" not in kept
    assert PASSWORD.encode() not in kept


def test_an_unknown_name_costs_one_hash_as_a_known_one_does(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []

    class Counting:
        def verify(self, password: str, stored: str) -> bool:
            verified.append(password + stored[:9])
            return False

        def hash(self, _password: str) -> str:
            return "$argon2id$nobody"

    monkeypatch.setattr(passwords, "_HASHER", Counting())
    _try(app, "lead", "wrong")
    _try(app, "who", "wrong")
    assert verified == ["wrong$argon2id"] * 2


# Names of files

NAMES = [
    "<script>alert(1)</script>.txt",
    '"><img src=x onerror=alert(1)>.docx',
    "'-alert(1)-'.txt",
    "{{ 7*7 }}{% raw %}.txt",
    "javascript:alert(1)",
    "a\u202egpj.exe",
    "b\x1b[31m\nSet-Cookie: x.txt",
]


@pytest.fixture
def hostile(store: Store, clock: Clock) -> Store:
    scan(store, [referred(f"d/{name}") for name in NAMES], minutes=5)
    clock.turn(minutes=10)
    return store


def test_a_file_name_is_text_on_every_page(hostile: Store, browser: Visit) -> None:
    visitor = browser("lead")
    numbers = [hostile.find(f"d/{name}") for name in NAMES]
    for path in (
        "/queue",
        "/api/v1/queue",
        *(f"/items/{n}" for n in numbers),
        *(f"/items/{n}/suppress" for n in numbers),
    ):
        answer = visitor.get(path)
        assert answer.status_code in {200, 400}, path
        assert "nosniff" in answer.headers["x-content-type-options"]
        if path.startswith("/api"):
            assert answer.headers["content-type"] == "application/json"
            continue
        text = answer.text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert 'href="javascript:' not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "set-cookie" not in answer.headers
    queue = visitor.get("/queue").text
    assert "&lt;script&gt;alert(1)&lt;" in queue
    assert "{{ 7*7 }}" in queue
    assert r"a\u202egpj.exe" in queue


def test_every_page_forbids_inline_scripts_and_frames_and_is_not_cached(browser: Visit) -> None:
    visitor = browser("lead")
    nonces = set()
    for path in (
        "/account",
        "/sign-in",
        "/queue",
        "/items/1",
        "/nothing",
        "/users",
        "/api/v1/queue",
        "/healthz",
    ):
        answer = visitor.get(path)
        policy = dict(
            part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["base-uri"] == "'none'"
        assert policy["form-action"] == "'self'"
        assert "unsafe" not in str(policy)
        nonces.add(policy["script-src"])
        assert answer.headers["cache-control"] == "no-store", path
        assert answer.headers["referrer-policy"] == "same-origin"
        assert not re.search(r"<script(?![^>]*(src=|nonce=))", answer.text), path
        assert not re.search(r"\s(style|on\w+)\s*=\s*[\"']", answer.text), path
    assert len(nonces) == 8  # a new one each time


def test_static_files_are_ours_alone(browser: Visit) -> None:
    visitor = browser("")
    page = visitor.get("/sign-in").text
    (address,) = set(re.findall(r'href="(/static/[0-9a-f]{16}/desk\.css)"', page))
    answer = visitor.get(address)
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert visitor.get(address, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    digest = address.split("/")[2]
    for path in (
        f"/static/{digest}/../desk.py",
        f"/static/{digest}/..%2f..%2fdesk.py",
        f"/static/{digest}/%2e%2e/desk.py",
        f"/static/{digest}/..\\desk.py",
        f"/static/{digest}//etc/passwd",
        f"/static/{digest}/desk.js%00.css",
        "/static/0000000000000000/desk.css",
    ):
        assert visitor.get(path).status_code == 404, path


def test_the_sign_in_leads_to_no_other_site(app: FastAPI) -> None:
    ours = "/queue?type=a%20b"
    foreign = ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)")
    for place, leads_to in [(ours, ours), *((place, "/") for place in (*foreign, "/a\r\nSet-Cookie: x=1"))]:
        sent = {"name": "lead", "password": PASSWORD, "next": place}
        answer = Browser(app).post("/sign-in", data=sent)
        assert answer.headers["location"] == leads_to


# Requests


def test_a_request_that_is_too_large_is_refused(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    app = create_app(store, Config(), Settings(max_body_bytes=10_000))
    visitor = Browser(app)
    long = {"name": "lead", "password": "x" * 20_000}
    answer = visitor.post("/sign-in", data=long)
    assert answer.status_code == 413
    assert "request failed" not in "".join(capsys.readouterr())

    def chunks() -> object:
        for _ in range(20):
            yield b"name=" + b"x" * 1000

    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert visitor.post("/sign-in", content=chunks(), headers=headers).status_code == 413  # type: ignore[arg-type]


def test_what_was_sent_is_not_repeated_in_an_error(browser: Visit) -> None:
    visitor = browser("lead")
    sent = {"verdict": "Canary-1", "seen": "Canary-2", "more": "Canary-3"}
    answer = visitor.post("/api/v1/items/1/verdict", json=sent)
    assert answer.status_code == 422
    assert "Canary" not in answer.text
    assert "verdict" in answer.text
    assert "Canary" not in visitor.post("/items/1/decide", data=sent).text
    broken = visitor.post("/api/v1/items/1/verdict", content=b'{"note": "Canary')
    assert broken.status_code == 422
    assert "Canary" not in broken.text
    assert visitor.get("/items/Canary").status_code == 422
    assert "Canary" not in visitor.get("/items/Canary").text
    for number in (0, -1, 2**63, 10**30):
        assert visitor.get(f"/items/{number}").status_code in {400, 404, 422}
        assert visitor.get(f"/api/v1/items/{number}").status_code in {400, 404, 422}


def test_an_unexpected_error_is_told_to_nobody(
    store: Store, capfd: pytest.CaptureFixture[str], clock: Clock
) -> None:
    routes = Routes()

    @routes.page("GET", "/boom", needs=Permission.PUBLIC)
    def boom() -> None:
        message = "Canary of a document"
        raise RuntimeError(message)

    visitor = Browser(create_app(store, Config(), routes=(*ROUTES, routes), now=clock))
    answer = visitor.get("/boom")
    assert answer.status_code == 500
    assert "Canary" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    printed = "".join(capfd.readouterr())
    assert "RuntimeError at access.py" in printed
    assert "Canary" not in printed


# The log


def test_a_forged_log_is_shown_and_cannot_be_signed(browser: Visit, store: Store, tmp_path: Path) -> None:
    visitor = browser("auditor")
    page = visitor.get("/log/verification").text
    assert "The log is whole" in page
    (head,) = re.findall(r'name="head" value="([0-9a-f]{64})"', page)
    assert visitor.post("/log/reviews", data={"head": head, "note": "June"}).status_code == 303
    (review,) = store.users.log_reviews()
    assert (review.reviewer, review.head, review.note) == ("auditor", head, "June")
    assert store.verify_audit().ok
    assert visitor.post("/log/reviews", data={"head": "0" * 64}).status_code == 409
    tamper(url_of(tmp_path / "phiscan.db"), "UPDATE user_event SET value = 'lead' WHERE id = 1")
    page = visitor.get("/log/verification").text
    assert "The log is not whole" in page
    assert "row 1 of user_event was changed after it was logged" in page
    assert "I have reviewed this log" not in page.split("Reviews")[0]
    assert visitor.post("/log/reviews", data={"head": head}).status_code == 400


def test_every_change_of_an_account_stands_in_the_log(browser: Visit, store: Store, app: FastAPI) -> None:
    admin = browser("admin")
    new = {"name": "New Person", "role": "reader", "password": "a very new password"}
    assert admin.post("/users", data=new).status_code == 303
    number = store.users.named("new person").id
    for path, sent in (
        ("role", {"role": "reviewer"}),
        ("password", {"password": "an even newer one"}),
        ("disable", {}),
        ("enable", {}),
        ("unlock", {}),
    ):
        assert admin.post(f"/users/{number}/{path}", data=sent).status_code == 303
    Browser(app).sign_in("New Person", "an even newer one")
    for _ in range(2):  # the second time there is nothing to end, and nothing to log
        assert admin.post(f"/users/{number}/sessions/end").status_code == 303
    browser("reader").post("/sign-out")
    found = [(e.actor, e.action) for e in store.users.log(limit=10).entries]
    assert found == [
        ("reader", "sign_out"),
        ("reader", "sign_in"),
        ("admin", "sessions_revoke"),
        ("New Person", "sign_in"),
        *(
            ("admin", action)
            for action in (
                "user_unlock", "user_enable", "user_disable", "user_password", "user_role",
                "user_add",
            )
        ),
    ]  # fmt: skip
    assert store.verify_audit().ok


def test_failures_behind_one_address_do_not_stop_those_who_signed_in_from_it(app: FastAPI) -> None:
    nat = "198.51.100.7"
    assert _try(app, "lead", PASSWORD, nat) == 303
    assert [_try(app, f"name {i}", "wrong", nat) for i in range(40)] == [401] * 30 + [429] * 10
    assert _try(app, "lead", PASSWORD, nat) == 303
    assert _try(app, "reader", PASSWORD, nat) == 429  # signed in from here never
    assert _try(app, "reader", PASSWORD, "198.51.100.8") == 303


def test_an_address_with_many_failures_waits_ever_longer(app: FastAPI, clock: Clock) -> None:
    for number in range(30):
        assert _try(app, f"name {number}", "wrong") == 401
    for number, n_seconds in enumerate((2, 4, 8, 16, 32, 60, 60, 60)):
        assert _try(app, f"other {number}", "wrong") == 429
        clock.turn(seconds=n_seconds - 1)
        assert _try(app, f"other {number}", "wrong") == 429
        clock.turn(seconds=1)
        assert _try(app, f"other {number}", "wrong") == 401
    clock.turn(seconds=60)
    assert _try(app, "lead", PASSWORD) == 303


def test_guesses_of_strangers_do_not_keep_a_known_browser_out(app: FastAPI) -> None:
    own = Browser(app, "203.0.113.1")
    data = {"name": "lead", "password": PASSWORD}
    assert own.post("/sign-in", data=data).status_code == 303
    assert own.post("/sign-out").status_code == 303
    for number in range(9):
        assert _try(app, "lead", "wrong", f"198.51.100.{number}") == 401
    assert _try(app, "lead", PASSWORD, "198.51.100.99") == 401  # the account rests for strangers
    cookies = {name: value for name, value in own.cookies.items() if name.endswith("-browser")}
    assert len(cookies) == 1
    forged = {name: value[:-4] + "0000" for name, value in cookies.items()}
    for shown, address, status in ((forged, "203.0.113.2", 401), (cookies, "203.0.113.4", 303)):
        elsewhere = Browser(app, address)
        elsewhere.cookies.update(shown)
        assert elsewhere.get("/account").status_code == 303  # the cookie signs nobody in
        assert elsewhere.post("/sign-in", data=data).status_code == status
    other = Browser(app, "203.0.113.3")
    other.cookies.update(cookies)
    for _ in range(5):  # of one person, it does not help with another's account
        assert other.post("/sign-in", data={"name": "reader", "password": "wrong"}).status_code == 401
    assert _try(app, "reader", PASSWORD, "198.51.100.98") == 401
