"""Second factor of local accounts: enrolment, sign-in, replay, recovery, limits, reset, required roles."""

import re
import shutil
from base64 import b32decode
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from httpx import Response

from phiscan.config import config_of
from phiscan.errors import ConfigError, StoreError
from phiscan.review.accounts.second_factor import code_at, step_of
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.store.tables.users import user_account
from phiscan.web.address import desk_table
from tests.review.results import url_of
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Browser, Visit

PAGE = "/account/second-factor"


@pytest.fixture
def store(made_once: Path, tmp_path: Path) -> Iterator[Store]:
    """Open the store with a key, as the commands do."""
    shutil.copy(made_once, tmp_path / "phiscan.db")
    with Store.open(url_of(tmp_path / "phiscan.db"), audit_key=tmp_path / "audit.key") as opened:
        yield opened


class Phone:
    """An authenticator with one secret."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        self.secret = secret
        self.clock = clock
        self.recovery: list[str] = []

    def code(self, steps: int = 0) -> str:
        return code_at(self.secret, step_of(self.clock()) + steps)

    def next_code(self) -> str:
        """Wait until another code is shown."""
        self.clock.turn(seconds=30)
        return self.code()

    def wrong_code(self) -> str:
        good = {self.code(steps) for steps in (-1, 0, 1)}
        return next(code for code in ("000000", "111111", "222222", "333333") if code not in good)


def begin(visitor: Browser, clock: Clock) -> tuple[Phone, str]:
    """Return an authenticator with the secret that is shown, and its sealed form."""
    page = visitor.post(f"{PAGE}/begin", data={"password": PASSWORD}).text
    (typed,) = re.findall(r"Or type it: <code>([A-Z2-7 ]+)</code>", page)
    (sealed,) = re.findall(r'name="sealed" value="([^"]+)"', page)
    assert "<svg" in page
    assert "style=" not in page.partition("<svg")[2].partition("</svg>")[0]
    return Phone(b32decode(typed.replace(" ", "")), clock), sealed


def enrol(visitor: Browser, clock: Clock) -> Phone:
    phone, sealed = begin(visitor, clock)
    sent = {"sealed": sealed, "code": phone.code()}
    page = visitor.post(f"{PAGE}/confirm", data=sent).text
    phone.recovery = re.findall(r"<code>((?:[a-z2-7]{4}-){3}[a-z2-7]{4})</code>", page)
    assert len(set(phone.recovery)) == 10
    return phone


def give_password(app: FastAPI, name: str, address: str = "192.0.2.1", password: str = PASSWORD) -> Browser:
    visitor = Browser(app, address)
    answer = visitor.post("/sign-in", data={"name": name, "password": password, "next": "/account"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in/code?next=%2Faccount"
    assert "phiscan" not in visitor.cookies
    return visitor


def give_code(visitor: Browser, code: str) -> Response:
    return visitor.post("/sign-in/code", data={"code": code, "next": "/account"})


def test_a_password_alone_signs_nobody_in_once_there_is_a_second_factor(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    phone = enrol(browser("lead"), clock)
    visitor = give_password(app, "lead")
    assert visitor.get("/account").status_code == 303
    assert 'name="code"' in visitor.get("/sign-in/code").text
    answer = give_code(visitor, phone.next_code())
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert visitor.get("/account").status_code == 200
    (entry, *_) = store.users.log(action="sign_in").entries
    assert entry.details["value"] == "password and code"
    assert store.verify_audit().ok


def test_a_code_is_good_once_and_only_near_its_time(browser: Visit, app: FastAPI, clock: Clock) -> None:
    phone = enrol(browser("lead"), clock)
    used_at_enrolment = phone.code()
    assert give_code(give_password(app, "lead"), used_at_enrolment).status_code == 401
    code = phone.next_code()
    assert give_code(give_password(app, "lead"), code).status_code == 303
    assert give_code(give_password(app, "lead"), code).status_code == 401  # replayed
    assert give_code(give_password(app, "lead"), phone.code(-1)).status_code == 401  # older than the last
    clock.turn(minutes=20)
    assert give_code(give_password(app, "lead"), phone.code(2)).status_code == 401
    assert give_code(give_password(app, "lead"), phone.code(-2)).status_code == 401
    assert give_code(give_password(app, "lead"), phone.code(1)).status_code == 303  # a clock that is fast


def test_a_recovery_code_is_good_once_however_it_is_typed(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    phone = enrol(browser("lead"), clock)
    code = phone.recovery[3]
    typed = code.upper().replace("-", " ")
    assert give_code(give_password(app, "lead"), typed).status_code == 303
    assert give_code(give_password(app, "lead"), code).status_code == 401
    assert give_code(give_password(app, "lead"), phone.recovery[4]).status_code == 303
    events = [entry.details["value"] for entry in store.users.log(action="second_factor").entries]
    assert events == ["recovery", "recovery", "on"]
    assert store.verify_audit().ok


def test_wrong_codes_count_as_wrong_passwords_do_and_lock_the_account(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    phone = enrol(browser("lead"), clock)
    clock.turn(minutes=1)
    visitor = give_password(app, "lead", "203.0.113.9")
    for _ in range(5):
        assert give_code(visitor, phone.wrong_code()).status_code == 401
    assert give_code(visitor, phone.code()).status_code == 401  # rests, although it is right
    for _ in range(3):
        clock.turn(minutes=16)
        visitor = give_password(app, "lead", "203.0.113.9")
        for _ in range(5):
            assert give_code(visitor, phone.wrong_code()).status_code == 401
    assert store.users.named("lead").locked is not None
    clock.turn(minutes=16)
    answer = visitor.post("/sign-in", data={"name": "lead", "password": PASSWORD})
    assert answer.status_code == 401


def test_a_right_password_in_a_stolen_session_forgives_no_wrong_code(browser: Visit, clock: Clock) -> None:
    visitor = browser("lead")
    phone = enrol(visitor, clock)
    clock.turn(seconds=60)
    wrong = {"password": PASSWORD, "code": phone.wrong_code()}
    for _ in range(5):
        assert visitor.post(f"{PAGE}/remove", data=wrong).status_code == 400
        # Whoever has the session and the password may try to make the store forget the wrong codes.
        token = {"label": "x", "days": "3", "scope": "read", "password": PASSWORD}
        visitor.post("/account/tokens", data=token)
    right = {"password": PASSWORD, "code": phone.code()}
    assert visitor.post(f"{PAGE}/remove", data=right).status_code == 400


def test_enrolment_and_removal_need_the_password_again(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    visitor = browser("lead")
    answer = visitor.post(f"{PAGE}/begin", data={"password": "wrong password"})
    assert answer.status_code == 400
    assert "sealed" not in answer.text
    phone = enrol(visitor, clock)
    code = phone.next_code()
    for sent in ({"password": "wrong", "code": code}, {"password": PASSWORD, "code": phone.wrong_code()}):
        assert visitor.post(f"{PAGE}/remove", data=sent).status_code == 400
    assert store.users.named("lead").has_second_factor
    sent = {"password": PASSWORD, "code": phone.next_code()}
    assert visitor.post(f"{PAGE}/codes", data=sent).status_code == 200
    old = {"password": PASSWORD, "code": phone.recovery[0]}
    assert visitor.post(f"{PAGE}/remove", data=old).status_code == 400
    sent = {"password": PASSWORD, "code": phone.next_code()}
    assert visitor.post(f"{PAGE}/remove", data=sent).status_code == 303
    assert not store.users.named("lead").has_second_factor
    Browser(app).sign_in("lead")
    assert store.verify_audit().ok


def test_a_secret_is_of_the_session_and_the_ten_minutes_in_which_it_was_shown(
    browser: Visit, store: Store, clock: Clock
) -> None:
    here, there = browser("lead"), browser("lead")
    phone, sealed = begin(here, clock)
    for visitor, sent in (
        (there, {"sealed": sealed, "code": phone.code()}),
        (here, {"sealed": sealed, "code": phone.wrong_code()}),
        (here, {"sealed": "A" + sealed[1:] if sealed[0] != "A" else "B" + sealed[1:], "code": phone.code()}),
        (here, {"sealed": "no base 64 é", "code": phone.code()}),
    ):
        assert visitor.post(f"{PAGE}/confirm", data=sent).status_code == 400
    clock.turn(minutes=11)
    sent = {"sealed": sealed, "code": phone.code()}
    assert here.post(f"{PAGE}/confirm", data=sent).status_code == 400
    assert not store.users.named("lead").has_second_factor


def test_enrolment_ends_what_began_without_the_second_factor(
    browser: Visit, store: Store, clock: Clock
) -> None:
    here, there = browser("lead"), browser("lead")
    lead = store.users.named("lead")
    token = store.users.make_token(lead.id, label="x", days=9, by="lead", now=clock())
    enrol(here, clock)
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 303
    assert store.users.bearer(token, now=clock()) is None
    assert store.verify_audit().ok


def test_a_challenge_is_of_one_browser_and_five_minutes_and_one_password(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    phone = enrol(browser("lead"), clock)
    give_password(app, "lead")
    stranger = Browser(app)
    assert give_code(stranger, phone.next_code()).headers["location"] == "/sign-in"
    assert stranger.get("/sign-in/code").status_code == 303
    late = give_password(app, "lead")
    clock.turn(minutes=6)
    assert give_code(late, phone.code()).headers["location"] == "/sign-in"
    changed = give_password(app, "lead")
    store.users.set_password(store.users.named("lead").id, "another long password", by="x", now=clock())
    assert give_code(changed, phone.code()).headers["location"] == "/sign-in"


def test_a_lead_or_an_administrator_resets_what_was_lost_and_nobody_else(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    reviewer = browser("reviewer")
    enrol(reviewer, clock)
    path = f"/users/{store.users.named('reviewer').id}/second-factor/reset"
    assert reviewer.post(path).status_code == 403
    lead = browser("lead")
    assert "reviewer" in lead.get("/locked").text
    assert lead.post(path).status_code == 303
    assert reviewer.get("/account").status_code == 303  # its session ended
    Browser(app).sign_in("reviewer")
    own = f"/users/{store.users.named('lead').id}/second-factor/reset"
    assert lead.post(own).status_code == 400
    (entry, *_) = store.users.log(action="second_factor").entries
    assert (entry.actor, entry.details["value"]) == ("lead", "reset")
    assert store.verify_audit().ok


def test_a_role_that_needs_a_second_factor_does_nothing_before_it_has_one(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    lead = store.users.named("lead")
    token = store.users.make_token(lead.id, label="x", days=9, by="lead", now=clock())
    needed = replace(app.state.desk.settings, second_factor_roles=frozenset({Role.LEAD}))
    app.state.desk = replace(app.state.desk, settings=needed)
    visitor = browser("lead")
    for path in ("/queue", "/account", "/reports", "/locked"):
        answer = visitor.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, PAGE)
    sent = {"label": "x", "days": "3", "scope": "read", "password": PASSWORD}
    assert visitor.post("/account/tokens", data=sent).headers["location"] == PAGE
    bearer = {"authorization": f"Bearer {token}"}
    assert Browser(app).get("/api/v1/queue", headers=bearer).status_code == 403
    assert "Your role needs a second factor" in visitor.get(PAGE).text
    enrol(visitor, clock)
    assert visitor.get("/queue").status_code == 200
    assert browser("reader").get("/queue").status_code == 200
    assert visitor.post("/sign-out").headers["location"] == "/sign-in"


def test_a_new_password_asks_for_the_code_of_the_new_session(browser: Visit, clock: Clock) -> None:
    visitor = browser("lead")
    phone = enrol(visitor, clock)
    new = "another horse battery"
    sent = {"password": PASSWORD, "chosen": new, "again": new}
    answer = visitor.post("/account/password", data=sent)
    assert answer.headers["location"] == "/sign-in/code?next=%2Faccount"
    assert visitor.get("/account").status_code == 303
    assert give_code(visitor, phone.next_code()).status_code == 303
    assert visitor.get("/account").status_code == 200


def test_neither_the_database_nor_the_log_holds_a_secret_or_a_code(
    browser: Visit, store: Store, clock: Clock, tmp_path: Path
) -> None:
    phone = enrol(browser("lead"), clock)
    with store.database.read() as connection:
        sealed = connection.execute(
            sa.select(user_account.c.second_factor).where(user_account.c.name == "lead")
        ).scalar_one()
    assert len(sealed) > 40
    data = b"".join(path.read_bytes() for path in sorted(tmp_path.glob("phiscan.db*")))
    assert sealed.encode() in data
    for value in (phone.secret, *(code.encode() for code in phone.recovery)):
        assert value not in data
    assert phone.recovery[0].replace("-", "").encode() not in data


def test_a_sealed_secret_copied_to_another_account_opens_nothing_and_is_found(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    mine = enrol(browser("reader"), clock)
    enrol(browser("admin"), clock)
    with store.database._engine.begin() as connection:
        sealed = connection.exec_driver_sql(
            "SELECT second_factor FROM user_account WHERE name = 'reader'"
        ).scalar_one()
        connection.execute(
            sa.text("UPDATE user_account SET second_factor = :sealed WHERE name = 'admin'"),
            {"sealed": sealed},
        )
    assert give_code(give_password(app, "admin"), mine.next_code()).status_code == 401
    check = store.verify_audit()
    assert not check.ok
    assert "user_account 5: was changed" in check.problem


def test_a_recovery_code_put_in_or_moved_with_sql_signs_nobody_in(
    browser: Visit, app: FastAPI, store: Store, clock: Clock
) -> None:
    mine = enrol(browser("reader"), clock)
    enrol(browser("admin"), clock)
    own, admin = store.users.named("reader").id, store.users.named("admin").id
    with store.database._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM recovery_code WHERE user_id = ?", (admin,))
        connection.exec_driver_sql("UPDATE recovery_code SET user_id = ? WHERE user_id = ?", (admin, own))
        forged = sha256(b"aaaabbbbccccdddd").hexdigest()
        connection.exec_driver_sql(
            "INSERT INTO recovery_code (user_id, code_hash, seal) VALUES (?, ?, '')", (admin, forged)
        )
    for code in (mine.recovery[0], "aaaa-bbbb-cccc-dddd"):
        assert give_code(give_password(app, "admin"), code).status_code == 401


def test_a_store_without_its_key_takes_no_code(made_once: Path, tmp_path: Path, clock: Clock) -> None:
    shutil.copy(made_once, tmp_path / "other.db")
    with Store.open(url_of(tmp_path / "other.db")) as store:
        lead = store.users.named("lead")
        store.users.sign_in("lead", PASSWORD, address="", now=clock())
        (session,) = store.users.sessions(lead.id, now=clock())
        with pytest.raises(StoreError, match="opened without its key"):
            store.users.propose_second_factor(session, now=clock())


def test_roles_that_need_it_are_named_in_the_configuration() -> None:
    table = desk_table(config_of({"desk": {"second_factor": ["lead", "admin"]}}))
    assert table.second_factor == ("lead", "admin")
    with pytest.raises(ConfigError, match="second_factor: boss: expected roles: reader, reviewer"):
        desk_table(config_of({"desk": {"second_factor": ["boss"]}}))
