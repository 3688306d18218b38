"""The members of the current random sample, which no page and no command tells."""

import sqlalchemy as sa

from phiscan.store.database import Database
from phiscan.store.tables.desk import sample_draw, sample_member


def members(database: Database, *, referred: bool) -> list[int]:
    """Return the files of the last draw of one kind, in their random order."""
    last = sa.select(sa.func.max(sample_draw.c.id)).scalar_subquery()
    query = sa.select(sample_member.c.file_id).where(
        sample_member.c.referred.is_(referred), sample_member.c.draw_id == last
    )
    with database.read() as connection:
        return [*connection.execute(query.order_by(sample_member.c.place)).scalars()]
