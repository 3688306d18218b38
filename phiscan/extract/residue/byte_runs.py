"""Runs of printable characters in binary data, in one byte or two for each, with their place."""

from __future__ import annotations

from collections.abc import Iterator

import re2

from phiscan.text.automata import options, spans

BYTES = options()  # in a pattern of bytes
BYTES.encoding = re2.Options.Encoding.LATIN1
_NARROW = re2.compile(rb"[\x20-\x7e\xc0-\xff\t\r\n]{40,}", BYTES)
_WIDE = re2.compile(rb"(?:[\x20-\x7e\xc0-\xff\t\r\n]\x00){30,}", BYTES)
_MOST_BYTES = 64 * 1024**2
_MOST_RUNS = 20_000


def byte_runs(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield place and text of each run, from the beginning, those of one byte first."""
    data = data[:_MOST_BYTES]
    n_runs = 0
    for pattern, encoding in ((_NARROW, "cp1252"), (_WIDE, "utf-16-le")):
        for start, end in spans(pattern, data):
            n_runs += 1
            if n_runs > _MOST_RUNS:
                return
            yield start, data[start:end].decode(encoding, "replace")
