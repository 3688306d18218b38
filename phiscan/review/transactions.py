"""Functions over a connection as methods of an object over a database: one transaction per call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa

from phiscan.store.database import Database

P = ParamSpec("P")
R = TypeVar("R")


class OverDatabase(Protocol):
    """An object with a database."""

    @property
    def database(self) -> Database:
        """The database."""


def reading(
    function: Callable[Concatenate[sa.Connection, P], R],
) -> Callable[Concatenate[OverDatabase, P], R]:
    """Return a method that calls a function with a connection in a reading transaction.

    The arguments after the connection are the function's own, so that they are declared only there. Not for
    generators: the transaction ends when the function returns.
    """

    def method(self: OverDatabase, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.database.read() as connection:
            return function(connection, *args, **kwargs)

    return method


def writing(
    function: Callable[Concatenate[sa.Connection, P], R], *, durable: bool = True
) -> Callable[Concatenate[OverDatabase, P], R]:
    """Return a method that calls a function in a writing transaction, by default a durable one."""

    def method(self: OverDatabase, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.database.write(lambda connection: function(connection, *args, **kwargs), durable=durable)

    return method
