"""Passage to the log-odds that it tells of a person's health, by a multilingual encoder (ONNX).

The input is what a person would look at: the passage; and as its context who wrote it and about what (the
lines From and Subject, or the like, above it), the heads of the table that it is a row of, who is written to
or speaks, the lines before and after it, and who signs. Whatever the screening found is replaced by a
stand-in for its type, and every digit is read as 0.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.decision.everyday_words import load_everyday_words
from phiscan.decision.evidence import CELL, NAMES_OF_EVIDENCE, DocumentEvidence
from phiscan.errors import ModelError
from phiscan.model import EntityType, Finding
from phiscan.text.onnx_network import network_of
from phiscan.text.word_pieces import FIRST, SEPARATOR, WordPieces

ENCODER_FILE: Final = Path(__file__).parent / "data" / "encoder.onnx"
VOCABULARY_FILE: Final = Path(__file__).parent / "data" / "encoder_vocabulary.txt"
JOINT_FILE: Final = Path(__file__).parent / "data" / "encoder.json"
PASSAGE_PIECES: Final = 72
CONTEXT_PIECES: Final = 44
_PASSAGE_CHARS: Final = 340  # about as many as fit
_LEAD_CHARS: Final = 180  # at most before the health term of a passage that is longer
_SENTENCE_END: Final = re.compile(r"[.!?;]['\")\]]?\s+|\n")
_PERSON_CHARS: Final = 800  # around a passage in which a line with a person is looked for
_CONTEXT_LINE_CHARS: Final = 90
_LINES_ABOVE: Final = 4000  # characters above a passage in which its header is looked for
_HEADER: Final = re.compile(
    r"^[ >\t]*(?:From|Sender|Author|Subject|Title|De|Expéditeur|Auteur|Objet|Sujet|Titre)[ ]?: .*$",
    re.IGNORECASE | re.MULTILINE,
)
_MIN_CELLS: Final = 2  # separators in a line that is taken for a row
_STAND_INS: Final = {
    EntityType.PERSON: "Alex",
    EntityType.HEALTH_PROFESSIONAL: "the doctor",
    EntityType.ORGANIZATION: "the company",
    EntityType.STREET_ADDRESS: "the address",
    EntityType.LOCATION: "the town",
    EntityType.POSTAL_CODE: "the postcode",
    EntityType.DATE: "the day",
    EntityType.DATE_OF_BIRTH: "the birthday",
    EntityType.PHONE: "the telephone",
    EntityType.FAX: "the fax",
    EntityType.EMAIL: "the e-mail",
    EntityType.URL: "the website",
    EntityType.HEALTH_CARD: "the health card",
    EntityType.MRN: "the record number",
    EntityType.HEALTH_PLAN: "the insurance number",
}
_OTHER_STAND_IN: Final = "the number"

Pair = tuple[str, str]
"""A passage and its context, with stand-in words for all that was found in them."""


@dataclass(frozen=True, slots=True)
class PassageEncoder:
    """The network, and how its log-odds change those that the other evidence of a passage gives."""

    session: Any = field(repr=False)
    words: WordPieces = field(repr=False)
    weight: float  # of the encoder's log-odds
    of_others: float  # how much the log-odds that the other evidence gives count less beside it
    intercept: float
    evidence: npt.NDArray[np.float64] = field(repr=False)  # weight of each of ``NAMES_OF_EVIDENCE``
    lowest: float  # by which it can change the log-odds of a passage
    highest: float
    read_from: float  # log-odds that a passage must be able to reach with it to be read

    def log_odds(self, pair: Pair) -> float:
        """Return the log-odds of PHI by what a passage and its context say."""
        return float(self._run("log_odds", pair)[0])

    def code(self, pair: Pair) -> tuple[int, ...]:
        """Return what a passage is about: signs of the network's middle layer, 32 in an integer."""
        return tuple(np.packbits(self._run("about", pair)[0] > 0).view(">u4").tolist())

    def _run(self, output: str, pair: Pair) -> npt.NDArray[np.float32]:
        rows = np.array(numbers_of(self.words, pair), dtype=np.int64)
        (found,) = self.session.run([output], {"pieces": rows[None, :, 0], "kinds": rows[None, :, 1]})
        return np.asarray(found)

    def change(self, others: float, encoded: float, vector: npt.NDArray[np.float64]) -> float:
        """Return what is added to the log-odds that other evidence of a passage gives; ``vector``: that."""
        change = self.intercept + self.weight * encoded - self.of_others * others + self.evidence @ vector
        return max(self.lowest, min(float(change), self.highest))


def vocabulary() -> WordPieces:
    """Return the word pieces of the encoder: one a line, with its log probability; numbered from 1."""
    lines = VOCABULARY_FILE.read_text(encoding="utf-8").splitlines()
    return WordPieces.of(
        (piece, float(value)) for piece, _, value in (line.partition("\t") for line in lines)
    )


