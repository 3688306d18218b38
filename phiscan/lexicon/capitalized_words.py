"""The capitalised words of a text, with what the gazetteer knows of each: the material of the name rules."""

from __future__ import annotations

import re
from dataclasses import dataclass

from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, PiiBit, Reason, Span

# Upper-case letters of the Latin, Greek and Cyrillic scripts: the letters that begin a name.
UPPER = "".join(chr(c) for c in range(0x41, 0x530) if chr(c).isupper())
LATIN_UPPER, LATIN_LOWER = "A-ZÀ-ÖØ-Þ", "a-zà-öø-ÿ"  # for brackets of patterns; quicker than UPPER
LETTER = r"[^\W\d_]"
WORD = rf"{LETTER}(?:{LETTER}|['’\-](?={LETTER}))*"  # noqa: RUF001 (names are written with it)
_CAPITALISED = re.compile(
    rf"(?:(?<![\w@#/])|(?<=__))[{UPPER}](?:{LETTER}|['’\-](?={LETTER}))*(?:(?!\w)|(?=__))"  # noqa: RUF001 (names are written with it)
)
CREDENTIALS = re.compile(
    r",?[ ]?\(?(?:M\.?D\.?|D\.?O\.?|R\.?N\.?|N\.?P\.?|P\.?A\.?(?:-C)?|Ph\.?D\.?|PharmD|D\.?D\.?S\.?"
    r"|D\.?M\.?D\.?"
    r"|R\.?Ph\.?|F\.?R\.?C\.?[PS]\.?\(?C?\)?|FACS|FACP|FACC|CCFP|CRNA|LPN|RPN|APRN|ARNP|DNP"
    r"|FNP(?:-[CB]C?)?|BScN"
    r"|MScN|MSN|MBBS|MBChB|MSW|LCSW|RSW|PsyD|C\.Psych|DPT|OTR(?:/L)?|SLP|DPM|MPH|m\.d\.|inf\.|CMQ"
    r"|BSN)(?![\w])"
)


_AHEAD = re.compile(r"(?:['’]s?)?[ -]{1,2}(?:\([^()\n]{1,12}\) )?([^\W\d_]+)")  # noqa: RUF001 (names are written with it)
_CIVIL_TITLE = re.compile(
    r"(?<!\w)(?:m(?:rs?|s|me|lle|iss|x)|madame|monsieur)\.?[ \u00a0]{1,2}$", re.IGNORECASE
)
_TITLE_CHARS = 14
TERM_WORDS = Word.EPONYM | Word.NOT_PERSON


def is_term(text: str, end: int, gazetteer: Gazetteer, n_words: int = 1, *, kinds: int = TERM_WORDS) -> bool:
    """Tell whether one of the next words makes a term or an organization of the name that ends at ``end``.

    "Huntington disease", "Ullrich congenital muscular dystrophy" (three words ahead), "Miller Hospital".
    ``kinds``: the flags of the words that do.
    """
    for _ in range(n_words):
        match = _AHEAD.match(text, end)
        if match is None:
            return False
        if gazetteer.of(match[1]) & kinds:
            return True
        end = match.end()
    return False


def has_civil_title(text: str, start: int) -> bool:
    """Tell whether "Mr.", "Mrs.", "Mme" or the like is before ``start``: a person, and no professional.

    >>> has_civil_title("I saw Mr. Parkinson", 10), has_civil_title("Dr. Parkinson", 4)
    (True, False)
    """
    return _CIVIL_TITLE.search(text, max(0, start - _TITLE_CHARS), start) is not None


@dataclass(frozen=True, slots=True)
class Token:
    """One capitalised word: where, as written, its features."""

    start: int
    end: int
    word: str
    flags: int


def tokenize(text: str, gazetteer: Gazetteer) -> list[Token]:
    """Return the capitalised words of a text in order."""
    look_up = gazetteer.of
    return [Token(m.start(), m.end(), m[0], look_up(m[0])) for m in _CAPITALISED.finditer(text)]


def name_finding(
    start: int,
    end: int,
    *,
    health: bool,
    bits: frozenset[PiiBit],
    source: str,
    score: float,
    reason: tuple[str, str],
) -> Finding:
    """Return the finding of one name; a health professional's shows the bit of that, a person's its parts."""
    kind = EntityType.HEALTH_PROFESSIONAL if health else EntityType.PERSON
    shown = frozenset({PiiBit.HEALTH_PROFESSIONAL}) if health else bits
    return Finding(Span(start, end), kind, source, score, shown, (Reason(*reason, score),))


FULL_NAME = frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME})
FIRST_ONLY = frozenset({PiiBit.FIRST_NAME})
LAST_ONLY = frozenset({PiiBit.LAST_NAME})
