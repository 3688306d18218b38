"""Cities with their province or state: findings by the gazetteer.

"Regina  SK  S4P 0W5", "Antigonish N.S.", "Duluth MN", "Winnipeg, Man.", "moose jaw sk". The rule for a city
and its state needs a comma or a postal code; here a known city is enough, and the whole is as sure as a label
makes it, since half of all cities are called as people are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.rules.context import whole_word
from phiscan.text.automata import automaton, spans_of

SOURCE = "places.state"
SURE = 0.87  # more than a recognizer of names alone, and than an organization that ends in a city
SCORE = 0.6
_REGIONS = load_dictionary(data_dir("dictionaries") / "regions.txt").rows
_CODES, _SHORT, _FULL, _COUNTRIES, _SMALL = (
    "|".join(form for form, kind in _REGIONS if kind == one)
    for one in ("code", "short", "full", "country", "small")
)
_STATE = automaton(
    rf"[\pL.][,)]?[ \t]{{1,12}}\(?(?:{_CODES}|{_SHORT}|{_FULL}|{_FULL.upper()}|{_SMALL}"
    rf"|{_COUNTRIES})(?:[^\pL\d-]|$)"
)
_AT_STATE = re.compile(
    rf"(?:{_CODES}|{_SHORT}|{_FULL}|{_FULL.upper()}|{_SMALL}|(?P<country>{_COUNTRIES}))(?![\w-])"
)
_CODE = re.compile(_CODES)
# Codes that are also degrees after a name, or words of a line in capitals.
_DEGREES = frozenset(("MD", "PA", "MA", "MS", "ND", "DC", "CO", "PR", "PE", "AL"))
_LONELY = frozenset(
    ("ID", "VA", "AL")
)  # without a comma they need a postal code: "Panorama ID", "Brookdale AL"
_WORDS = frozenset("OR IN ME OK HI ON DE LA ID NE PA MA AL PE AB MS CO NB OH AK MI NS SC PR MT".split())  # noqa: SIM905
_POSTAL = re.compile(
    r"\)?,?[ \t]{0,12}\n?[ \t]{0,4}"
    r"(?:[A-Za-z]\d[A-Za-z][ -]{0,2}\d[A-Za-z]\d|(?P<zip>\d{5})(?:-\d{4})?)(?!\w)"
)
_ENDS = re.compile(r"\)?[ ]?(?:[\n\r,.;:)|\t\"]|[ ]{2}|$)")
_WORD = r"[^\W\d_](?:[\w'’-]|\.(?=[ ]?\w)){0,24}"  # noqa: RUF001 (names are written with it)
_CITY = re.compile(rf"(?P<name>{_WORD}(?:[ ]{_WORD}){{0,3}})(?P<gap>,?[ \t]{{1,12}}\(?|[ ]?\()\Z")
_OF = re.compile(r"(?<!\w)(?:of|de|du|des|for|d['’]|of the|de la)[ ]?$", re.IGNORECASE)  # noqa: RUF001 (texts are written with it)
_BEGINS = re.compile(r"(?:^|[\n\t|;:,>\"]|[ ]{2})[ ]{0,4}$")
_WORD_STARTS = re.compile(r"(?:^|(?<=[ ]))\S")
_JOINS = frozenset(("de", "la", "du", "des", "of", "the", "sur", "aux", "and", "et"))
# How the codes begin of states that are words or degrees, too: "client ID 11884" is no Idaho.
_ZIPS = {
    "ID": "83", "OR": "97", "IN": "4", "OK": "7", "ME": "0", "OH": "4", "MS": "3", "PA": "1", "MD": "2",
    "CO": "8", "LA": "7", "DE": "19", "HI": "96", "MA": "0", "AL": "3", "MI": "4", "NE": "6", "SC": "2",
    "PR": "0", "CT": "0",
}  # fmt: skip
_LAST_WORD = re.compile(r"([^\W\d_]+)\.?[ ]$")
_CITY_CHARS, _STATE_CHARS, _MAX_UNKNOWN, _MIN_SMALL = 96, 28, 3, 4
_NAMES = Word.FIRST | Word.LAST
_BITS = bits_of(EntityType.LOCATION)


def is_code(name: str) -> bool:
    """Tell whether a name is the short form of a state or province, in capitals.

    >>> is_code("PEI"), is_code("CHUM")
    (True, False)
    """
    return _CODE.fullmatch(name) is not None


def cities(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield each city with the state or province after it; spans are half-open, in code points."""
    for low, high in spans_of(_STATE, text):
        state = next(
            (
                match
                for start in range(low + 1, min(high, low + _STATE_CHARS))
                if text[start - 1] in " \t(" and (match := _AT_STATE.match(text, start)) is not None
            ),
            None,
        )
        if state is None or not whole_word(text, state.start(), state.end()):
            continue
        found = _city(text, state, gazetteer)
        if found is None:
            continue
        start, score = found
        is_open = "(" in text[start : state.start()]
        if is_open and not text.startswith((")", ","), state.end()):
            continue  # "Crystal (PR#576)"
        end = state.end() + (is_open and text.startswith(")", state.end()))
        reason = Reason("gazetteer", "a city before its state", score)
        yield Finding(Span(start, end), EntityType.LOCATION, SOURCE, score, _BITS, (reason,))


