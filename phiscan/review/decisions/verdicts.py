"""Verdicts: once per form, about the content that was seen, reversible; second reviews and their disputes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Required, TypedDict, Unpack

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.language import source
from phiscan.model import Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions import writing
from phiscan.review.decisions.writing import checked_name, checked_text
from phiscan.review.records.file_records import last_seen, standing_decision
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import LEAD, MAX_NOTE_CHARS, SECOND, Decided, GroupDecision, WorkState
from phiscan.store import seals
from phiscan.store.column_types import iso
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import as_value, count, listed, rows_in
from phiscan.store.tables.desk import (
    adjudication,
    decision,
    decision_form,
    decision_undo,
    reveal,
    second_review,
    second_verdict,
    skip,
    work_item,
)
from phiscan.store.tables.scans import examination, file, root

SKIP_FOR = timedelta(hours=4)  # a skipped item returns to the list of its reviewer
MAX_REASON_CHARS = 200
MAX_TOKEN_CHARS = 200

_FORM = sa.select(decision_form).where(decision_form.c.token == sa.bindparam("digest"))
_CURRENT = sa.select(standing_decision(examination)).where(examination.c.id == sa.bindparam("result"))
_BLIND = sa.select(work_item.c.blind).where(work_item.c.file_id == sa.bindparam("file"))
_REVEALED = sa.select(reveal.c.id).where(
    reveal.c.file_id == sa.bindparam("file"),
    reveal.c.content_hash == sa.bindparam("content"),
    reveal.c.revealed_by == sa.bindparam("reviewer"),
)
_HIDDEN = sa.select(work_item.c.file_id).where(
    work_item.c.file_id == sa.bindparam("file"), work_item.c.awaits == SECOND, work_item.c.is_open.is_(False)
)


class UnopenedError(InputError):
    """A verdict on a blind item that the reviewer has neither opened nor judged by its name."""


def decide(
    connection: sa.Connection,
    file_id: int,
    verdict: Verdict,
    *,
    reviewer: str,
    now: datetime,
    token: str = "",
    seen: int | None = None,
    override: bool = False,
    reason: str = "",
    note: str = "",
    by_name: bool = False,
) -> Decided:
    """Record a verdict, once per form.

    If the item awaits a blind second verdict by another reviewer, this is that verdict; neither argument nor
    result shows which of the two it is.

    Args:
        connection: connection in a writing transaction.
        file_id: the file.
        verdict: phi, not_phi or unsure.
        reviewer: who decides.
        now: when.
        token: random text of the form; the same token again records nothing and returns the same.
        seen: ``FileRecord.examination_id`` of the item that the reviewer saw.
        override: also if another reviewer has decided it since.
        reason: a name of ``REASONS``, or other words; at most 200 characters.
        note: free text, at most ``MAX_NOTE_CHARS`` characters.
        by_name: judged by the name of a blind file, without opening it; counts in no bound.

    Raises:
        UnopenedError: a blind item that the reviewer has neither revealed nor judged by its name.
        ConflictError: the content has changed since it was seen, or another reviewer has decided it.
        InputError: unknown or never read file, no reviewer, a text too long, a token of another form.
    """
    verdict = Verdict(verdict)
    reviewer, reason = checked_name("reviewer", reviewer), checked_text("reason", reason, MAX_REASON_CHARS)
    note = checked_text("note", note, MAX_NOTE_CHARS)
    lock_chain(connection)
    before = answered(connection, token, file_id, reviewer)
    if before is not None:
        return before
    row = writing.read_file(connection, file_id)
    _require_seen(connection, row, seen)
    by_name = _require_opened(connection, row, reviewer, by_name=by_name)
    review = _review_of(connection, row)
    given: dict[str, Any] = {"reason": reason, "by_name": by_name}
    if review is not None and review.awaits(reviewer):
        values = {"second_review_id": review.id, "file_id": file_id, "verdict": verdict.value, **given}
        values["note"] = writing.masked(connection, [row.id], note)
        details = {"file": file_id, "verdict": verdict.value, "content_hash": row.content_hash}
        number = audit.record(connection, "second_verdict", values, details, by=reviewer, now=now)
        work_rows.refresh_contents(connection, [(file_id, row.content_hash)])
        form = {"second_verdict_id": number}
    else:
        _require_first(connection, review, row, reviewer)
        if row.verdict is not None and row.reviewer != reviewer and not override:
            message = _(
                "{path}: decided as {verdict} by {reviewer} meanwhile; look at it again, then decide "
                "over that",
                path=row.path,
                verdict=row.verdict,
                reviewer=row.reviewer,
            )
            raise ConflictError(message)
        (made,) = writing.decide(
            connection, [(file_id, verdict)], reviewer=reviewer, note=note, now=now, **given
        )
        form = {"decision_id": made.id}
    if token:
        nothing = {"decision_id": None, "second_verdict_id": None}
        values = {"token": _digest(token), "file_id": file_id, "reviewer": reviewer, **nothing, **form}
        seals.insert(connection, decision_form, [values])
    return Decided(file_id, verdict, reviewer, now, repeated=False)


def decide_all(
    connection: sa.Connection,
    verdicts: Sequence[tuple[int, Verdict]],
    *,
    reviewer: str,
    now: datetime,
    reason: str = "",
    note: str = "",
    by_name: bool = False,
    opened: bool = False,
) -> int:
    """Record one verdict per file, all or none, over those of other reviewers, and return how many.

    As ``decide`` with ``override``: a file that awaits a blind second verdict gets it, and the result does
    not show which files these were. ``opened``: the reviewer states to have read the blind ones of the
    files outside of phiscan, which is recorded like a reveal.

    Raises:
        UnopenedError: a blind item that was neither opened nor judged by its name.
        InputError: unknown or never read file, no reviewer, or two others disagree about one.
    """
    lock_chain(connection)
    reviewer = checked_text("reviewer", reviewer)
    given: dict[str, Any] = {"reviewer": reviewer, "reason": reason, "note": note, "now": now}
    firsts: dict[bool, list[tuple[int, Verdict]]] = {}
    for file_id, verdict in verdicts:
        row = writing.read_file(connection, file_id)
        if opened and _is_blind(connection, row):
            writing.reveal(connection, file_id, purpose=source(writing.OUTSIDE), by=reviewer, now=now)
        review = _review_of(connection, row)
        if review is not None and review.awaits(reviewer):
            decide(connection, file_id, verdict, by_name=by_name, **given)
            continue
        _require_first(connection, review, row, reviewer)
        is_named = _require_opened(connection, row, reviewer, by_name=by_name)
        firsts.setdefault(is_named, []).append((file_id, verdict))
    for is_named, chosen in firsts.items():
        writing.decide(connection, chosen, by_name=is_named, **given)
    return len(verdicts)


def undo(connection: sa.Connection, file_id: int, *, by: str, now: datetime, lead: bool = False) -> None:
    """Undo the last verdict of ``by`` about a file's present content; the one before applies again.

    With ``lead``, also a verdict of another reviewer.

    Raises:
        ConflictError: there is no such verdict, or a lead has settled it.
    """
    lock_chain(connection)
    row = writing.read_file(connection, file_id)
    review = _review_of(connection, row)
    second = None if review is None or review.is_settled else review.second
    undone: dict[str, int]
    if second is not None and second.reviewer == by != row.reviewer:
        undone = {"second_verdict_id": second.id}
    elif row.verdict is not None and (row.reviewer == by or lead):
        undone = {"decision_id": int(connection.execute(_CURRENT, {"result": row.id}).scalar_one())}
    else:
        raise ConflictError(_("{path}: nothing to undo: no verdict by {by} is current", path=row.path, by=by))
    audit.record(
        connection, "undo", {"file_id": file_id, **undone}, {"file": file_id, **undone}, by=by, now=now
    )
    work_rows.refresh_contents(connection, [(file_id, row.content_hash)])


def skip_item(connection: sa.Connection, file_id: int, *, reviewer: str, now: datetime) -> None:
    """Skip an item for one reviewer, for ``SKIP_FOR``.

    Raises:
        InputError: no such file, or no reviewer.
    """
    reviewer = checked_name("reviewer", reviewer)
    row = writing.read_file(connection, file_id)
    values = {"file_id": file_id, "content_hash": row.content_hash, "reviewer": reviewer}
    seals.insert(connection, skip, [{**values, "until": now + SKIP_FOR}])


def _require_seen(connection: sa.Connection, row: sa.Row[Any], seen: int | None) -> None:
    """Refuse a verdict on a content that has changed; a new examination of the same content is accepted."""
    if seen is None or seen == row.id:
        return
    query = sa.select(examination.c.content_hash, examination.c.file_id).where(examination.c.id == seen)
    shown = connection.execute(query).first()
    if shown is None or shown.file_id != row.file_id:
        message = _("file {file_id}: result {seen} is not one of this file", file_id=row.file_id, seen=seen)
        raise InputError(message)
    if shown.content_hash != row.content_hash:
        message = _("{path}: the file has changed since it was shown; look at it again", path=row.path)
        raise ConflictError(message)


def _is_blind(connection: sa.Connection, row: sa.Row[Any]) -> bool:
    return bool(connection.execute(_BLIND, {"file": row.file_id}).scalar())


def _require_opened(connection: sa.Connection, row: sa.Row[Any], reviewer: str, *, by_name: bool) -> bool:
    """Refuse a verdict on a blind item that its reviewer has not seen; return whether it is by the name.

    Raises:
        UnopenedError: it was neither revealed to the reviewer nor judged by its name.
    """
    if by_name or not _is_blind(connection, row):
        return by_name
    shown = {"file": row.file_id, "content": row.content_hash, "reviewer": reviewer}
    if connection.execute(_REVEALED, shown).first() is None:
        message = _(
            "{path}: it is reviewed blind and you have not opened it; reveal its text, or say that you judge"
            " it by its name alone",
            path=row.path,
        )
        raise UnopenedError(message)
    return False


@dataclass(frozen=True, slots=True)
class _Review:
    """The second review that the content of a file was drawn for."""

    id: int
    first: sa.Row[Any]  # the file, with the verdict that stands for its content
    second: sa.Row[Any] | None
    is_settled: bool

    def awaits(self, reviewer: str) -> bool:
        """Return whether a verdict by this user is the blind second one."""
        if self.first.verdict is None or self.first.reviewer == reviewer or self.is_settled:
            return False
        # Not a second verdict: the first reviewer gave it before the first verdict was undone.
        return self.second is None or self.second.reviewer in {reviewer, self.first.reviewer}

    def is_disputed(self, reviewer: str) -> bool:
        """Return whether two users other than this one disagree, and no lead has settled it."""
        if self.first.verdict is None or self.first.reviewer == reviewer or self.second is None:
            return False
        return bool(self.second.verdict != self.first.verdict and not self.is_settled)


def _review_of(connection: sa.Connection, row: sa.Row[Any]) -> _Review | None:
    drawn = work_rows.drawn_for(connection, row.id)
    if drawn is None:
        return None
    second = work_rows.current_second_verdicts(connection, [drawn.id]).get(drawn.id)
    return _Review(drawn.id, row, second, bool(work_rows.settlements(connection, [drawn.id])))


def _require_first(
    connection: sa.Connection, review: _Review | None, row: sa.Row[Any], reviewer: str
) -> None:
    """Refuse a verdict on an item that is hidden, or disputed by others.

    Raises:
        ConflictError: it is judged, and hidden until its near-duplicates are; the reviewer gave neither.
        InputError: two others disagree: it must be settled by a lead.
    """
    if row.reviewer != reviewer and connection.execute(_HIDDEN, {"file": row.file_id}).first() is not None:
        message = _(
            "{path}: it is judged; the verdict is shown when its near-duplicates are judged too",
            path=row.path,
        )
        raise ConflictError(message)
    if review is not None and review.is_disputed(reviewer):
        message = _("{path}: two people disagree about it; a lead who is neither settles it", path=row.path)
        raise InputError(message)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def answered(connection: sa.Connection, token: str, file_id: int, reviewer: str) -> Decided | None:
    """Return the result of an earlier submission of the same form.

    Raises:
        InputError: the token is too long, or was used for another file or by another user.
    """
    if not token:
        return None
    if len(token) > MAX_TOKEN_CHARS:
        got = {"max_token_chars": MAX_TOKEN_CHARS, "token": len(token)}
        raise InputError(_("token: expected at most {max_token_chars} characters, got {token}", **got))
    form = connection.execute(_FORM, {"digest": _digest(token)}).first()
    if form is None:
        return None
    if (form.file_id, form.reviewer) != (file_id, reviewer):
        raise InputError(_("token: this form was sent before, for another file or by somebody else"))
    is_first = form.decision_id is not None
    table, number = (decision, form.decision_id) if is_first else (second_verdict, form.second_verdict_id)
    made = connection.execute(sa.select(table).where(table.c.id == number)).one()
    return Decided(file_id, Verdict(made.verdict), made.reviewer, made.decided, repeated=True)


MAX_AT_ONCE = 200  # files of a folder that one verdict may cover


class Given(TypedDict, total=False):
    """What is recorded with each verdict; see ``verdicts.decide``."""

    reviewer: Required[str]
    now: Required[datetime]
    token: str
    reason: str
    note: str


def decide_group(
    connection: sa.Connection,
    group_id: int,
    verdict: Verdict,
    *,
    exceptions: Collection[int] = (),
    **given: Unpack[Given],
) -> GroupDecision:
    """Record one verdict for the undecided files of a near-duplicate group, without the exceptions.

    Blind items are excluded: each must be judged individually.

    Raises:
        InputError: there is no such group; see ``verdicts.decide``.
    """
    rows = _not_blind(connection, work_item.c.group_id == group_id)
    if not rows:
        message = _(
            "group {group_id}: there is no such group of near-duplicates in the list", group_id=group_id
        )
        raise InputError(message)
    return _decide_rows(connection, rows, verdict, exceptions, **given)


def decide_chosen(
    connection: sa.Connection, file_ids: Collection[int], verdict: Verdict, **given: Unpack[Given]
) -> GroupDecision:
    """Record one verdict for the undecided ones of chosen files; one action, undone as a whole.

    Blind items are excluded: each must be judged individually.

    Raises:
        InputError: more than ``MAX_AT_ONCE`` files, none is in the list; see ``verdicts.decide``.
    """
    if len(file_ids) > MAX_AT_ONCE:
        message = _(
            "files: expected at most {most} to be decided at once, got {n}", most=MAX_AT_ONCE, n=len(file_ids)
        )
        raise InputError(message)
    rows = _not_blind(connection, work_item.c.file_id.in_(file_ids))
    if not rows:
        raise InputError(_("files: none of them is in the list, or each is reviewed blind, by itself"))
    return _decide_rows(connection, rows, verdict, (), **given)


def _not_blind(connection: sa.Connection, chosen: sa.ColumnElement[bool]) -> Sequence[sa.Row[Any]]:
    """Return the chosen items that are not reviewed blind, in the order of their files."""
    query = sa.select(work_item).where(chosen, ~work_item.c.blind).order_by(work_item.c.file_id)
    return connection.execute(query).all()


def _decide_rows(
    connection: sa.Connection,
    rows: Sequence[sa.Row[Any]],
    verdict: Verdict,
    exceptions: Collection[int],
    **given: Unpack[Given],
) -> GroupDecision:
    """Record one verdict for the rows that are undecided for this reviewer."""
    decided, left_out = [], []
    reviewer, now = given["reviewer"].strip(), given["now"]
    contents: set[str] = set()  # decided here: their other files are decided with them
    # Of identical files, either all are exceptions or none.
    chosen = {row.content_hash for row in rows if row.file_id not in exceptions}
    exceptions = {row.file_id for row in rows if row.content_hash not in chosen}
    for row in rows:
        token = f"{given['token']}:{row.file_id}" if given.get("token") else ""
        before = answered(connection, token, row.file_id, reviewer)
        why = "" if before else _why_left_out(row, exceptions, reviewer, iso(now))
        if why:
            left_out.append((row.file_id, why))
            continue
        if row.content_hash in contents:
            (as_now,) = _not_blind(connection, work_item.c.file_id == row.file_id)
            if _why_left_out(as_now, (), reviewer, iso(now)):
                decided.append(Decided(row.file_id, verdict, reviewer, now, repeated=False))
                continue
        contents.add(row.content_hash)
        recorded: Given = {**given, "token": token}
        decided.append(decide(connection, row.file_id, verdict, seen=row.examination_id, **recorded))
    return GroupDecision(tuple(decided), tuple(left_out))


def _why_left_out(row: sa.Row[Any], exceptions: Collection[int], reviewer: str, moment: str) -> str:
    if row.file_id in exceptions:
        return "excepted"
    if row.hidden_until > moment:
        return "suppressed"
    awaits_them = row.awaits == SECOND and row.is_open and row.reviewer != reviewer
    if row.state != WorkState.UNDECIDED.value and not awaits_them:
        return "decided before"
    return ""


@dataclass(frozen=True, slots=True)
class Act:
    """Verdicts that a reviewer recorded, or undid, at one moment."""

    file_ids: tuple[int, ...]
    path: str  # of the first file, display form
    verdict: Verdict
    at: datetime


_NOT_ADJUDICATED = ~sa.exists().where(adjudication.c.decision_id == decision.c.id)
_VERDICT_TABLES = (
    (decision, decision_undo.c.decision_id, _NOT_ADJUDICATED),
    (second_verdict, decision_undo.c.second_verdict_id, sa.true()),
)


def _last_given(table: sa.Table, undone: sa.Column[Any], condition: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the verdicts of a table that a user gave at the moment of the last one that is not undone."""
    by = table.c.reviewer == sa.bindparam("by")
    stands = (by, condition, ~sa.exists().where(undone == table.c.id))
    last = sa.select(table.c.decided).where(*stands).order_by(table.c.id.desc()).limit(1)
    query = sa.select(table.c.file_id, table.c.verdict, table.c.decided).where(*stands)
    return query.where(table.c.decided == last.correlate(None).scalar_subquery()).order_by(table.c.id)


