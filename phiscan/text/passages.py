"""Passages of a document read as one text, and the way back to where each character stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from phiscan.model import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters ``[start, end)`` of a document as they are read: as they are, or what they stand for."""

    start: int
    end: int
    text: str = field(repr=False)


Passage = Sequence[Piece]  # pieces in text order; nothing that is found reaches over its ends


@dataclass(frozen=True, slots=True)
class Joined:
    """Passages, one below the other, as one text.

    ``passage_starts`` and ``piece_starts`` are places in ``text``, where the passages and the pieces begin.
    """

    text: str = field(repr=False)
    passage_starts: Sequence[int]
    piece_starts: Sequence[int]
    pieces: Sequence[Piece]

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> Self:
        """Join passages by line ends."""
        written: list[str] = []
        passage_starts, piece_starts, pieces = [], [], []
        n_chars = 0
        for passage in passages:
            passage_starts.append(n_chars)
            for piece in passage:
                if piece.text:
                    piece_starts.append(n_chars)
                    pieces.append(piece)
                    written.append(piece.text)
                    n_chars += len(piece.text)
            written.append("\n")
            n_chars += 1
        return cls("".join(written), passage_starts, piece_starts, pieces)

    def places(self, span: Span) -> Iterator[Span]:
        """Yield where in the document a span of the text stands: once for each passage that it touches."""
        number = bisect_right(self.passage_starts, span.start) - 1
        while number < len(self.passage_starts) and self.passage_starts[number] < span.end:
            start = max(span.start, self.passage_starts[number])
            number += 1
            following = self.passage_starts[number] if number < len(self.passage_starts) else len(self.text)
            end = min(span.end, following - 1)  # without the line end after the passage
            if start < end:
                first, last = self._piece(start), self._piece(end - 1)
                yield Span(self._start(first, start), self._end(last, end))

    def _piece(self, place: int) -> int:
        return bisect_right(self.piece_starts, place) - 1

    def _start(self, number: int, place: int) -> int:
        piece = self.pieces[number]
        return piece.start + (place - self.piece_starts[number] if _is_verbatim(piece) else 0)

    def _end(self, number: int, place: int) -> int:
        piece = self.pieces[number]
        return piece.start + place - self.piece_starts[number] if _is_verbatim(piece) else piece.end


def _is_verbatim(piece: Piece) -> bool:
    return piece.end - piece.start == len(piece.text)
