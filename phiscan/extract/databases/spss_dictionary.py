"""The dictionary of an SPSS file, walked record by record before a library reads it.

Labels of values that name no variable, or one of another type, end the library's process. What is not sound
is left to the search for runs of text.
Source: the description of the system file format in the documentation of GNU PSPP.
"""

from __future__ import annotations

import struct

_LAYOUT_AT, _HEADER_BYTES = 64, 176
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_LONGEST_LABEL = 64 * 1024
_CONTINUED = -1  # the type of a further eight bytes of a string
_SHORT_STRING, _WIDEST, _MOST_MISSING = 8, 255, 3


def has_sound_dictionary(data: bytes) -> bool:
    """Tell whether the records follow each other, and labels of values name variables of their type."""
    try:
        return _Walk(data).is_sound()
    except (struct.error, IndexError):
        return False


class _Walk:
    """Goes from record to record."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = _HEADER_BYTES
        self._order = "<" if struct.unpack_from("<i", data, _LAYOUT_AT)[0] in (2, 3) else ">"
        self._types: list[int] = []
        self._n_continued = 0  # records of the last string that must follow

    def is_sound(self) -> bool:
        steps = {_VARIABLE: self._variable, _LABELS: self._labels, _EXTENSION: self._extension}
        steps[_DOCUMENT] = self._document
        while (kind := self._integer()) != _END:
            step = steps.get(kind)
            if step is None or not step():
                return False
        return bool(self._types) and not self._n_continued

    def _integer(self) -> int:
        value: int = struct.unpack_from(self._order + "i", self._data, self._at)[0]
        self._at += 4
        return value

    def _skip(self, n_bytes: int) -> bool:
        self._at += n_bytes
        return n_bytes >= 0 and self._at <= len(self._data)

    def _variable(self) -> bool:
        width, has_label, n_missing = self._integer(), self._integer(), self._integer()
        self._types.append(width)
        if not self._skip(16) or not _CONTINUED <= width <= _WIDEST or abs(n_missing) > _MOST_MISSING:
            return False
        if (width == _CONTINUED) != (self._n_continued > 0):
            return False
        self._n_continued = self._n_continued - 1 if width == _CONTINUED else max(-(-width // 8) - 1, 0)
        if has_label:
            length = self._integer()
            if not 0 <= length <= _LONGEST_LABEL or not self._skip(-(-length // 4) * 4):
                return False
        return self._skip(abs(n_missing) * 8)

    def _labels(self) -> bool:
        values = self._labelled_values()
        if not values or self._integer() != _LABELLED:
            return False
        n_variables = self._integer()
        if not 0 < n_variables <= len(self._types):
            return False
        named = [self._integer() for _ in range(n_variables)]
        if not all(0 < number <= len(self._types) for number in named):
            return False
        widths = [self._types[number - 1] for number in named]
        if all(width == 0 for width in widths):
            return True
        return all(0 < width <= _SHORT_STRING for width in widths) and all(
            value.isascii() and b"\0" not in value for value in values
        )

    def _labelled_values(self) -> list[bytes]:
        """Return the values of a record of labels; none where it is damaged."""
        found = []
        for _ in range(max(min(self._integer(), len(self._data) // 16), 0)):
            found.append(self._data[self._at : self._at + 8])
            length = self._data[self._at + 8]
            if not self._skip(8 + (length // 8 + 1) * 8):
                return []
        return found

    def _document(self) -> bool:
        return self._skip(80 * self._integer())

    def _extension(self) -> bool:
        _, size, count = self._integer(), self._integer(), self._integer()
        return size >= 0 and count >= 0 and self._skip(size * count)
