"""Filters of what a tagger takes for a name or an address: labels and abbreviations, places, other strings.

The labels are those of our own rules: a label of a number is no name. A label that is a name as well
("NAM", "DEA", "SIN") is none only where its place says so.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, terms
from phiscan.screen.ner.spans import line_around
from phiscan.screen.rules.context import canonical
from phiscan.screen.rules.definitions import load_rules

_LABEL_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 (texts are written with it)
_NAMES: Final = Word.FIRST | Word.LAST
_MAX_CODE, _MIN_LABEL = 5, 2  # letters
_MAX_LABEL = 40
# What is after a label: a sign, or a number.
_VALUE = re.compile(r"[\"']?[ ]{0,2}[:#=]|[ ]{1,4}[A-Z]{0,3}\d")
# A point that ends no sentence, a colon: what precedes it is shortened ("Abd. souple") or a heading.
_SHORTENED = re.compile(r"\.[ ]{0,2}(?:[:,;/]|[a-zà-ÿ0-9])|[ ]?:")
_KEY = re.compile(r"[ ]?=|[\"'][ ]?[:=]")
_CELL_AFTER = re.compile(r"[ ]?(?:[\t;|\n]|$)")
_BETWEEN_CELLS = re.compile(r"[ ]?[|\t;][ ]?|[ ]{2,}")
_WRITTEN_SO = frozenset({"Td", "Hib", "Tdap", "TdaP", "DTaP"})  # vaccines
_MAX_HEAD = 24  # characters
_MIN_HEADS = 3  # cells beside a word that is a label in a line without a number, one of them a label, too
_DIGIT = re.compile(r"\d")
_SMALL = re.compile(r"[a-zà-ÿ]{3}")


class Vetoes:
    """Tells which spans are labels or abbreviations, and no names."""

    def __init__(
        self,
        gazetteer: Gazetteer,
        labels: frozenset[str],
        abbreviations: frozenset[str],
        shorthand: frozenset[str],
    ) -> None:
        self._gazetteer = gazetteer
        self._shorthand = shorthand
        self._labels = labels
        self._abbreviations = abbreviations

    def is_label(self, text: str, start: int, end: int) -> bool:
        """Tell whether a span is wholly made of labels of identifiers, or of abbreviations in capitals."""
        if end - start > _MAX_LABEL:
            return False
        words = _LABEL_WORD.findall(text, start, end)
        if len(words) == 1 and fold(words[0]) in self._shorthand and _SHORTENED.match(text, end):
            return True
        if not words or not all(self._is_term(word) for word in words):
            return canonical(text[start:end]) in self._labels and not self._has_name(words)
        if not all(self._has_name([word]) for word in words):
            return True
        return len(words) == 1 and self._is_label_here(text, start, end)

    def _is_term(self, word: str) -> bool:
        if canonical(word) in self._labels or (word.isupper() and word in self._abbreviations):
            return True
        is_written_so = word.islower() or word.isupper() or word in _WRITTEN_SO
        return is_written_so and fold(word) in self._shorthand

    def _has_name(self, words: list[str]) -> bool:
        return any(self._gazetteer.of(word) & _NAMES for word in words)

    def _is_label_here(self, text: str, start: int, end: int) -> bool:
        """Tell of a label that is a name, too, whether its case and what follows it make it a label."""
        word = text[start:end]
        if word.islower():
            return _KEY.match(text, end) is not None
        if word.isupper() and _VALUE.match(text, end):
            return True
        line = line_around(text, start, end)
        if not word.isupper() or len(word) > _MAX_CODE:
            cells = [canonical(cell) for cell in _BETWEEN_CELLS.split(line) if cell.strip()]
            return (
                len(cells) >= _MIN_HEADS
                and max(map(len, cells)) <= _MAX_HEAD
                and not _DIGIT.search(line)
                and not self._labels.isdisjoint(cells)
            )
        is_head = _CELL_AFTER.match(text, end) and not _DIGIT.search(line)
        return bool(is_head or _SMALL.search(line))


@lru_cache(maxsize=1)
def load_vetoes(gazetteer: Gazetteer) -> Vetoes:
    """Return what our own rules and dictionaries say.

    Raises:
        RuleError, DictionaryError: a file of ours is damaged.
    """
    rules = load_rules()
    contexts = rules.contexts.values()
    labels = {canonical(label) for words in contexts for label in (*words.labels, *words.headers)}
    folder = data_dir("dictionaries")
    abbreviations = load_dictionary(folder / "health_abbreviations.txt").terms
    return Vetoes(
        gazetteer,
        frozenset(label for label in labels if len(label) >= _MIN_LABEL),
        frozenset(abbreviations),
        terms(folder / "clinical_shorthand.txt"),
    )