def _city(text: str, state: re.Match[str], gazetteer: Gazetteer) -> tuple[int, float] | None:
    """Return where the city before a state begins, and how sure it is."""
    line = text.rfind("\n", max(0, state.start() - _CITY_CHARS), state.start()) + 1
    city = _CITY.search(text, max(line, state.start() - _CITY_CHARS), state.start())
    if city is None:
        return None
    postal = _POSTAL.match(text, state.end())
    has_postal = postal is not None and (
        not postal["zip"] or postal["zip"].startswith(_ZIPS.get(state[0].upper(), ""))
    )
    if has_postal and _is_unknown_city(text, city, gazetteer):
        return city.start("name"), SURE
    starts = (match.start() + city.start("name") for match in _WORD_STARTS.finditer(city["name"]))
    known = next((at for at in starts if gazetteer.is_place(text[at : city.end("name")])), None)
    if known is None:
        return None
    name = text[known : city.end("name")]
    is_written_alike = name.islower() == state[0].islower() or ("," in city["gap"] and not name.islower())
    is_city = is_written_alike and len(name) >= _MIN_SMALL
    if not is_city or not (has_postal or _needs_no_code(text, state, city["gap"], name, gazetteer)):
        return None
    if state[0] in _DEGREES and not has_postal and _is_after_name(text, known, name, gazetteer):
        return None  # "Ann Tyler, MD"
    return known, SCORE if _OF.search(text, max(0, known - 8), known) else SURE


def _needs_no_code(text: str, state: re.Match[str], gap: str, name: str, gazetteer: Gazetteer) -> bool:
    """Tell whether a city of the lists and a state are one without a postal code after them."""
    if gap.strip():
        return True  # a comma or a bracket
    if state[0] in _LONELY or state["country"] or gazetteer.is_everyday_place(name):
        return False
    if state[0] in _DEGREES and any(gazetteer.of(word) & _NAMES for word in name.split()):
        return False
    may_go_on = "  " in gap or (state[0] in _WORDS and name.isupper())
    return not may_go_on or _ENDS.match(text, state.end()) is not None


def _is_unknown_city(text: str, city: re.Match[str], gazetteer: Gazetteer) -> bool:
    """Tell whether words before a state and a postal code fill the place of a city and look like one."""
    name = city["name"]
    words = name.split()
    if len(words) > _MAX_UNKNOWN or not all(word[0].isupper() or word in _JOINS for word in words):
        return False
    if any(gazetteer.of(word) & Word.NOT_PERSON for word in name.split()):
        return False  # "Main Street"
    return _BEGINS.search(text, max(0, city.start() - 6), city.start("name")) is not None


def _is_after_name(text: str, start: int, name: str, gazetteer: Gazetteer) -> bool:
    """Tell whether a place that is called as a family is is after a first name or an initial."""
    if not gazetteer.of(name) & _NAMES:
        return False
    before = _LAST_WORD.search(text[max(0, start - 20) : start])
    return before is not None and (len(before[1]) == 1 or bool(gazetteer.of(before[1]) & Word.FIRST))
