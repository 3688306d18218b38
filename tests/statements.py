"""Compiled SQL statements, shared by all databases that the tests of one process open.

SQLAlchemy keeps compiled statements for each engine. The program opens one engine for all its work; the tests
open thousands, and half of their time was the compilation of the same statements. Engines of the same
dialect and driver have the same SQL, so they share one cache here.
"""

from functools import wraps
from typing import Any

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

N_STATEMENTS = 4000
_create_engine = sa.create_engine


class SharedStatements(LRUCache[Any, Any]):
    """A cache whose keys leave out the first part of SQLAlchemy's keys: the engine's own dialect object."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)


_SHARED: dict[tuple[str, str], SharedStatements] = {}


@wraps(_create_engine)
def create_engine(*arguments: Any, **options: Any) -> sa.Engine:
    engine = _create_engine(*arguments, **options)
    dialect = engine.dialect.name, engine.dialect.driver
    shared = _SHARED.setdefault(dialect, SharedStatements(N_STATEMENTS))
    engine.update_execution_options(compiled_cache=shared)
    return engine


sa.create_engine = create_engine
