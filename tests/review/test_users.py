"""Accounts, sign-ins under load, and their append-only tables; SQLite."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from phiscan.errors import ConflictError, InputError
from phiscan.review.accounts import passwords
from phiscan.review.accounts.users import Refusal, Role, SignedIn
from phiscan.review.store import Store
from tests.review.results import NOW, later

PASSWORD = "correct horse battery"


@pytest.fixture
def store(store: Store, database: Path) -> Store:
    assert database.exists()
    store.users.add(name="Ana Ex", role=Role.LEAD, password=PASSWORD, by="test", now=NOW)
    return store


def test_a_password_is_kept_as_argon2id_with_the_costs_of_rfc_9106(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the costs of the program, not those of the tests
    made = passwords.hashed("a long enough one", name="ana")
    assert made.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert passwords.is_right("a long enough one", made)
    assert not passwords.is_right("a long enough onE", made)
    assert not passwords.is_right("", made)


def test_one_letter_typed_in_two_ways_is_one_password(store: Store) -> None:
    assert store.users.add(name="b", role=Role.READER, password="caf\u00e9 au lait noir", by="t", now=NOW)
    found = store.users.sign_in("b", "cafe\u0301 au lait noir", address="a", now=NOW)
    assert isinstance(found, SignedIn)


def test_an_unfit_password_is_refused_and_not_repeated(store: Store) -> None:
    repeated, long = ("x" * 20, "abababababab"), "x" * 300
    for password in ("", "short", "x" * 11, *repeated, "my name is ANA EX!", long, "control \x00 char"):
        with pytest.raises(InputError, match="password: expected") as caught:
            store.users.set_password(1, password, by="test", now=NOW)
        assert password not in str(caught.value) or not password


def test_an_unfit_or_taken_name_is_refused(store: Store) -> None:
    unfit = ("", " ", "a" * 65, "<b>", "a\u202eb", "=cmd", "a\nb", "-x")
    for name in (*unfit, "ana ex", "ANA EX ", "\uff21na Ex"):
        with pytest.raises(InputError):
            store.users.add(name=name, role=Role.READER, password=PASSWORD, by="test", now=NOW)
    assert len(store.users.everybody()) == 1


def test_a_hundred_guesses_at_once_are_not_a_hundred_guesses(store: Store) -> None:
    """Counted before the password is looked at: no more than the limit are looked at, however fast."""
    looked_at = []

    def guess(number: int) -> object:
        return store.users.sign_in("Ana Ex", f"guess {number}", address=f"10.0.0.{number % 20}", now=NOW)

    real = passwords.is_right

    def counting(password: str, stored: str) -> bool:
        looked_at.append(password)
        return real(password, stored)

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(8) as pool:
        patch.setattr(passwords, "is_right", counting)
        answers = list(pool.map(guess, range(40)))
    assert answers == [Refusal.WRONG] * 40
    assert store.users.sign_in("Ana Ex", PASSWORD, address="10.0.1.1", now=NOW) is Refusal.WRONG
    with sqlite3.connect(store.database.url.database or "") as connection:
        (n_counted,) = connection.execute(
            "SELECT count(*) FROM sign_in_attempt WHERE user_id IS NOT NULL"
        ).fetchone()
    assert n_counted == store.users.limits.per_account
    assert store.verify_audit().ok
    assert isinstance(store.users.sign_in("Ana Ex", PASSWORD, address="10.0.1.1", now=later(16)), SignedIn)


def test_no_secret_of_a_session_or_token_is_stored(store: Store, database: Path) -> None:
    found = store.users.sign_in("Ana Ex", PASSWORD, address="a", now=NOW)
    assert isinstance(found, SignedIn)
    token = store.users.make_token(1, label="x", days=1, by="t", now=NOW)
    flow = store.users.start_flow(now=NOW)
    kept = b"".join(path.read_bytes() for path in database.parent.glob("phiscan.db*"))
    for secret in (found.secret, token, flow.state, flow.browser, PASSWORD):
        assert secret.encode() not in kept
    assert flow.state not in repr(flow)


def test_a_review_names_the_entry_that_was_shown(store: Store) -> None:
    shown = store.verify_audit().head
    store.users.set_role(1, Role.READER, by="test", now=NOW)
    review = store.users.sign_log(head=shown, note=" fine ", reviewer="Ana Ex", now=NOW)
    assert (review.n_entries, review.head, review.note) == (1, shown, "fine")
    with pytest.raises(ConflictError, match="does not hold the entry"):
        store.users.sign_log(head="f" * 64, note="", reviewer="Ana Ex", now=NOW)
    assert [one.id for one in store.users.log_reviews()] == [1]
    assert store.verify_audit().ok


def test_the_log_is_read_in_pages_and_by_action_and_actor(store: Store) -> None:
    for role in (Role.READER, Role.LEAD, Role.READER):
        store.users.set_role(1, role, by="someone", now=NOW)
    first = store.users.log(limit=2)
    assert [entry.id for entry in first.entries] == [4, 3]
    second = store.users.log(before=first.older, limit=2)
    assert ([entry.id for entry in second.entries], second.older) == ([2, 1], 0)
    assert [e.id for e in store.users.log(action="user_add").entries] == [1]
    assert [e.id for e in store.users.log(actor="someone").entries] == [4, 3, 2]
    assert store.users.log_choices() == (["user_add", "user_role"], ["someone", "test"])


def test_a_view_is_kept_replaced_and_removed_by_its_owner_only(store: Store) -> None:
    users = store.users
    users.add(name="Bea", role=Role.READER, password=PASSWORD, by="t", now=NOW)
    users.save_view(1, name="Urgent", query="?state=phi", now=NOW)
    view = users.save_view(1, name="Urgent", query="state=undecided&min=0.9", now=NOW)
    assert [(v.name, v.query) for v in users.views(1)] == [("Urgent", "state=undecided&min=0.9")]
    assert users.views(2) == []
    with pytest.raises(InputError, match="no such view of yours"):
        users.remove_view(2, view.id)
    users.remove_view(1, view.id)
    assert users.views(1) == []
    for name, query in (("", "a"), ("x" * 61, "a"), ("a\nb", "a"), ("x", "a" * 2001), ("x", "\u202e")):
        with pytest.raises(InputError, match="expected"):
            users.save_view(1, name=name, query=query, now=NOW)
