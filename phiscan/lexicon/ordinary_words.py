"""Ordinary words: whether a word, in any letter case, is of the language or of medicine, and no name."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from phiscan.config import data_dir
from phiscan.errors import DictionaryError
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, load_gazetteer, terms

_N_WORDS = 50_000
_HEALTH = ("body", "conditions", "drugs", "icd10cm", "labs", "mental", "procedures", "symptoms")
_MIN_HEALTH_CHARS = 4
_FIRST_COLUMN = re.compile(r"^[^#\t\n]+", re.MULTILINE)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # noqa: RUF001 (texts are written with it)
# Function words: not in names of people, towns, streets or firms.
SENTENCE = frozenset(
    "is are was were be been has had have having do does did will would can could should might must not no"  # noqa: SIM905 (a list of words reads best as a text)
    " with from by into if as than then he she they we you it his her hers their our your my me him them us"
    " its who whom which that this these those when where what how why per via see saw seen said says or but"
    " because under until while after before during since about against works working lives living asked asks"
    " called calling calls need needs paying pays went goes going came comes took takes told tells may"
    " est sont etait etaient sera seront etre ete avoir avait ont avec sans pour par puis mais jusqu"
    " jusqu'a il elle ils elles nous vous qui que dont dans sur entre vers son sa ses mon ma mes ton ta"
    " tes notre votre leur leurs ce cet cette ces ne pas plus c'est depuis donc car si quand ou comme".split()
)
# Function words that are in names, too.
_JOINING = frozenset("the a an to at in on of and for le la les un une de du des au aux en et".split())  # noqa: SIM905 (a list of words reads best as a text)


class OrdinaryWords:
    """Tells which words are of the language or of medicine."""

    def __init__(self, gazetteer: Gazetteer, medicine: frozenset[str]) -> None:
        self._gazetteer = gazetteer
        self._medicine = medicine
        self.is_one = lru_cache(_N_WORDS)(self._is_one)

    def is_of_sentence(self, word: str) -> bool:
        """Tell whether a word is a function word of English or French."""
        key = fold(word)
        return key in SENTENCE or key in _JOINING

    def _is_one(self, word: str) -> bool:
        """Tell whether a word is of the language or of medicine, whatever else it is."""
        return (
            bool(self._gazetteer.of(word.lower()) & Word.ORDINARY)
            or fold(word) in self._medicine
            or self.is_of_sentence(word)
            or self._gazetteer.is_french(word)
        )


def health_words(folder: Path) -> frozenset[str]:
    """Return the folded words of the terms of medicine, read from the dictionaries of a folder.

    Raises:
        DictionaryError: a dictionary cannot be read.
    """
    try:
        texts = [(folder / f"health_{name}.txt").read_text(encoding="utf-8") for name in _HEALTH]
    except (OSError, UnicodeDecodeError) as error:
        raise DictionaryError(
            folder, f"expected the dictionaries health_*.txt: {type(error).__name__}"
        ) from None
    words = " ".join(first for text in texts for first in _FIRST_COLUMN.findall(text)).lower().split()
    return frozenset(fold(word) for word in set(words) if len(word) >= _MIN_HEALTH_CHARS)


@cache
def load_ordinary() -> OrdinaryWords:
    """Return the ordinary words of this process, read once.

    Raises:
        DictionaryError: a dictionary cannot be read.
    """
    gazetteer, folder = load_gazetteer(), data_dir("dictionaries")
    abbreviations = load_dictionary(folder / "health_abbreviations.txt").terms
    shorthand = terms(folder / "clinical_shorthand.txt")
    return OrdinaryWords(gazetteer, health_words(folder) | shorthand | {fold(term) for term in abbreviations})
