"""Groups of files with nearly equal text, by MinHash signatures; a group is decided once.

A signature is a MinHash of 64 values of 32 bits, made at scan time with the secret key. Two files are
compared only if four adjacent values agree somewhere (16 bands of 4), and grouped if at least 80% of all
values do: every member is that similar to the group's first file, so that groups cannot drift.

Source: Broder (1997), "On the resemblance and containment of documents"; bands: Leskovec, Rajaraman & Ullman,
"Mining of Massive Datasets", section 3.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import SECOND, GroupMember, WorkState
from phiscan.store.database import Database
from phiscan.store.sql_batches import as_value, chunks
from phiscan.store.tables.desk import near_group, near_signature, work_item
from phiscan.store.tables.scans import file, root

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_VALUES = 64
N_BANDS = 16
N_ROWS = N_VALUES // N_BANDS
MAX_COMPARED = 20  # first files of one band that a file is compared with: limits the work on shares of forms

_BLIND = work_item.alias()
IS_BLIND = sa.exists().where(_BLIND.c.file_id == near_group.c.file_id, _BLIND.c.blind)
"""Blind files are excluded from their groups: only referred files are compared, so a group would reveal which
they are. Checked per member: a list of all blind files would need every row of the review list."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """A file and the first file of its group, which may be itself."""

    file_id: int
    group_id: int
    content_hash: str
    similarity: float


def regroup_all(database: Database) -> int:
    """Find all groups again, write them, and return their number."""
    with database.read() as connection:  # compares all signatures: no writer should wait for that
        groups = find_groups(connection)
    return database.write(lambda connection: regroup(connection, groups))


def find_groups(connection: sa.Connection) -> tuple[Grouped, ...]:
    """Find the groups of the files in the list; a file without near-duplicates is in none."""
    query: sa.Select[Any] = (
        sa.select(work_item.c.file_id, work_item.c.content_hash, near_signature.c.signature)
        .outerjoin(near_signature, near_signature.c.examination_id == work_item.c.examination_id)
        .order_by(work_item.c.file_id)
    )
    rows = connection.execute(query).all()
    first_of: dict[str, int] = {}
    for file_id, content_hash, _ in rows:
        first_of.setdefault(content_hash, file_id)
    leaders = _near([row for row in rows if row[2] and first_of[row[1]] == row[0]])
    led = {content_hash: leaders.get(copied, (copied, 1.0)) for content_hash, copied in first_of.items()}
    sizes = Counter(led[content_hash][0] for _, content_hash, _ in rows)
    return tuple(
        Grouped(file_id, led[content_hash][0], content_hash, led[content_hash][1])
        for file_id, content_hash, _ in rows
        if sizes[led[content_hash][0]] > 1
    )


def regroup(connection: sa.Connection, groups: Sequence[Grouped]) -> int:
    """Replace the stored groups, and return their number."""
    stored = connection.execute(sa.select(near_group))
    before = {row.file_id: as_value(Grouped, row) for row in stored}
    now = {one.file_id: one for one in groups}
    changed = [number for number in {*before, *now} if before.get(number) != now.get(number)]
    for batch in chunks(changed):
        connection.execute(near_group.delete().where(near_group.c.file_id.in_(batch)))
        rows = [asdict(now[number]) for number in batch if number in now]
        if rows:
            connection.execute(near_group.insert(), rows)
        mine = sa.select(near_group.c.group_id).where(
            near_group.c.file_id == work_item.c.file_id, near_group.c.content_hash == work_item.c.content_hash
        )
        here = work_item.c.file_id.in_(batch)
        connection.execute(work_item.update().where(here).values(group_id=mine.scalar_subquery()))
    work_rows.conceal(connection)
    return len({one.group_id for one in groups})


def members(connection: sa.Connection, group_id: int, *, viewer: str) -> tuple[GroupMember, ...]:
    """Return the files of a group, its first file first; a blind second reviewer sees no first verdict."""
    query: sa.Select[Any] = (
        sa.select(near_group, root.c.display.label("root"), file.c.display.label("path"))
        .add_columns(work_item.c.state, work_item.c.reviewer, work_item.c.awaits)
        .join(file, file.c.id == near_group.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .outerjoin(work_item, work_item.c.file_id == near_group.c.file_id)
        .where(near_group.c.group_id == group_id, ~IS_BLIND)
        .order_by(near_group.c.file_id)
    )
    found = []
    for row in connection.execute(query):
        concealed = row.state is None or (row.awaits == SECOND and row.reviewer != viewer)
        state = WorkState.UNDECIDED if concealed else WorkState(row.state)
        reviewer, in_list = "" if concealed else row.reviewer, row.state is not None
        found.append(as_value(GroupMember, row, state=state, reviewer=reviewer, in_list=in_list))
    return tuple(found)


def _near(rows: Sequence[sa.Row[Any]]) -> dict[int, tuple[int, float]]:
    """Return for each file the first similar file and the similarity; for others, themselves."""
    if not rows:
        return {}
    import numpy as np  # noqa: PLC0415 (most scans have nothing to compare, and its import takes 0.1 s)

    signatures = np.frombuffer(b"".join(row.signature for row in rows), dtype="<u4").reshape(-1, N_VALUES)
    bands = _bands(signatures)
    first_files: list[dict[int, list[int]]] = [{} for _ in range(N_BANDS)]
    found: dict[int, tuple[int, float]] = {}
    for place, keys in enumerate(bands):
        near = sorted({one for band, key in enumerate(keys) for one in first_files[band].get(key, ())})
        if near:
            shares = (signatures[near] == signatures[place]).mean(axis=1)
            best = int(shares.argmax())
            if shares[best] >= work_rows.MIN_SIMILARITY:
                found[rows[place].file_id] = (rows[near[best]].file_id, float(shares[best]))
                continue
        found[rows[place].file_id] = (rows[place].file_id, 1.0)
        for band, key in enumerate(keys):
            leaders = first_files[band].setdefault(key, [])
            if len(leaders) < MAX_COMPARED:
                leaders.append(place)
    return found


def _bands(signatures: NDArray[np.uint32]) -> list[list[int]]:
    """Return the key of each band of each signature: 64 bits mixed of its four values."""
    import numpy as np  # noqa: PLC0415 (see above)

    wide = signatures.astype(np.uint64).reshape(len(signatures), N_BANDS, N_ROWS)
    keys = np.zeros((len(signatures), N_BANDS), dtype=np.uint64)
    for row in range(N_ROWS):
        keys = (keys ^ wide[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    listed: list[list[int]] = keys.tolist()
    return listed
