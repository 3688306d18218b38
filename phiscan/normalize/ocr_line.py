"""A corrected line of a text: characters replaced, left out or joined, each with its original offset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """What is in ``[start, end)`` of a line is to be read as ``new``.

    ``counts`` is false where a change alone makes nothing new of what it touches.
    """

    start: int
    end: int
    new: str
    counts: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Line:
    """A line as it is read, and for every character the half-open range of code points of the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    changed: bytes  # 1 where a character was replaced, or is at a join

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Line:
        """Return the line ``[start, end)`` of a document as it is."""
        return cls(text[start:end], range(start, end), range(start + 1, end + 1), bytes(end - start))

    @property
    def is_changed(self) -> bool:
        """Tell whether a correction changed anything that counts."""
        return 1 in self.changed

    def edited(self, edits: Iterable[Edit]) -> Line:
        """Return the line with these edits, which are in order and do not overlap.

        Where the new text is as long as the old one, each character has the offset of the one it replaces;
        otherwise every new character has the offsets of all that was replaced.

        >>> line = Line.of("Te1: rnars", 0, 10).edited([Edit(2, 3, "l"), Edit(5, 7, "m")])
        >>> line.text, line.starts[5], line.ends[5]
        ('Tel: mars', 5, 7)
        """
        ordered = list(edits)
        if not ordered:
            return self
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        changed = bytearray()
        position = 0
        joined = False
        for edit in ordered:
            parts += (self.text[position : edit.start], edit.new)
            starts += self.starts[position : edit.start]
            ends += self.ends[position : edit.start]
            changed += self._kept(position, edit.start, joined=joined)
            joined = False
            if len(edit.new) == edit.end - edit.start:
                starts += self.starts[edit.start : edit.end]
                ends += self.ends[edit.start : edit.end]
                pairs = zip(edit.new, self.text[edit.start : edit.end], strict=True)
                now = bytes(edit.counts and new != old for new, old in pairs)
                before = self.changed[edit.start : edit.end]
                changed += bytes(a | b for a, b in zip(now, before, strict=True))
            else:
                starts += [self.starts[edit.start]] * len(edit.new)
                ends += [self.ends[edit.end - 1]] * len(edit.new)
                changed += bytes([edit.counts]) * len(edit.new)
                joined = edit.counts and not edit.new
                if joined and changed:
                    changed[-1] = 1
            position = edit.end
        parts.append(self.text[position:])
        starts += self.starts[position:]
        ends += self.ends[position:]
        changed += self._kept(position, len(self.text), joined=joined)
        return Line("".join(parts), starts, ends, bytes(changed))

    def _kept(self, start: int, end: int, *, joined: bool) -> bytes:
        kept = self.changed[start:end]
        return b"\x01" + kept[1:] if joined and kept else kept
