"""Dictionary files: text to ``Dictionary``.

The format, one for every file in dictionaries/: header lines ``# key: value`` (``source``, ``licence``,
``version``, ``date``, ``normalisation`` are required), then one entry per line, columns separated by a
tab. The first column is the term; what the others mean is in the header's ``columns``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from phiscan.errors import DictionaryError

REQUIRED_HEADER = ("source", "licence", "version", "date", "normalisation")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A list of terms with its origin; ``rows`` holds one tuple of columns per entry, term first."""

    name: str
    header: Mapping[str, str]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def terms(self) -> tuple[str, ...]:
        """The first column of every entry."""
        return tuple(row[0] for row in self.rows)


def load_dictionary(path: Path) -> Dictionary:
    """Read one dictionary file.

    Raises:
        DictionaryError: names the file and the line, and says what was expected there.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise DictionaryError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DictionaryError(path, f"byte {error.start}: expected UTF-8") from None
    header: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    n_columns = 0
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            key, colon, value = line[1:].partition(":")
            if not colon or rows:
                message = f"{path}: line {number}: expected '# key: value' lines only at the top"
                raise DictionaryError(message)
            header[key.strip()] = value.strip()
        elif line.strip():
            columns = tuple(line.split("\t"))
            n_columns = n_columns or len(columns)
            if len(columns) != n_columns or not columns[0].strip():
                raise DictionaryError(
                    path, f"line {number}: expected {n_columns} tab-separated columns, the term first"
                )
            rows.append(columns)
    missing = [key for key in REQUIRED_HEADER if not header.get(key)]
    if missing:
        raise DictionaryError(path, f"line 1: expected the header lines {', '.join(missing)}")
    return Dictionary(path.stem, header, tuple(rows))
