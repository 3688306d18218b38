"""What a machine wrote or blackened: no name stands in it, though a part of it may read as one.

"VI1PR04MB3438" of a mail server, "AMtx7mhL" of a signature, "XXXXX XXX" of a redacted letter, and the lines
of a mail's header that say which way it went. Its senders, recipients, subject and files' names are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from phiscan.model import Finding
from phiscan.screen.resolution import is_taken
from phiscan.text.prefilter import Rare

# Digits behind a name that letters follow; with a figure or two alone somebody is numbered or has a footnote.
_GOES_ON = re.compile(r"\d{2,}[^\W\d_]|\d[A-ZÀ-Þ]")  # "J0sé" is misread
_DIGIT = re.compile(r"\d")
_SHORT = 2  # letters that are a prefix of a number rather than a name: "LO455"
_BLACKENED = re.compile(r"(?:[xX]+|[•█■*_]+)(?:[ ,.'-]+(?:[xX]+|[•█■*_]+))*[ ,.]*")
# One letter among letters: the columns of a table, the rows of a list, a word set apart.
_LETTER_BEFORE = re.compile(r"(?<![^\W_])[^\W\d_][ \t|;,\n]{1,3}\Z")
_LETTER_BEHIND = re.compile(r"[ \t|;,\n]{1,3}[^\W\d_](?![^\W_])")
_LETTER_REACH = 4
# "over 50 yr": what is counted.
_COUNTED = re.compile(r"\d[ ]\Z")
_UNIT = re.compile(r"(?:yrs?|hrs?|mins?|wks?|mos?|mg|mcg|ml|kgs?|lbs?|cm|mm|tabs?|caps?|ans|sem)\.?")
# One of the answers of a question: "A. Doppler  B. none  C. 5 mg", of which one begins as no name does.
_ANSWER = re.compile(r"[A-H][.)][ ]")
_ANSWERS = re.compile(r"(?:^|[ \t|]{2}|[ \t]{1,2}\n[ \t]*)([A-H])[.)][ ]{1,3}(\S)", re.MULTILINE)
_ANSWERS_REACH = 300
_MIN_ANSWERS = 3
# The lines of a mail's header that say which way it went, with what is folded into the next lines.
_WAY = Rare(
    re.compile(
        r"^(?:Received:[ ]{1,4}(?:from|by)\s{1,9}\S*[.:]\w|(?:ARC|DKIM|DomainKey|List(?!-Id))-[\w-]{1,40}:"
        r"|Authentication-Results[\w-]{0,20}:|Received-SPF:|Return-Path:|Message-ID:"
        r"|(?:In-Reply-To|References):[ ]?<|MIME-Version:|Accept-Language:"
        r"|Content-(?!Type|Disposition|Description)[\w-]{1,40}:"
        r"|X-(?!rays?:)[A-Z][\w-]{1,60}(?<!From)(?<!To)(?<!Sender)(?<!Name)(?<!Subject)(?<!User)(?<!Patient):)"
        r"[^\n]*(?:\n[ \t]+\S[^\n]*)*",
        re.MULTILINE | re.IGNORECASE,
    ),
    r"(?i:(?m:^)(?:Received(?:-SPF)?:|(?:ARC|DKIM|DomainKey|List|X)-|Authentication-|Return-Path:|Message-ID:"
    r"|In-Reply|References: ?<|MIME-|Accept-Lang|Content-))",
)


def without_codes_of_machines(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the names among ``findings`` that a machine did not write."""
    ways = [match.span() for match in _WAY.finditer(text)]
    for finding in findings:
        start, end = finding.span.start, finding.span.end
        if not (is_taken(start, start + 1, ways) or is_of_code(text, start, end)):
            yield finding


def is_of_code(text: str, start: int, end: int) -> bool:
    """Tell whether ``[start, end)`` begins a code, was blackened, or is a letter, a unit or an answer.

    >>> is_of_code("VI1PR04MB", 0, 2), is_of_code("Marie Roy1, Jean", 0, 9)
    (True, False)
    >>> is_of_code("Dear Mr. XXXX", 9, 13), is_of_code("A | B | C", 4, 5)
    (True, True)
    """
    if _GOES_ON.match(text, end) or (end - start <= _SHORT and _DIGIT.match(text, end)):
        return True
    if end - start == 1:
        before = text[max(0, start - _LETTER_REACH) : start]
        return bool(_LETTER_BEFORE.search(before) or _LETTER_BEHIND.match(text, end))
    if _UNIT.fullmatch(text, start, end) and _COUNTED.search(text, max(0, start - 2), start):
        return True
    return _BLACKENED.fullmatch(text, start, end) is not None or _is_answer(text, start, end)


def _is_answer(text: str, start: int, end: int) -> bool:
    """Tell whether a "name" is the letter of an answer and its first word: "B. Doppler"."""
    if not _ANSWER.match(text, start, end):
        return False
    around = _ANSWERS.findall(text, max(0, start - _ANSWERS_REACH), end + _ANSWERS_REACH)
    letters = {letter for letter, _ in around}
    return len(letters) >= _MIN_ANSWERS and "B" in letters and not all(first.isupper() for _, first in around)