_LAST_GIVEN = [_last_given(*one) for one in _VERDICT_TABLES]


def last_action(connection: sa.Connection, by: str) -> Act | None:
    """Return the last action of a user that is not undone; None = there is none."""
    rows = [row for query in _LAST_GIVEN for row in connection.execute(query, {"by": by})]
    at = max((row.decided for row in rows), default=None)
    return None if at is None else _act(connection, [row for row in rows if row.decided == at], at)


def last_undone(connection: sa.Connection, by: str) -> Act | None:
    """Return the action that a user undid last, unless they have recorded a verdict since."""
    at = connection.execute(
        sa.select(sa.func.max(decision_undo.c.undone)).where(decision_undo.c.undone_by == by)
    ).scalar()
    given = last_action(connection, by)
    if at is None or (given is not None and given.at > at):
        return None
    return _act(connection, _undone_rows(connection, by, at), at)


def undo_last(connection: sa.Connection, *, by: str, now: datetime) -> Act:
    """Undo the last action of a user as a whole, and return it.

    Raises:
        ConflictError: there is none, or none of its verdicts is current any more.
    """
    act = last_action(connection, by)
    if act is None:
        raise ConflictError(_("nothing to undo: {by} has given no verdict", by=by))
    undone = []
    for file_id in act.file_ids:
        try:
            undo(connection, file_id, by=by, now=now, lead=False)
        except ConflictError:
            continue  # another user has decided it since, or a lead has settled it
        undone.append(file_id)
    if not undone:
        message = _(
            "{path}: nothing to undo: the verdict by {by} does not hold any more", path=act.path, by=by
        )
        raise ConflictError(message)
    return Act(tuple(undone), act.path, act.verdict, now)


