"""Items hidden by suppressions: those without any remaining finding that could identify a person.

An item is hidden if every finding of it that can identify a person matches an active suppression. Findings of
``NOT_BY_THEMSELVES`` do not keep an item in the list: by themselves they identify nobody. Blind items are
never hidden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from phiscan.model import EntityType
from phiscan.store.column_types import iso
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import finding, suppression, suppression_approval, suppression_lift

NOT_BY_THEMSELVES: Final = frozenset(
    {
        EntityType.ORGANIZATION,
        EntityType.LOCATION,
        EntityType.DATE,
        EntityType.HEALTH_PROFESSIONAL,
        EntityType.URL,
    }
)

_IN_FORCE = (
    sa.select(suppression)
    .outerjoin(suppression_lift, suppression_lift.c.suppression_id == suppression.c.id)
    .outerjoin(suppression_approval, suppression_approval.c.suppression_id == suppression.c.id)
    .where(
        suppression_lift.c.id.is_(None),
        sa.or_(suppression.c.needs_approval.is_(False), suppression_approval.c.id.is_not(None)),
    )
)


@dataclass(frozen=True, slots=True)
class Hider:
    """An active suppression: what it matches, where, and until when (UTC, ISO 8601)."""

    kind: str
    target: str
    root_id: int | None
    folder: str
    until: str

    def covers(self, root_id: int, path: str) -> bool:
        """Return whether a file is inside of the suppression's scope."""
        if self.root_id is not None and self.root_id != root_id:
            return False
        return not self.folder or path.startswith(self.folder + "/")


@dataclass(frozen=True, slots=True)
class Place:
    """A file in the list: its examination, root and path."""

    examination_id: int
    root_id: int
    path: str  # display form


def is_named(kind: str, target: str) -> sa.ColumnElement[bool]:
    """Return the condition that a finding has the value, or is of the rule, that a suppression names."""
    return (finding.c.source if kind == "rule" else finding.c.identity) == target


def hiders(connection: sa.Connection) -> list[Hider]:
    """Return the approved suppressions that are not lifted; the reader checks their end."""
    return [
        Hider(row.kind, row.target, row.root_id, row.folder, iso(row.until))
        for row in connection.execute(_IN_FORCE)
    ]


def hidden_until(
    connection: sa.Connection, places: Sequence[Place], applied: Sequence[Hider]
) -> dict[int, str]:
    """Return by examination until when it is hidden (UTC, ISO 8601); visible ones are omitted."""
    if not applied:
        return {}
    where = {place.examination_id: place for place in places}
    by_target: dict[tuple[str, str], list[Hider]] = {}
    for hider in applied:
        by_target.setdefault((hider.kind, hider.target), []).append(hider)
    until: dict[int, str] = {}
    for batch in chunks(where):
        query = (
            sa.select(finding.c.examination_id, finding.c.identity, finding.c.source)
            .where(
                finding.c.examination_id.in_(batch),
                finding.c.entity_type.not_in([kind.value for kind in NOT_BY_THEMSELVES]),
            )
            .distinct()
        )
        for examination_id, identity, source in connection.execute(query):
            ends = _ends(where[examination_id], identity, source, by_target)
            # It returns to the list with the first finding whose suppression ends.
            until[examination_id] = min(until.get(examination_id, ends), ends)
    return {examination_id: ends for examination_id, ends in until.items() if ends}


def _ends(
    place: Place, identity: str, source: str, by_target: Mapping[tuple[str, str], Sequence[Hider]]
) -> str:
    """Return until when a finding is suppressed; "" = it is not."""
    applied = [*by_target.get(("value", identity), ()), *by_target.get(("rule", source), ())]
    return max((one.until for one in applied if one.covers(place.root_id, place.path)), default="")
