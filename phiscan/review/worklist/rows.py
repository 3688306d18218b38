"""The review list: the rows of ``work_item``, derived from the other tables, their counts, hidden items.

Every change of a file's result, verdict, assignment, sample or group calls ``refresh`` for it in the same
transaction: the row is derived again from its sources, never patched, so that ``rebuild`` gives the same.
Counts are updated in the same transactions: no page counts 200,000 rows. Near-duplicates are judged blind
together.

An item is hidden if every finding of it that can identify a person matches an active suppression. Findings of
``NOT_BY_THEMSELVES`` do not keep an item in the list. Blind items are never hidden.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, FileResult, Outcome, Referral
from phiscan.review.records.file_records import COUNT, RISK, is_about, present
from phiscan.review.records.openings import NEVER, openings_of
from phiscan.review.worklist.model import (
    FIRST,
    LEAD,
    NOBODY,
    NOT_BY_THEMSELVES,
    OPENING,
    SECOND,
    WorkState,
    opened_factor,
)
from phiscan.store.column_types import canonical_json, iso
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import chunks, count, listed, rows_in
from phiscan.store.tables.desk import (
    adjudication,
    assignment,
    decision,
    decision_undo,
    near_group,
    near_signature,
    sample_draw,
    sample_member,
    second_review,
    second_verdict,
    suppression,
    suppression_approval,
    suppression_lift,
    work_item,
    work_tally,
)
from phiscan.store.tables.scans import (
    access,
    departure,
    examination,
    file,
    finding,
    scan_root,
    sighting,
)

_STATUS = ("awaits", "state", "reviewer", "assignee", "hidden_until", "referred")
"""The columns that are counted in combination."""
_SINGLE = ("root_id", "media_type", "owner")
"""The columns that are counted separately."""

DUPLICATE = "twin"
"""How a hidden item is counted that awaits no verdict itself."""

_AWAITS = sa.case(
    ((work_item.c.awaits == SECOND) & work_item.c.is_open.is_(False), DUPLICATE), else_=work_item.c.awaits
)
_COUNTED = sa.select(_AWAITS, *(work_item.c[name] for name in (*_STATUS[1:], *_SINGLE)))
_OF_FILES = _COUNTED.where(work_item.c.file_id.in_(listed("files")))
_ADD = (
    work_tally.update()
    .where(work_tally.c.kind == sa.bindparam("its_kind"), work_tally.c.value == sa.bindparam("its_value"))
    .values(n=work_tally.c.n + sa.bindparam("more"))
)
_START = work_tally.insert()
_TALLIES = (
    sa.select(work_tally.c.value, work_tally.c.n)
    .where(work_tally.c.kind == sa.bindparam("its_kind"), work_tally.c.n > 0)
    .order_by(work_tally.c.value)
)


def _tally(rows: Iterable[sa.Row[Any]]) -> Counter[tuple[str, str]]:
    """Count rows of ``_COUNTED`` by kind and value."""
    found: Counter[tuple[str, str]] = Counter()
    for row, n in Counter(map(tuple, rows)).items():
        *status, root_id, media_type, owner = row
        values = (str(root_id), media_type, owner, canonical_json(status))
        for kind, value in zip((*_SINGLE, "status"), values, strict=True):
            found[kind, value] += n
    return found


@contextmanager
def counted(connection: sa.Connection, file_ids: Sequence[int]) -> Iterator[None]:
    """Update the counts by what is done meanwhile with the rows of some files."""
    change = Counter[tuple[str, str]]()
    change.subtract(_tally(connection.execute(_OF_FILES, {"files": file_ids})))
    yield
    change.update(_tally(connection.execute(_OF_FILES, {"files": file_ids})))
    for (kind, value), n in change.items():
        if n:
            changed = connection.execute(_ADD, {"its_kind": kind, "its_value": value, "more": n})
            if not changed.rowcount:
                connection.execute(_START, {"kind": kind, "value": value, "n": n})


def statuses(connection: sa.Connection) -> Iterator[tuple[str, str, str, str, str, bool, int]]:
    """Yield awaits (or ``DUPLICATE``), state, reviewer, assignee, hidden_until, referred, and the count."""
    for value, n in _tallies(connection, "status"):
        awaits, state, reviewer, assignee, hidden_until, referred = json.loads(value)
        yield awaits, state, reviewer, assignee, hidden_until, referred, n


def counted_values(connection: sa.Connection, kind: str) -> list[tuple[str, int]]:
    """Return the values of one of ``_SINGLE`` with their counts, most frequent first."""
    return sorted(_tallies(connection, kind), key=lambda one: (-one[1], one[0]))


def _tallies(connection: sa.Connection, kind: str) -> list[tuple[str, int]]:
    return [(row.value, row.n) for row in connection.execute(_TALLIES, {"its_kind": kind})]


_LATEST_DRAW = sa.select(sa.func.max(sample_draw.c.id))
_MEMBERS = sa.select(sample_member).where(
    sample_member.c.file_id.in_(listed("files")), sample_member.c.draw_id == sa.bindparam("draw")
)
_VERDICTS = (
    sa.select(examination.c.file_id.label("of_file"), decision)
    .select_from(examination)
    .join(decision, is_about(decision, examination))
    .outerjoin(decision_undo, decision_undo.c.decision_id == decision.c.id)
    .where(examination.c.id.in_(listed("examinations")), decision_undo.c.id.is_(None))
    .order_by(decision.c.id)
)
_ASSIGNEES = (
    sa.select(assignment.c.file_id, assignment.c.assignee)
    .where(assignment.c.file_id.in_(listed("files")))
    .order_by(assignment.c.id)
)
_GROUPS = sa.select(near_group).where(near_group.c.file_id.in_(listed("files")))
_TYPES = (
    sa.select(examination.c.file_id, finding.c.entity_type)
    .join(finding, finding.c.examination_id == examination.c.id)
    .where(examination.c.id.in_(listed("examinations")))
    .distinct()
)


def latest_draw(connection: sa.Connection) -> int | None:
    """Return the number of the current sample."""
    number: int | None = connection.execute(_LATEST_DRAW).scalar()
    return number


def current(connection: sa.Connection, batch: Sequence[int]) -> Sequence[sa.Row[Any]]:
    """Return the results of the files that are present and whose content was read."""
    return connection.execute(_current_files(), {"files": batch}).all()


@cache
def _current_files() -> sa.Select[Any]:
    other = examination.alias()
    arrived = (
        sa.select(sa.func.min(other.c.scan_id))
        .where(other.c.file_id == file.c.id, other.c.content_hash == examination.c.content_hash)
        .scalar_subquery()
    )
    columns = ("id", "outcome", "referral", "media_type", "content_hash", "uid", "health_score")
    query: sa.Select[Any] = sa.select(
        *(file.c.id.label("file_id"), file.c.root_id, file.c.display.label("path")),
        *(examination.c[name] for name in columns),
        *(access.c.owner, arrived.label("arrived"), RISK.label("risk")),
    ).select_from(sighting)
    query = present(query, None).outerjoin(access, access.c.examination_id == examination.c.id)
    query = query.outerjoin(*COUNT)
    return query.where(file.c.id.in_(listed("files")), examination.c.content_hash != "")


def groups_of(connection: sa.Connection, contents: Mapping[int, str]) -> dict[int, int]:
    """Return the near-duplicate groups of these contents, by file."""
    return {
        row.file_id: row.group_id
        for row in connection.execute(_GROUPS, {"files": list(contents)})
        if contents[row.file_id] == row.content_hash
    }


_UNDER_WAY = work_item.c.waits == SECOND
_IS_DECIDED = work_item.c.state != WorkState.UNDECIDED.value
_OTHER = work_item.alias()
_SHOWN = sa.case(
    (
        _IS_DECIDED & sa.exists().where(_OTHER.c.group_id == work_item.c.group_id, _OTHER.c.waits == SECOND),
        SECOND,
    ),
    else_=work_item.c.waits,
)
"""Which verdict an item is shown to await: decided near-duplicates are judged blind together."""
_NOT_AS_SHOWN = sa.select(work_item.c.file_id).where(work_item.c.awaits != _SHOWN)
_OF_GROUPS = _NOT_AS_SHOWN.where(work_item.c.group_id.in_(listed("groups")))
_SHOW = work_item.update().where(work_item.c.file_id.in_(listed("files"))).values(awaits=_SHOWN)
_ANY = sa.select(second_review.c.id).limit(1)
_FIRST_OF_GROUP = (
    sa.select(near_group.c.content_hash)
    .where(near_group.c.file_id == near_group.c.group_id)
    .where(near_group.c.group_id == sa.bindparam("group"))
)


def draw_key(connection: sa.Connection, group_id: int | None, content_hash: str) -> str:
    """Return the input of a group's common draw: the content of its first file, else a file's own."""
    first = connection.execute(_FIRST_OF_GROUP, {"group": group_id}).scalar()
    return str(first or content_hash)


def is_open(connection: sa.Connection, group_id: int) -> bool:
    """Return whether a file of a group awaits a second verdict, from the stored list."""
    return connection.execute(_members(group_id).where(_UNDER_WAY).limit(1)).first() is not None


def is_decided(connection: sa.Connection, group_id: int, *, but: Collection[int]) -> bool:
    """Return whether a file of a group, other than the given files, has a verdict."""
    others = _members(group_id).where(_IS_DECIDED, work_item.c.file_id.not_in(but))
    return connection.execute(others.limit(1)).first() is not None


def conceal(connection: sa.Connection, groups: Collection[int | None] | None = None) -> None:
    """Hide the decided files of near-duplicate groups while one of each awaits a second verdict, else not.

    ``groups``: None = all of them, after they or the list have changed.
    """
    if connection.execute(_ANY).first() is None:
        return
    found: Iterable[sa.Row[Any]] = (
        connection.execute(_NOT_AS_SHOWN)
        if groups is None
        else rows_in(connection, _OF_GROUPS, "groups", groups)
    )
    for batch in chunks(row.file_id for row in found):
        with counted(connection, batch):
            connection.execute(_SHOW, {"files": batch})


def _members(group_id: int) -> sa.Select[Any]:
    return sa.select(work_item.c.file_id).where(work_item.c.group_id == group_id)


_IN_FORCE = (
    sa.select(suppression)
    .outerjoin(suppression_lift, suppression_lift.c.suppression_id == suppression.c.id)
    .outerjoin(suppression_approval, suppression_approval.c.suppression_id == suppression.c.id)
    .where(
        suppression_lift.c.id.is_(None),
        sa.or_(suppression.c.needs_approval.is_(False), suppression_approval.c.id.is_not(None)),
    )
)


TEMPLATE = "template"
MIN_SIMILARITY = 0.8  # share of equal values of the signatures of nearly equal texts
VALUE_BYTES = 4  # of a signature
SIGNATURE = (
    sa.select(near_signature.c.signature)
    .where(near_signature.c.examination_id == work_item.c.examination_id)
    .scalar_subquery()
    .label("signature")
)


@dataclass(frozen=True, slots=True)
class Hider:
    """An active suppression: what it matches, where, and until when (UTC, ISO 8601)."""

    kind: str
    target: str
    root_id: int | None
    folder: str
    until: str

    def covers(self, root_id: int, path: str, signature: bytes | None = None) -> bool:
        """Return whether a file is inside of the scope, and its text like the template if there is one."""
        if self.root_id is not None and self.root_id != root_id:
            return False
        if self.folder and not path.startswith(self.folder + "/"):
            return False
        return self.kind != TEMPLATE or is_alike(signature or b"", bytes.fromhex(self.target))


def is_alike(one: bytes, other: bytes) -> bool:
    """Return whether two texts are nearly equal, by the share of equal values of their MinHash signatures."""
    places = range(0, len(other), VALUE_BYTES)
    n_equal = sum(one[at : at + VALUE_BYTES] == other[at : at + VALUE_BYTES] for at in places)
    return n_equal >= MIN_SIMILARITY * len(places)


def is_named(kind: str, target: str) -> sa.ColumnElement[bool]:
    """Return the condition that a finding has the value, or is of the rule, that a suppression names."""
    return (finding.c.source if kind == "rule" else finding.c.identity) == target


def may_match(kind: str, target: str) -> sa.ColumnElement[bool]:
    """Return the condition that an item has a finding that is named, or a signature to compare."""
    of_item = work_item.c.examination_id
    if kind == TEMPLATE:
        return sa.exists().where(near_signature.c.examination_id == of_item)
    return sa.exists().where(finding.c.examination_id == of_item, is_named(kind, target))


def hiders(connection: sa.Connection) -> list[Hider]:
    """Return the approved suppressions that are not lifted; the reader checks their end."""
    return [
        Hider(row.kind, row.target, row.root_id, row.folder, iso(row.until))
        for row in connection.execute(_IN_FORCE)
    ]


def hidden_until(
    connection: sa.Connection, places: Mapping[int, sa.Row[Any]], applied: Sequence[Hider]
) -> dict[int, str]:
    """Return by examination until when it is hidden (UTC, ISO 8601); visible ones are omitted."""
    if not applied:
        return {}
    templates = [one for one in applied if one.kind == TEMPLATE]
    by_target: dict[tuple[str, str], list[Hider]] = {}
    for hider in applied:
        by_target.setdefault((hider.kind, hider.target), []).append(hider)
    until: dict[int, str] = {}
    for batch in chunks(places):
        query = (
            sa.select(finding.c.examination_id, finding.c.identity, finding.c.source)
            .where(
                finding.c.examination_id.in_(batch),
                finding.c.entity_type.not_in([kind.value for kind in NOT_BY_THEMSELVES]),
            )
            .distinct()
        )
        for examination_id, identity, source in connection.execute(query):
            ends = _ends(places[examination_id], identity, source, by_target)
            # It returns to the list with the first finding whose suppression ends.
            until[examination_id] = min(until.get(examination_id, ends), ends)
        signed = sa.select(near_signature).where(near_signature.c.examination_id.in_(batch))
        for examination_id, signature in connection.execute(signed) if templates else ():
            place = places[examination_id]
            further = [one.until for one in templates if one.covers(place.root_id, place.path, signature)]
            until[examination_id] = max(until.get(examination_id, ""), *further, "")
    return {examination_id: ends for examination_id, ends in until.items() if ends}


def _ends(
    place: sa.Row[Any], identity: str, source: str, by_target: Mapping[tuple[str, str], Sequence[Hider]]
) -> str:
    """Return until when a finding is suppressed; "" = it is not."""
    applied = [*by_target.get(("value", identity), ()), *by_target.get(("rule", source), ())]
    return max((one.until for one in applied if one.covers(place.root_id, place.path)), default="")


THRESHOLD = 0.5  # HealthScore: the threshold learned from the prototypes
RANDOM_SHARE = 0.1  # of the items, at a random position in the order by doubt
_BIT = {kind.value: 1 << place for place, kind in enumerate(EntityType)}

# Compiled once: nearly every decision executes them.
_INSERT = work_item.insert()
_REMOVE = work_item.delete().where(work_item.c.file_id.in_(listed("files")))
_GROUPS_IN_LIST = sa.select(work_item.c.group_id).where(work_item.c.file_id.in_(listed("files")))
_WITH_CONTENTS = sa.select(work_item.c.file_id).where(work_item.c.content_hash.in_(listed("contents")))
_IN_LIST = sa.select(work_item.c.file_id).where(work_item.c.file_id.in_(listed("files")))


def types_mask(kinds: Iterable[str]) -> int:
    """Pack types of identifiers into an integer, a bit each in the order of ``EntityType``.

    >>> types_mask(["PERSON", "ORGANIZATION", "PERSON"])
    5
    """
    mask = 0
    for kind in kinds:
        mask |= _BIT[kind]
    return mask


def refresh(
    connection: sa.Connection, file_ids: Sequence[int], *, types: Mapping[int, int] | None = None
) -> None:
    """Derive the rows of these files again, or remove them if the files are not in the list any more.

    ``types``: the packed types of findings by file, where they are known; the others are queried.
    """
    lock_chain(connection)  # serialized: a row depends on the rows of its duplicates
    for batch in chunks(dict.fromkeys(file_ids)):
        groups = set(connection.execute(_GROUPS_IN_LIST, {"files": batch}).scalars())
        with counted(connection, batch):
            connection.execute(_REMOVE, {"files": batch})
            rows = _rows(connection, batch, types or {})
            if rows:
                connection.execute(_INSERT, rows)
        conceal(connection, {*groups, *(row["group_id"] for row in rows)} - {None})


def refresh_contents(connection: sa.Connection, contents: Sequence[tuple[int, str]]) -> list[int]:
    """Derive the rows of files, given with their contents, and of all files identical to them.

    Returns the others: a decision about one stands for them, too.
    """
    files = [number for number, _ in contents]
    hashes = dict.fromkeys(content for _, content in contents)
    same = {row.file_id for row in rows_in(connection, _WITH_CONTENTS, "contents", hashes)}
    refresh(connection, [*files, *sorted(same)])
    return sorted(same.difference(files))


def refresh_opened(connection: sa.Connection, file_ids: Iterable[int]) -> None:
    """Derive the rows of files again whose openings have changed, or of the files that they moved to."""
    start = sa.select(file.c.id.label("id")).where(file.c.id.in_(listed("files")))
    here = start.cte("places", recursive=True)
    onward = sa.select(departure.c.moved_to).join(here, departure.c.file_id == here.c.id)
    every = here.union(onward.where(departure.c.moved_to.is_not(None)))
    in_list = sa.select(work_item.c.file_id).join(every, every.c.id == work_item.c.file_id).distinct()
    refresh(connection, [row.file_id for row in rows_in(connection, in_list, "files", file_ids)])


def rebuild(connection: sa.Connection) -> int:
    """Derive the whole list again and return its length."""
    lock_chain(connection)
    connection.execute(work_item.delete())
    for batch in chunks(_candidates(connection)):
        rows = _rows(connection, batch, {})
        if rows:
            connection.execute(_INSERT, rows)
    conceal(connection)
    connection.execute(work_tally.delete())
    for (kind, value), n in _tally(connection.execute(_COUNTED)).items():
        connection.execute(_START, {"kind": kind, "value": value, "n": n})
    return count(connection, work_item)


def differences(connection: sa.Connection) -> Iterator[tuple[int | None, str]]:
    """Yield the files whose rows differ from their sources, and how; changes nothing."""
    expected: set[int] = set()
    for batch in chunks(_candidates(connection)):
        query = sa.select(work_item).where(work_item.c.file_id.in_(listed("files")))
        kept = {row["file_id"]: row for row in connection.execute(query, {"files": batch}).mappings()}
        for row in _rows(connection, batch, {}):
            number = row["file_id"]
            expected.add(number)
            found = kept.get(number)
            if found is None:
                yield number, "was removed from the list"
                continue
            changed = [name for name, value in row.items() if found[name] != value and name != "awaits"]
            if changed:
                yield number, f"{', '.join(changed)} changed"
    there = connection.execute(sa.select(work_item.c.file_id).order_by(work_item.c.file_id)).scalars()
    for number in there:
        if number not in expected:
            yield number, "was added to the list"
    for number in connection.execute(_NOT_AS_SHOWN).scalars():
        yield number, "awaits changed"
    stored = sa.select(work_tally.c.kind, work_tally.c.value, work_tally.c.n).where(work_tally.c.n != 0)
    if {(row.kind, row.value): row.n for row in connection.execute(stored)} != _tally(
        connection.execute(_COUNTED)
    ):
        yield None, "counts of the list changed"


def take_in(connection: sa.Connection, results: Mapping[int, FileResult], back: Sequence[int]) -> None:
    """Update the list by recorded results, by file, and by files that came back unchanged."""
    referred = {number: one for number, one in results.items() if one.referral is Referral.REFERRED}
    # Files may leave the list; the result of a copy does not contain whether it is referred.
    others = [number for number in results if number not in referred]
    copies = [number for number in others if results[number].is_copy]
    types = {
        number: types_mask(found.entity_type.value for found in one.findings)
        for number, one in referred.items()
    }
    in_list = (row.file_id for row in rows_in(connection, _IN_LIST, "files", others))
    concerned = dict.fromkeys([*referred, *copies, *in_list, *back])
    refresh(connection, list(concerned), types=types)


def drop_departed(connection: sa.Connection, scan_id: int) -> None:
    """Remove the files that a complete scan did not find on its roots."""
    of_scan = sa.select(scan_root.c.root_id).where(scan_root.c.scan_id == scan_id)
    # Checked for each file in the list, which is short compared with the share.
    previous = sa.exists().where(file.c.id == work_item.c.file_id, file.c.seen_scan_id < scan_id)
    lock_chain(connection)
    gone = sa.select(work_item.c.file_id).where(work_item.c.root_id.in_(of_scan), previous)
    for batch in chunks(connection.execute(gone).scalars()):
        with counted(connection, batch):
            connection.execute(_REMOVE, {"files": batch})


def _candidates(connection: sa.Connection) -> list[int]:
    referred = present(sa.select(file.c.id).select_from(sighting), None).where(
        examination.c.referral == Referral.REFERRED.value
    )
    latest = latest_draw(connection)
    drawn = sa.select(sample_member.c.file_id).where(sample_member.c.draw_id == latest)
    return sorted({*connection.execute(referred).scalars(), *connection.execute(drawn).scalars()})


def _rows(connection: sa.Connection, batch: Sequence[int], types: Mapping[int, int]) -> list[dict[str, Any]]:
    sample = {"files": batch, "draw": latest_draw(connection)}
    members = {row.file_id: row for row in connection.execute(_MEMBERS, sample)}
    standing = [
        row
        for row in current(connection, batch)
        if row.referral == Referral.REFERRED or (row.file_id in members and row.outcome == Outcome.SCREENED)
    ]
    if not standing:
        return []
    contents = {row.file_id: row.content_hash for row in standing}
    results = [row.id for row in standing]
    # The decision that stands for each result may be about a copy.
    given = connection.execute(_VERDICTS, {"examinations": results})
    verdicts = {row.of_file: row for row in given}
    assignees = {row.file_id: row.assignee for row in rows_in(connection, _ASSIGNEES, "files", contents)}
    groups = groups_of(connection, contents)
    awaits = awaited(connection, results, verdicts)
    kinds: dict[int, int] = {}
    unknown = [row.id for row in standing if row.file_id not in types]
    for found in rows_in(connection, _TYPES, "examinations", unknown):
        kinds[found.file_id] = kinds.get(found.file_id, 0) | _BIT[found.entity_type]
    kinds |= types
    hidden = hidden_until(connection, {row.id: row for row in standing}, hiders(connection))
    opened = openings_of(connection, contents)
    rows = []
    for row in standing:
        number = row.file_id
        member = members.get(number)
        verdict = verdicts.get(number)
        waits = awaits[number] if verdict else FIRST
        blind = member is not None and waits not in {NOBODY, LEAD} and _is_of_sample(row, member)
        drawn = member if blind else None
        rows.append(
            {
                "file_id": number,
                "examination_id": row.id,
                "root_id": row.root_id,
                "path_folded": row.path.casefold(),
                "content_hash": row.content_hash,
                "referred": row.referral == Referral.REFERRED,
                "blind": blind,
                "risk": drawn.risk if drawn else row.risk * opened_factor(opened.get(number, NEVER).n_others),
                "doubt": drawn.doubt if drawn else _doubt(row),
                "arrived": row.arrived,
                "media_type": row.media_type,
                "owner": row.owner or str(row.uid),
                "types": 0 if blind else kinds.get(number, 0),
                "score": None if blind else row.health_score,
                "group_id": groups.get(number),
                "state": verdict.verdict if verdict else WorkState.UNDECIDED.value,
                "reviewer": verdict.reviewer if verdict else "",
                "decided": verdict.decided if verdict else None,
                "decision_id": verdict.id if verdict else None,
                "assignee": assignees.get(number, ""),
                "awaits": waits,
                "waits": waits,
                "is_open": waits in {FIRST, SECOND},
                "hidden_until": "" if blind else hidden.get(row.id, ""),
            }
        )
    return rows


def _is_of_sample(row: sa.Row[Any], member: sa.Row[Any]) -> bool:
    """Return whether a drawn file is of the sample: a referred one, while it has the drawn content."""
    if row.referral == Referral.REFERRED:
        return bool(member.referred) and member.content_hash == row.content_hash
    return True


def _doubt(row: sa.Row[Any]) -> float:
    """Return the distance of the score from its threshold; for a random share of the items, a random number.

    The random ones are spread over the whole order: their verdicts are representative of all the others.
    """
    draw = int.from_bytes(sha256(b"lot\0%d" % row.file_id).digest()[:6]) / 2**48
    if draw < RANDOM_SHARE:
        return draw / RANDOM_SHARE * THRESHOLD
    return abs(float(row.health_score or 0.0) - THRESHOLD)


_DRAWN = (
    sa.select(second_review, examination.c.file_id.label("of_file"))
    .select_from(second_review)
    .join(decision, decision.c.id == second_review.c.decision_id)
    .join(examination, is_about(decision, examination))
    .where(examination.c.id.in_(listed("examinations")))
)
_SECONDS = (
    sa.select(second_verdict)
    .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
    .where(second_verdict.c.second_review_id.in_(listed("reviews")), decision_undo.c.id.is_(None))
    .order_by(second_verdict.c.id)
)
_SETTLED = (
    sa.select(adjudication)
    .outerjoin(decision_undo, decision_undo.c.decision_id == adjudication.c.decision_id)
    .where(adjudication.c.second_review_id.in_(listed("reviews")), decision_undo.c.id.is_(None))
    .order_by(adjudication.c.id)
)


def drawn_for(connection: sa.Connection, examination_id: int) -> sa.Row[Any] | None:
    """Return the second review of the content of a result, if there is one."""
    return connection.execute(_DRAWN, {"examinations": [examination_id]}).first()


def current_second_verdicts(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the second verdict of each of these second reviews."""
    return {row.second_review_id: row for row in rows_in(connection, _SECONDS, "reviews", review_ids)}