def redo_last(connection: sa.Connection, *, by: str, now: datetime) -> Act:
    """Record the verdicts again that a user undid last, with their reasons and notes, and return them.

    Raises:
        ConflictError: nothing was undone since their last verdict, or another user has decided a file.
    """
    act = last_undone(connection, by)
    if act is None:
        raise ConflictError(_("nothing to redo: {by} has undone no verdict since the last one", by=by))
    for row in _undone_rows(connection, by, act.at):
        decide(
            connection,
            row.file_id,
            Verdict(row.verdict),
            reviewer=by,
            now=now,
            reason=row.reason,
            note=row.note,
            by_name=row.by_name,
        )
    return Act(act.file_ids, act.path, act.verdict, now)


def _undone_rows(connection: sa.Connection, by: str, at: datetime) -> list[Any]:
    return [
        row
        for table, undone, _ in _VERDICT_TABLES
        for row in connection.execute(
            sa.select(table.c.file_id, table.c.verdict, table.c.reason, table.c.note, table.c.by_name)
            .join(decision_undo, undone == table.c.id)
            .where(decision_undo.c.undone_by == by, decision_undo.c.undone == at, table.c.reviewer == by)
            .order_by(table.c.id)
        )
    ]


def _act(connection: sa.Connection, rows: list[Any], at: datetime) -> Act | None:
    if not rows:
        return None
    path = connection.execute(sa.select(file.c.display).where(file.c.id == rows[0].file_id)).scalar_one()
    return Act(tuple(row.file_id for row in rows), path, Verdict(rows[0].verdict), at)


