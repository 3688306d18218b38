"""Eponyms: a filter of names that are as often a disease, a scale, an instrument or a language.

"? Wilms f/u", "Braden 16", "a Kocher was used", "speaks Dari": the tagger alone, without a title, a label or
a first name beside the word, does not make these people. They stay in sight as doubtful names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import re2

from phiscan.config import data_dir
from phiscan.lexicon.capitalized_words import has_civil_title, is_term
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Word, fold, load_gazetteer
from phiscan.model import EntityType, Finding
from phiscan.screen.ner.name_confidence import as_doubtful
from phiscan.screen.ner.tagger import SOURCE
from phiscan.screen.table_columns import Tables
from phiscan.text.automata import automaton, spans_of
from phiscan.text.phrase_patterns import any_label

_DOUBT: Final = "as often a term of medicine or a language"
_CONTEXT_CHARS = 40
_WORD = re.compile(r"[^\W\d_]+")
_JOINS: Final = frozenset(("et", "and", "de", "d", "s"))
# What is before a thing and not before a person: an article, a question, "history of".
_BEFORE = re.compile(
    r"(?:\b(?:an?|the|no|neg|r/o|ruled?[ ]out|dx|[fp]?m?hx?|(?:hx|history)[ ]of|poss|possible|probable|known"
    r"|early|late|severe|mild|underlying|une?|le|la|les|atcd|pas[ ]de|sans)[ ]?:?[ ]|\?[ ]?"
    r"|\bl['\N{RIGHT SINGLE QUOTATION MARK}])$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:['\N{RIGHT SINGLE QUOTATION MARK}]s)?[ ](?:placed|inserted|removed|lift|sling|cath\w*|clamps?"
    r"|forceps|retractors?|drain|tube|bag|balloon|in[ ]situ|d/c|scale|score|test|sign|criteria|type|grade"
    r"|class|stage|f/u|bandages?|boots?|harness|splint|brace|rods?|sequence|pupils?|murmur|shunt|surgery|run"
    r"|paralysis|attacks?|phenomenon|hospital|protocol|classification|health[ ]centre|medical[ ]center|unit"
    r"|diet|society)\b",
    re.IGNORECASE,
)
# A list of signs or diseases: "McBurney, Rovsing, Murphy", "Osler, Janeway et Roth".
_LIST = re.compile(
    r"(?:[^\W\d_][\w'\N{RIGHT SINGLE QUOTATION MARK}-]{2,20}(?:,[ ]|[ ](?:and|or|et|ou)[ ]|/)){1,8}"
)
_LIST_CHARS = 90
# What is called after somebody: "the Ann Roy Award"; with a number after it a place in a list of patients.
_NAMED_AFTER = re.compile(
    r"(?:['\N{RIGHT SINGLE QUOTATION MARK}]s)?[ ]"
    r"(?:(?:Memorial|Family|Community|Regional|General|Annual)[ ])?"
    r"(?:[Aa]ward|[Pp]rize|[Ll]ecture(?:ship)?|[Ss]cholarship|[Ff]ellowship|[Bb]ursary|[Ff]oundation|Fund|Run"
    r"|Walk|Ward|[Ww]ing|[Pp]avilion|[Bb]uilding|Theat(?:re|er)|[Aa]uditorium|[Ll]ibrary|Hall|Chair|Medal"
    r"|Institute|Trophy|Hospital|Hospice|Memorial|[Gg]rant|ward|Campus|Day)s?\b(?![ ]?[#:]?[ ]?\d)"
)
_PEOPLE = (EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL)
_MIN_THINGS = 2  # beside the name, that are seldom anybody's
# A list of medicines or devices up to the name, on one line or one a line: "Pills: Camila, Errin and ".
_ITEM = r"(?>[*•–-]?[ ]?(?:\d{1,4}[ ])?[^\W\d_][^:,;/\n]{0,40}%s)"  # noqa: RUF001 (texts are written with it)
_LIST_BEFORE = re.compile(
    rf"(?P<head>[^\W\d_][^:\n]{{0,60}})[ ]?:"
    rf"(?:[ ]?{_ITEM % r'(?:[,;/]|[ ](?:and|et|or|ou)(?=[ ]))[ ]?'}{{0,40}}(?:\d{{1,4}}[ ])?"
    rf"|(?P<lines>\n){_ITEM % chr(10)}{{0,40}}[*•–-]?[ ]?)$"  # noqa: RUF001 (texts are written with it)
)
_USERS = re.compile(
    r"\b(?:patient|client|resident|résident|user|usager|usagère|nurse|infirmi|staff|team|équipe|takes?\b|sous\b"
    r"|given|gave|missed|due\b|refus|donn|omis|oubli|manqu)"
    r"|\b(?:with|by|for|par|avec|pour)\s*$",
    re.IGNORECASE,
)  # of a medicine or device
_LISTED_CHARS = 600
# A strength after a name, or the number of a brand: "Camila (norethindrone) 0.35 mg", "Diane-35".
_DOSE = re.compile(
    r"-\d\d\b|(?:[ ]\([^()\n]{3,40}\))?,?[ ]\d+(?:[.,]\d+)?[ ]?(?:mc?g|µg|ml|UI|IU|units?|unités?)\b"
)
_NAMES: Final = Word.FIRST | Word.LAST
_SPEAKS = re.compile(
    r"\b(?:speaks?|spoken|speaking|languages?|langues?|parl(?:e|ent|ant)|interpr[eè]te?r?s?)\b[^.\n]{0,30}$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def load_eponyms() -> dict[str, str]:
    """Return what each word mostly is where it is alone: a thing, or as often a name.

    Raises:
        DictionaryError: the list cannot be read.
    """
    rows = load_dictionary(data_dir("dictionaries") / "eponyms.txt").rows
    return {fold(word): kind for word, kind in rows}


@lru_cache(maxsize=1)
def _phrases() -> dict[str, tuple[tuple[tuple[str, ...], bool], ...]]:
    """Return the eponyms of several words by each word that they hold, and whether each is always a thing."""
    found: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for phrase, kind in load_dictionary(data_dir("dictionaries") / "eponym_phrases.txt").rows:
        words = tuple(fold(phrase).split())
        for word in words:
            found.setdefault(word, []).append((words, kind == "thing"))
    return {word: tuple(phrases) for word, phrases in found.items()}


def without_eponym_phrases(text: str, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings; a name that is a part of an eponym of several words becomes a doubtful name.

    "an Austin Flint murmur", "Sister Mary Joseph nodule", "Dr. Scholl's": whatever recognizer found the name,
    unless a label says that it is a person. So does a name before what is called after somebody ("the Ann Roy
    Award").
    """
    return [
        as_doubtful(finding, _DOUBT)
        if finding.entity_type in _PEOPLE
        and finding.bits
        and (_is_in_phrase(text, finding) or _NAMED_AFTER.match(text, finding.span.end))
        else finding
        for finding in findings
    ]


