"""Numbers that were spoken, as digits: "five one nine, five five five, oh one four four" is 519-555-0144.

Voice mails, dictations and transcripts say numbers digit by digit, in pairs ("vingt-deux quarante-quatre") or
in hundreds ("cinq cent quatorze"), in English and in French. They are read as digits, in the groups in which
they were spoken, so that the rules for numbers, their labels and check digits apply (``text_view``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from phiscan.lexicon.identifier_labels import BIRTH_DATE, CARD, RECORD, label_words
from phiscan.text.escapes import Edit

_MIN_SINGLE, _MIN_DIGITS, _MIN_SHORT, _LOCAL, _LONG_PHONE = 3, 5, 4, 7, 11
_MIN_NUMBERS = 3  # spoken without a pause, of a phone number
_CONTEXT_CHARS: Final = 48  # characters before a number in which a word says what it is


@dataclass(frozen=True)
class _Language:
    """The number words of a language: digits, ten to nineteen, tens, and a pattern for hundred."""

    digits: dict[str, str]
    teens: dict[str, int]
    tens: dict[str, int]
    hundred: str

    @property
    def word(self) -> str:
        """A pattern for any of its words."""
        return "|".join(
            (*self.digits, *self.teens, *self.tens, self.hundred, "double", "triple", "dash|tiret")
        )


def _numbered(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split())}


_ENGLISH: Final = _Language(
    {word: str(n) for word, n in _numbered("zero one two three four five six seven eight nine", 0).items()}
    | {"oh": "0", "o": "0", "niner": "9"},
    _numbered("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10),
    _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10),
    "hundred",
)
_FRENCH: Final = _Language(
    {word: str(n) for word, n in _numbered("zéro un deux trois quatre cinq six sept huit neuf", 0).items()}
    | {"zero": "0"},
    _numbered("dix onze douze treize quatorze quinze seize", 10),
    _numbered("vingt trente quarante cinquante soixante", 20, 10) | {"vingts": 20},
    "cents?",
)
_SPELLED = (
    r"(?:[A-HJ-NP-Zb-hj-np-xz]|alph?a|alfa|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima"
    r"|mike|november|oscar|papa|quebec|romeo|sierra|tango|uniform|victor|whiskey|x-?ray|yankee|zulu)"
)
_GAP = r"(?:[ ]?[,.;\N{EN DASH}-][ ]{0,2}|[ ]{1,2}|[ ]?\r?\n[ ]{0,2})"


def _run(language: _Language) -> re.Pattern[str]:
    """Return what matches a run of number words, with the letters that are spelled in front."""
    word = rf"(?i:{language.word}|et)"
    return re.compile(
        rf"(?<![\w'’-])(?P<letters>(?:{_SPELLED}[ .,-]{{1,2}}){{0,5}})"  # noqa: RUF001 (texts are written with it)
        rf"(?P<run>{word}(?:{_GAP}{word}){{2,40}})(?![\w'’])"  # noqa: RUF001 (as above)
    )


_RUNS: Final = tuple((language, _run(language)) for language in (_ENGLISH, _FRENCH))
_ANY: Final = f"(?:{_ENGLISH.word}|{_FRENCH.word})"
_BETWEEN = r"[ ,.;\r\n\x{2013}-]+"
HINT: Final = rf"(?i:\b{_ANY}{_BETWEEN}{_ANY}{_BETWEEN}{_ANY})"  # what every number that is spoken holds
_WORD = re.compile(r"[^\W\d_]+")
_PAUSE = re.compile(r"[,.;\n]|(?i:dash|tiret)")
_PHONE_WORDS = re.compile(
    r"\b(?:phones?|cell\w*|mobile|number|num[ée]ro|call\w*|reach\w*|fax|t[ée]l\w*|r?appel\w*|rejoin\w*|joindre|line"
    r"|ligne|text\w*|at|au|est le)\b",
    re.IGNORECASE,
)
_OTHER_WORDS = re.compile(
    rf"\b(?:{'|'.join(label_words(RECORD, CARD))}|card|carte|maladie|health|chart|dossier|records?"
    r"|account|compte|policy|police|member|membre|serial|s[ée]rie|licen[cs]e|permis|claim|social|sin|nas"
    r"|passe?port|case|file|r[ée]f[ée]rence|npi|dea)\b",
    re.IGNORECASE,
)
_BIRTH_WORDS = re.compile(
    rf"\b(?:{'|'.join(label_words(BIRTH_DATE))}|d\.?o\.?b|birth\w*|born|naissance|n[ée]e?)\b", re.IGNORECASE
)
_NANP = re.compile(r"1?[2-9]\d{2}[2-9]\d{6}")
_DAYS = (
    re.compile(r"(?P<y>(?:19|20)\d\d)(?P<a>\d\d)(?P<b>\d\d)"),
    re.compile(r"(?P<a>\d\d)(?P<b>\d\d)(?P<y>(?:19|20)\d\d)"),
)
_CARD = [4, 3, 3]  # the groups of a health card of Ontario
_QUEBEC = re.compile(r"[A-Z]{4}\d{8}")


class _Spoken(NamedTuple):
    """A number spoken without a pause: its digits, and its offsets in the run."""

    digits: str
    start: int
    end: int


def spoken_numbers(text: str) -> Iterator[Edit]:
    """Yield where numbers are spoken, and their digits, in text order; none over another.

    >>> list(spoken_numbers("at five one nine, five five five, oh one four four"))
    [(3, 50, '519-555-0144')]
    """
    done = 0
    edits = [edit for language, pattern in _RUNS for edit in _of(language, pattern, text)]
    for start, end, meant in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start >= done:  # "six" and "zero" are of both languages
            yield start, end, meant
            done = end


def _of(language: _Language, pattern: re.Pattern[str], text: str) -> Iterator[Edit]:
    for match in pattern.finditer(text):
        chunks = _parsed(language, match["run"])
        start = match.start("run")
        before = text[max(0, match.start() - _CONTEXT_CHARS) : match.start()]
        if _is_number(chunks, match["run"], before):
            letters = "".join(word[0].upper() for word in _WORD.findall(match["letters"]))
            low = match.start() if letters and not chunks[0].start else start + chunks[0].start
            yield low, start + chunks[-1].end, _written(chunks, match["run"], before, letters)


def _parsed(language: _Language, run: str) -> list[_Spoken]:
    """Return the numbers of a run up to the first word that is none."""
    words = [(match[0].lower(), *match.span()) for match in _WORD.finditer(run)]
    chunks: list[_Spoken] = []
    place = 0
    while place < len(words):
        joined = 1  # words without a pause from here on
        while place + joined < len(words) and not _PAUSE.search(
            run, words[place + joined - 1][2], words[place + joined][1]
        ):
            joined += 1
        digits, n_words = _number(language, [word for word, *_ in words[place : place + joined]])
        if digits:
            chunks.append(_Spoken(digits, words[place][1], words[place + n_words - 1][2]))
        elif chunks and words[place][0] not in {"dash", "tiret"}:
            break
        place += n_words
    return chunks


def _number(language: _Language, words: Sequence[str]) -> tuple[str, int]:
    """Return the digits of the number that begins words, and how many of them it is; none: "" and 1."""
    first, following = words[0], words[1] if len(words) > 1 else ""
    if first in {"double", "triple"} and following in language.digits:
        return language.digits[following] * (2 if first == "double" else 3), 2
    if first in language.digits and following and re.fullmatch(language.hundred, following):
        rest, n_words = _below_hundred(language, words[2:])
        return f"{language.digits[first]}{max(rest, 0):02}", 2 + n_words
    number, n_words = _below_hundred(language, words)
    if number >= 0:
        return str(number), n_words
    return language.digits.get(first, ""), 1


def _below_hundred(language: _Language, words: Sequence[str]) -> tuple[int, int]:
    """Return a number of two digits and how many words say it; -1 where none does."""
    first, *others = words or [""]
    if first == "quatre" and others and others[0] in {"vingt", "vingts"}:
        rest, n_words = _rest(language, others[1:], beyond_ten=True)
        return 80 + rest, 2 + n_words
    if first in language.tens:
        rest, n_words = _rest(language, others, beyond_ten=first == "soixante")
        return language.tens[first] + rest, 1 + n_words
    if first == "dix" and others and others[0] in {"sept", "huit", "neuf"}:
        return 10 + int(language.digits[others[0]]), 2
    return (language.teens[first], 1) if first in language.teens else (-1, 0)


def _rest(language: _Language, words: Sequence[str], *, beyond_ten: bool) -> tuple[int, int]:
    """Return what follows the word for tens: its units, in French up to nineteen, and the words."""
    lead = 1 if words[:1] == ["et"] else 0
    if len(words) <= lead:
        return 0, 0
    if beyond_ten:
        number, n_words = _below_hundred(language, words[lead:])
        if 10 <= number < 20:  # noqa: PLR2004 (the teens)
            return number, lead + n_words
    digit = language.digits.get(words[lead], "0")
    return (int(digit), lead + 1) if digit != "0" else (0, 0)


def _is_number(chunks: Sequence[_Spoken], run: str, before: str) -> bool:
    """Tell whether spoken numbers are one number digit by digit, and not a count or an amount."""
    digits = "".join(one.digits for one in chunks)
    n_single = sum(len(one.digits) == 1 for one in chunks)
    pairs = list(pairwise(chunks))
    steps = {int(b.digits) - int(a.digits) for a, b in pairs}
    is_count = steps <= {1} or steps <= {-1}  # "one, two, three, four, five"
    if len(chunks) < _MIN_NUMBERS or (is_count and not _OTHER_WORDS.search(before)):
        return False
    if _birth(digits, before) is not None or _NANP.fullmatch(digits):
        return True
    if len(digits) == _MIN_SHORT:
        return n_single == _MIN_SHORT
    if len(digits) < _LOCAL and all("," in run[a.end : b.start] for a, b in pairs):
        return _OTHER_WORDS.search(before) is not None  # "scores were four, five, six, seven, nine"
    return len(digits) >= _MIN_DIGITS and n_single >= _MIN_SINGLE


def _birth(digits: str, before: str) -> re.Match[str] | None:
    """Return the parts of a day with its year, after a word for a birth."""
    if not _BIRTH_WORDS.search(before):
        return None
    return next((day for form in _DAYS if (day := form.fullmatch(digits))), None)


def _written(chunks: Sequence[_Spoken], run: str, before: str, letters: str) -> str:
    """Return the digits of a number as they are usually written."""
    digits = "".join(one.digits for one in chunks)
    is_other = letters or _OTHER_WORDS.search(before)
    if _QUEBEC.fullmatch(letters + digits):
        return f"{letters} {digits[:4]} {digits[4:]}"
    day = _birth(digits, before)
    if day is not None:
        parts = ("y", "a", "b") if day.start("y") == 0 else ("a", "b", "y")
        return ("-" if parts[0] == "y" else "/").join(day[part] for part in parts)
    groups = [chunks[0].digits]
    for one, other in pairwise(chunks):
        if _PAUSE.search(run, one.end, other.start):
            groups.append(other.digits)
        else:
            groups[-1] += other.digits
    if _NANP.fullmatch(digits) and not is_other and [*map(len, groups)] != _CARD:
        country = "1-" if len(digits) == _LONG_PHONE else ""
        return f"{country}{digits[-10:-7]}-{digits[-7:-4]}-{digits[-4:]}"
    if len(digits) == _LOCAL and not is_other and _PHONE_WORDS.search(before):
        return f"{digits[:3]}-{digits[3:]}"
    is_grouped = len(groups) > 1 and min(map(len, groups)) > 1 and not letters
    return letters + ("-".join(groups) if is_grouped else digits)
