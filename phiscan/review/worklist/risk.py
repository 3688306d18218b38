"""The order of the queue: files with the highest possible harm first."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from enum import StrEnum

from phiscan.model import PiiVector

MIN_SCORE = 0.01  # files without health terms are still ordered among themselves


class Exposure(StrEnum):
    """Who may read a file."""

    EVERYONE = "everyone"
    GROUP = "group"  # a group, or several named users
    OWNER = "owner"
    UNKNOWN = "unknown"  # not available from the share


FACTORS = {Exposure.EVERYONE: 4.0, Exposure.GROUP: 2.0, Exposure.UNKNOWN: 2.0, Exposure.OWNER: 1.0}
"""Factor of each exposure in the risk; docs/explanation/desk.md has the reasons."""


def exposure_of(mode: int, readers: Sequence[str] = ()) -> Exposure:
    """Return who may read a file: from the share's access list, else from its mode bits.

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
    """Return people times kinds of identifiers times exposure times health score; a sort key, no probability.

    Zero kinds and zero people count as one, so that one zero does not cancel the other factors.

    >>> from phiscan.model import PiiBit
    >>> risk_of(PiiVector(frozenset({PiiBit.SIN, PiiBit.PHONE})), 3, 0.5, Exposure.EVERYONE)
    12.0
    """
    harm = max(1, len(vector.bits)) * max(1, n_people) * max(MIN_SCORE, health_score or 0.0)
    return harm * FACTORS[exposure]
