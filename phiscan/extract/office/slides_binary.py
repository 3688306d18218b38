"""Legacy PowerPoint (PPT 97 to 2003): the text atoms of slides, notes, masters and comments.

Source: [MS-PPT] 2.3.1 (record header), 2.9.42 (TextCharsAtom), 2.9.43 (TextBytesAtom).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

_CONTAINER = 0x0F
_TEXT_CHARS, _TEXT_BYTES, _CSTRING = 0x0FA0, 0x0FA8, 0x0FBA
_PLACES = {
    0x03E8: "presentation",
    0x03EE: "slide",
    0x03F0: "notes",
    0x03F8: "master",
    0x0FF0: "slide",  # the outline text of the slides, in the list of slides
    0x2EE0: "comments",
}
_LIST_WITH_TEXT = 0x0FF0
_OBJECT = 0x1011  # ExOleObjStg, deflated when its instance is 1
_MAX_DEPTH = 64


def atoms(ole: Any) -> list[tuple[str, str]]:
    """Return ``(place, text)`` per slide, notes page and master; also what fast saving kept."""
    stream = ole.openstream("PowerPoint Document").read()
    gathered: dict[str, list[str]] = {}
    for place, text in _walk(stream, 0, len(stream), "presentation", 0):
        cleaned = text.replace("\r", "\n").replace("\x0b", "\n").replace("\0", "").strip()
        if cleaned and not cleaned.startswith("___PPT"):  # the names of binary tags
            gathered.setdefault(place, []).append(cleaned)
    return [(place, "\n".join(lines)) for place, lines in gathered.items() if lines]


def objects(ole: Any, inflate: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """Yield the compound files of embedded objects; ``inflate`` unpacks within the budget."""
    stream = ole.openstream("PowerPoint Document").read()
    at = 0
    while at + 8 <= len(stream):
        version, kind, size = struct.unpack_from("<HHI", stream, at)
        body = stream[at + 8 : at + 8 + size] if kind == _OBJECT else b""
        if body:
            yield inflate(body[4:]) if version >> 4 else body
        at += 8 + size


def _walk(stream: bytes, start: int, end: int, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Walk the records; a container's records lie inside it. Depth is bounded, damaged lengths are cut."""
    at = start
    while at + 8 <= end:
        version, kind, size = struct.unpack_from("<HHI", stream, at)
        body, after = at + 8, min(at + 8 + size, end)
        if version & 0x0F == _CONTAINER:
            if depth >= _MAX_DEPTH:
                after = body  # its records are read as if they were beside it
            else:
                inner = _PLACES.get(kind, place)
                if kind in _PLACES and kind != _LIST_WITH_TEXT:
                    inner = f"{inner}@{at}" if inner != "presentation" else inner
                yield from _walk(stream, body, after, inner, depth + 1)
        elif kind in (_TEXT_CHARS, _CSTRING):
            yield place, stream[body:after].decode("utf-16-le", "replace")
        elif kind == _TEXT_BYTES:
            yield place, stream[body:after].decode("latin-1")
        at = after
