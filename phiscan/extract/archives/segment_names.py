"""Names of the segments of a file that was cut: ``disk.001``, ``disk.E01``, ``a.z01``, ``a.dd.aa``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERED = re.compile(rb"(?s)(.+\.)(0{1,3}[01]|\d{3})")
_LETTERED = re.compile(rb"(?s)(.+\.(?:dd|img|raw|bin|iso|zip|7z|tar|gz|tgz|e01)?\.?)([a-z]{2})")
_ENCASE = re.compile(rb"(?s)(.+\.)([EeLlSs])(\d\d|[A-Za-z]{2})")
_SPLIT_ZIP = re.compile(rb"(?s)(.+\.)([zZ])(?:([iI][pP])|(\d\d))")
_N_LETTERS = 26
_LAST_OF_TWO_DIGITS = 99
MOST_SEGMENTS = 60  # as many descriptors fit in one message


@dataclass(frozen=True, slots=True)
class SegmentName:
    """The place of one name in a series; number 1 is the segment with which reading begins.

    The last part of a split ZIP, ``a.zip``, has number 0: its directory says how many come before it.
    """

    stem: bytes
    style: str
    number: int

    def name(self, number: int) -> bytes:
        """Return the name of another segment of the series."""
        if self.style == "zip":
            return self.stem + (b"zip" if number == 0 else b"z%02d" % number)
        if self.style == "ZIP":
            return self.stem + (b"ZIP" if number == 0 else b"Z%02d" % number)
        if self.style == "letters":
            return self.stem + _letters(number - 1, b"a")
        if self.style.isdigit():
            return self.stem + b"%0*d" % (int(self.style), number)
        return self.stem + _encase(self.style.encode("ascii"), number)

    @property
    def first(self) -> bytes:
        """The name of the file with which the series is read; of a split ZIP that is ``a.zip``."""
        return self.name(0 if self.style in {"zip", "ZIP"} else 1)


def _letters(index: int, first: bytes) -> bytes:
    high, low = divmod(index, _N_LETTERS)
    return bytes([first[0] + high % _N_LETTERS, first[0] + low])


def _encase(first: bytes, number: int) -> bytes:
    if number <= _LAST_OF_TWO_DIGITS:
        return first + b"%02d" % number
    index = number - _LAST_OF_TWO_DIGITS - 1
    head, rest = divmod(index, _N_LETTERS * _N_LETTERS)
    return bytes([first[0] + head]) + _letters(rest, b"A" if first.isupper() else b"a")


def segment_of(name: bytes) -> SegmentName | None:
    """Return the place of a name in a series of segments, from its ending alone; None where it has none.

    >>> segment_of(b"disk.E02").name(1), segment_of(b"a.7z.001").number, segment_of(b"letter.docx")
    (b'disk.E01', 1, None)
    """
    if match := _SPLIT_ZIP.fullmatch(name):
        style = "ZIP" if match[2] == b"Z" else "zip"
        return SegmentName(match[1], style, int(match[4] or 0))
    if (match := _NUMBERED.fullmatch(name)) and int(match[2]):
        return SegmentName(match[1], str(len(match[2])), int(match[2]))
    if (match := _ENCASE.fullmatch(name)) and match[3].isdigit() and int(match[3]):
        return SegmentName(match[1], match[2].decode("ascii"), int(match[3]))
    if match := _LETTERED.fullmatch(name):
        high, low = match[2]
        return SegmentName(match[1], "letters", (high - 97) * _N_LETTERS + low - 97 + 1)
    return None
