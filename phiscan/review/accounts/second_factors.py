"""Second factors of the users, over one database: each method is one logged transaction."""

from __future__ import annotations

from typing import Self

from phiscan.review.accounts import second_factor
from phiscan.review.accounts.second_factor import Proposal
from phiscan.review.accounts.sign_in import SignIns
from phiscan.review.transactions import Reading, Writing

__all__ = ["Proposal", "SecondFactors"]


class SecondFactors(SignIns):
    """Enrolment, use and removal."""

    @classmethod
    def of(cls, users: SignIns) -> Self:
        """Return the second factors of the same accounts, under the same limits."""
        return cls(users.database, users.limits)

    propose = Reading(second_factor.propose)
    proposed = Reading(second_factor.proposed)
    turn_on = Writing(second_factor.turn_on)
    turn_off = Writing(second_factor.turn_off)
    new_recovery_codes = Writing(second_factor.new_recovery_codes)
    n_recovery_codes = Reading(second_factor.n_recovery_codes)
    reset = Writing(second_factor.reset)
