"""Discussion of items of the review list: comments, some of them to a colleague, and tags.

All are entries about a file (``incident_entry``). Who sees an item blind sees nothing of what others wrote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.review.decisions import writing
from phiscan.review.decisions.incidents import MAX_REASON_CHARS, append, listed_files
from phiscan.review.decisions.writing import checked_name, checked_text
from phiscan.review.worklist.model import SECOND
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import as_value, chunks
from phiscan.store.tables.desk import assignment, incident_entry, work_item
from phiscan.store.tables.scans import examination, file, root

COMMENT, TAG, UNTAG = "comment", "tag", "untag"
MAX_TAG_CHARS, MAX_TAGS = 30, 10
N_MENTIONS = 200

_entry, _later, _item = incident_entry, incident_entry.alias("later"), work_item.alias("shown")
_OF_TAGS = _later.c.kind.in_((TAG, UNTAG))
_SAME_TAG = (_later.c.file_id == _entry.c.file_id) & (_later.c.text == _entry.c.text) & _OF_TAGS
_HAS_TAG = (_entry.c.kind == TAG) & ~sa.exists().where(_SAME_TAG, _later.c.id > _entry.c.id)
_IS_ANSWERED = sa.exists().where(
    *(_later.c.kind == COMMENT, _later.c.file_id == _entry.c.file_id),
    *(_later.c.entered_by == _entry.c.field, _later.c.id > _entry.c.id),
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A comment to a user."""

    file_id: int
    root: str
    path: str
    text: str
    entered_by: str
    entered: datetime
    is_answered: bool  # the user has commented on the item since


def _shown_to(viewer: str, *columns: Any) -> sa.Select[Any]:
    """Select entries about items of the list as a user may see them: of a blind item, their own alone."""
    is_known = ~_item.c.blind & ((_item.c.awaits != SECOND) | (_item.c.reviewer == viewer))
    joined = sa.select(*columns).join(_item, _item.c.file_id == _entry.c.file_id)
    return joined.where(is_known | (_entry.c.entered_by == viewer))


def entries(connection: sa.Connection, file_id: int, *, viewer: str) -> Sequence[sa.Row[Any]]:
    """Return the comments and changes of tags of one item, oldest first, as the viewer may see them."""
    about = (_entry.c.file_id == file_id, _entry.c.kind.in_((COMMENT, TAG, UNTAG)))
    return connection.execute(_shown_to(viewer, _entry).where(*about).order_by(_entry.c.id)).all()


def tagged(tag: str, viewer: str) -> sa.Select[Any]:
    """Select the numbers of the items that have a tag, as far as the viewer may see it."""
    return _shown_to(viewer, _entry.c.file_id).where(_HAS_TAG, _entry.c.text == tag)


def known_tags(connection: sa.Connection) -> list[str]:
    """Return every tag that some item has, in alphabetical order."""
    query = sa.select(_entry.c.text).where(_HAS_TAG).distinct().order_by(_entry.c.text)
    return list(connection.execute(query).scalars())


def tags_of(connection: sa.Connection, file_ids: Sequence[int], *, viewer: str) -> dict[int, tuple[str, ...]]:
    """Return the tags of each of some items that has one, as far as the viewer may see them."""
    query = _shown_to(viewer, _entry.c.file_id, _entry.c.text).where(_HAS_TAG).order_by(_entry.c.text)
    found = defaultdict[int, list[str]](list)
    for batch in chunks(file_ids):
        for number, name in connection.execute(query.where(_entry.c.file_id.in_(batch))):
            found[number].append(name)
    return {number: tuple(names) for number, names in found.items()}


def comment(
    connection: sa.Connection, file_id: int, text: str, *, to: str = "", by: str, now: datetime
) -> None:
    """Record a comment on an item, to a colleague or to nobody; identifiers of the file become their types.

    Raises:
        InputError: no text, or too long a one; the item is reviewed blind, or has left the list.
    """
    by, text = checked_name("by", by), checked_text("comment", text, MAX_REASON_CHARS)
    if not text:
        raise InputError(_("comment: expected a text"))
    if not listed_files(connection, [file_id]):
        raise InputError(_("files: none of them is in the list, or each is reviewed blind, by itself"))
    text = writing.masked(connection, _results([file_id]), text)
    append(connection, None, COMMENT, by, now, field=to, text=text, file_id=file_id)


