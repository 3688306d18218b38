"""What the dictionaries know of a word: first name, last name, ordinary word, title, credential ...

A gazetteer is a feature of a word, never a finding by itself: half of all English words are somebody's name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from phiscan.config import data_dir
from phiscan.errors import DictionaryError
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.months import UNAMBIGUOUS_MONTHS

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
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun"
    " lundi mardi mercredi jeudi vendredi samedi dimanche"
)
_MONTHS_DAYS = UNAMBIGUOUS_MONTHS | frozenset(_DAYS.split())
# How French words end, and how the form ends that the dictionary has: plurals, feminines, verbs.
_FRENCH_ENDINGS = (
    ("s", ""), ("x", ""), ("e", ""), ("es", ""), ("e", "er"), ("es", "er"), ("ent", "er"), ("ons", "er"),
    ("ez", "er"), ("ez", "re"), ("ez", "ir"), ("issez", "ir"), ("issent", "ir"), ("it", "ir"), ("ie", "ir"),
    ("ies", "ir"), ("is", "ir"), ("ee", "er"), ("ees", "er"), ("ant", "er"), ("ait", "er"), ("aient", "er"),
    ("era", "er"), ("eront", "er"),
)  # fmt: skip
_ENDINGS_BY_LETTER = {
    letter: tuple(pair for pair in _FRENCH_ENDINGS if pair[0][-1] == letter)
    for letter in {ending[-1] for ending, _ in _FRENCH_ENDINGS}
}
_IMPERATIVES = (("ez", "er"), ("ez", "re"), ("ez", "ir"), ("issez", "ir"))
_MIN_STEM = 3
# How the first word of a place is shortened, and how the lists may have it: "St Paul", "Ft. Smith".
_SHORTENED = re.compile(r"(?P<word>ste?|saint|sainte|mt|mount|ft|fort|pt|point|n|s|e|w)(?:\.? |\.?-)")
_SAINT = ("st. ", "saint ", "st ", "saint-", "st-")
_SAINTE = ("ste. ", "sainte ", "ste ", "sainte-", "ste-")
_WRITTEN_OUT = {
    "st": _SAINT, "saint": _SAINT, "ste": _SAINTE, "sainte": _SAINTE, "mt": ("mount ", "mt. "),
    "mount": ("mt. ", "mount "), "ft": ("fort ", "ft. "), "fort": ("ft. ", "fort "),
    "pt": ("point ", "port "), "point": ("pt. ",), "n": ("north ",), "s": ("south ",), "e": ("east ",),
    "w": ("west ",),
}  # fmt: skip
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
        self._first = terms(folder / "first_names.txt") | terms(folder / "first_names_world.txt")
        self._last = terms(folder / "last_names.txt") | terms(folder / "last_names_world.txt")
        self._ordinary = terms(folder / "ordinary_words.txt")
        self._french = terms(folder / "ordinary_words_fr.txt")  # in its first forms; none is a name
        self._french_names = terms(folder / "names_that_are_words_fr.txt")
        self.places = terms(folder / "places.txt")
        self._everyday_places = terms(folder / "places_that_are_words.txt")
        self.towns = terms(folder / "towns.txt")  # smaller ones, of which many are called as families are
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
        """Return the features of a word as it is in the text, as a plain integer of ``Word`` flags."""
        flags = self._memory.get(word)
        if flags is None:
            if len(self._memory) > _CACHE_SIZE:
                self._memory.clear()
            key = fold(word)
            flags = self._look_up(key)
            if not flags and self._is_french(key, lower=word[:1].islower()):
                flags = Word.ORDINARY
            self._memory[word] = flags
        return flags

    def is_place(self, name: str) -> bool:
        """Tell whether a name is that of a place or town of the lists; "St" may stand for Saint."""
        key = fold(name)
        if key in self.places or key in self.towns:
            return True
        shortened = _SHORTENED.match(key)
        if shortened is None:
            return False
        written = (f"{one}{key[shortened.end() :]}" for one in _WRITTEN_OUT[shortened["word"]])
        return any(one in self.places or one in self.towns for one in written)

    def is_everyday_place(self, name: str) -> bool:
        """Tell whether a place of one word is a word before it is a place: "Mobile"; not "Duluth"."""
        if " " in name or not self.of(name) & Word.ORDINARY:
            return False
        key = fold(name)
        return key in self._everyday_places or key not in self.places

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
            or (len(parts) > 1 and self._is_compound(parts, named=flags & (Word.FIRST | Word.LAST)))
        ):
            flags |= Word.ORDINARY
        if key in PARTICLES:
            flags |= Word.PARTICLE
        if key in _MONTHS_DAYS:
            flags |= Word.MONTH_OR_DAY | Word.ORDINARY
        return flags

    def _is_compound(self, parts: list[str], *, named: int) -> bool:
        """Tell whether words joined by hyphens make a word: one of them is enough if they make no name."""
        return (all if named else any)(part in self._ordinary for part in parts)

    def _is_french(self, key: str, *, lower: bool) -> bool:
        """Tell whether a word that is on no other list is French, in whatever form.

        With a capital only what is a verb by its ending: families are named after trades, plants and places.
        """
        if not lower:
            verbs = [
                key.removesuffix(ending) + first for ending, first in _IMPERATIVES if key.endswith(ending)
            ]
            is_infinitive = key.endswith(("er", "ir")) and not key.endswith("ier")
            return any(verb in self._french for verb in verbs) or (is_infinitive and key in self._french)
        return any(form in self._french for form in _first_forms(key))

    def is_french(self, word: str) -> bool:
        """Tell whether a word is French, in whatever form and case, even if it is somebody's name as well."""
        key = fold(word)
        # A name has its own entry if it is a word: Jane and Louise are no forms of Jan and Louis.
        names = (key,) if key in self._first else _first_forms(key)
        return any(form in self._french_names for form in names) or any(
            form in self._french for form in _first_forms(key)
        )


def _first_forms(key: str) -> Iterator[str]:
    """Yield a folded word, and what a French dictionary may have it under."""
    yield key
    for ending, first in _ENDINGS_BY_LETTER.get(key[-1:], ()):
        if key.endswith(ending) and len(key) >= _MIN_STEM + len(ending):
            yield key[: -len(ending)] + first


def terms(path: Path) -> frozenset[str]:
    """Read the terms of a one-column dictionary quickly; ``load_dictionary`` checks it in the tests.

    Raises:
        DictionaryError: the file cannot be read or has no header.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DictionaryError(path, f"expected a readable UTF-8 dictionary: {type(error).__name__}") from None
    head, _, body = text.partition("# columns: term\n")
    if not head.startswith("# source:"):
        message = f"{path}: line 1: expected the header '# source: ...'"
        raise DictionaryError(message)
    return frozenset(body.split("\n")) - {""}


@cache
def load_gazetteer() -> Gazetteer:
    """Return the gazetteer of this process, read once."""
    return Gazetteer(data_dir("dictionaries"))
