"""Writing of decisions, assignments and reveals, logged in one transaction; policy; masking of notes."""

from __future__ import annotations

import math
import re
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.model import SourceFile, Verdict
from phiscan.review.audit import log as audit
from phiscan.review.records.file_records import last_seen, source_of
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import Decision
from phiscan.store.column_types import storable
from phiscan.store.database import lock_chain
from phiscan.store.identity import N_WORD_BYTES, WORD, key_of, keyed_hashes, words_of_name
from phiscan.store.sql_batches import as_value, chunks
from phiscan.store.tables.desk import assignment, decision, desk_policy, work_item
from phiscan.store.tables.scans import examination, file, finding

MAX_WORDS = 8  # of one identifier, an address for instance
_WORD = re.compile(r"[^\W_]+")


def masked(connection: sa.Connection, results: sa.Select[Any] | Sequence[int], note: str) -> str:
    """Return a note in which each identifier found in some examinations is its type in brackets.

    Without the key of the hashes (``identity.key_of``) the note stays as it is.
    """
    key = key_of(connection)
    spans = list(_runs(note))
    if key is None or not spans:
        return note
    counted = sa.select(examination.c.finding_counts).where(examination.c.id.in_(results))
    types = sorted(set().union(*connection.execute(counted).scalars()))
    values = [(span, kind) for span in spans for kind in types]
    hashes = keyed_hashes(key, [(kind, note[start:end]) for (start, end), kind in values])
    places = defaultdict(list)  # an identifier may be there several times
    for identity, (span, _kind) in zip(hashes, values, strict=True):
        places[identity].append(span)
    stored = sa.select(finding.c.identity, finding.c.entity_type).where(finding.c.examination_id.in_(results))
    found = [
        (span, kind)
        for identity, kind in connection.execute(stored.distinct())
        for span in places.get(identity, ())
    ]
    found += _names(connection, results, note, key)
    end = len(note)
    # The longest of an end comes first.
    for (first, last), kind in sorted(found, key=lambda one: (-one[0][1], one[0][0], one[1])):
        if last <= end:
            note, end = f"{note[:first]}[{kind}]{note[last:]}", first
    return note


def _names(
    connection: sa.Connection, results: sa.Select[Any] | Sequence[int], note: str, key: bytes
) -> list[tuple[tuple[int, int], str]]:
    """Return the words of a note that are a word of a name in the file, a surname alone for instance."""
    words = [(match.span(), word) for match in _WORD.finditer(note) for word in words_of_name(match[0])]
    if not words:
        return []
    named = sa.select(finding.c.entity_type, finding.c.words).distinct()
    of_file = connection.execute(named.where(finding.c.examination_id.in_(results), finding.c.words != b""))
    kinds = {
        row.words[at : at + N_WORD_BYTES]: row.entity_type
        for row in of_file
        for at in range(0, len(row.words), N_WORD_BYTES)
    }
    hashed = (
        bytes.fromhex(one)[:N_WORD_BYTES]
        for one in keyed_hashes(key, [(WORD, word) for _match, word in words])
    )
    return [(span, kinds[one]) for (span, _word), one in zip(words, hashed, strict=True) if one in kinds]


def _runs(note: str) -> Iterator[tuple[int, int]]:
    """Yield each run of up to ``MAX_WORDS`` words, as ``[start, end)``."""
    words = [match.span() for match in _WORD.finditer(note)]
    for at, (start, _end) in enumerate(words):
        for _start, end in words[at : at + MAX_WORDS]:
            yield start, end


