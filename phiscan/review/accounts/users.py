"""The users of the desk: accounts, sign-ins, sessions, tokens, second factors, over one database.

As in ``Store``, every method is one short transaction and logs what it changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Unpack

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.accounts import accounts, passwords, second_factor
from phiscan.review.accounts import sign_in as sign_ins
from phiscan.review.accounts.accounts import Lifetime, Scope, Session, Token, User
from phiscan.review.accounts.second_factor import Proposal
from phiscan.review.accounts.sign_in import Limits, Refusal, SignedIn, SignIns
from phiscan.review.audit import log as audit
from phiscan.review.audit.log import Act
from phiscan.review.decisions import history
from phiscan.review.decisions.history import LogReview
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.transactions import reading, writing
from phiscan.store import seals
from phiscan.store.database import inserted_id
from phiscan.store.sql_batches import as_value
from phiscan.store.tables.users import Role, UserEvent, api_token, saved_view, web_session

MAX_VIEWS = 50  # per user
MAX_NAME_CHARS = 60
MAX_QUERY_CHARS = 2_000

__all__ = ["Lifetime", "Limits", "Proposal", "Refusal", "Role", "Scope", "Session"]
__all__ += ["SignedIn", "Token", "User", "Users"]


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of one user; ``query`` is the query string of the queue page, without "?"."""

    id: int
    name: str
    query: str
    created: datetime


def views_of(connection: sa.Connection, user_id: int) -> list[SavedView]:
    """Return the views of a user by name."""
    query = sa.select(saved_view).where(saved_view.c.user_id == user_id)
    query = query.order_by(saved_view.c.name, saved_view.c.id)
    return [as_value(SavedView, row) for row in connection.execute(query)]


def save_view(connection: sa.Connection, user_id: int, *, name: str, query: str, now: datetime) -> SavedView:
    """Save a view; one of the same name is replaced.

    Raises:
        InputError: no name, too long, or too many views.
    """
    name, query = name.strip(), query.removeprefix("?")
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable():
        raise InputError(_("name: expected 1 to {max_name_chars} characters", max_name_chars=MAX_NAME_CHARS))
    if len(query) > MAX_QUERY_CHARS or not (query.isascii() and query.isprintable()):
        message = _(
            "query: expected at most {max_query_chars} characters, as an address is written",
            max_query_chars=MAX_QUERY_CHARS,
        )
        raise InputError(message)
    same = (saved_view.c.user_id == user_id) & (saved_view.c.name == name)
    connection.execute(saved_view.delete().where(same))
    if len(views_of(connection, user_id)) >= MAX_VIEWS:
        raise InputError(_("expected at most {max_views} saved views; remove one first", max_views=MAX_VIEWS))
    values = {"user_id": user_id, "name": name, "query": query, "created": now}
    return SavedView(inserted_id(connection, saved_view, values), name, query, now)


def remove_view(connection: sa.Connection, user_id: int, view_id: int) -> None:
    """Delete a view of a user.

    Raises:
        InputError: the user has no such view.
    """
    which = (saved_view.c.user_id == user_id) & (saved_view.c.id == view_id)
    if not connection.execute(saved_view.delete().where(which)).rowcount:
        raise InputError(_("view {view_id}: there is no such view of yours", view_id=view_id))


