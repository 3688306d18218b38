"""Damaged pages of the database are found before a scan writes into it, and the way back is named."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.review.maintenance.backup import require_sound
from phiscan.review.store import Store
from tests.review.results import scan, url_of


def damage(path: Path) -> None:
    """Overwrite the page in which the table of findings begins."""
    engine = sa.create_engine(url_of(path))
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'finding' AND type = 'table'"
        page = connection.exec_driver_sql(query).scalar_one()
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    engine.dispose()
    with path.open("r+b") as stream:
        stream.seek((page - 1) * size)
        stream.write(b"\xff" * size)


def test_damaged_pages_are_found_and_the_way_back_is_named(store: Store, database: Path) -> None:
    scan(store)
    require_sound(store.database)
    store.close()
    damage(database)
    with (
        Store.open(url_of(database)) as opened,
        pytest.raises(StoreError, match=r"damaged .*`phiscan db restore FILE`"),
    ):
        require_sound(opened.database)


def test_a_server_is_not_asked(server: object, store: Store) -> None:
    assert server is not None
    require_sound(store.database)
