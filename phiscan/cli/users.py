"""``phiscan users``: who may sign in to the desk, kept from the server itself."""

from __future__ import annotations

import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import print_json, print_message
from phiscan.cli.queue.desk import open_store
from phiscan.errors import InputError
from phiscan.review.accounts.second_factors import SecondFactors
from phiscan.review.accounts.users import Scope, Token, User
from phiscan.store.tables.users import Role

_role = click.Choice([role.value for role in Role])
_by_option = click.option(
    "--by", default="", help="Who does this, for the audit log; default: the system's name of the user."
)
_password_option = click.option(
    "--password-file",
    type=click.Path(),
    help="File whose first line is the password; - = standard input. Default: prompt without echo.",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


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
@_by_option
@_json_option
@click.pass_obj
def add(
    obj: str | None,
    name: str,
    role: str,
    password_file: str | None,
    no_password: bool,
    subject: str,
    by: str,
    as_json: bool,
) -> None:
    """Create an account for NAME, which is shown with every decision of this user.

    The password (12 characters or more) is prompted for, or read from a file; never given as an argument,
    where the list of processes would show it.
    """
    if no_password and (password_file or not subject):
        message = "--no-password: expected --subject, and no --password-file"
        raise InputError(message)
    with open_store(obj) as store:
        password = None if no_password else _password(password_file)
        user = store.users.add(
            name=name,
            role=Role(role),
            password=password,
            subject=" ".join(subject.split()) or None,
            by=_actor(by),
            now=datetime.now(UTC),
        )
    _print_user(user, as_json=as_json)


@users.command("list", epilog="Example: phiscan users list")
@_json_option
@click.pass_obj
def list_users(obj: str | None, as_json: bool) -> None:
    """List the accounts, with role and state."""
    with open_store(obj) as store:
        found = store.users.everybody()
    if as_json:
        print_json({"users": [_user_json(user) for user in found]})
        return
    if not found:
        click.echo('No account; `phiscan users add "A. Officer" --role lead` makes one.')
    for user in found:
        click.echo(f"{user.id:>4}  {user.role.value:<9} {_state(user):<9} {user.name}")


@users.command(epilog='Example: phiscan users role "A. Officer" lead')
@click.argument("name")
@click.argument("role", type=_role)
@_by_option
@_json_option
@click.pass_obj
def role(obj: str | None, name: str, role: str, by: str, as_json: bool) -> None:
    """Change the ROLE of NAME, at once, also in open sessions."""
    with open_store(obj) as store:
        user = store.users.named(name)
        user = store.users.set_role(user.id, Role(role), by=_actor(by), now=datetime.now(UTC))
    _print_user(user, as_json=as_json)


@users.command(epilog='Example: phiscan users password "A. Officer"')
@click.argument("name")
@_password_option
@_by_option
@_json_option
@click.pass_obj
def password(obj: str | None, name: str, password_file: str | None, by: str, as_json: bool) -> None:
    """Set a new password for NAME, and end every session of the account."""
    with open_store(obj) as store:
        user = store.users.named(name)
        chosen = _password(password_file)
        user = store.users.set_password(user.id, chosen, by=_actor(by), now=datetime.now(UTC))
    _print_user(user, as_json=as_json)


@users.command(epilog='Example: phiscan users disable "A. Officer"')
@click.argument("name")
@click.option("--undo", is_flag=True, help="Let the account sign in again.")
@_by_option
@_json_option
@click.pass_obj
def disable(obj: str | None, name: str, undo: bool, by: str, as_json: bool) -> None:
    """Disable the account of NAME: sessions end, tokens are revoked. The user's decisions remain."""
    with open_store(obj) as store:
        user = store.users.named(name)
        change = store.users.enable if undo else store.users.disable
        user = change(user.id, by=_actor(by), now=datetime.now(UTC))
    _print_user(user, as_json=as_json)


@users.command(epilog='Example: phiscan users unlock "A. Officer"')
@click.argument("name")
@_by_option
@_json_option
@click.pass_obj
def unlock(obj: str | None, name: str, by: str, as_json: bool) -> None:
    """Unlock the account of NAME after too many wrong passwords."""
    with open_store(obj) as store:
        user = store.users.named(name)
        user = store.users.unlock(user.id, by=_actor(by), now=datetime.now(UTC))
    _print_user(user, as_json=as_json)


@users.command("reset-second-factor", epilog='Example: phiscan users reset-second-factor "A. Officer"')
@click.argument("name")
@_by_option
@_json_option
@click.pass_obj
def reset_second_factor(obj: str | None, name: str, by: str, as_json: bool) -> None:
    """Remove the second factor of NAME, who has lost it, and end every session of the account."""
    with open_store(obj) as store:
        user = store.users.named(name)
        SecondFactors.of(store.users).reset(user.id, by=_actor(by), now=datetime.now(UTC))
        user = store.users.get(user.id)
    _print_user(user, as_json=as_json)


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
@_by_option
@_json_option
@click.pass_obj
def token(
    obj: str | None,
    name: str,
    label: str,
    days: int,
    scopes: tuple[str, ...],
    revoke: int | None,
    show: bool,
    by: str,
    as_json: bool,
) -> None:
    """Create a token for a program that uses the REST API with the rights of NAME.

    It is printed once; only its hash is stored. It is revoked when the password or the role of NAME changes,
    and when all sessions of NAME are ended.
    """
    now = datetime.now(UTC)
    with open_store(obj) as store:
        user = store.users.named(name)
        if show:
            found = store.users.tokens(user.id)
            if as_json:
                print_json({"tokens": [_token_json(one) for one in found]})
            for one in [] if as_json else found:
                state = "taken back" if one.revoked else f"until {one.expires:%Y-%m-%d}"
                click.echo(f"{one.id:>4}  {state:<16} {one.label}")
            return
        if revoke is not None:
            store.users.revoke_token(revoke, user_id=user.id, by=_actor(by), now=now)
            if as_json:
                print_json({"revoked": revoke})
            else:
                click.echo(f"token {revoke}: taken back")
            return
        chosen = tuple(Scope(name) for name in scopes) or (Scope.READ,)
        secret = store.users.make_token(
            user.id, label=label, days=days, scopes=chosen, by=_actor(by), now=now
        )
    if as_json:
        print_json({"token": secret, "days": days})
    else:
        print_message(f"token of {user.name}, good for {days} days; it is not shown again")
        click.echo(secret)


def _actor(by: str) -> str:
    """Return who acts: anyone who can run this command has access to the database anyway."""
    if by.strip():
        return by.strip()
    try:
        return f"{getpass.getuser()} (command line)"
    except (OSError, KeyError):  # a user id without a name
        return "command line"


def _password(source: str | None) -> str:
    if source is None:
        if not sys.stdin.isatty():
            message = (
                "password: expected a terminal for the prompt, or --password-file FILE (- = standard input)"
            )
            raise InputError(message)
        chosen: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return chosen
    try:
        data = sys.stdin.buffer.readline(10_000) if source == "-" else Path(source).read_bytes()[:10_000]
        return data.decode("utf-8-sig").splitlines()[0] if data else ""
    except OSError as error:
        message = f"{source}: cannot be read: {error.strerror}"
        raise InputError(message) from None
    except UnicodeDecodeError:
        message = f"{source}: expected UTF-8"
        raise InputError(message) from None


def _state(user: User) -> str:
    return "disabled" if user.disabled else "locked" if user.locked else "active"


def _print_user(user: User, *, as_json: bool) -> None:
    if as_json:
        print_json(_user_json(user))
    else:
        click.echo(f"{user.name}: {user.role.value}, {_state(user)}")


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