_GIVEN = ("verdict", "reviewer", "reason", "note")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two different verdicts on one content, for the lead who settles."""

    id: int  # number of the second review
    file_id: int
    root: str
    path: str
    examination_id: int
    first: Verdict
    first_reviewer: str
    first_reason: str
    first_note: str
    second: Verdict
    second_reviewer: str
    second_reason: str
    second_note: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Rating:
    """The blind pair of verdicts on one content, for agreement statistics."""

    file_id: int
    content_hash: str
    first_reviewer: str
    first: Verdict
    second_reviewer: str
    second: Verdict
    settled: Verdict | None  # by the lead; None = they agreed, or it is not settled yet


@dataclass(frozen=True, slots=True)
class SecondReviewCounts:
    """The progress of the second review."""

    drawn: int
    waiting: int
    agreed: int
    disagreed: int  # including settled ones
    settled: int


def disagreements(connection: sa.Connection, *, lead: str) -> tuple[Disagreement, ...]:
    """Return the open disagreements between two other users, oldest first."""
    query = (
        sa.select(
            *(second_review.c.id, work_item.c.file_id, work_item.c.examination_id),
            *(root.c.display.label("root"), file.c.display.label("path")),
            *(decision.c[name].label(f"first_{name}") for name in _GIVEN),
        )
        .select_from(work_item)
        .join(second_review, second_review.c.content_hash == work_item.c.content_hash)
        .join(decision, decision.c.id == work_item.c.decision_id)
        .join(file, file.c.id == work_item.c.file_id)
        .join(root, root.c.id == work_item.c.root_id)
        .where(work_item.c.awaits == LEAD)
        .order_by(second_review.c.id, work_item.c.file_id.desc())
    )
    # Identical files are one disagreement, shown with the first of them.
    rows = list({row.id: row for row in connection.execute(query)}.values())
    seconds = work_rows.current_second_verdicts(connection, [row.id for row in rows])
    return tuple(
        as_value(
            Disagreement,
            row,
            first=Verdict(row.first_verdict),
            second=Verdict(second.verdict),
            since=second.decided,
            **{f"second_{name}": getattr(second, name) for name in _GIVEN[1:]},
        )
        for row, second in ((row, seconds[row.id]) for row in rows)
        if lead not in {row.first_reviewer, second.reviewer}
    )


def adjudicate(
    connection: sa.Connection,
    second_review_id: int,
    verdict: Verdict,
    *,
    lead: str,
    now: datetime,
    reason: str = "",
    note: str = "",
) -> Decided:
    """Settle a disagreement by the lead's verdict.

    Raises:
        ConflictError: it is settled already, or the reviewers no longer disagree.
        InputError: no such second review, or the lead is one of the two reviewers.
    """
    lock_chain(connection)
    lead = checked_text("lead", lead)
    note = checked_text("note", note, MAX_NOTE_CHARS)
    review = connection.execute(
        sa.select(second_review).where(second_review.c.id == second_review_id)
    ).first()
    if review is None:
        message = _(
            "second review {second_review_id}: there is none of this number",
            second_review_id=second_review_id,
        )
        raise InputError(message)
    # It is shown with the first file of the list that has this content.
    here = (work_item.c.content_hash == review.content_hash) & (work_item.c.awaits == LEAD)
    first = connection.execute(sa.select(sa.func.min(work_item.c.file_id)).where(here)).scalar()
    row = last_seen(connection, first or review.file_id)
    given = work_rows.current_second_verdicts(connection, [review.id]).get(review.id)
    settled = work_rows.settlements(connection, [review.id])
    if (
        given is None
        or settled
        or row.content_hash != review.content_hash
        or row.verdict in {None, given.verdict}
        or row.content_hash in open_contents(connection)
    ):
        raise ConflictError(_("{path}: there is no disagreement to settle (any more)", path=row.path))
    if lead in {row.reviewer, given.reviewer}:
        raise InputError(_("lead: expected somebody who gave neither verdict, got {lead}", lead=lead))
    (made,) = writing.decide(
        connection, [(row.file_id, Verdict(verdict))], reviewer=lead, reason=reason, note=note, now=now
    )
    values = {"second_review_id": review.id, "second_verdict_id": given.id, "decision_id": made.id}
    details = {"file": row.file_id, "verdict": made.verdict.value}
    audit.record(connection, "adjudicate", values, details, by=lead, now=now)
    work_rows.refresh_contents(connection, [(row.file_id, row.content_hash)])
    return Decided(row.file_id, made.verdict, lead, now, repeated=False)


def counts(connection: sa.Connection) -> SecondReviewCounts:
    """Count the second reviews by their state."""
    drawn = count(connection, second_review)
    pairs = ratings(connection)
    disagreed = sum(pair.first is not pair.second for pair in pairs)
    waits = (work_item.c.awaits == SECOND) & work_item.c.is_open.is_(True)
    query = sa.select(sa.func.count(work_item.c.decision_id.distinct())).where(waits)
    waiting = connection.execute(query).scalar_one()
    settled = sum(pair.settled is not None for pair in pairs)
    return SecondReviewCounts(drawn, int(waiting), len(pairs) - disagreed, disagreed, settled)


def open_contents(connection: sa.Connection) -> frozenset[str]:
    """Return the contents that await a blind second verdict, or have a near-duplicate that does.

    Their verdicts must not be visible to other users.
    """
    query = sa.select(work_item.c.content_hash).where(work_item.c.awaits == SECOND)
    return frozenset(connection.execute(query).scalars())


def verdicts_by(connection: sa.Connection, reviewer: str) -> dict[int, Verdict]:
    """Return the current second verdicts of one user on the present contents, by file."""
    query = (
        sa.select(work_item.c.file_id, second_verdict.c.verdict)
        .join(second_review, second_review.c.content_hash == work_item.c.content_hash)
        .join(second_verdict, second_verdict.c.second_review_id == second_review.c.id)
        .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
        .where(second_verdict.c.reviewer == reviewer, decision_undo.c.id.is_(None))
        .order_by(second_verdict.c.id)
    )
    return {row.file_id: Verdict(row.verdict) for row in connection.execute(query)}


def ratings(connection: sa.Connection) -> tuple[Rating, ...]:
    """Return the two verdicts of every completed second review, in the order of the draw.

    The first verdict is the last one that its reviewer did not undo; a lead's verdict is neither.
    """
    reviews = connection.execute(sa.select(second_review).order_by(second_review.c.id)).all()
    ids = [row.id for row in reviews]
    seconds = work_rows.current_second_verdicts(connection, ids)
    settled = work_rows.settlements(connection, ids)
    firsts = _firsts(connection, [row for row in reviews if row.id in seconds])
    leads = sa.select(decision.c.id, decision.c.verdict).where(decision.c.id.in_(listed("decisions")))
    made = rows_in(connection, leads, "decisions", [one.decision_id for one in settled.values()])
    ends = {row.id: Verdict(row.verdict) for row in made}
    found = []
    for review in reviews:
        second, first = seconds.get(review.id), firsts.get(review.content_hash)
        if second is not None and first is not None and second.reviewer != first.reviewer:
            end = settled.get(review.id)
            rating = as_value(
                Rating,
                review,
                first_reviewer=first.reviewer,
                first=Verdict(first.verdict),
                second_reviewer=second.reviewer,
                second=Verdict(second.verdict),
                settled=ends[end.decision_id] if end else None,
            )
            found.append(rating)
    return tuple(found)


def _firsts(connection: sa.Connection, reviews: list[sa.Row[Any]]) -> dict[str, sa.Row[Any]]:
    """Return the last first verdict by content: neither undone nor a lead's."""
    query = (
        sa.select(decision)
        .where(
            decision.c.content_hash.in_(listed("contents")),
            ~sa.exists().where(decision_undo.c.decision_id == decision.c.id),
            ~sa.exists().where(adjudication.c.decision_id == decision.c.id),
        )
        .order_by(decision.c.id)
    )
    contents = [row.content_hash for row in reviews]
    return {row.content_hash: row for row in rows_in(connection, query, "contents", contents)}
