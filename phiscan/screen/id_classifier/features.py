"""What speaks for a number or code being somebody's: its form, the words around it, and who is beside it.

And for a number between 90 and 125 being an age: the same.

Features are names: ``form=AA0000``, ``b0=:`` (the token before), ``head=claim`` (the word that heads its
column), ``on=B`` (a day of birth on its line). Words are folded, digits are 0. They serve the training
and the reading alike.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from phiscan.lexicon.gazetteer import fold
from phiscan.model import EntityType, Finding

MAX_LINE_CHARS: Final = 4000  # of a longer line only what is near is looked at
_MAX_CHARS: Final = 40  # a longer run is no number of anybody
_MIN_DIGITS, _MIN_MIXED_DIGITS, _MIN_MIXED_CHARS = 3, 2, 4
_NEAR_BEFORE, _NEAR_BEHIND = 70, 40
_DIGITS: Final = re.compile(r"[0-9]+")
_CHARS_A_RUN: Final = 12  # where runs of digits stand nearer to each other, the text is a table
# What may stand, and how far, between the start of a number and its first digit.
_SIGNS, _REACH_BEFORE = "-/.#", 18
_NUMBER: Final = re.compile(
    r"(?<![^\W_])(?<!\d[.,:/-])(?=[A-Za-z0-9]{0,8}[-/.#]?[A-Za-z0-9]{0,8}[-/.]?\d)"
    r"[A-Za-z0-9]+(?:[-/.#][A-Za-z0-9]+){0,6}(?:[ ](?=[A-Z0-9]{1,6}\b)[A-Z]{0,4}\d[A-Z0-9]*){0,3}"
)
# Behind what is no age, but counted or measured.
_COUNTED: Final = (
    r"kgs?|lbs?|mgs?|mcg|ml|cc|cm|mm|km|kcal|bpm|mmhg|mins?|minutes?|hrs?|hours?|heures?|days?|jours?|weeks?"
    r"|semaines?|per ?cent|pour ?cent|points?|pts|cents|dollars|degrees?|degrés?|feet|ft|miles|pages?|seats?"
    r"|chaises|places|doses?|tablets?|tabs|caps|comprimés|units?|unités|beds|lits|visits|visites|cases|steps|pas"
)
_AGE: Final = re.compile(
    r"(?<![\w./:°$#+-])(?<!\$ )"
    r"(?<!(?i:\b(?:bed|lit) ))(?<!(?i:\b(?:room|rm #) ))(?<!(?i:\bsalle ))"
    r"(?<!(?<![\w,])[0-9],)(?<!(?<![\w,])[0-9]{2},)(?<!(?<![\w,])[0-9]{3},)"
    r"(?:9[0-9]|1[01][0-9]|12[0-5])(?!,[0-9]{1,3}(?![\w/,.-]))"  # a decimal, or thousands
    r"(?=(?![\w./:°%+-])|[.:/-](?!\d)|-?[A-Za-z]{1,3}(?![\w-])|\+)"
    rf"(?![ -]?(?i:{_COUNTED}|m/)(?![\w'’-])|[ ]?[$€%])"  # noqa: RUF001 (texts are written with it)
)
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|\d+|[^\w\s]|\n")
_WORD: Final = re.compile(r"[^\W\d_]+")
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_LABEL: Final = re.compile(r"\s*([^:\n]{2,40}):")
_LETTERS_BEFORE, _LETTERS_BEHIND = re.compile(r"[A-Za-z]+"), re.compile(r"[A-Za-z]+\Z")
_SAME: Final = re.compile(r"(.)\1+")
_SHAPE: Final = str.maketrans(
    "0123456789" + "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0" * 10 + "a" * 26 + "A" * 26
)
_RULED: Final = "  "  # columns that stand below each other
_DELIMITERS: Final = ("\t", "|", ";", _RULED, ",")
_GAP: Final = re.compile(r"[ ]{2,}")
_CELL: Final = re.compile(r"\S+(?:[ ]\S+)*")
_ASIDE: Final = 6  # characters by which a cell may stand beside its head
_MIN_DELIMITERS, _MAX_HEAD_LINES, _MAX_HEAD_CHARS = 2, 4, 2000
_WHO: Final = {
    EntityType.PERSON: "P",
    EntityType.HEALTH_PROFESSIONAL: "H",
    EntityType.DATE: "D",
    EntityType.DATE_OF_BIRTH: "B",
    EntityType.PHONE: "T",
    EntityType.FAX: "T",
    EntityType.ORGANIZATION: "O",
    EntityType.LOCATION: "L",
    EntityType.STREET_ADDRESS: "A",
    EntityType.POSTAL_CODE: "A",
    EntityType.EMAIL: "E",
    EntityType.URL: "U",
}
_PEOPLE: Final = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_NAME: Final = "@"
_A_NUMBER: Final = "N"
_FAR: Final = 5  # beyond, how far away a finding stands says nothing more
_MANY: Final = 3  # people in a text


def candidates(text: str) -> Iterator[tuple[int, int]]:
    """Yield what may be a number or code, half-open: three digits or more, or two with letters."""
    runs = [found.start() for found in _DIGITS.finditer(text)]
    is_table = len(runs) * _CHARS_A_RUN > len(text)
    for found in _NUMBER.finditer(text) if is_table else _from_digits(text, runs):
        start, end = found.span()
        n_chars = end - start
        if n_chars > _MAX_CHARS:
            continue
        written = found[0]
        n_digits = sum(map(str.isdecimal, written))
        is_mixed = n_chars >= _MIN_MIXED_CHARS and any(map(str.isalpha, written))
        if n_digits >= _MIN_DIGITS or (n_digits >= _MIN_MIXED_DIGITS and is_mixed):
            yield start, end


def ages(text: str) -> Iterator[tuple[int, int]]:
    """Yield what may be an age from 90 to 125, in figures, half-open; "93" of "93F"."""
    yield from (found.span() for found in _AGE.finditer(text))


def _from_digits(text: str, runs: Sequence[int]) -> Iterator[re.Match[str]]:
    """Yield numbers from the place of their first digits: trying every word takes ten times as long."""
    done = 0
    for place in runs:
        if place < done:
            continue
        begin = place
        while begin > max(done, place - _REACH_BEFORE) and (
            text[begin - 1].isalnum() or text[begin - 1] in _SIGNS
        ):
            begin -= 1
        while done <= place:
            found = _NUMBER.search(text, max(begin, done), place + _MAX_CHARS + 1)
            if found is None or found.start() > place:
                break
            done = found.end()
            yield found


@dataclass(slots=True)
class _Line:
    """A line, or what is near in one too long: where it is, and what all its numbers share."""

    start: int
    end: int
    delimiter: str
    heads: tuple[tuple[int, int, str], ...]  # what heads its columns, and which columns of cells or signs
    who: tuple[tuple[int, int, str], ...]  # findings on it
    label: tuple[int, tuple[str, ...]]  # where its label ends, and its words
    first: tuple[int, str]  # where its first word begins
    is_whole: bool = True  # not cut out of a line too long to be looked at


class NumberContext:
    """The features of the numbers of one text; asked in text order."""

    def __init__(self, text: str, findings: Sequence[Finding]) -> None:
        """Look at a text; ``findings`` in text order. No feature holds a word of a name that was found."""
        self._text = _without_names(text, findings)
        self._written = text
        self._findings = findings
        self._starts = [finding.span.start for finding in findings]
        counted = Counter(_who(finding) for finding in findings if not finding.is_doubtful)
        people, births = counted["P"], counted["B"]
        self._document = (
            f"people={min(people, _MANY)}",
            f"births={min(births, 1)}",
            f"anybody={bool(people or births)}",
        )
        self._block = self._seen = 0
        self._line = _Line(0, -1, "", (), (), (0, ()), (0, ""))

    def features(self, start: int, end: int) -> list[str]:
        """Return the names of the features of the number at ``[start, end)``."""
        if not (self._line.is_whole and self._line.start <= start < end <= self._line.end):
            self._line = self._read(start, end)
        line, text = self._line, self._text
        found = {*_of_form(text[start:end]), *self._document}
        found |= self._of_words(start, end)
        found |= {f"first={line.first[1]}"} if line.first[1] and line.first[0] < start else set()
        if line.label[0] <= start:
            found |= {f"label={word}" for word in line.label[1]}
        if line.delimiter:
            found.add(f"cut={line.delimiter}")
            found |= {f"head={word}" for word in self._head(start, end)}
        return sorted(found | self._of_who(start, end))

    def _read(self, start: int, end: int) -> _Line:
        text = self._text
        low = text.rfind("\n", max(0, start - MAX_LINE_CHARS), start) + 1 or max(0, start - MAX_LINE_CHARS)
        high = text.find("\n", end, end + MAX_LINE_CHARS)
        high = min(len(text), end + MAX_LINE_CHARS) if high < 0 else high
        is_whole = high - low <= MAX_LINE_CHARS
        if not is_whole:
            low, high = max(low, start - _NEAR_BEFORE), min(high, end + _NEAR_BEHIND)
        who = tuple(
            (finding.span.start, finding.span.end, _who(finding))
            for finding in self._findings[bisect_left(self._starts, low) : bisect_left(self._starts, high)]
            if finding.span.end <= high
        )
        if not is_whole:
            return _Line(low, high, "", (), who, (len(text), ()), (0, ""), is_whole)
        line = text[low:high]
        written = self._written[low:high].strip()
        delimiter = next((sign for sign in _DELIMITERS if _n_cuts(written, sign) >= _MIN_DELIMITERS), "")
        label = _LABEL.match(line)
        first = _WORD.search(line)
        return _Line(
            low,
            high,
            delimiter,
            self._heads(low, delimiter, line.count(delimiter)) if delimiter else (),
            who,
            (low + label.end(), _folded(label[1])) if label else (len(text), ()),
            (low + first.start(), fold(first[0])) if first else (0, ""),
        )

    def _heads(self, low: int, delimiter: str, n_cells: int) -> tuple[tuple[int, int, str], ...]:
        """Return the cells of the line, among the first of its block, that has as many as this one.

        Of columns that stand below each other: of the first line without a figure that has columns, too.
        """
        for start, end in self._first_lines(low):
            head = self._text[start:end]
            if delimiter != _RULED:
                cells = head.split(delimiter)
                if abs(len(cells) - 1 - n_cells) <= 1:
                    return tuple((place, place + 1, cell) for place, cell in enumerate(cells))
            elif _n_cuts(head.strip(), _RULED) >= _MIN_DELIMITERS and not _DIGITS.search(head):
                return tuple((*cell.span(), cell[0]) for cell in _CELL.finditer(head))
        return ()

    def _first_lines(self, low: int) -> Iterator[tuple[int, int]]:
        """Yield the first lines of the block of the line that begins at ``low``, above it."""
        text = self._text
        for blank in _BLANK_LINE.finditer(text, self._seen, low):
            self._block = blank.end()
        self._seen = max(self._seen, low - 1)
        position = self._block
        for _ in range(_MAX_HEAD_LINES):
            end = text.find("\n", position, position + _MAX_HEAD_CHARS)
            if end < 0 or end >= low:
                return
            yield position, end
            position = end + 1

    def _head(self, start: int, end: int) -> tuple[str, ...]:
        """Return the words that head the column of the number at ``[start, end)``."""
        line = self._line
        if line.delimiter == _RULED:
            low, high = start - line.start, end - line.start
        else:
            low = self._text.count(line.delimiter, line.start, start)
            high = low + 1
        aside = [max(head[0] - high, low - head[1]) for head in line.heads]  # below nothing: they overlap
        if not aside or min(aside) > (_ASIDE if line.delimiter == _RULED else -1):
            return ()
        return _folded(line.heads[aside.index(min(aside))][2])

    def _of_words(self, start: int, end: int) -> set[str]:
        line, text = self._line, self._text
        before = _plain(text[max(line.start, start - _NEAR_BEFORE) : start])
        behind = _plain(text[end : min(line.end, end + _NEAR_BEHIND)])
        found = {f"b{place}={token}" for place, token in enumerate(reversed(before[-4:]))}
        found |= {f"a{place}={token}" for place, token in enumerate(behind[:3])}
        found |= {f"left={text[start - 1 : start]}", f"right={text[end : end + 1]}"}
        near = [token for token in before[-6:] if token[0].isalpha()]
        found |= {f"near={word}" for word in near} | {f"stem={word[:4]}" for word in near if len(word) > 4}  # noqa: PLR2004 (a stem)
        words = [token for token in before if token[0].isalpha()]
        if words:
            form = _form(text[start:end].translate(_SHAPE))[:4]
            found |= {f"word={words[-1]}", f"wordstem={words[-1][:4]}", f"word={words[-1]}:{form}"}
            found |= {f"words={words[-2]} {words[-1]}"} if len(words) > 1 else set()
        else:
            floor = max(0, line.start - 1 - _MAX_HEAD_CHARS)
            low = text.rfind("\n", floor, max(line.start - 1, 0)) + 1 or floor
            above = [
                token for token in _plain(text[low : max(line.start - 1, low)])[-6:] if token[0].isalpha()
            ]
            found |= {"alone", *(f"above={word}" for word in above)}
        return found

    def _of_who(self, start: int, end: int) -> set[str]:
        found: set[str] = set()
        left = right = None
        for low, high, who in self._line.who:
            if low < end and high > start:
                continue
            found.add(f"on={who}")
            if high <= start:
                left = (who, start - high)
            elif right is None:
                right = (who, low - end)
        for side, one in (("left", left), ("right", right)):
            if one is not None:
                found |= {f"{side}of={one[0]}", f"{side}of={one[0]}{min(one[1] // 3, _FAR)}"}
        return found or {"on="}


def _n_cuts(line: str, delimiter: str) -> int:
    return len(_GAP.findall(line)) if delimiter == _RULED else line.count(delimiter)


def _without_names(text: str, findings: Sequence[Finding]) -> str:
    """Return a text of the same length with one sign for each name of a person."""
    pieces: list[str] = []
    position = 0
    for finding in findings:
        start, end = finding.span.start, finding.span.end
        if finding.entity_type in _PEOPLE and start >= position:
            pieces += [text[position:start], _NAME, " " * (end - start - 1)]
            position = end
    return "".join([*pieces, text[position:]])


def _who(finding: Finding) -> str:
    who = _WHO.get(finding.entity_type, _A_NUMBER)
    return who.lower() if finding.is_doubtful else who


def _folded(text: str) -> tuple[str, ...]:
    return tuple(map(fold, _WORD.findall(text)))


def _plain(text: str) -> list[str]:
    """Return the tokens of a piece, words folded and numbers as 0."""
    return [
        fold(token) if token[0].isalpha() else "0" if token[0].isdecimal() else token
        for token in _TOKEN.findall(text)
    ]


def _form(shape: str) -> str:
    """Return a shape with each run of one sign as that sign and a plus.

    >>> _form("AA-0000")
    'A+-0+'
    """
    return _SAME.sub(r"\1+", shape)


def _of_form(written: str) -> set[str]:
    shape = written.translate(_SHAPE)
    n_digits = shape.count("0")
    n_letters = sum(map(str.isalpha, written))
    signs = "".join(sorted({sign for sign in written if not sign.isalnum()}))
    found = {
        f"shape={shape[:14]}",
        f"form={_form(shape)}",
        f"digits={min(n_digits, 14)}",
        f"letters={min(n_letters, 6)}",
        f"chars={min(len(written), 16)}",
        f"signs={signs}",
    }
    if written[0] == "0":
        found.add("zero")
    head, tail = _LETTERS_BEFORE.match(written), _LETTERS_BEHIND.search(written)
    if head:
        found.add(f"head of it={head[0].lower()[:5]}")
    if tail:
        found.add(f"tail of it={tail[0].lower()[:4]}")
    return found
