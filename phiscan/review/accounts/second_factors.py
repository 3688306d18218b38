"""Second factors of the users, over one database: each method is one logged transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from phiscan.review.accounts import second_factor, sign_in
from phiscan.review.accounts.accounts import User
from phiscan.review.accounts.second_factor import Proposal
from phiscan.review.accounts.sign_in import Limits, Refusal, SignedIn
from phiscan.review.accounts.users import Users
from phiscan.review.transactions import Reading, Writing
from phiscan.store.database import Database

__all__ = ["Proposal", "SecondFactors"]


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
        return sign_in.finish_sign_in(
            self.database, challenge, code, address=address, limits=self.limits, now=now, browser=browser
        )

    def proves_code(self, user: User, code: str, *, address: str, now: datetime) -> bool:
        """Return whether a code of a signed-in user is correct; wrong ones count as at the sign-in."""
        return sign_in.proves_code(self.database, user, code, address=address, limits=self.limits, now=now)

    propose = Reading(second_factor.propose)
    proposed = Reading(second_factor.proposed)
    turn_on = Writing(second_factor.turn_on)
    turn_off = Writing(second_factor.turn_off)
    new_recovery_codes = Writing(second_factor.new_recovery_codes)
    n_recovery_codes = Reading(second_factor.n_recovery_codes)
    reset = Writing(second_factor.reset)
