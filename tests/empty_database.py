"""New SQLite databases for tests: each a copy of one that the baseline made once in this process."""

import tempfile
from functools import cache
from pathlib import Path

from phiscan.review.store import Store
from phiscan.store.database import Database, open_database


@cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "phiscan.db"
        open_database(f"sqlite:///{path}", create=True).close()
        return path.read_bytes()


def new_database(path: Path) -> Database:
    """Write an empty database of the present schema and open it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_empty())
    return open_database(f"sqlite:///{path}", create=False)


def new_store(path: Path) -> Store:
    return Store(new_database(path))
