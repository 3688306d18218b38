"""Files wrapped for other systems by Macintosh programs: AppleSingle, AppleDouble.

Shares that Macs use are full of them, named with a dot and an underscore; mail holds them too.
Source: RFC 1740, appendices A and B.
"""

from __future__ import annotations

import struct

from phiscan.extract.compound_parts.text_runs import is_prose, narrow_runs, wide_runs
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

_HEAD_BYTES, _ENTRY_BYTES = 26, 12
_DATA, _NAME, _COMMENT = 1, 3, 4
_NAMED_TEXTS = {_NAME: "Name", _COMMENT: "Comment"}
_MOST_ENTRIES = 64
_MOST_BYTES = 16 * 1024**2  # of a resource fork or attributes that are looked through for text


class AppleFileExtractor:
    """Read AppleSingle and AppleDouble."""

    media_types = frozenset({"application/applefile"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add name, comment and the text in resources and attributes; read the file itself as a member."""
        lines: list[str] = []
        member = b""
        data = content.data
        n_entries = struct.unpack_from(">H", data, _HEAD_BYTES - 2)[0] if len(data) >= _HEAD_BYTES else 0
        for index in range(min(n_entries, _MOST_ENTRIES)):
            at = _HEAD_BYTES + index * _ENTRY_BYTES
            if at + _ENTRY_BYTES > len(data):
                sink.fail(content.locator, FailReason.CORRUPT, "cut short")
                break
            kind, start, size = struct.unpack_from(">III", data, at)
            body = data[start : start + size]
            if len(body) < size:
                sink.fail(content.locator, FailReason.CORRUPT, "cut short")
            if kind == _DATA:
                member = body
            elif kind in _NAMED_TEXTS and body:
                lines.append(f"{_NAMED_TEXTS[kind]}: {body.decode('mac_roman')}")
            else:
                runs = (text for run in (narrow_runs, wide_runs) for _, text in run(body[:_MOST_BYTES]))
                lines += [text for text in runs if is_prose(text)]
        sink.add("\n".join(dict.fromkeys(lines)), content.place("strings"))
        if member:
            sink.take_member()
            sink.read_member(content.member("data", member))