def draw(connection: sa.Connection, made: Sequence[Decision], *, now: datetime) -> None:
    """Draw a random share of newly decided contents for a second review; each content once.

    The first verdict about one of several duplicates draws for all of them. Duplicates decided later are
    drawn too while the second verdict of one is open, and not at all once a verdict about one of them was
    visible.
    """
    policy = secret_policy(connection)
    if policy is None or policy.second_review == 0:
        return
    together = [one.file_id for one in made]
    rows = []
    for one in made:
        if work_rows.drawn_for(connection, one.examination_id) or not _is_drawn(
            connection, policy.seed, one, policy.second_review, together
        ):
            continue
        values = {"decision_id": one.id, "file_id": one.file_id, "content_hash": one.content_hash}
        rows.append(({**values, "share": policy.second_review, "drawn": now}, {"file": one.file_id}))
    audit.record_all(connection, "second_review", rows, by="phiscan", now=now)


def _is_drawn(
    connection: sa.Connection, seed: str, made: Decision, share: float, together: Collection[int]
) -> bool:
    """Draw by a hash that is unpredictable without the seed; duplicates share one draw.

    ``together``: the files decided in this transaction, whose verdicts nobody has seen yet.
    """
    group = work_rows.groups_of(connection, {made.file_id: made.content_hash}).get(made.file_id)
    if group is not None and work_rows.is_open(connection, group):
        return True
    text = f"second\0{seed}\0{work_rows.draw_key(connection, group, made.content_hash)}"
    if int.from_bytes(sha256(text.encode()).digest()[:6]) / 2**48 >= share:
        return False
    return group is None or not work_rows.is_decided(connection, group, but=together)


MAX_TEXT_CHARS = 10_000


def read_file(connection: sa.Connection, file_id: int) -> sa.Row[Any]:
    """Return the last examination of a file whose content was read, so that it can be decided.

    Raises:
        InputError: there is no such file, or its content was never read.
    """
    row = last_seen(connection, file_id)
    if not row.content_hash:
        values = {"path": row.path, "outcome": row.outcome, "reason": row.reason}
        raise InputError(_("{path}: its content was never read ({outcome}: {reason})", **values))
    return row


def about(row: sa.Row[Any]) -> dict[str, Any]:
    """Return the columns of a row about a file's last examination, ``row``, and its content."""
    return {"file_id": row.file_id, "examination_id": row.id, "content_hash": row.content_hash}


def decide(
    connection: sa.Connection,
    verdicts: Sequence[tuple[int, Verdict]],
    *,
    reviewer: str,
    reason: str = "",
    note: str = "",
    by_name: bool = False,
    now: datetime,
) -> list[Decision]:
    """Append one decision per file, bound to the content of the last examination.

    ``by_name``: judged by the file's name alone; such a decision counts in no bound.

    Raises:
        InputError: no reviewer, an unknown file, or a file that was never screened; nothing is written.
    """
    reviewer = checked_name("reviewer", reviewer)
    reason, note = checked_text("reason", reason), checked_text("note", note)
    rows = []
    for file_id, verdict in verdicts:
        row = read_file(connection, file_id)
        values = {**about(row), "verdict": Verdict(verdict).value, "reason": reason, "by_name": by_name}
        details = {"file": file_id, "verdict": values["verdict"], "content_hash": row.content_hash}
        details |= {"by_name": True} if by_name else {}
        rows.append(({**values, "note": masked(connection, [row.id], note)}, details))
    numbers = audit.record_all(connection, "decide", rows, by=reviewer, now=now)
    made = []
    for number, (file_id, verdict), (values, _details) in zip(numbers, verdicts, rows, strict=True):
        seen = (values["content_hash"], values["examination_id"])
        made.append(Decision(number, file_id, Verdict(verdict), reviewer, reason, values["note"], now, *seen))
    draw(connection, made, now=now)
    work_rows.refresh_contents(connection, [(one.file_id, one.content_hash) for one in made])
    for batch in chunks(one.id for one in made):
        log_carried(connection, work_item.c.decision_id.in_(batch), now=now)
    return made


