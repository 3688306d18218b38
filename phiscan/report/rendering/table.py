"""A table of the report: HTML shows its beginning, CSV and PDF are made from the same rows.

A column is one line: its key, heading and kind, and the attribute or function that gives its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure

Kind = Literal[
    "text", "path", "count", "share", "number", "figure", "ratio", "total", "time", "verdict", "flag", "id"
]
Cell = str | int | float | datetime | Figure | Total | tuple[float, float] | None

CAP = 100  # rows shown in HTML and PDF; CSV contains all


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in CSV, its heading, and the format of its cells; ``shown``: also on the page.

    ``of``: the cell of an object, a function or the name of an attribute; "" = the attribute named ``key``.
    """

    key: str
    label: str
    kind: Kind = "text"
    of: str | Callable[[Any], Cell] = ""
    shown: bool = True

    def cell(self, one: Any) -> Cell:
        """Return the cell of an object."""
        value: Cell = self.of(one) if callable(self.of) else attrgetter(self.of or self.key)(one)
        return str(value) if self.kind == "id" else value


@dataclass(frozen=True, slots=True)
class Table:
    """A table with all its rows; ``bar`` names a count column that HTML also draws."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bar: str = ""
    cap: int = CAP


def table_of(
    name: str,
    caption: str,
    columns: tuple[Column, ...],
    found: Iterable[Any],
    *,
    bar: str = "",
    cap: int = CAP,
) -> Table:
    """Return the table of some objects, a row each."""
    rows = tuple(tuple(column.cell(one) for column in columns) for one in found)
    return Table(name, caption, columns, rows, bar=bar, cap=cap)
