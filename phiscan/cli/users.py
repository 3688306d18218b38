"""``phiscan users``: who may sign in to the desk, kept from the server itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import Answer, actor_of, answers, by_option, file_errors, print_message
from phiscan.cli.queue.command import open_store
from phiscan.errors import InputError
from phiscan.review.accounts.users import Scope, Token, User, Users
from phiscan.store.tables.users import Role

_role = click.Choice([role.value for role in Role])
_password_option = click.option(
    "--password-file",
    type=click.Path(),
    help="File whose first line is the password; - = standard input. Default: prompt without echo.",
)


@click.group()
def users() -> None:
    """Create and change the accounts of the desk's users.

    Roles: reader (sees the queue), reviewer (decides, reveals), lead (assigns, settles disagreements),
    auditor (reads logs and reports), admin (accounts only). There is no default account or password.
    """


@users.command(epilog='Example: phiscan users add "A. Officer" --role lead')
@click.argument("name")
@click.option("--role", type=_role, required=True, help="What the person may do.")
@_password_option
@click.option(
    "--no-password", is_flag=True, help="Signs in through the identity provider only; needs --subject."
)
@click.option(
    "--subject", default="", help="ISSUER and SUBJECT at the identity provider, with a space between."
)
@by_option
@answers
def add(
    obj: str | None, name: str, role: str, password_file: str | None, no_password: bool, subject: str, by: str
) -> Answer:
    """Create an account for NAME, which is shown with every decision of this user.

    The password (12 characters or more) is prompted for, or read from a file; never given as an argument,
    where the list of processes would show it.
    """
    if no_password and (password_file or not subject):
        message = "--no-password: expected --subject, and no --password-file"
        raise InputError(message)
    with open_store(obj) as store:
        user = store.users.add(
            name=name,
            role=Role(role),
            password=None if no_password else _password(password_file),
            subject=" ".join(subject.split()) or None,
            by=actor_of(by),
            now=datetime.now(UTC),
        )
    return _shown(user)


@users.command("list", epilog="Example: phiscan users list")
@answers
def list_users(obj: str | None) -> Answer:
    """List the accounts, with role and state."""
    with open_store(obj) as store:
        found = store.users.everybody()
    lines = [f"{user.id:>4}  {user.role.value:<9} {_state(user):<9} {user.name}" for user in found]
    none = ['No account; `phiscan users add "A. Officer" --role lead` makes one.']
    return {"users": [_user_json(user) for user in found]}, lines or none


def _changes(arguments: str, *options: Callable[[Any], Any], name: str | None = None) -> Callable[[Any], Any]:
    """Make a command of a function that changes the account NAME of a store."""

    def decorate(change: Callable[..., User]) -> click.Command:
        @wraps(change)
        def run(obj: str | None, name: str, by: str, **given: Any) -> Answer:
            with open_store(obj) as store:
                known = store.users.named(name).id
                return _shown(change(store.users, known, by=actor_of(by), now=datetime.now(UTC), **given))

        made: Any = by_option(answers(run))
        for option in (*reversed(options), click.argument("name")):
            made = option(made)
        called = name or change.__name__
        return users.command(called, epilog=f'Example: phiscan users {called} "A. Officer"{arguments}')(made)

    return decorate


@_changes(" lead", click.argument("role", type=_role))
def role(accounts: Users, number: int, role: str, **how: Any) -> User:
    """Change the ROLE of NAME, at once, also in open sessions."""
    return accounts.set_role(number, Role(role), **how)


@_changes("", _password_option)
def password(accounts: Users, number: int, password_file: str | None, **how: Any) -> User:
    """Set a new password for NAME, and end every session of the account."""
    return accounts.set_password(number, _password(password_file), **how)


@_changes("", click.option("--undo", is_flag=True, help="Let the account sign in again."))
def disable(accounts: Users, number: int, undo: bool, **how: Any) -> User:
    """Disable the account of NAME: sessions end, tokens are revoked. The user's decisions remain."""
    return accounts.enable(number, **how) if undo else accounts.disable(number, **how)


