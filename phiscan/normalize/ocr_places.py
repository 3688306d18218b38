"""Offsets of OCR errors in a text, by one automaton, and the spans of the lines to be corrected for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from phiscan.text.automata import automaton, spans_of
from phiscan.text.phrase_patterns import any_of

MAX_LINE_CHARS = 4000  # longer ones are cut at a space
MIN_PLACES = 3
PLACE_CHARS = 600  # a text with a misread place in so many characters was scanned: all its lines are read
LABEL_CHARS = 80  # how far before a value its misread label may begin
_N_HEADS = 2  # lines at the start of a block: a title, the head of a table

# Signs of OCR errors. Whole tokens only: in codes, keys and base64 every character is beside every other.
_GROUP = (  # of a number in groups, with a letter for a digit
    "(?:[SBZGbgq][0-9OlI]{2,3}|[0-9OolI][SBZGbgq][0-9OlI]{1,2}|[0-9OolI]{2}[SBZGbgq][0-9OlISBZ]?"
    "|[0-9OolI]{3}[SBZGbgq])"
)
_SIGNS = (
    r"\b(?:[0-9]{2,}[OolI]|[0-9][OolI][0-9OolI]|[OlI]{1,2}[0-9]{2}|[OlI][0-9][OolI])[0-9OolI]*\b",
    r"\b[A-Z]{1,4}[0-9]+[Ol][0-9Ol]+\b",
    r"\b[0-9]+[SBZ][0-9]{2,}\b|\b[0-9]{2,}[SBZ][0-9]+\b|\b[0-9]{2}S-[0-9]{4}\b",
    r"\b[0-9OlI]{0,3}[0-9] ?[-/.)] ?(?:[0-9][OlI]|[OlI][0-9OlI])\b[^a-z%]",
    r"\b[0-9OlI]{0,3}[0-9] ?[-/] ?[OlI]\b[^a-z%]",
    r"\b(?:[0-9][OlI]|[OlI]{2})[-/][0-9OlI]",
    r"\b[0-9OlI](?: (?:- )?[0-9OlI]){4,}\b",
    r"\b[ABCEGHJ-NPRSTVXY][0-9OIl][A-Z] ?[OIl][A-Z][0-9]\b|\b[A-Z][0-9][A-Z] ?[0-9OIl][A-Z][OIl]\b",
    r"[0-9] (?:[0-9][OlI]|[OlI][0-9])\b|\b(?:l[0-9]|[0-9][Ol]) [0-9OlI]",
    r"\b[A-Z]{2}(?:[0-9]l|l[0-9])\b|\b[A-Z0-9]{2,15}[0-9][A-Z]?[OIl]{1,3}[0-9]{1,6}\b",
    r"\b[0-9][A-Z][A-Z0-9][0-9]-?[A-Z][A-Z0-9][0-9]-?[A-Z]{2}(?:[0-9][OlI]|[OlI][0-9OlI])\b",
    r"\b[A-Z]?[a-z]{0,8}[g-z][a-z]{0,8}[01]{1,2}[a-z]{1,12}\b",
    r"\b[A-Z]?[a-z]{1,12}[01]{1,2}[a-z]{0,8}[g-z][a-z]{0,8}\b",
    r"\bTe1\b|\bF4x\b|\b[A-Z]{2,12}[0l][A-Z]{1,12}\b|\bD0B\b|\b0[A-Z]{3,12}\b",
    r"\b[A-Z]?[a-z]{1,6}\|[a-z]{1,6} [0-9OlI]",
    r"\b[ABCEGHJ-NPRSTVXY][OIl][A-Z] ?[0-9][A-Z][0-9O]\b",
    r"\b[A-Y][SBZ][A-Z] ?[0-9][A-Z][0-9]\b|\b[A-Y][0-9][A-Z] ?(?:[SBZ][A-Z][0-9]|[0-9][A-Z][SBZ])\b",
    r"\b[A-Z]{1,2}[0-9]{2,}[SBZ][0-9]{2,}\b",
    r"\b(?:19|20)[0-9]{2}(?:(?: -|- )[0-9]{2} ?- ?|-[0-9]{2}(?: -|- ))[0-9]{2}\b",
    r"\b[0-9]{3}(?:(?: -|- )[0-9]{2} ?- ?|-[0-9]{2}(?: -|- ))[0-9]{4}\b",
    r"[0-9]{2}T(?:[OolIZSBb][0-9OlIZSB]|[0-9][OolIZSBb])[:0-9]",
    r"\b[A-Z]{2} {1,3}(?:[OolISBZb][0-9]|[0-9][OolISBZb])[0-9]{3}\b",
    r"\b[A-Z]{2} {1,3}[0-9]{2}(?:[OolISBZb][0-9]{2}|[0-9][OolISBZb][0-9]|[0-9]{2}[OolISBZb])\b",
    r"\b[A-Z]{2}[ ,|;\t]{1,2}[85][0-9][A-Z] ?[0-9][A-Z][0-9]\b",
    rf"\b(?:[0-9]{{3}}\)?|[0-9]{{3}}-[0-9]{{2}})[ .-]{{1,2}}{_GROUP}\b",
    rf"\b{_GROUP}\)?[ .-]{{1,2}}[0-9OlI]{{3,4}}\b",
    r"\b[0-9]{2,}[SBZGbgq]{1,2}[0-9]{3,}\b|\b[0-9]+[SBZGbgq][0-9]{5,}\b|\b[0-9]{8,}[SBZGbgq]\b",
    r"\b[A-Z]{2}[ ,|;\t]{1,2}[A-Y][0-9](?:[0258] ?[0-9][A-Z]|[A-Z] ?[0-9][258])[0-9]\b",
)


class OcrErrorPlaces:
    """Where a text seems to be misread: by its characters, or by labels that are no words; built once."""

    def __init__(self, label_variants: Iterable[str]) -> None:
        self._signs = automaton("|".join((*_SIGNS, rf"(?:\b|_){any_of(label_variants)}(?:\b|_)")))

    def of(self, text: str) -> list[int]:
        """Return where something seems to be misread, in code points and in order."""
        return [start for start, _ in spans_of(self._signs, text)]


def lines_with(text: str, places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the lines to be read: the start of their block, and their own start and end.

    All lines where the text has many misread places, else those with one, and the line below one near the end
    of its line: that may be a label.
    """
    block = done = searched = 0
    if len(places) >= MIN_PLACES and len(places) * PLACE_CHARS >= len(text):
        start = 0
        while start < len(text):
            end = _line_end(text, start)
            if start < end:
                yield block, start, end
            else:
                block = end + 1
            start = end + (text[end : end + 1] == "\n")
        return
    for place in places:
        if place < done:
            continue
        start = text.rfind("\n", done, place) + 1 or done
        empty = text.rfind("\n\n", max(block, searched - 1), start)  # what precedes was searched already
        block = block if empty < 0 else empty + 2
        searched = start
        start = max(start, place - MAX_LINE_CHARS // 2)
        end = _line_end(text, start)
        yield block, start, max(end, place + 1)
        done = max(end, place + 1)
        below = text[done : done + 2]
        if end - place < LABEL_CHARS and below.startswith("\n") and below != "\n\n" and done + 1 < len(text):
            start, done = done + 1, _line_end(text, done + 1)
            yield block, start, done


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + MAX_LINE_CHARS)
    if end >= 0:
        return end
    end = min(len(text), start + MAX_LINE_CHARS)
    return end if end == len(text) else max(text.rfind(" ", start + MAX_LINE_CHARS // 2, end), end - 100)


def heads_of(text: str, block: int, before: int) -> tuple[tuple[int, int], ...]:
    """Return the first two lines of a block that end before a place: a title, the head of a table."""
    heads: list[tuple[int, int]] = []
    start = block
    while len(heads) < _N_HEADS and start < before:
        end = text.find("\n", start, min(before, start + MAX_LINE_CHARS))
        if end < 0:
            break
        if end > start:
            heads.append((start, end))
        start = end + 1
    return tuple(heads)
