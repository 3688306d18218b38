"""Words that a scanner misread: Te1, 0HIP, Ju|y, PATlENT, Adrnit.

A word that looks like a label, a month or an ordinary word when 1, l, I and | are one character, 0 and o
another, and rn is m, is read as that word. So is one that is no word and becomes one when a letter or two are
read as those that they are taken for (``misread_letters``). A word that is already one stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from phiscan.lexicon.gazetteer import Gazetteer, Word, load_gazetteer
from phiscan.screen.ocr_confusions.dates import day_figures, days_apart
from phiscan.screen.ocr_confusions.digits import corrected_initials
from phiscan.screen.ocr_confusions.letters import (
    LooseWords,
    joined_labels,
    month_nearby,
    ocr_short_labels,
    ocr_variants,
    serial_signs,
    short_label_nearby,
    weekday_nearby,
    with_one_other,
    without_accents,
)
from phiscan.screen.ocr_confusions.line import Edit, Line
from phiscan.screen.rules.definitions import ContextWords

_MIN_WORD = 3
_MIN_GUESS = 4  # letters of a word that no label and no month is
_WORDS = (
    "january february march april may june july august september october november december"  # noqa: SIM905 (a list of words reads best as a text)
    " jan feb mar apr jun jul aug sep sept oct nov dec"
    " janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre janv fev avr juil"
    " février août décembre"
    " poste ext local age ans years old"
    " ninety hundred quatre vingt quatrevingt onze douze treize quatorze quinze seize first second third"
    " street avenue road drive lane court boulevard crescent suite unit apartment floor highway route box"
    " rang chemin place bureau unité étage appartement case postale".split()
)
# Of two or three letters only these, and only in the form in which no other word is written.
_SHORT = {
    "1e": "le", "N0": "No", "n0": "no", "lD": "ID", "1D": "ID", "lL": "IL", "lN": "IN", "lA": "IA",
    "Rl": "RI", "Ml": "MI", "Hl": "HI", "Wl": "WI", "0N": "ON", "0H": "OH", "0R": "OR", "0K": "OK",
    "PEl": "PEI", "F4x": "Fax", "M0": "MO", "C0": "CO", "5t": "St", "uo": "no", "Uo": "No", "5N": "SN",
    "5SN": "SSN", "5IN": "SIN", "NA5": "NAS", "ruc": "rue", "rne": "rue", "aus": "ans", "ons": "ans",
    "ycar": "year", "0n": "on", "0f": "of", "t0": "to", "fhe": "the", "tbe": "the", "thc": "the", "lc": "le",
    "Lc": "Le", "u0": "no",
}  # fmt: skip
_ODD = "01|!"  # never letters
_NO_HALVES = frozenset(("i", "a", "o", "y", "à", "the", "and", "was", "his", "her", "of", "in", "to", "on"))
_HALVES = re.compile(
    r"(?<![^\W_])(?<![-'.\N{RIGHT SINGLE QUOTATION MARK}])(?P<first>[^\W\d_]{1,12}) "
    r"(?=(?P<rest>[^\W\d_]{2,12})(?![^\W_]))"
)
_TOKEN = re.compile(r"[^\W_](?:[^\W_]|[|!](?=[^\W\d_]))*+")
_LETTERS_ONLY = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]{4,32}|[2568][^\W\d_]{3,32})(?![^\W_])"
)  # Cbance, 5tephanie
_FEW_LETTERS = re.compile(r"\d\D*\d|^\D{0,2}\d\D{0,1}$")
_DIGITS = re.compile(r"\d")
_OTHER_DIGITS = re.compile(r"[2-9]")
# What a misread word has in it: a sign that is no letter, rn, cl, vv, an l among capitals, an I inside.
_ODDITY = re.compile(r"[01|!]|rn|RN|cl|vv|[A-Z]l|l[A-Z]|[a-zà-ÿ]I|^l[a-z]|^I[a-z]")
_INNER_I = re.compile(r"[a-zà-ÿ]I")
_LETTERS = str.maketrans({"i": "l", "1": "l", "|": "l", "!": "l", "0": "o"})


def skeleton(word: str) -> str:
    """Return a word in small letters without accents, and with all that scanners confuse made one.

    >>> skeleton("PATlENT") == skeleton("patient"), skeleton("rnars") == skeleton("mars")
    (True, True)
    """
    folded = without_accents(word.lower()).translate(_LETTERS)
    return folded.replace("rn", "m").replace("cl", "d").replace("vv", "w")


class Vocabulary:
    """The words of all labels, the months, and whatever the dictionaries know."""

    def __init__(self, contexts: Mapping[str, ContextWords]) -> None:
        labels = [_words_of((*each.labels, *each.headers)) for each in contexts.values()]
        near = [_words_of(each.near) for each in contexts.values()]
        words = [word for pair in zip(labels, near, strict=True) for part in pair for word in part]
        self._labels = frozenset(chain(*labels, _WORDS))
        self._known = frozenset(words) | frozenset(_WORDS)
        self._meant: dict[str, str] = {}
        for word in (*words, *_WORDS):
            if len(word) >= _MIN_WORD:
                self._meant.setdefault(skeleton(word), word)
        self._loose = LooseWords(word for word in (*words, *_WORDS) if len(word) >= _MIN_GUESS)
        self._memory: dict[tuple[str, str], str] = {}

    def ocr_labels(self) -> frozenset[str]:
        """Return what the words of labels, the months and the words of addresses are with one letter misread.

        Those that are words themselves are left out.
        """
        return frozenset(form for form in ocr_variants(self._labels) if not self._is_word(form))

    def ocr_short_labels(self) -> frozenset[str]:
        """Return what the short labels are with one letter misread, those that are words left out."""
        return frozenset(form for form in ocr_short_labels(self._labels) if not self._is_ordinary(form))

    def read(self, line: Line, *, bars: bool) -> Line:
        """Return a line with its misread words corrected; with ``bars``, | may be a letter."""
        line = line.edited(serial_signs(line.text))
        line = line.edited(joined_labels(line.text))
        line = line.edited(day_figures(line.text))
        line = line.edited(days_apart(line.text))
        line = line.edited(corrected_initials(line.text))
        line = line.edited(self._edits(line.text, bars=bars))
        joined = line.edited(self._joins(line.text))
        if joined is not line:
            line = joined.edited(self._edits(joined.text, bars=bars))
        return line.edited(self._guessed(line.text))

    def _joins(self, text: str) -> Iterator[Edit]:
        """Yield the spaces within words: "Ga gnon" and "Pat ient", words as a whole alone."""
        end = 0
        for match in _HALVES.finditer(text):
            first, rest = match["first"], match["rest"]
            if match.start() < end or not (rest.islower() or (first.isupper() and rest.isupper())):
                continue
            if self._are_halves(first, rest):
                end = match.end("rest")
                yield Edit(match.end("first"), match.end("first") + 1, "")

    def _are_halves(self, first: str, rest: str) -> bool:
        """Tell whether two words are one that a space fell into."""
        whole = first + rest
        if len(whole) < _MIN_GUESS or first.lower() in _NO_HALVES:
            return False
        n_words = (len(first) > 1 and self._is_word(first)) + self._is_word(rest)
        if n_words == 2:  # noqa: PLR2004 (both)
            return False
        if self._is_word(whole) or (_ODDITY.search(whole) and self._word(whole) != whole):
            return True
        return not n_words and first[0].isupper() and len(first) > 1 and len(rest) > _MIN_WORD

    def _is_word(self, word: str) -> bool:
        return word.lower() in self._known or _is_known(load_gazetteer(), word)

    def _is_ordinary(self, word: str) -> bool:
        return word.lower() in self._known or bool(load_gazetteer().of(word) & Word.ORDINARY)

    def _edits(self, text: str, *, bars: bool) -> Iterator[Edit]:
        for match in _TOKEN.finditer(text):
            token = match[0]
            if token in _ELIDED and text[match.end() : match.end() + 1] in _APOSTROPHES:
                if text[match.end() + 1 : match.end() + 2].isalpha():
                    yield Edit(match.start(), match.end(), "l", counts=False)
                continue
            if len(token) > _MAX_WORD or token.isdecimal() or (not bars and "|" in token):
                continue
            beside = self._beside_a_number(text, *match.span())
            if beside is not None:
                yield Edit(match.start(), match.end(), _in_case_of(token, beside))
                continue
            meant = _SHORT.get(token) or self._remembered(token, self._word)
            if meant != token:
                yield Edit(match.start(), match.end(), meant)

    def _guessed(self, text: str) -> Iterator[Edit]:
        """Yield words that are none, and become one in one way only when one of their letters is another."""
        for match in _LETTERS_ONLY.finditer(text):
            meant = self._remembered(match[0], self._guess)
            if meant != match[0]:
                yield Edit(match.start(), match.end(), meant)

    def _remembered(self, token: str, read: Callable[[str], str]) -> str:
        key = (read.__name__, token)
        if key not in self._memory:
            if len(self._memory) >= _CACHE_SIZE:
                self._memory.clear()
            self._memory[key] = read(token)
        return self._memory[key]

    def _word(self, token: str) -> str:
        """Return the corrected word; the token itself where no correction is known."""
        letters = sum(c.isalpha() for c in token)
        odd = sum(c in _ODD for c in token)
        is_numbered = token.endswith("1") and token[:-1].lower() in self._known  # addr1
        if len(token) < _MIN_WORD or odd >= letters or is_numbered:
            return token
        if not _ODDITY.search(token) or _OTHER_DIGITS.search(token):
            return self._label(token)
        gazetteer = load_gazetteer()
        is_whole = not odd and not _INNER_I.search(token)
        if is_whole and (token.lower() in self._known or _is_known(gazetteer, token)):
            return token
        meant = self._meant.get(skeleton(token))
        if meant is not None:
            return _in_case_of(token, meant)
        if letters < _MIN_GUESS:
            return token
        guesses = list(_guesses(token))
        # A stroke in a word is some letter; which one does not matter to a rule that only wants letters.
        unknown = guesses[0] if odd and not _DIGITS.search(guesses[0]) else token
        guess = next((guess for guess in guesses if _is_known(gazetteer, guess)), unknown)
        return guess if guess != token else self._label(token)

    def _label(self, token: str) -> str:
        """Return the word of a label that a misread word is closest to."""
        if len(token) < _MIN_WORD or _FEW_LETTERS.search(token) or self._is_word(token):
            return token
        meant = self._loose.corrected(token)
        return token if meant is None else _in_case_of(token, meant)

    def _beside_a_number(self, text: str, start: int, end: int) -> str | None:
        """Return the month, the day of the week or the short label that a word is beside its number."""
        if end - start > _MAX_BESIDE or text[start:end].isdecimal():
            return None
        day = month_nearby(text, start, end) or weekday_nearby(text, start, end)
        token = text[start:end]
        is_word = self._is_ordinary(token) if token.islower() else self._is_word(token)
        return day or short_label_nearby(text, start, end, is_word=is_word)

    def _guess(self, token: str) -> str:
        if self._is_word(token):
            return token
        guesses = {guess for guess in with_one_other(token) if self._is_word(guess)}
        return guesses.pop() if len(guesses) == 1 else token


def _words_of(phrases: Iterable[str]) -> list[str]:
    return [word for phrase in phrases for word in re.findall(r"[^\W\d_]+", phrase.lower())]


_ELIDED = frozenset("1I|")  # 1'épaule
_APOSTROPHES = frozenset("'\N{RIGHT SINGLE QUOTATION MARK}")
_MAX_WORD = 32
_MAX_BESIDE = 9  # letters of the longest month
_CACHE_SIZE = 50_000


def _is_known(gazetteer: Gazetteer, word: str) -> bool:
    flags = gazetteer.of(word)
    return bool(flags & (Word.ORDINARY | Word.FIRST | Word.LAST)) or word.lower() in gazetteer.places


def _guesses(token: str) -> Iterator[str]:
    """Yield what a word may have been, the likeliest first."""
    upper = sum(c.isupper() for c in token) > sum(c.islower() for c in token)
    plain = token.replace("0", "O" if upper else "o")
    if token.startswith("0"):
        plain = f"O{plain[1:]}"
    for stroke in ("I", "L") if upper else ("l", "i"):
        guess = re.sub(r"[1|!]", stroke, plain)
        if upper:
            yield guess.replace("l", stroke)
        else:
            yield guess
            yield re.sub(r"(?<=[a-zà-ÿ])I", stroke, guess)
            yield guess.replace("rn", "m")
            yield guess.replace("rn", "m", 1)
    if token.startswith(("l", "1")):
        yield "I" + plain[1:]
    if not upper:
        yield token.replace("cl", "d")
        yield token.replace("vv", "w")


def _in_case_of(token: str, word: str) -> str:
    if token.isascii():  # an English label where there is a French one, too: médical
        word = without_accents(word)
    if sum(c.isupper() for c in token) > sum(c.islower() for c in token):
        return word.upper()
    return word.capitalize() if token[0].isupper() or token[0].isdecimal() else word