@dataclass(frozen=True, slots=True)
class Users(SignIns):
    """Accounts and everything that belongs to them."""

    lifetime: Lifetime = field(default_factory=Lifetime)

    # Accounts

    def add(
        self, *, name: str, role: Role, password: str | None, subject: str | None = None, **act: Unpack[Act]
    ) -> User:
        """Create an account; without a password it can only sign in through the identity provider.

        Raises:
            InputError: invalid or taken name, invalid password.
        """
        name = accounts.checked_name(name)
        password_hash = "" if password is None else passwords.hashed(password, name=name)
        return self.database.write(
            lambda connection: accounts.add(connection, name, role, password_hash, subject, **act),
            durable=True,
        )

    everybody = reading(accounts.everybody)
    get = reading(accounts.get)
    named = reading(accounts.named)
    set_role = writing(accounts.set_role)
    disable = writing(accounts.disable)
    enable = writing(accounts.enable)
    unlock = writing(accounts.unlock)

    def set_password(self, user_id: int, password: str, **act: Unpack[Act]) -> User:
        """Set a new password, end every session of the account and revoke its tokens.

        Raises:
            InputError: invalid password.
        """
        values: dict[str, object] = {"password_hash": passwords.hashed(password, name=self.get(user_id).name)}

        def change(connection: sa.Connection) -> User:
            accounts.end_access(connection, user_id, now=act["now"])
            return accounts.change(connection, user_id, UserEvent.PASSWORD, values, **act)

        return self.database.write(change, durable=True)

    # Sign-in and sessions

    start_flow = writing(sign_ins.start_flow, durable=False)
    take_flow = writing(sign_ins.take_flow, durable=False)
    sign_in_as = writing(sign_ins.sign_in_as)

    def session(self, secret: str, *, now: datetime) -> Session | None:
        """Return the session of a cookie, while it is valid; records its use."""
        with self.database.read() as connection:
            found = accounts.current_session(connection, secret, lifetime=self.lifetime, now=now)
        if found is not None and now - found.seen >= accounts.SEEN_STEP:
            self._update(web_session, found.id, {"seen": now})
        return found

    def set_purpose(self, session: Session, purpose: str) -> None:
        """Store the purpose of reveals in a session, so that it is chosen once.

        Raises:
            InputError: the purpose is not one of ``writing.PURPOSES``.
        """
        if purpose not in PURPOSES:
            message = f"purpose: expected one of {', '.join(PURPOSES)}"
            raise InputError(message)
        if purpose != session.purpose:
            self._update(web_session, session.id, {"purpose": purpose})

    _update = writing(seals.update, durable=False)

    def sessions(self, user_id: int, *, now: datetime) -> list[Session]:
        """Return the valid sessions of a user, newest first."""
        with self.database.read() as connection:
            return accounts.sessions_of(connection, user_id, lifetime=self.lifetime, now=now)

    end_sessions = writing(accounts.end)

    def sign_out(self, session: Session, *, now: datetime) -> None:
        """End the session of a browser."""
        user, event = session.user, UserEvent.SIGN_OUT
        self.end_sessions(user.id, session.id, event=event, by=user.name, now=now)

    propose_second_factor = reading(second_factor.propose)
    proposed_second_factor = reading(second_factor.proposed)
    turn_on_second_factor = writing(second_factor.turn_on)
    turn_off_second_factor = writing(second_factor.turn_off)
    new_recovery_codes = writing(second_factor.new_recovery_codes)
    n_recovery_codes = reading(second_factor.n_recovery_codes)
    reset_second_factor = writing(second_factor.reset)

    # Tokens

    make_token = writing(accounts.make_token)
    tokens = reading(accounts.tokens)
    revoke_token = writing(accounts.revoke_token)

    def bearer(self, secret: str, *, now: datetime) -> Token | None:
        """Return the token while it is valid; records its use."""
        with self.database.read() as connection:
            found = accounts.bearer(connection, secret, now=now)
        if found is not None and (found.used is None or now - found.used >= accounts.SEEN_STEP):
            self._update(api_token, found.id, {"used": now})
        return found

    # Views and the log

    views = reading(views_of)
    save_view = writing(save_view, durable=False)
    remove_view = writing(remove_view, durable=False)
    log = reading(history.log_page)
    log_choices = reading(history.log_choices)
    log_reviews = reading(history.log_reviews)

    def sign_log(self, *, head: str, note: str, reviewer: str, now: datetime) -> LogReview:
        """Record "I have reviewed this log" up to the entry with this hash.

        Raises:
            ConflictError: the log does not contain the hash.
            InputError: the log is not intact.
        """
        check = self.verify_log()  # reads the whole log: outside of the writing transaction
        if not check.ok:
            message = f"the log is not whole: entry {check.first_bad}: {check.problem}"
            raise InputError(message)
        return self.database.write(
            lambda connection: history.sign_log(connection, head=head, note=note, reviewer=reviewer, now=now),
            durable=True,
        )

    verify_log = reading(audit.verify)

    def log_unblinding(self, *, what: str, by: str, now: datetime) -> None:
        """Record that a user of the server's command line displays verdicts whose second review is open.

        Raises:
            InputError: no name.
        """
        by = by.strip()
        if not by:
            message = "expected the name of the user who asks to see what a second reviewer is to judge blind"
            raise InputError(message)
        self._log(UserEvent.EXPORT, None, value=f"{what}, unblinded", by=by, now=now)

    def log_lookup(self, *, what: str, by: str, now: datetime) -> None:
        """Record that a user of the server's command line displays names of people who can read files."""
        self._log(UserEvent.EXPORT, None, value=what, by=by, now=now)

    def log_export(self, *, what: str, by: User, address: str, now: datetime) -> None:
        """Record an export of data: the queue as a file, the audit pack."""
        self._log(UserEvent.EXPORT, by.id, value=what, address=address, by=by.name, now=now)

    _log = writing(accounts.log)
