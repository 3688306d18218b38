"""Reading of the small CSV tables of the estimate and score commands.

Messages name file, line and field, never the content: the table may be the wrong one, with patients in it.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phiscan.errors import InputError

_MAX_DIGITS = 100


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file with a header; ``rows`` are stripped texts, one per column; ``lines`` are line numbers."""

    path: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def where(self, row: int, column: str) -> str:
        """Return the position of a cell for a message: file, line, field."""
        return f"{self.path}: line {self.lines[row]}, field {column}"

    def column(self, name: str) -> tuple[str, ...]:
        """Return one column.

        Raises:
            InputError: there is no such column.
        """
        if name not in self.header:
            raise InputError(
                self.path, f"line 1: expected a column '{name}' among the {len(self.header)} there"
            )
        index = self.header.index(name)
        return tuple(row[index] for row in self.rows)

    def integers(self, name: str, *, low: int = 0, high: int | None = None) -> tuple[int, ...]:
        """Return one column as whole numbers in [low, high].

        Raises:
            InputError: names the file, the line and the field.
        """
        span = f"of {low} or more" if high is None else f"from {low} to {high}"
        values = []
        for row, text in enumerate(self.column(name)):
            # Digits alone: int() would also take 1_000 and the digits of other scripts.
            plain = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
            value = int(text) if plain else low - 1
            if value < low or (high is not None and value > high):
                raise InputError(self.where(row, name), f"expected a whole number {span}")
            values.append(value)
        return tuple(values)

    def distinct(self, name: str, what: str) -> tuple[str, ...]:
        """Return one column in which every value occurs once.

        Raises:
            InputError: names the file, the line and the field.
        """
        first: dict[str, int] = {}
        for row, value in enumerate(self.column(name)):
            if first.setdefault(value, row) != row:
                raise InputError(
                    self.where(row, name), f"expected every {what} once, this one is a duplicate"
                )
        return tuple(first)


def read_table(path: str | Path, required: Sequence[str] = ()) -> Table:
    """Read a UTF-8 CSV file with a header row; blank lines are skipped.

    Raises:
        InputError: names the file and the line, and says what was expected.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            parsed = [(reader.line_num, tuple(cell.strip() for cell in row)) for row in reader if any(row)]
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}: expected UTF-8") from None
    except csv.Error as error:
        raise InputError(path, f"line {reader.line_num}: expected CSV: {error}") from None
    if not parsed:
        raise InputError(path, "line 1: expected a header, found an empty file")
    header = parsed[0][1]
    if len(set(header)) != len(header):
        raise InputError(path, "line 1: expected every column name once")
    for line, row in parsed[1:]:
        if len(row) != len(header):
            raise InputError(path, f"line {line}: expected {len(header)} fields, found {len(row)}")
    table = Table(str(path), header, tuple(row for _, row in parsed[1:]), tuple(n for n, _ in parsed[1:]))
    for name in required:
        table.column(name)
    return table
