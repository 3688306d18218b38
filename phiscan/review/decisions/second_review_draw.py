"""Draw of decided contents for a blind second verdict: a random share, duplicates together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from hashlib import sha256

import sqlalchemy as sa

from phiscan.review.audit import log as audit
from phiscan.review.decisions import policy as desk_policy
from phiscan.review.decisions.second_verdicts import drawn_for
from phiscan.review.records.items import Decision
from phiscan.review.worklist import duplicate_groups
from phiscan.store.database import inserted_id
from phiscan.store.tables import second_review


def draw(connection: sa.Connection, made: Sequence[Decision], *, now: datetime) -> None:
    """Draw a random share of newly decided contents for a second review; each content once.

    The first verdict about one of several duplicates draws for all of them. Duplicates decided later are
    drawn too while the second verdict of one is open, and not at all once a verdict about one of them was
    visible.
    """
    policy = desk_policy.secret_policy(connection)
    if policy is None or policy.second_review == 0:
        return
    together = [one.file_id for one in made]
    entries = []
    for one in made:
        if drawn_for(connection, one.file_id, one.content_hash) or not _is_drawn(
            connection, policy.seed, one, policy.second_review, together
        ):
            continue
        values = {
            "decision_id": one.id,
            "file_id": one.file_id,
            "content_hash": one.content_hash,
            "share": policy.second_review,
            "drawn": now,
        }
        number = inserted_id(connection, second_review, values)
        entries.append(audit.Entry("second_review", number, {"file": one.file_id}))
    if entries:
        audit.append(connection, entries, actor="phiscan", at=now)


def _is_drawn(
    connection: sa.Connection, seed: str, made: Decision, share: float, together: Collection[int]
) -> bool:
    """Draw by a hash that is unpredictable without the seed; duplicates share one draw.

    ``together``: the files decided in this transaction, whose verdicts nobody has seen yet.
    """
    of_file = duplicate_groups.of_file(connection, made.file_id, made.content_hash)
    if duplicate_groups.is_open(connection, of_file):
        return True
    text = f"second\0{seed}\0{duplicate_groups.draw_key(connection, of_file)}"
    if int.from_bytes(sha256(text.encode()).digest()[:6]) / 2**48 >= share:
        return False
    return not duplicate_groups.is_decided(connection, of_file, but=together)
