"""A table of the report: HTML shows its beginning, CSV and PDF are made from the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure

Kind = Literal[
    "text", "path", "count", "share", "number", "figure", "ratio", "total", "time", "verdict", "flag", "id"
]
Cell = str | int | float | datetime | Figure | Total | tuple[float, float] | None

CAP = 100  # rows shown in HTML and PDF; CSV contains all


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in CSV, its heading, and the format of its cells; ``shown``: also on the page."""

    key: str
    label: str
    kind: Kind = "text"
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table with all its rows; ``bar`` names a count column that HTML also draws."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bar: str = ""
    cap: int = CAP
