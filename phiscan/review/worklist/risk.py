"""The order of the queue: what could do the most harm is looked at first."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from enum import StrEnum

from phiscan.model import PiiVector

MIN_SCORE = 0.01  # a file that health terms alone do not carry still keeps its order among its like


class Exposure(StrEnum):
    """Who may read a file."""

    EVERYONE = "everyone"
    GROUP = "group"  # a group, or several people by name
    OWNER = "owner"
    UNKNOWN = "unknown"  # the share did not say


FACTORS = {Exposure.EVERYONE: 4.0, Exposure.GROUP: 2.0, Exposure.UNKNOWN: 2.0, Exposure.OWNER: 1.0}
"""What each exposure multiplies the risk by; docs/explanation/desk.md says why."""


def exposure_of(mode: int, readers: Sequence[str] = ()) -> Exposure:
    """Return who may read a file: by the names that the share gives, else by its mode bits.

    >>> exposure_of(0o100644), exposure_of(0o100600), exposure_of(0o100600, ["group nurses"])
    (<Exposure.EVERYONE: 'everyone'>, <Exposure.OWNER: 'owner'>, <Exposure.GROUP: 'group'>)
    """
    if readers:
        if "everyone" in readers:
            return Exposure.EVERYONE
        several = len(readers) > 1 or not readers[0].startswith("user ")
        return Exposure.GROUP if several else Exposure.OWNER
    if not stat.S_IFMT(mode):
        return Exposure.UNKNOWN
    if mode & stat.S_IROTH:
        return Exposure.EVERYONE
    return Exposure.GROUP if mode & stat.S_IRGRP else Exposure.OWNER


def risk_of(
    vector: PiiVector, n_people: int, health_score: float | None, exposure: Exposure = Exposure.OWNER
) -> float:
    """Return people times kinds of identifiers times exposure times health score; an order, no probability.

    No kind and nobody count as one, so that one zero does not hide the other factors.

    >>> from phiscan.model import PiiBit
    >>> risk_of(PiiVector(frozenset({PiiBit.SIN, PiiBit.PHONE})), 3, 0.5, Exposure.EVERYONE)
    12.0
    """
    harm = max(1, len(vector.bits)) * max(1, n_people) * max(MIN_SCORE, health_score or 0.0)
    return harm * FACTORS[exposure]
