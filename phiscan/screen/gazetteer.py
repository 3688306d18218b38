"""What the dictionaries know of a word: first name, last name, ordinary word, title, credential ...

A gazetteer is a feature of a word, never a finding by itself: half of all English words are somebody's name.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

from phiscan.config import data_dir
from phiscan.dictionaries import load_dictionary
from phiscan.errors import DictionaryError

_CACHE_SIZE = 200_000


class Word:
    """Features of one word as bits of a plain integer (an IntFlag costs ten times as much per word)."""

    FIRST = 1
    LAST = 2
    ORDINARY = 4  # foremost a word of the language, whatever else it is
    TITLE = 8
    TITLE_HEALTH = 16
    CREDENTIAL = 32
    EPONYM = 64  # makes the name before it a medical term: syndrome, disease, sign
    NOT_PERSON = 128  # makes the name before it an organization or a place: hospital, street
    PARTICLE = 256  # de, van, bin: inside a name
    MONTH_OR_DAY = 512


PARTICLES = frozenset(
    "de del della der den di da dos du des la le van von bin al el ter ten y e ibn st ste san santa af"  # noqa: SIM905 (a list of words reads best as a text)
    " av zu zur"
    " mac mc o d l dela delos das do".split()
)
_MONTHS_DAYS = frozenset(
    "january february march april june july august september october november december monday tuesday"  # noqa: SIM905 (a list of words reads best as a text)
    " wednesday"
    " thursday friday saturday sunday janvier fevrier mars avril juin juillet aout septembre octobre novembre"
    " decembre lundi mardi mercredi jeudi vendredi samedi dimanche jan feb mar apr jun jul aug sep sept"
    " oct nov"
    " dec mon tue wed thu fri sat sun".split()
)
_CUE_FLAGS = {
    "title": Word.TITLE,
    "title_health": Word.TITLE_HEALTH,
    "credential": Word.CREDENTIAL,
    "eponym": Word.EPONYM,
    "not_person": Word.NOT_PERSON,
}


def fold(word: str) -> str:
    """Return the form in which names are compared: lower case, no accents, plain apostrophe, no final dot.

    >>> fold("Hélène"), fold("O’Brien"), fold("DR.")
    ('helene', "o'brien", 'dr')
    """  # noqa: RUF002 (names are written with it)
    lower = word.lower().rstrip(".")
    if lower.isascii():
        return lower
    plain = unicodedata.normalize("NFD", lower.replace("’", "'").replace("ß", "ss"))  # noqa: RUF001 (names are written with it)
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(_LATIN)


_LATIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "ð": "d", "þ": "th", "ı": "i", "œ": "oe"})  # noqa: RUF001 (names are written with it)


class Gazetteer:
    """The name dictionaries, with a memory of the words already looked up."""

    def __init__(self, folder: Path) -> None:
        self._first = terms(folder / "first_names.txt")
        self._last = terms(folder / "last_names.txt")
        self._ordinary = terms(folder / "ordinary_words.txt")
        self.places = terms(folder / "places.txt")
        cues = load_dictionary(folder / "name_cues.txt")
        self.cues: dict[str, tuple[str, ...]] = {}
        self._flags: dict[str, int] = {}
        for row in cues.rows:
            word, kind = row[0], row[1]
            self.cues[kind] = (*self.cues.get(kind, ()), word)
            flag = _CUE_FLAGS.get(kind)
            if flag:
                key = fold(word)
                self._flags[key] = self._flags.get(key, 0) | flag
        self._memory: dict[str, int] = {}

    def of(self, word: str) -> int:
        """Return the features of a word as it stands in the text, as a plain integer of ``Word`` flags."""
        flags = self._memory.get(word)
        if flags is None:
            if len(self._memory) > _CACHE_SIZE:
                self._memory.clear()
            flags = self._memory[word] = self._look_up(fold(word))
        return flags

    def _look_up(self, key: str) -> int:
        flags = self._flags.get(key, 0)
        parts = key.split("-") if "-" in key else [key]
        if key in self._first or (len(parts) > 1 and all(p in self._first for p in parts)):
            flags |= Word.FIRST
        if key in self._last or (len(parts) > 1 and all(p in self._last for p in parts)):
            flags |= Word.LAST
        if (
            key in self._ordinary
            or key.removesuffix("'s") in self._ordinary
            or (
                len(parts) > 1
                and any(p in self._ordinary for p in parts)
                and not flags & (Word.FIRST | Word.LAST)
            )
        ):
            flags |= Word.ORDINARY
        if key in PARTICLES:
            flags |= Word.PARTICLE
        if key in _MONTHS_DAYS:
            flags |= Word.MONTH_OR_DAY | Word.ORDINARY
        return flags


def terms(path: Path) -> frozenset[str]:
    """Read the terms of a one-column dictionary quickly; ``load_dictionary`` checks it in the tests.

    Raises:
        DictionaryError: the file cannot be read or has no header.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: expected a readable UTF-8 dictionary: {type(error).__name__}"
        raise DictionaryError(message) from None
    head, _, body = text.partition("# columns: term\n")
    if not head.startswith("# source:"):
        message = f"{path}: line 1: expected the header '# source: ...'"
        raise DictionaryError(message)
    return frozenset(body.split("\n")) - {""}


@cache
def load_gazetteer() -> Gazetteer:
    """Return the gazetteer of this process, read once."""
    return Gazetteer(data_dir("dictionaries"))
