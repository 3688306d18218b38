"""The users of the desk: accounts, sign-ins, sessions, tokens, over one database.

As in ``Store``, every method is one short transaction and logs what it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.accounts import accounts, passwords, provider_sign_in
from phiscan.review.accounts import sessions as stored_sessions
from phiscan.review.accounts.accounts import User
from phiscan.review.accounts.sessions import Lifetime, Scope, Session, Token
from phiscan.review.accounts.sign_in import Limits, Outcome, Refusal, SignedIn, knows_password, sign_in
from phiscan.review.audit import log as audit
from phiscan.review.audit import log_pages
from phiscan.review.audit.log_pages import LogReview
from phiscan.review.decisions.reveals import PURPOSES
from phiscan.review.transactions import Reading, Writing
from phiscan.store.database import Database, inserted_id
from phiscan.store.tables.users import Role, UserEvent, api_token, saved_view, sign_in_attempt, web_session

MAX_VIEWS = 50  # per user
MAX_NAME_CHARS = 60
MAX_QUERY_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of one user; ``query`` is the query string of the queue page, without "?"."""

    id: int
    name: str
    query: str
    created: datetime


def views_of(connection: sa.Connection, user_id: int) -> list[SavedView]:
    """Return the views of a user by name."""
    query = (
        sa.select(saved_view)
        .where(saved_view.c.user_id == user_id)
        .order_by(saved_view.c.name, saved_view.c.id)
    )
    return [SavedView(row.id, row.name, row.query, row.created) for row in connection.execute(query)]


def save_view(connection: sa.Connection, user_id: int, *, name: str, query: str, now: datetime) -> SavedView:
    """Save a view; one of the same name is replaced.

    Raises:
        InputError: no name, too long, or too many views.
    """
    name, query = name.strip(), query.removeprefix("?")
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable():
        message = _("name: expected 1 to {max_name_chars} characters", max_name_chars=MAX_NAME_CHARS)
        raise InputError(message)
    if len(query) > MAX_QUERY_CHARS or not (query.isascii() and query.isprintable()):
        message = _(
            "query: expected at most {max_query_chars} characters, as an address is written",
            max_query_chars=MAX_QUERY_CHARS,
        )
        raise InputError(message)
    same = (saved_view.c.user_id == user_id) & (saved_view.c.name == name)
    connection.execute(saved_view.delete().where(same))
    if len(views_of(connection, user_id)) >= MAX_VIEWS:
        message = _("expected at most {max_views} saved views; remove one first", max_views=MAX_VIEWS)
        raise InputError(message)
    values = {"user_id": user_id, "name": name, "query": query, "created": now}
    return SavedView(inserted_id(connection, saved_view, values), name, query, now)


def remove_view(connection: sa.Connection, user_id: int, view_id: int) -> None:
    """Delete a view of a user.

    Raises:
        InputError: the user has no such view.
    """
    which = (saved_view.c.user_id == user_id) & (saved_view.c.id == view_id)
    if not connection.execute(saved_view.delete().where(which)).rowcount:
        message = _("view {view_id}: there is no such view of yours", view_id=view_id)
        raise InputError(message)


__all__ = ["Lifetime", "Limits", "Refusal", "Role", "Scope", "Session", "SignedIn", "Token", "User", "Users"]