def _is_in_phrase(text: str, finding: Finding) -> bool:
    if any(reason.kind == "label" for reason in finding.reasons):
        return False
    start, end = finding.span.start, finding.span.end
    # "Mr. Austin Flint" is a person; the title of "Sister Mary Joseph" and "Dr. Scholl" is a part of it.
    has_title = finding.entity_type is not EntityType.PERSON or any(
        reason.kind == "title" for reason in finding.reasons
    )
    low = max(0, start - _CONTEXT_CHARS)
    around = [
        (fold(match.group()), match.start(), match.end())
        for match in _WORD.finditer(text, low, end + _CONTEXT_CHARS)
    ]
    inside = {word for word, first, last in around if first < end and last > start}
    for phrase, is_thing in {phrase for word in inside for phrase in _phrases().get(word, ())}:
        for index in range(len(around) - len(phrase) + 1):
            part = around[index : index + len(phrase)]
            first, last = part[0][1], part[-1][2]
            is_phrase = tuple(word for word, _, _ in part) == phrase and last >= end
            if is_phrase and (first < start if has_title else first <= start):
                return is_thing or _is_of_a_thing(text, first, last)
    return False


def _is_of_a_thing(text: str, start: int, end: int) -> bool:
    """Tell whether a name that is as often a person's is a thing here, by the words beside it."""
    before = text[max(0, start - _CONTEXT_CHARS) : start]
    return bool(
        _BEFORE.search(before)
        or _AFTER.match(text, end)
        or is_term(text, end, load_gazetteer(), kinds=Word.EPONYM)
    )