def tag(
    connection: sa.Connection,
    file_ids: Collection[int],
    words: str,
    *,
    remove: bool = False,
    by: str,
    now: datetime,
) -> int:
    """Add each word as a tag to items of the list, or remove it; return the number of changes.

    Items that are reviewed blind are left out.

    Raises:
        InputError: no words, too many or too long ones, or one that was found in a file as an identifier.
    """
    by, names = checked_name("by", by), sorted(set(words.casefold().split()))
    if not 0 < len(names) <= MAX_TAGS or any(
        len(one) > MAX_TAG_CHARS or not one.isprintable() for one in names
    ):
        message = _(
            "tag: expected 1 to {most} words of at most {limit} characters",
            most=MAX_TAGS,
            limit=MAX_TAG_CHARS,
        )
        raise InputError(message)
    lock_chain(connection)
    chosen = listed_files(connection, sorted(file_ids))
    for batch in chunks(sorted(chosen)) if not remove else ():
        if writing.masked(connection, _results(batch), words) != words:
            raise InputError(_("tag: expected no name or number that was found in one of the files"))
    n_changed = 0
    for name in names:
        query = sa.select(_entry.c.file_id).where(_HAS_TAG, _entry.c.text == name)
        have = set(connection.execute(query).scalars())
        for file_id in sorted(chosen & have if remove else chosen - have):
            append(connection, None, UNTAG if remove else TAG, by, now, text=name, file_id=file_id)
            n_changed += 1
    return n_changed


def _results(file_ids: Sequence[int]) -> sa.Select[Any]:
    return sa.select(examination.c.id).where(examination.c.file_id.in_(file_ids))


def take_back(connection: sa.Connection, at: datetime, *, by: str, now: datetime) -> int:
    """Take back what a user assigned or tagged at one moment, and nobody changed since; return how many.

    Raises:
        ConflictError: there is nothing of the kind.
    """
    lock_chain(connection)
    before = defaultdict[str, list[int]](list)
    given = sa.select(assignment).where(assignment.c.assigned_by == by, assignment.c.assigned == at)
    for row in connection.execute(given).all():
        of_file = sa.select(assignment).where(assignment.c.file_id == row.file_id)
        last, *earlier = connection.execute(of_file.order_by(assignment.c.id.desc()).limit(2)).all()
        if last.id == row.id:
            before[earlier[0].assignee if earlier else ""].append(row.file_id)
    for assignee, numbers in before.items():
        writing.assign(connection, numbers, assignee, by=by, now=now)
    mine = (_entry.c.entered_by == by, _entry.c.entered == at, _entry.c.kind.in_((TAG, UNTAG)))
    stands = ~sa.exists().where(_SAME_TAG, _later.c.id > _entry.c.id)
    rows = connection.execute(sa.select(_entry).where(*mine, stands).order_by(_entry.c.id)).all()
    for row in rows:
        kind = UNTAG if row.kind == TAG else TAG
        append(connection, None, kind, by, now, text=row.text, file_id=row.file_id)
    if not (rows or before):
        raise ConflictError(_("nothing to take back: it was changed since"))
    return len(rows) + sum(map(len, before.values()))


def n_open_mentions(connection: sa.Connection, *, viewer: str) -> int:
    """Count the comments to a user that they have not answered."""
    query = _shown_to(viewer, sa.func.count()).select_from(_entry)
    of_user = (_entry.c.kind == COMMENT, _entry.c.field == viewer, ~_IS_ANSWERED)
    return int(connection.execute(query.where(*of_user)).scalar_one())


def mentions(connection: sa.Connection, *, viewer: str) -> tuple[Mention, ...]:
    """Return the last comments to a user, those without an answer first, then the newest first."""
    columns = (*_entry.c, _IS_ANSWERED.label("is_answered"), root.c.display.label("root"))
    query = (
        _shown_to(viewer, *columns, file.c.display.label("path"))
        .join(file, file.c.id == _entry.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .where(_entry.c.kind == COMMENT, _entry.c.field == viewer)
        .order_by(sa.column("is_answered"), _entry.c.id.desc())
    )
    rows = connection.execute(query.limit(N_MENTIONS))
    return tuple(as_value(Mention, row, is_answered=bool(row.is_answered)) for row in rows)


def keep(connection: sa.Connection, moved: Mapping[int, int], *, now: datetime) -> None:
    """Write the comments and tags of files that moved again under their new numbers, with who and when."""
    kinds = _entry.c.kind.in_((COMMENT, TAG, UNTAG))
    query = sa.select(_entry).where(kinds).order_by(_entry.c.id)
    for old, new in moved.items():
        there = connection.execute(query.where(_entry.c.file_id == new)).all()
        known = {(one.kind, one.text, one.entered_by, one.entered) for one in there}
        for row in connection.execute(query.where(_entry.c.file_id == old)).all():
            if (row.kind, row.text, row.entered_by, row.entered) not in known:
                given = {"field": row.field, "text": row.text, "entered": row.entered}
                append(connection, None, row.kind, row.entered_by, now, file_id=new, **given)
