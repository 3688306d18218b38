"""Read data files given by the user, with the hash that a report prints."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path

from phiscan.errors import InputError


def read_rows(path: Path, n_columns: int) -> tuple[list[list[str]], str]:
    """Return the rows of a CSV file without header, cells stripped, and the SHA-256 of the file.

    Empty lines and lines that begin with "|" (as in adult.test) are skipped.

    Raises:
        InputError: the file cannot be read, or a line has another number of columns.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}"
        raise InputError(message) from None
    rows = []
    lines = csv.reader(io.StringIO(content.decode("utf-8", errors="replace"), newline=""))
    for number, cells in enumerate(lines, start=1):
        if not cells or cells[0].startswith("|"):
            continue
        if len(cells) != n_columns:
            message = f"{path}: line {number}: expected {n_columns} columns, found {len(cells)}"
            raise InputError(message)
        rows.append([cell.strip() for cell in cells])
    if not rows:
        message = f"{path}: line 1: expected rows of {n_columns} columns, found none"
        raise InputError(message)
    return rows, hashlib.sha256(content).hexdigest()