def doubt_eponyms(text: str, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings; names of the tagger alone that are things by their place as doubtful ones."""
    bare = {one for one in findings if one.source == SOURCE and one.entity_type is EntityType.PERSON}
    columns = list(_columns_of_things(text)) if bare else []
    return [
        as_doubtful(finding, _DOUBT)
        if finding in bare
        and not has_civil_title(text, finding.span.start)
        and (_is_thing(text, finding) or _is_listed(text, finding.span.start, finding.span.end, columns))
        else finding
        for finding in findings
    ]


@lru_cache(maxsize=1)
def _thing_heads() -> re2._Regexp:
    return automaton(any_label(load_gazetteer().cues["thing_head"]))


def _columns_of_things(text: str) -> Iterator[tuple[int, int]]:
    """Yield the cells of columns whose heads say medicines or devices."""
    heads = spans_of(_thing_heads(), text)
    tables = Tables(text) if heads else None
    for head in heads:
        yield from (tables and tables.column(*head)) or ()


def _is_listed(text: str, start: int, end: int, columns: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a name has a strength, or is in a list or column of medicines or devices.

    A first name with a surname is a person ("Ventilators: Lena Okafor"), and so is who uses or gets them; a
    surname alone before a strength is of who gets it ("Tremblay 5 mg").
    """
    flags = [load_gazetteer().of(word) & _NAMES for word in _WORD.findall(text, start, end)]
    if len(flags) == 2 and flags[0] & Word.FIRST and flags[1] == Word.LAST:  # noqa: PLR2004 (two words)
        return False
    if _DOSE.match(text, end) and flags != [Word.LAST]:
        return True
    if any(low <= start and end <= high for low, high in columns):
        return True
    found = _LIST_BEFORE.search(text, max(0, start - _LISTED_CHARS), start)
    if found is None or (found["lines"] and text[end : end + 1] not in ("", "\n")):
        return False
    return bool(spans_of(_thing_heads(), found["head"])) and not _USERS.search(found["head"])


def _is_thing(text: str, finding: Finding) -> bool:
    start, end = finding.span.start, finding.span.end
    words = [word for word in map(fold, _WORD.findall(text, start, end)) if word not in _JOINS]
    before = text[max(0, start - _CONTEXT_CHARS) : start]
    if len(words) == 1 and _SPEAKS.search(before):
        return True
    if _is_among_things(text, start, end):
        return True
    kinds = [load_eponyms().get(word) for word in words]
    if "thing" in kinds and is_term(text, end, load_gazetteer(), kinds=Word.EPONYM):
        return True
    if not words or None in kinds:
        return False
    if len(words) == 1:
        return kinds == ["thing"] or bool(_BEFORE.search(before) or _AFTER.match(text, end))
    # "Graves, Hashimoto", "Cheyne-Stokes" are none; "Parkinson, Scott" and "Marie Wilms" are.
    flags = load_gazetteer().of
    return "thing" in kinds and not any(flags(word) & Word.FIRST for word in words)


def _is_among_things(text: str, start: int, end: int) -> bool:
    """Tell whether a name is in a list of things that are named after a person."""
    line = text.rfind("\n", max(0, start - _LIST_CHARS), start) + 1
    low = max(line, start - _LIST_CHARS)
    high = end + _LIST_CHARS
    around = text[low:high].partition("\n")[0]
    for match in _LIST.finditer(around):
        # The last of a list is after the last comma.
        if match.start() <= end - low and match.end() >= start - low:
            words = [fold(word) for word in _WORD.findall(around, match.start(), match.end())]
            return sum(load_eponyms().get(word) == "thing" for word in words) >= _MIN_THINGS
    return False
