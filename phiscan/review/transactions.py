"""Functions over a connection as methods of an object over a database: one transaction per call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa

from phiscan.store.database import Database

P = ParamSpec("P")
R = TypeVar("R")


class OverDatabase(Protocol):
    """An object with a database."""

    @property
    def database(self) -> Database:
        """The database."""


@dataclass(frozen=True)
class Reading(Generic[P, R]):
    """A method that calls a function with a connection in a reading transaction.

    The arguments after the connection are the function's own, so that they are declared only there. Not for
    generators: the transaction ends when the function returns.
    """

    function: Callable[Concatenate[sa.Connection, P], R]

    def __get__(self, instance: OverDatabase, owner: type[OverDatabase]) -> Callable[P, R]:
        """Return the method of an object."""

        def method(*args: P.args, **kwargs: P.kwargs) -> R:
            with instance.database.read() as connection:
                return self.function(connection, *args, **kwargs)

        return method


@dataclass(frozen=True)
class Writing(Generic[P, R]):
    """A method that calls a function with a connection in a writing transaction; see ``Database.write``.

    ``durable``: what it wrote survives a power cut once the method returns.
    """

    function: Callable[Concatenate[sa.Connection, P], R]
    durable: bool = True

    def __get__(self, instance: OverDatabase, owner: type[OverDatabase]) -> Callable[P, R]:
        """Return the method of an object."""

        def method(*args: P.args, **kwargs: P.kwargs) -> R:
            return instance.database.write(
                lambda connection: self.function(connection, *args, **kwargs), durable=self.durable
            )

        return method
