"""The people of the desk: accounts, sign-ins, sessions, tokens, over one database.

As in ``Store``, every method is one short transaction and logs what it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.review.accounts import accounts, passwords, provider_sign_in, sessions
from phiscan.review.accounts.accounts import User
from phiscan.review.accounts.provider_sign_in import Flow, Identity
from phiscan.review.accounts.sessions import Lifetime, Scope, Session, Token
from phiscan.review.accounts.sign_in import Limits, Outcome, Refusal, SignedIn, knows_password, sign_in
from phiscan.review.audit import log as audit
from phiscan.review.audit import log_pages
from phiscan.review.audit.log_pages import LogPage, LogReview
from phiscan.review.decisions.reveals import PURPOSES
from phiscan.review.records.items import AuditCheck
from phiscan.review.worklist import saved_views
from phiscan.review.worklist.saved_views import SavedView
from phiscan.store.database import Database
from phiscan.store.tables.users import Role, UserEvent, api_token, sign_in_attempt, web_session

__all__ = ["Lifetime", "Limits", "Refusal", "Role", "Scope", "Session", "SignedIn", "Token", "User", "Users"]


@dataclass(frozen=True, slots=True)
class Users:
    """Everything about who may sign in."""

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
        """Make an account; without a password it can only sign in through the identity provider.

        Raises:
            InputError: unfit or taken name, unfit password.
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

    def everybody(self) -> list[User]:
        """Return all accounts by name."""
        with self.database.read() as connection:
            return accounts.everybody(connection)

    def get(self, user_id: int) -> User:
        """Return an account.

        Raises:
            InputError: there is no such account.
        """
        with self.database.read() as connection:
            return accounts.get(connection, user_id)

    def named(self, name: str) -> User:
        """Return the account with this name.

        Raises:
            InputError: there is no such account.
        """
        with self.database.read() as connection:
            return accounts.named(connection, name)

    def set_role(self, user_id: int, role: Role, *, by: str, now: datetime) -> User:
        """Give an account another role; its sessions have it from now on, its tokens are taken back."""
        values: dict[str, object] = {"role": role.value}
        return self._change(
            user_id, UserEvent.ROLE, values, by=by, value=role.value, now=now, ends=sessions.end_tokens
        )

    def set_password(self, user_id: int, password: str, *, by: str, now: datetime) -> User:
        """Set a new password, end every session of the account and take its tokens back.

        Raises:
            InputError: unfit password.
        """
        password_hash = passwords.hashed(password, name=self.get(user_id).name)
        return self._change(
            user_id,
            UserEvent.PASSWORD,
            {"password_hash": password_hash},
            by=by,
            now=now,
            ends=sessions.end_access,
        )

    def disable(self, user_id: int, *, by: str, now: datetime) -> User:
        """Let an account do nothing any more; its sessions end, its tokens are taken back."""
        return self._change(
            user_id, UserEvent.DISABLE, {"disabled": now}, by=by, now=now, ends=sessions.end_access
        )

    def enable(self, user_id: int, *, by: str, now: datetime) -> User:
        """Let a disabled account sign in again."""
        return self._change(user_id, UserEvent.ENABLE, {"disabled": None}, by=by, now=now)

    def unlock(self, user_id: int, *, by: str, now: datetime) -> User:
        """Forget the failed sign-ins of an account."""
        return self._change(user_id, UserEvent.UNLOCK, {"locked": None}, by=by, now=now, forget=True)

    # Sign-in and sessions

    def sign_in(self, name: str, password: str, *, address: str, now: datetime, browser: str = "") -> Outcome:
        """Begin a session for whoever knows the password; see ``phiscan.review.accounts.sign_in``."""
        limits = self.limits
        return sign_in(
            self.database, name, password, address=address, limits=limits, now=now, browser=browser
        )

    def start_flow(self, *, now: datetime) -> Flow:
        """Begin a sign-in through the identity provider."""
        return self.database.write(lambda connection: provider_sign_in.start_flow(connection, now=now))

    def take_flow(self, *, state: str, browser: str, now: datetime) -> Flow | None:
        """Return the sign-in that this browser began, once."""
        return self.database.write(
            lambda connection: provider_sign_in.take_flow(connection, state=state, browser=browser, now=now)
        )

    def sign_in_as(self, identity: Identity, *, address: str, now: datetime) -> SignedIn | None:
        """Begin a session for whom the provider has named; None when no account may sign in."""
        return self.database.write(
            lambda connection: provider_sign_in.sign_in(connection, identity, address=address, now=now),
            durable=True,
        )

    def knows_password(self, user: User, password: str, *, address: str, now: datetime) -> bool:
        """Tell whether a signed-in person knows the password of the account, under the same limits."""
        return knows_password(self.database, user, password, address=address, limits=self.limits, now=now)

    def session(self, secret: str, *, now: datetime) -> Session | None:
        """Return the session that a cookie names, while it is good; notes that it was used."""
        with self.database.read() as connection:
            found = sessions.current(connection, secret, lifetime=self.lifetime, now=now)
        if found is not None and now - found.seen >= sessions.SEEN_STEP:
            self.database.write(lambda connection: sessions.touch(connection, found.id, now=now))
        return found

    def set_purpose(self, session: Session, purpose: str) -> None:
        """Keep what texts are revealed for in a session, so that it is asked once.

        Raises:
            InputError: the purpose is not one of ``reveals.PURPOSES``.
        """
        if purpose not in PURPOSES:
            message = f"purpose: expected one of {', '.join(PURPOSES)}"
            raise InputError(message)
        if purpose != session.purpose:
            self.database.write(lambda connection: sessions.set_purpose(connection, session.id, purpose))

    def sessions(self, user_id: int, *, now: datetime) -> list[Session]:
        """Return the good sessions of a person, the newest first."""
        with self.database.read() as connection:
            return sessions.of_user(connection, user_id, lifetime=self.lifetime, now=now)

    def sign_out(self, session: Session, *, now: datetime) -> None:
        """End the session of a browser."""
        self._end(session.user.id, session.id, UserEvent.SIGN_OUT, by=session.user.name, now=now)

    def end_sessions(self, user_id: int, session_id: int | None = None, *, by: str, now: datetime) -> None:
        """End one session of a person, or all, and with them all tokens."""
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
        """Return a new token of an account, for these uses; only its hash is kept.

        Raises:
            InputError: no label, no use, or too long a life.
        """
        label = sessions.checked_label(label, days=days, scopes=scopes)

        def make(connection: sa.Connection) -> str:
            accounts.get(connection, user_id)
            expires = now + timedelta(days=days)
            number, secret = sessions.make_token(
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
        """Return the token while it is good; notes that it was used."""
        with self.database.read() as connection:
            found = sessions.bearer(connection, secret, now=now)
        if found is not None and (found.used is None or now - found.used >= sessions.SEEN_STEP):
            self.database.write(lambda connection: sessions.touch_token(connection, found.id, now=now))
        return found

    def tokens(self, user_id: int | None = None) -> list[Token]:
        """Return the tokens of a person, or of everybody."""
        with self.database.read() as connection:
            return sessions.tokens(connection, user_id)

    def revoke_token(self, token_id: int, *, user_id: int | None, by: str, now: datetime) -> None:
        """Take a token back; ``user_id``: only if it is this person's.

        Raises:
            InputError: there is no such token to take back.
        """

        def revoke(connection: sa.Connection) -> None:
            if not sessions.revoke_token(connection, token_id, user_id=user_id, now=now):
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

    def views(self, user_id: int) -> list[SavedView]:
        """Return the saved views of a person by name."""
        with self.database.read() as connection:
            return saved_views.of_user(connection, user_id)

    def save_view(self, user_id: int, *, name: str, query: str, now: datetime) -> SavedView:
        """Keep a view of the queue; one of the same name is replaced.

        Raises:
            InputError: no name, too long, or too many views.
        """
        return self.database.write(
            lambda connection: saved_views.save(connection, user_id, name=name, query=query, now=now)
        )

    def remove_view(self, user_id: int, view_id: int) -> None:
        """Forget a view.

        Raises:
            InputError: the person has no such view.
        """
        self.database.write(lambda connection: saved_views.remove(connection, user_id, view_id))

    def log(
        self,
        *,
        before: int = 0,
        action: str = "",
        actor: str = "",
        day: date | None = None,
        limit: int = 100,
    ) -> LogPage:
        """Return entries of the audit log, the newest first."""
        with self.database.read() as connection:
            return log_pages.page(connection, before=before, action=action, actor=actor, day=day, limit=limit)

    def log_choices(self) -> tuple[list[str], list[str]]:
        """Return the actions and the actors that occur in the log."""
        with self.database.read() as connection:
            return log_pages.choices(connection)

    def log_reviews(self) -> list[LogReview]:
        """Return who has reviewed the log, the newest first."""
        with self.database.read() as connection:
            return log_pages.reviews(connection)

    def sign_log(self, *, head: str, note: str, reviewer: str, now: datetime) -> LogReview:
        """Record "I have reviewed this log" up to the entry with this hash.

        Raises:
            ConflictError: the log does not hold what was shown.
            InputError: the log is not whole.
        """
        check = self.verify_log()  # reads the whole log: not while others wait to write
        if not check.ok:
            message = f"the log is not whole: entry {check.first_bad}: {check.problem}"
            raise InputError(message)
        return self.database.write(
            lambda connection: log_pages.sign(connection, head=head, note=note, reviewer=reviewer, now=now),
            durable=True,
        )

    def verify_log(self) -> AuditCheck:
        """Check the whole audit log; see ``Store.verify_audit``."""
        with self.database.read() as connection:
            return audit.verify(connection)

    def log_unblinding(self, *, what: str, by: str, now: datetime) -> None:
        """Record that somebody on the server asked to see verdicts whose second review is open.

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
        """Record that somebody took data out: the queue as a file, the audit pack."""
        self.database.write(
            lambda connection: accounts.log(
                connection, UserEvent.EXPORT, by.id, actor=by.name, value=what, address=address, now=now
            ),
            durable=True,
        )

    def _end(self, user_id: int, session_id: int | None, event: UserEvent, *, by: str, now: datetime) -> None:
        def end(connection: sa.Connection) -> None:
            if session_id is None:
                changes = sessions.end_access(connection, user_id, now=now)
            else:
                ended = sessions.end(connection, user_id=user_id, session_id=session_id, now=now)
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
