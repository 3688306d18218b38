"""Second factors of the users, over one database: each method is one logged transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

import sqlalchemy as sa

from phiscan.review.accounts import second_factor, sessions
from phiscan.review.accounts.accounts import Changes, User
from phiscan.review.accounts.second_factor import Change
from phiscan.review.accounts.sessions import Session
from phiscan.review.accounts.sign_in import Limits, Refusal, SignedIn, finish_sign_in, proves_code
from phiscan.review.accounts.users import Users
from phiscan.store.database import Database
from phiscan.store.tables.users import web_session


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new secret, shown once; the form returns ``sealed`` with the first code."""

    written: str = field(repr=False)  # for typing
    address: str = field(repr=False)  # for a QR code
    sealed: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """Enrolment, use and removal."""

    database: Database
    limits: Limits

    @classmethod
    def of(cls, users: Users) -> Self:
        """Return the second factors of the same accounts, under the same limits."""
        return cls(users.database, users.limits)

    def finish_sign_in(
        self, challenge: str, code: str, *, address: str, now: datetime, browser: str = ""
    ) -> SignedIn | Refusal:
        """Begin the session of a sign-in whose password was correct, if the code is."""
        return finish_sign_in(
            self.database, challenge, code, address=address, limits=self.limits, now=now, browser=browser
        )

    def propose(self, session: Session, *, now: datetime) -> Proposal:
        """Return a new secret for a signed-in user.

        Raises:
            StoreError: the store has no key.
        """
        with self.database.read() as connection:
            secret, sealed = second_factor.propose(connection, session.user.id, session.id, now=now)
        return Proposal(
            second_factor.written(secret), second_factor.address(secret, session.user.name), sealed
        )

    def proposed(self, session: Session, sealed: str, *, now: datetime) -> Proposal | None:
        """Return a proposal again, after a wrong first code; None = it is too old or of another session."""
        with self.database.read() as connection:
            secret = second_factor.proposed(connection, sealed, session.user.id, session.id, now=now)
        if secret is None:
            return None
        return Proposal(
            second_factor.written(secret), second_factor.address(secret, session.user.name), sealed
        )

    def turn_on(
        self, session: Session, sealed: str, code: str, *, address: str, now: datetime
    ) -> list[str] | None:
        """Store a proposed secret whose first code is correct; return the recovery codes, None = it is wrong.

        Every other session and all tokens of the user end: they began without the second factor.

        Raises:
            InputError: the account has a second factor already.
        """
        user = session.user

        def turn_on(connection: sa.Connection) -> list[str] | None:
            secret = second_factor.proposed(connection, sealed, user.id, session.id, now=now)
            if secret is None or second_factor.matching_step(secret, code, now=now) is None:
                return None
            also = self._end_others(connection, session, now=now)
            return second_factor.turn_on(
                connection, user.id, secret, code, by=user.name, address=address, now=now, also=also
            )

        return self.database.write(turn_on, durable=True)

    def proves_code(self, user: User, code: str, *, address: str, now: datetime) -> bool:
        """Return whether a code of a signed-in user is correct; wrong ones count as at the sign-in."""
        return proves_code(self.database, user, code, address=address, limits=self.limits, now=now)

    def turn_off(self, user: User, *, address: str, now: datetime) -> None:
        """Remove the second factor of a user who has confirmed password and code.

        Raises:
            InputError: there is none.
        """
        self.database.write(
            lambda connection: second_factor.turn_off(
                connection, user.id, Change.OFF, by=user.name, address=address, now=now
            ),
            durable=True,
        )

    def new_recovery_codes(self, user: User, *, address: str, now: datetime) -> list[str]:
        """Return new recovery codes for a user who has confirmed password and code."""

        def make(connection: sa.Connection) -> list[str]:
            codes = second_factor.new_recovery_codes(connection, user.id)
            second_factor.log(connection, user.id, Change.CODES, by=user.name, address=address, now=now)
            return codes

        return self.database.write(make, durable=True)

    def n_recovery_codes(self, user: User) -> int:
        """Return how many recovery codes are unused."""
        with self.database.read() as connection:
            return second_factor.n_recovery_codes(connection, user.id)

    def reset(self, user_id: int, *, by: str, address: str = "", now: datetime) -> None:
        """Remove the second factor of another user, who has lost it; sessions end, tokens are revoked.

        Raises:
            InputError: there is no such account, or it has none.
        """

        def reset(connection: sa.Connection) -> None:
            ended = sessions.end_access(connection, user_id, now=now)
            second_factor.turn_off(
                connection, user_id, Change.RESET, by=by, address=address, now=now, also=ended
            )

        self.database.write(reset, durable=True)

    @staticmethod
    def _end_others(connection: sa.Connection, session: Session, *, now: datetime) -> Changes:
        query = sa.select(web_session.c.id).where(
            web_session.c.user_id == session.user.id,
            web_session.c.id != session.id,
            web_session.c.ended.is_(None),
        )
        ended: list[int] = []
        for number in connection.execute(query).scalars().all():
            ended += sessions.end(connection, user_id=session.user.id, session_id=number, now=now)
        also: Changes = {web_session: (ended, ("ended",))}
        return {**also, **sessions.end_tokens(connection, session.user.id, now=now)}