def log_carried(connection: sa.Connection, among: sa.ColumnElement[bool], *, now: datetime) -> None:
    """Log for which files of the list a decision stands that was made about an identical file."""
    query = (
        sa.select(work_item.c.decision_id, work_item.c.file_id, decision.c.file_id.label("made_about"))
        .join(decision, decision.c.id == work_item.c.decision_id)
        .where(decision.c.file_id != work_item.c.file_id, among)
        .order_by(work_item.c.decision_id, work_item.c.file_id)
    )
    rows = connection.execute(query).all()
    entries = [(one, {"file": here, "made_about": about}) for one, here, about in rows]
    audit.append(connection, "carry", entries, actor="phiscan", at=now)


def keep_assignees(connection: sa.Connection, moved: Mapping[int, int], *, now: datetime) -> None:
    """Assign files that moved, given with their new numbers, to whom they were assigned before."""
    for old, new in moved.items():
        query = sa.select(assignment).where(assignment.c.file_id == old).order_by(assignment.c.id.desc())
        row = connection.execute(query.limit(1)).first()
        if row is not None and row.assignee:
            assign(connection, [new], row.assignee, by=row.assigned_by, now=now)


def assign(
    connection: sa.Connection, file_ids: Sequence[int], assignee: str, *, by: str, now: datetime
) -> None:
    """Append the assignee of each file; "" removes the assignment.

    Raises:
        InputError: an unknown file, or no user name; nothing is written.
    """
    assignee, by = checked_text("assignee", assignee), checked_name("by", by)
    rows = []
    for file_id in file_ids:
        if connection.execute(sa.select(file.c.id).where(file.c.id == file_id)).first() is None:
            raise InputError(_("file {file_id}: there is no such file in the database", file_id=file_id))
        rows.append(({"file_id": file_id, "assignee": assignee}, {"file": file_id, "assignee": assignee}))
    audit.record_all(connection, "assign", rows, by=by, now=now)
    work_rows.refresh(connection, file_ids)


