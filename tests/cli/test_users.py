"""``phiscan users``: accounts from the command line, the password never on it."""

import json
from pathlib import Path

import pytest

from phiscan.review.accounts.users import SignedIn
from phiscan.review.store import Store
from tests.cli.program import refused, run
from tests.review.results import NOW

PASSWORD = "correct horse battery"


def test_makes_lists_and_changes_an_account(store: Store) -> None:
    assert json.loads(run("users", "list", "--json"))["users"] == []
    out = run("users", "add", "A. Officer", "--role", "lead", "--password-file", "-", stdin=PASSWORD + "\n")
    assert out == "A. Officer: lead, active\n"
    assert run("users", "role", "a. officer", "auditor") == "A. Officer: auditor, active\n"
    assert run("users", "disable", "A. Officer") == "A. Officer: auditor, disabled\n"
    assert run("users", "disable", "A. Officer", "--undo") == "A. Officer: auditor, active\n"
    assert run("users", "unlock", "A. Officer") == "A. Officer: auditor, active\n"
    (user,) = json.loads(run("users", "list", "--json"))["users"]
    assert (user["name"], user["role"], user["state"]) == ("A. Officer", "auditor", "active")
    actions = [entry.action for entry in store.users.log().entries]
    assert actions == ["user_unlock", "user_enable", "user_disable", "user_role", "user_add"]
    assert all("(command line)" in entry.actor for entry in store.users.log().entries)
    assert store.verify_audit().ok


def test_a_password_comes_from_a_file_and_replaces_the_old_one(store: Store, tmp_path: Path) -> None:
    run("users", "add", "Ana", "--role", "lead", "--password-file", "-", stdin=PASSWORD)
    file = tmp_path / "new"
    file.write_text("another horse battery\nsecond line\n")
    run("users", "password", "Ana", "--password-file", str(file), "--by", "Help Desk")
    assert isinstance(store.users.sign_in("Ana", "another horse battery", address="", now=NOW), SignedIn)
    assert not isinstance(store.users.sign_in("Ana", PASSWORD, address="", now=NOW), SignedIn)
    assert "Help Desk" in {entry.actor for entry in store.users.log().entries}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "Ana", "--role", "lead"], "expected a terminal for the prompt"),
        (["add", "Ana", "--role", "king", "--password-file", "-"], "'king' is not one of"),
        (["add", "Ana", "--role", "lead", "--password-file", "/none/such"], "/none/such: cannot be read"),
        (["add", "Ana", "--role", "lead", "--no-password"], "expected --subject"),
        (["add", "<b>", "--role", "lead", "--password-file", "-"], "name: expected"),
        (["role", "Nobody", "lead"], "there is no such account"),
        (["token", "Nobody", "--label", "x"], "there is no such account"),
        (["add", "Ana", "--role", "lead", "--password", PASSWORD], "No such option"),
    ],
)
@pytest.mark.usefixtures("scanned")
def test_wrong_input_is_one_line(arguments: list[str], words: str) -> None:
    message = refused("users", *arguments, stdin=PASSWORD)
    assert words in message
    assert PASSWORD not in message


@pytest.mark.usefixtures("scanned")
def test_a_short_password_is_refused_and_not_repeated() -> None:
    short = refused("users", "add", "Ana", "--role", "lead", "--password-file", "-", stdin="canary-pw\n")
    assert "12 to 256 characters" in short
    assert "canary" not in short


def test_a_token_is_shown_once_and_taken_back(store: Store) -> None:
    run("users", "add", "Ana", "--role", "lead", "--password-file", "-", stdin=PASSWORD)
    token = run("users", "token", "Ana", "--label", "nightly", "--days", "3").strip()
    assert token.startswith("phiscan_")
    (listed,) = json.loads(run("users", "token", "Ana", "--list", "--json"))["tokens"]
    assert (listed["label"], listed["revoked"]) == ("nightly", None)
    assert token not in run("users", "token", "Ana", "--list")
    run("users", "token", "Ana", "--revoke", str(listed["id"]))
    assert "taken back" in run("users", "token", "Ana", "--list")
    assert "no such token" in run("users", "token", "Ana", "--revoke", str(listed["id"]), status=2)
    assert store.users.bearer(token, now=NOW) is None