def settlements(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the adjudication of each of these second reviews."""
    return {row.second_review_id: row for row in rows_in(connection, _SETTLED, "reviews", review_ids)}


def awaited(
    connection: sa.Connection, examination_ids: Sequence[int], verdicts: Mapping[int, sa.Row[Any]]
) -> dict[int, str]:
    """Return which verdict each decided content awaits, by file.

    Args:
        connection: connection to the database.
        examination_ids: the results.
        verdicts: the current decision (verdict, reviewer) by file, of decided files.
    """
    whom = {number: OPENING if row.by_name else NOBODY for number, row in verdicts.items()}
    if not verdicts:
        return whom
    drawn = connection.execute(_DRAWN, {"examinations": list(examination_ids)})
    reviews = {row.of_file: row.id for row in drawn if row.of_file in verdicts}
    if not reviews:
        return whom
    seconds = current_second_verdicts(connection, list(reviews.values()))
    settled = settlements(connection, list(reviews.values()))
    for file_id, review_id in reviews.items():
        if review_id in settled:
            continue
        given, first = seconds.get(review_id), verdicts[file_id]
        # A user's own verdict is not a second one: it became the first when the other was undone.
        if given is None or given.reviewer == first.reviewer:
            whom[file_id] = SECOND
        elif given.verdict != first.verdict:
            whom[file_id] = LEAD
    return whom
