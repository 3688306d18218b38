"""CSV, TSV and their kin: dialect and encoding found, not assumed."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.spreadsheets.rows import Row, lay_out

_DELIMITERS = ",;\t|\x01\x1e\x1f"
_SAMPLE_LINES = 50


class DelimitedExtractor:
    """Read delimited text with its header row as labels."""

    media_types = frozenset({"text/csv"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per row, ``#row7``; the number is that of the row's first line."""
        text, _ = decode(sink.bound(content.data, content.locator))
        # The reader knows no line that ends with a carriage return alone.
        text = text.replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")
        for number, line in lay_out(_rows(text)):
            sink.add(line, content.place(f"row{number}"))


def find_delimiter(text: str) -> str:
    r"""Return the delimiter whose count per line is the highest and the most even.

    >>> find_delimiter("a;b;c\n1,5;2;3\n")
    ';'
    """
    lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]

    def evenness(delimiter: str) -> tuple[float, float]:
        counts = [line.count(delimiter) for line in lines]
        if not any(counts):
            return (0.0, 0.0)
        usual = max(set(counts), key=counts.count)
        share = counts.count(usual) / len(counts) if usual else 0.0
        return (share, sum(counts) / len(counts))

    return max(_DELIMITERS, key=evenness)


def _rows(text: str) -> Iterator[Row]:
    delimiter = find_delimiter(text[:65536])
    csv.field_size_limit(2**31 - 1)
    # An unbalanced quote would swallow the rest of the file into one cell.
    balanced = text.count('"') % 2 == 0
    reader = csv.reader(
        _lines(text),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if balanced else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    number = 1
    for row in reader:
        yield number, row
        number = reader.line_num + 1


def _lines(text: str) -> Iterator[str]:
    """Yield the lines with their ends; a copy of the whole text would cost four bytes a character."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start : end + 1]
        start = end + 1
    if start < len(text):
        yield text[start:]