@cache
def load_encoder() -> PassageEncoder:
    """Read the network, to be run in one thread, its vocabulary, and what chooses lines; once per process.

    Raises:
        ModelError: names the file and what was expected.
    """
    load_everyday_words()
    path = ENCODER_FILE
    try:
        session = network_of(path.read_bytes())
        path = VOCABULARY_FILE
        words = vocabulary()
        path = JOINT_FILE
        joint = json.loads(path.read_text(encoding="utf-8"))
        constants = {
            name: float(joint[name])
            for name in ("weight", "of_others", "intercept", "lowest", "highest", "read_from")
        }
        return PassageEncoder(
            session=session,
            words=words,
            evidence=np.array([float(joint["evidence"][name]) for name in NAMES_OF_EVIDENCE]),
            **constants,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(path, "expected the encoder of passages") from error


def passage_and_context(
    evidence: DocumentEvidence, findings: Sequence[Finding], start: int, end: int
) -> Pair:
    """Return the passage ``[start, end)`` of a document and its context, as the encoder reads them.

    Of a long passage: the sentence with the health term that is nearest to a name, and one on each side.
    """
    text = evidence.document.text
    low, high = start, end
    if end - start > _PASSAGE_CHARS:
        low, high = _sentences_around(text, _nearest_term(evidence, start, end), start, end)
    typed = _Typed(text, sorted(findings, key=lambda one: (one.span.start, -one.span.end)))
    people = [one.span.start for one in typed.findings if one.entity_type is EntityType.PERSON]
    lines = [typed.between(*place) for place in _context_lines(text, low, high, people)]
    return typed.between(low, high), "\n".join(line for line in lines if line.strip())


def _nearest_term(evidence: DocumentEvidence, start: int, end: int) -> int:
    """Return where the health term of a passage that is nearest to a name begins; else its begin."""
    terms = evidence.health_places()
    terms = terms[terms.searchsorted(start) : terms.searchsorted(end)]
    if not len(terms):
        return start
    names = np.array([low for low, _ in evidence.names if start <= low < end])
    if not len(names):
        return int(terms[0])
    return int(terms[np.abs(terms[:, None] - names[None, :]).min(axis=1).argmin()])


def _sentences_around(text: str, at: int, start: int, end: int) -> tuple[int, int]:
    """Return the sentence of ``[start, end)`` that holds ``at``, and one on each side of it."""
    cuts = [start, *(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end]
    number = bisect_right(cuts, at, hi=len(cuts) - 1) - 1
    low, high = cuts[max(number - 1, 0)], cuts[min(number + 2, len(cuts) - 1)]
    low = max(low, at - _LEAD_CHARS)
    while start < low < at and not text[low - 1].isspace():
        low += 1
    return low, min(high, low + _PASSAGE_CHARS)


def _context_lines(text: str, start: int, end: int, people: Sequence[int]) -> list[tuple[int, int]]:
    """Return where the context of a passage is, the lines that say most first.

    These are the fields of a header, the heads of columns, the nearest short line above with a person (who
    is written to, who speaks), the line before, the line after, and the nearest short line below with a
    person (who signs).
    """
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = line_end if line_end >= 0 else len(text)
    of_kind = {
        match.group().split(":")[0].strip(" >\t").lower(): match.span()
        for match in _HEADER.finditer(text, max(0, start - _LINES_ABOVE), line_start)
    }
    found = [(low, min(high, low + _CONTEXT_LINE_CHARS)) for low, high in sorted(of_kind.values())[-3:]]
    n_cells = len(CELL.findall(text, line_start, min(line_end, line_start + 1000)))
    head_end = text.find("\n", 0, 1000)
    if (
        n_cells >= _MIN_CELLS
        and 0 < head_end < line_start
        and len(CELL.findall(text, 0, head_end)) >= n_cells
    ):
        found.append((0, min(head_end, 2 * _CONTEXT_LINE_CHARS)))
    first = bisect_left(people, line_start)
    found += _short_lines(text, reversed(people[max(first - 3, 0) : first]), line_start - _PERSON_CHARS)[:1]
    before_end = len(text[max(line_start - 500, 0) : line_start].rstrip()) + max(line_start - 500, 0)
    before = text.rfind("\n", 0, before_end) + 1
    if before < before_end:
        found.append((max(before, before_end - _CONTEXT_LINE_CHARS), before_end))
    after = line_end + 1
    while after < len(text) and text[after].isspace():
        after += 1
    if after < len(text):
        after_end = text.find("\n", after, after + _CONTEXT_LINE_CHARS)
        found.append((after, after_end if after_end > 0 else min(after + _CONTEXT_LINE_CHARS, len(text))))
    last = bisect_left(people, line_end)
    found += _short_lines(text, people[last : last + 3], line_end, line_end + _PERSON_CHARS)[:1]
    return list(dict.fromkeys(found))


def _short_lines(
    text: str, places: Iterable[int], least: int, most: int | None = None
) -> list[tuple[int, int]]:
    """Return the short lines that hold these places, of those between two offsets."""
    found = []
    for place in places:
        low, high = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        high = high if high >= 0 else len(text)
        if least <= low and (most is None or high <= most) and high - low <= _CONTEXT_LINE_CHARS:
            found.append((low, high))
    return found


def numbers_of(words: WordPieces, pair: Pair) -> list[tuple[int, int]]:
    """Return the word pieces of a passage and its context, each with the number of its part."""
    first, separator = words.special[FIRST], words.special[SEPARATOR]
    found = [(number, 0) for number in (first, *words.encode(pair[0], PASSAGE_PIECES), separator)]
    if pair[1]:
        context = words.encode(pair[1], CONTEXT_PIECES)
        found += [(number, 1) for number in (separator, *context, separator)]
    return found


class _Typed:
    """A text with each finding replaced by the stand-in of its type."""

    def __init__(self, text: str, findings: Sequence[Finding]) -> None:
        self._text = text
        self.findings = findings
        self._starts = [one.span.start for one in findings]

    def between(self, low: int, high: int) -> str:
        """Return the text of ``[low, high)``; a finding that is cut at an end is replaced as a whole."""
        parts: list[str] = []
        at = low
        first = bisect_left(self._starts, low - 200)
        for one in self.findings[first : bisect_right(self._starts, high - 1)]:
            if one.span.end <= at or (one.span.start < at and parts):
                continue
            parts += [
                self._text[at : max(at, one.span.start)],
                _STAND_INS.get(one.entity_type, _OTHER_STAND_IN),
            ]
            at = one.span.end
        parts.append(self._text[at:high])
        return "".join(parts)