@_changes("")
def unlock(accounts: Users, number: int, **how: Any) -> User:
    """Unlock the account of NAME after too many wrong passwords."""
    return accounts.unlock(number, **how)


@_changes("", name="reset-second-factor")
def reset_second_factor(accounts: Users, number: int, **how: Any) -> User:
    """Remove the second factor of NAME, who has lost it, and end every session of the account."""
    accounts.reset_second_factor(number, **how)
    return accounts.get(number)


@users.command(epilog='Example: phiscan users token "A. Officer" --label "nightly export" --days 90')
@click.argument("name")
@click.option("--label", default="", help="What the token is for.")
@click.option(
    "--days", type=click.IntRange(1, 90), default=90, show_default=True, help="How long it is good."
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    help="What it may be used for; may be given several times. Default: read.",
)
@click.option(
    "--revoke", type=click.IntRange(1, 2**63 - 1), help="Take back the token of this number instead."
)
@click.option("--list", "show", is_flag=True, help="List the tokens of NAME instead.")
@by_option
@answers
def token(
    obj: str | None,
    name: str,
    label: str,
    days: int,
    scopes: tuple[str, ...],
    revoke: int | None,
    show: bool,
    by: str,
) -> Answer:
    """Create a token for a program that uses the REST API with the rights of NAME.

    It is printed once; only its hash is stored. It is revoked when the password or the role of NAME changes,
    and when all sessions of NAME are ended.
    """
    how: dict[str, Any] = {"by": actor_of(by), "now": datetime.now(UTC)}
    with open_store(obj) as store:
        user = store.users.named(name)
        if show:
            found = store.users.tokens(user.id)
            lines = (f"{one.id:>4}  {_until(one):<16} {one.label}" for one in found)
            return {"tokens": [_token_json(one) for one in found]}, lines
        if revoke is not None:
            store.users.revoke_token(revoke, user_id=user.id, **how)
            return {"revoked": revoke}, [f"token {revoke}: taken back"]
        chosen = tuple(Scope(name) for name in scopes) or (Scope.READ,)
        secret = store.users.make_token(user.id, label=label, days=days, scopes=chosen, **how)
    return {"token": secret, "days": days}, _secret_lines(user, days, secret)


def _secret_lines(user: User, days: int, secret: str) -> Iterator[str]:
    print_message(f"token of {user.name}, good for {days} days; it is not shown again")
    yield secret


def _password(source: str | None) -> str:
    if source is None:
        if not sys.stdin.isatty():
            message = (
                "password: expected a terminal for the prompt, or --password-file FILE (- = standard input)"
            )
            raise InputError(message)
        chosen: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return chosen
    with file_errors(source):
        data = sys.stdin.buffer.readline(10_000) if source == "-" else Path(source).read_bytes()[:10_000]
        return data.decode("utf-8-sig").splitlines()[0] if data else ""


def _state(user: User) -> str:
    return "disabled" if user.disabled else "locked" if user.locked else "active"


def _shown(user: User) -> Answer:
    return _user_json(user), [f"{user.name}: {user.role.value}, {_state(user)}"]


def _until(token: Token) -> str:
    return "taken back" if token.revoked else f"until {token.expires:%Y-%m-%d}"


def _user_json(user: User) -> dict[str, Any]:
    return {
        "id": user.id,
        "name": user.name,
        "role": user.role.value,
        "state": _state(user),
        "has_password": user.has_password,
        "has_second_factor": user.has_second_factor,
        "subject": user.subject or None,
        "created": user.created.isoformat(),
    }


def _token_json(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "label": token.label,
        "created": token.created.isoformat(),
        "expires": token.expires.isoformat(),
        "revoked": token.revoked.isoformat() if token.revoked else None,
        "scopes": sorted(scope.value for scope in token.scopes),
        "used": token.used.isoformat() if token.used else None,
    }