@dataclass(frozen=True, slots=True)
class Users:
    """Accounts and everything that belongs to them."""

    database: Database
    limits: Limits = field(default_factory=Limits)
    lifetime: Lifetime = field(default_factory=Lifetime)

    # Accounts

    def add(
        self,
        *,
        name: str,
        role: Role,
        password: str | None,
        subject: str | None = None,
        by: str,
        now: datetime,
    ) -> User:
        """Create an account; without a password it can only sign in through the identity provider.

        Raises:
            InputError: invalid or taken name, invalid password.
        """
        name = accounts.checked_name(name)
        password_hash = "" if password is None else passwords.hashed(password, name=name)
        return self.database.write(
            lambda connection: accounts.add(
                connection,
                name=name,
                role=role,
                password_hash=password_hash,
                subject=subject,
                by=by,
                now=now,
            ),
            durable=True,
        )

    everybody = Reading(accounts.everybody)
    get = Reading(accounts.get)
    named = Reading(accounts.named)

    def set_role(self, user_id: int, role: Role, *, by: str, now: datetime) -> User:
        """Change the role of an account; its sessions continue with it, its tokens are revoked."""
        values: dict[str, object] = {"role": role.value}
        return self._change(
            user_id, UserEvent.ROLE, values, by=by, value=role.value, now=now, ends=stored_sessions.end_tokens
        )

    def set_password(self, user_id: int, password: str, *, by: str, now: datetime) -> User:
        """Set a new password, end every session of the account and revoke its tokens.

        Raises:
            InputError: invalid password.
        """
        password_hash = passwords.hashed(password, name=self.get(user_id).name)
        return self._change(
            user_id,
            UserEvent.PASSWORD,
            {"password_hash": password_hash},
            by=by,
            now=now,
            ends=stored_sessions.end_access,
        )

    def disable(self, user_id: int, *, by: str, now: datetime) -> User:
        """Disable an account; its sessions end, its tokens are revoked."""
        return self._change(
            user_id, UserEvent.DISABLE, {"disabled": now}, by=by, now=now, ends=stored_sessions.end_access
        )

    def enable(self, user_id: int, *, by: str, now: datetime) -> User:
        """Enable a disabled account."""
        return self._change(user_id, UserEvent.ENABLE, {"disabled": None}, by=by, now=now)

    def unlock(self, user_id: int, *, by: str, now: datetime) -> User:
        """Reset the count of failed sign-ins of an account."""
        return self._change(user_id, UserEvent.UNLOCK, {"locked": None}, by=by, now=now, forget=True)

    # Sign-in and sessions

    def sign_in(self, name: str, password: str, *, address: str, now: datetime, browser: str = "") -> Outcome:
        """Begin a session after checking the password; see ``phiscan.review.accounts.sign_in``."""
        limits = self.limits
        return sign_in(
            self.database, name, password, address=address, limits=limits, now=now, browser=browser
        )

    start_flow = Writing(provider_sign_in.start_flow, durable=False)
    take_flow = Writing(provider_sign_in.take_flow, durable=False)
    sign_in_as = Writing(provider_sign_in.sign_in)

    def knows_password(self, user: User, password: str, *, address: str, now: datetime) -> bool:
        """Check the password of a signed-in user, under the same limits."""
        return knows_password(self.database, user, password, address=address, limits=self.limits, now=now)

    def session(self, secret: str, *, now: datetime) -> Session | None:
        """Return the session of a cookie, while it is valid; records its use."""
        with self.database.read() as connection:
            found = stored_sessions.current(connection, secret, lifetime=self.lifetime, now=now)
        if found is not None and now - found.seen >= stored_sessions.SEEN_STEP:
            self.database.write(lambda connection: stored_sessions.touch(connection, found.id, now=now))
        return found

    def set_purpose(self, session: Session, purpose: str) -> None:
        """Store the purpose of reveals in a session, so that it is chosen once.

        Raises:
            InputError: the purpose is not one of ``reveals.PURPOSES``.
        """
        if purpose not in PURPOSES:
            message = f"purpose: expected one of {', '.join(PURPOSES)}"
            raise InputError(message)
        if purpose != session.purpose:
            self.database.write(
                lambda connection: stored_sessions.set_purpose(connection, session.id, purpose)
            )

    def sessions(self, user_id: int, *, now: datetime) -> list[Session]:
        """Return the valid sessions of a user, newest first."""
        with self.database.read() as connection:
            return stored_sessions.of_user(connection, user_id, lifetime=self.lifetime, now=now)

    def sign_out(self, session: Session, *, now: datetime) -> None:
        """End the session of a browser."""
        self._end(session.user.id, session.id, UserEvent.SIGN_OUT, by=session.user.name, now=now)

    def end_sessions(self, user_id: int, session_id: int | None = None, *, by: str, now: datetime) -> None:
        """End one session of a user, or all, and with them all tokens."""
        self._end(user_id, session_id, UserEvent.REVOKE, by=by, now=now)

    # Tokens

    def make_token(
        self,
        user_id: int,
        *,
        label: str,
        days: int,
        scopes: Collection[Scope] = tuple(Scope),
        by: str,
        now: datetime,
    ) -> str:
        """Return a new token of an account with these scopes; only its hash is stored.

        Raises:
            InputError: no label, no scope, or too long a lifetime.
        """
        label = stored_sessions.checked_label(label, days=days, scopes=scopes)

        def make(connection: sa.Connection) -> str:
            accounts.get(connection, user_id)
            expires = now + timedelta(days=days)
            number, secret = stored_sessions.make_token(
                connection, user_id, label=label, expires=expires, scopes=scopes, now=now
            )
            accounts.log(
                connection,
                UserEvent.TOKEN_MADE,
                user_id,
                actor=by,
                value=label,
                now=now,
                changes={api_token: ([number], None)},
            )
            return secret

        return self.database.write(make, durable=True)

    def bearer(self, secret: str, *, now: datetime) -> Token | None:
        """Return the token while it is valid; records its use."""
        with self.database.read() as connection:
            found = stored_sessions.bearer(connection, secret, now=now)
        if found is not None and (found.used is None or now - found.used >= stored_sessions.SEEN_STEP):
            self.database.write(lambda connection: stored_sessions.touch_token(connection, found.id, now=now))
        return found

    tokens = Reading(stored_sessions.tokens)

    def revoke_token(self, token_id: int, *, user_id: int | None, by: str, now: datetime) -> None:
        """Revoke a token; ``user_id``: only if it belongs to this user.

        Raises:
            InputError: there is no such valid token.
        """

        def revoke(connection: sa.Connection) -> None:
            if not stored_sessions.revoke_token(connection, token_id, user_id=user_id, now=now):
                message = f"token {token_id}: there is no such token, or it was taken back already"
                raise InputError(message)
            accounts.log(
                connection,
                UserEvent.TOKEN_REVOKED,
                user_id,
                actor=by,
                value=str(token_id),
                now=now,
                changes={api_token: ([token_id], ("revoked",))},
            )

        self.database.write(revoke, durable=True)

    # Views and the log

    views = Reading(views_of)
    save_view = Writing(save_view, durable=False)
    remove_view = Writing(remove_view, durable=False)
    log = Reading(log_pages.page)
    log_choices = Reading(log_pages.choices)
    log_reviews = Reading(log_pages.reviews)

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
            lambda connection: log_pages.sign(connection, head=head, note=note, reviewer=reviewer, now=now),
            durable=True,
        )

    verify_log = Reading(audit.verify)

    def log_unblinding(self, *, what: str, by: str, now: datetime) -> None:
        """Record that a user of the server's command line displays verdicts whose second review is open.

        Raises:
            InputError: no name.
        """
        by = by.strip()
        if not by:
            message = "expected the name of the user who asks to see what a second reviewer is to judge blind"
            raise InputError(message)
        self.database.write(
            lambda connection: accounts.log(
                connection, UserEvent.EXPORT, None, actor=by, value=f"{what}, unblinded", now=now
            ),
            durable=True,
        )

    def log_export(self, *, what: str, by: User, address: str, now: datetime) -> None:
        """Record an export of data: the queue as a file, the audit pack."""
        self.database.write(
            lambda connection: accounts.log(
                connection, UserEvent.EXPORT, by.id, actor=by.name, value=what, address=address, now=now
            ),
            durable=True,
        )

    def _end(self, user_id: int, session_id: int | None, event: UserEvent, *, by: str, now: datetime) -> None:
        def end(connection: sa.Connection) -> None:
            if session_id is None:
                changes = stored_sessions.end_access(connection, user_id, now=now)
            else:
                ended = stored_sessions.end(connection, user_id=user_id, session_id=session_id, now=now)
                changes = {web_session: (ended, ("ended",))}
            if any(numbers for numbers, _ in changes.values()):
                accounts.log(connection, event, user_id, actor=by, now=now, changes=changes)

        self.database.write(end, durable=True)

    def _change(
        self,
        user_id: int,
        event: UserEvent,
        values: dict[str, object],
        *,
        by: str,
        value: str = "",
        now: datetime,
        ends: Callable[..., accounts.Changes] | None = None,
        forget: bool = False,
    ) -> User:
        def change(connection: sa.Connection) -> User:
            also = ends(connection, user_id, now=now) if ends else None
            user = accounts.change(connection, user_id, event, values, by=by, value=value, now=now, also=also)
            if forget:
                attempts = sign_in_attempt.delete().where(sign_in_attempt.c.user_id == user_id)
                connection.execute(attempts)
            return user

        return self.database.write(change, durable=True)
