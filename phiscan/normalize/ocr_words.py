"""Words that OCR misread, corrected: Te1, 0HIP, Ju|y, PATlENT, Adrnit, 14 Novembcr, "Pat ient".

A word that is a label, a month or an ordinary word once 1, l, I and | are one character, 0 and o another, and
rn is m, is read as that word. So is a word of no list that becomes one of a list when one letter is replaced
by another of the confusion table, if only one word results. A word of the lists stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, load_gazetteer
from phiscan.lexicon.months import MONTHS
from phiscan.normalize.ocr_line import Edit, Line

_MIN_WORD = 3
_MIN_GUESS = 4  # letters of a word that is no label and no month
_MIN_VARIED = 5  # letters of a word whose misread forms are searched for
_MAX_WORD = 32
_CACHE_SIZE = 50_000
# What OCR reads for a letter, and pairs of letters for one; digits for letters in the second table.
_CONFUSIONS = {
    "a": "o", "b": "h8", "c": "e", "e": "c", "f": "t", "g": "q9", "h": "b", "i": "l", "l": "i", "n": "u",
    "o": "a", "q": "g", "s": "5", "t": "f", "u": "n", "z": "2",
}  # fmt: skip
_PAIRS = (("m", "rn"), ("d", "cl"), ("w", "vv"), ("rn", "m"))
_LETTER_OF_DIGIT = {"2": "z", "5": "s", "6": "b", "8": "b", "9": "g"}
_STROKES = str.maketrans({"i": "l", "1": "l", "|": "l", "!": "l", "0": "o"})
_WORDS = (
    *MONTHS,
    *("poste", "ext", "local", "age", "ans", "years", "old", "ninety", "hundred", "quatre", "vingt", "onze"),
    *("douze", "treize", "quatorze", "quinze", "seize", "first", "second", "third", "street", "avenue"),
    *("road", "drive", "lane", "court", "boulevard", "crescent", "suite", "unit", "apartment", "floor"),
    *("highway", "route", "box", "rang", "chemin", "place", "bureau", "unité", "étage", "appartement"),
    *("case", "postale"),
)
_SURE_CHARS = "01|!"  # never letters
_NO_HALVES = frozenset(("i", "a", "o", "y", "à", "the", "and", "was", "his", "her", "of", "in", "to", "on"))
_HALVES = re.compile(
    r"(?<![^\W\d_])(?<![-'.\N{RIGHT SINGLE QUOTATION MARK}])(?P<first>[^\W\d_]{1,12}) "
    r"(?=(?P<rest>[^\W\d_]{2,12})(?![^\W_]))"
)
_TOKEN = re.compile(r"[^\W_](?:[^\W_]|[|!](?=[^\W\d_]))*+")
_LETTERS_ONLY = re.compile(r"(?<![^\W_])(?:[^\W\d_]{4,32}|[2568][^\W\d_]{3,32})(?![^\W_])")
_DIGITS = re.compile(r"\d")
_OTHER_DIGITS = re.compile(r"[2-9]")
# What a misread word has in it: a sign that is no letter, rn, cl, vv, an l among capitals, an I inside.
_ODDITY = re.compile(r"[01|!]|rn|RN|cl|vv|[A-Z]l|l[A-Z]|[a-zà-ÿ]I|^l[a-z]|^I[a-z]")
_INNER_I = re.compile(r"[a-zà-ÿ]I")
_ELIDED = frozenset("1I|")  # 1'épaule
_APOSTROPHES = frozenset("'\N{RIGHT SINGLE QUOTATION MARK}")


def skeleton(word: str) -> str:
    """Return a word in small letters without accents, with the strokes and the pairs of letters made one.

    >>> skeleton("PATlENT") == skeleton("patient"), skeleton("rnars") == skeleton("mars")
    (True, True)
    """
    return fold(word).translate(_STROKES).replace("rn", "m").replace("cl", "d").replace("vv", "w")


def ocr_variants(words: Iterable[str]) -> Iterator[str]:
    """Yield words of five letters or more with one letter misread, with their accents and without.

    >>> list(ocr_variants(["fired"]))
    ['tired', 'flred', 'fircd', 'firecl']
    """
    for word in words:
        spellings = {word, fold(word)}
        if len(word) >= _MIN_VARIED:
            for one in spellings:
                for place, char in enumerate(one):
                    for other in _CONFUSIONS.get(char, ""):
                        yield one[:place] + other + one[place + 1 :]
        if len(word) >= _MIN_VARIED - 1:
            yield from (one.replace(*pair, 1) for one in spellings for pair in _PAIRS if pair[0] in one)


def with_one_other(token: str) -> Iterator[str]:
    """Yield what a word may have been before one of its letters was misread, in its own letters.

    >>> list(with_one_other("Haf")), list(with_one_other("5uit"))
    (['Hof', 'Hat'], ['Suit'])
    """
    digits = [place for place, char in enumerate(token) if char in _LETTER_OF_DIGIT]
    for place in digits or range(len(token)):
        for other in _LETTER_OF_DIGIT.get(token[place], _CONFUSIONS.get(token[place], "")):
            if other.isalpha():
                is_capital = not place and (token[0].isupper() or token[0].isdecimal())
                yield token[:place] + (other.upper() if is_capital else other) + token[place + 1 :]


class Vocabulary:
    """The words of all labels, the months, and whatever the dictionaries know."""

    def __init__(self, phrases: Iterable[tuple[Collection[str], Collection[str]]]) -> None:
        """Take, of each context of the rules, the phrases of its labels and those near a value."""
        pairs = [(_words_of(labels), _words_of(near)) for labels, near in phrases]
        words = [*chain.from_iterable(chain.from_iterable(pairs)), *_WORDS]
        self._labels = frozenset(chain(_WORDS, *(labels for labels, _ in pairs)))
        self._known = frozenset(words)
        self._meant: dict[str, str] = {}
        for word in words:
            if len(word) >= _MIN_WORD:
                self._meant.setdefault(skeleton(word), word)
        self._memory: dict[tuple[str, str], str] = {}

    def label_variants(self) -> frozenset[str]:
        """Return the words of labels, months and addresses with one letter misread, but no other words."""
        return frozenset(form for form in ocr_variants(self._labels) if not self._is_word(form))

    def corrected(self, line: Line, *, bars: bool) -> Line:
        """Return a line with its misread words corrected; with ``bars``, | may be a letter."""
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
        """Tell whether two words are one with a space that OCR put into it."""
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

    def _edits(self, text: str, *, bars: bool) -> Iterator[Edit]:
        for match in _TOKEN.finditer(text):
            token = match[0]
            if token in _ELIDED and text[match.end() : match.end() + 1] in _APOSTROPHES:
                if text[match.end() + 1 : match.end() + 2].isalpha():
                    yield Edit(match.start(), match.end(), "l", counts=False)
                continue
            if len(token) > _MAX_WORD or token.isdecimal() or (not bars and "|" in token):
                continue
            meant = self._remembered(token, self._word)
            if meant != token:
                yield Edit(match.start(), match.end(), meant)

    def _guessed(self, text: str) -> Iterator[Edit]:
        """Yield words of no list that become one of a list, and only one, with one letter replaced."""
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
        odd = sum(c in _SURE_CHARS for c in token)
        is_numbered = token.endswith("1") and token[:-1].lower() in self._known  # addr1
        if len(token) < _MIN_WORD or odd >= letters or is_numbered:
            return token
        if not _ODDITY.search(token) or _OTHER_DIGITS.search(token):
            return token
        gazetteer = load_gazetteer()
        if not odd and not _INNER_I.search(token) and self._is_word(token):
            return token
        meant = self._meant.get(skeleton(token))
        if meant is not None:
            return _in_case_of(token, meant)
        if letters < _MIN_GUESS:
            return token
        guesses = list(_guesses(token))
        # A stroke in a word is some letter; which one does not matter to a rule that only wants letters.
        unknown = guesses[0] if odd and not _DIGITS.search(guesses[0]) else token
        return next((guess for guess in guesses if _is_known(gazetteer, guess)), unknown)

    def _guess(self, token: str) -> str:
        if self._is_word(token):
            return token
        guesses = {guess for guess in with_one_other(token) if self._is_word(guess)}
        return guesses.pop() if len(guesses) == 1 else token


def _words_of(phrases: Iterable[str]) -> list[str]:
    return [word for phrase in phrases for word in re.findall(r"[^\W\d_]+", phrase.lower())]


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
        word = fold(word)
    if sum(c.isupper() for c in token) > sum(c.islower() for c in token):
        return word.upper()
    return word.capitalize() if token[0].isupper() or token[0].isdecimal() else word