def checked_text(field: str, value: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Return a text as it is stored: stripped, its lines ended by a line feed alone.

    Raises:
        InputError: it is too long.
    """
    value = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(value) > limit:
        got = {"field": field, "limit": limit, "value": len(value)}
        raise InputError(_("{field}: expected at most {limit} characters, got {value}", **got))
    return storable(value)


def checked_name(field: str, value: str) -> str:
    """Return a user name as it is stored, stripped.

    Raises:
        InputError: it is empty or too long.
    """
    name = checked_text(field, value)
    if not name:
        raise InputError(_("{field}: expected a name, got an empty text", field=field))
    return name


DEFAULT_SECOND_REVIEW = 0.0  # no second review until a share is set
DEFAULT_HIDE_LIMIT = 20
MAX_HIDE_LIMIT = 2**31 - 1

_LATEST = sa.select(desk_policy).order_by(desk_policy.c.id.desc()).limit(1)


@dataclass(frozen=True, slots=True)
class DeskPolicy:
    """The current policy."""

    second_review: float  # share of decisions that get a blind second review
    hide_limit: int  # a suppression that hides more items needs a lead's approval
    set_by: str
    set_at: datetime | None  # None = the defaults
    seed: str = field(default="", repr=False)  # of the second review's draws, which it makes predictable


def policy(connection: sa.Connection) -> DeskPolicy:
    """Return the current policy without its seed."""
    found = secret_policy(connection)
    if found is None:
        return DeskPolicy(DEFAULT_SECOND_REVIEW, DEFAULT_HIDE_LIMIT, "", None)
    return replace(found, seed="")


def secret_policy(connection: sa.Connection) -> DeskPolicy | None:
    """Return the current policy with its seed; None = none was set."""
    row = connection.execute(_LATEST).first()
    return None if row is None else as_value(DeskPolicy, row)


def set_policy(
    connection: sa.Connection, *, second_review: float, hide_limit: int, by: str, now: datetime
) -> DeskPolicy:
    """Append a policy, unless it equals the current one; the seed of the first one is reused.

    Raises:
        InputError: a number out of range, or no user name.
    """
    if not (math.isfinite(second_review) and 0 <= second_review <= 1):
        raise InputError(_("second_review: expected a share from 0 to 1, got {share}", share=second_review))
    if not 0 <= hide_limit <= MAX_HIDE_LIMIT:
        raise InputError(_("hide_limit: expected a number from 0, got {hide_limit}", hide_limit=hide_limit))
    by = checked_name("by", by)
    lock_chain(connection)
    before = secret_policy(connection)
    if before is None or (before.second_review, before.hide_limit) != (second_review, hide_limit):
        details = {"second_review": second_review, "hide_limit": hide_limit}
        values = {**details, "seed": before.seed if before else secrets.token_hex(16)}
        audit.record(connection, "policy", values, details, by=by, now=now)
    return policy(connection)


MAX_PURPOSE_CHARS = 500
PURPOSES = (
    lazy_gettext("To decide whether it is PHI"),
    lazy_gettext("To correct the spans"),
    lazy_gettext("To find out who is affected"),
    lazy_gettext("To settle a disagreement"),
    lazy_gettext("To answer a request of the person concerned"),
    lazy_gettext("To check the screening"),
)
"""The purposes of a reveal; a fixed list, so that no patient's name is entered there."""
OUTSIDE = lazy_gettext("Opened outside of phiscan, to decide whether it is PHI")
"""The purpose of a file that its reviewer says to have read outside of phiscan; no page offers it."""
OTHER_PURPOSE = lazy_gettext("another purpose, in the reviewer's own words")


def purpose_shown(purpose: str) -> str:
    """Return a purpose as logs and reports may show it: free text stays in the database.

    >>> purpose_shown("To correct the spans"), purpose_shown("Ann Roe asked for it")
    ('To correct the spans', "another purpose, in the reviewer's own words")
    """
    return purpose if purpose in {*PURPOSES, OUTSIDE} else OTHER_PURPOSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A file as it was examined: the input of ``phiscan.pipeline.rereading.reveal``."""

    source: SourceFile  # location and metadata at the examination
    content_hash: str  # the required content hash
    n_chars: int  # length of the text that the findings refer to


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(Examined):
    """A recorded reveal, after which the text may be shown."""

    id: int
    file_id: int
    spans: tuple[tuple[int, int, str], ...]  # start, end, type of each finding
    purpose: str
    revealed_by: str
    revealed: datetime


def reveal(connection: sa.Connection, file_id: int, *, purpose: str, by: str, now: datetime) -> Reveal:
    """Record a reveal of a file's text; for a blind item, without its findings.

    Raises:
        InputError: unknown or never read file, no purpose, or no user name.
    """
    by, purpose = checked_name("by", by), checked_text("purpose", purpose, MAX_PURPOSE_CHARS)
    if not purpose:
        raise InputError(_("purpose: expected what the text is looked at for, got an empty text"))
    row = read_file(connection, file_id)
    # The purpose may be free text: the log contains the digest of the row, not the words.
    details = {"file": file_id, "content_hash": row.content_hash}
    number = audit.record(connection, "reveal", {**about(row), "purpose": purpose}, details, by=by, now=now)
    blind = connection.execute(sa.select(work_item.c.blind).where(work_item.c.file_id == file_id)).scalar()
    query = sa.select(finding).where(finding.c.examination_id == row.id).order_by(finding.c.position)
    spans = [] if blind else connection.execute(query).all()
    return Reveal(
        id=number,
        file_id=file_id,
        source=source_of(row),
        content_hash=row.content_hash,
        # Findings in the file's name, which follow the text, would reveal the referral to a blind reviewer.
        n_chars=0 if blind else row.n_chars,
        spans=tuple((span.span_start, span.span_end, span.entity_type) for span in spans),
        purpose=purpose,
        revealed_by=by,
        revealed=now,
    )


def examined(connection: sa.Connection, file_id: int) -> Examined:
    """Return a file as it was examined, for reading it again without showing its text.

    Raises:
        InputError: unknown or never read file.
    """
    row = read_file(connection, file_id)
    return Examined(source=source_of(row), content_hash=row.content_hash, n_chars=row.n_chars)
