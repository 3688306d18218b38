"""Letters that a scanner took for other letters: Novembcr, dossler, rcçu, juiu, 8ox, uo 118204.

In letters like these nothing shows that they were misread; what shows it is that the word is none, and that
one with a like letter in its place is a label. Short words and months are words of their own too easily, so
they are read so only beside what a number must stand beside: "fox 7025550133", "le 31 moi".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from phiscan.screen.ocr_confusions.line import Edit

_LIKE = {
    "a": "o", "b": "h8", "c": "e", "e": "c", "f": "t", "g": "q9", "h": "b", "i": "l", "l": "i", "n": "u",
    "o": "a", "q": "g", "s": "5", "t": "f", "u": "n", "z": "2",
}  # fmt: skip
_LIKE_CAPITALS = {
    "c": "g",
    "d": "o0",
    "e": "f",
    "f": "e",
    "g": "c",
    "n": "m",
    "m": "n",
    "r": "b",
    "y": "v",
    "v": "y",
}
_PAIRS = (("m", "rn"), ("d", "cl"), ("w", "vv"), ("rn", "m"))
_LETTER = {"2": "z", "5": "s", "6": "b", "8": "b", "9": "g"}
_ONE = str.maketrans("ea0uh86i1|!fq952", "coonbbblllltggsz")
_LONG_WORD = 7  # letters from which on two may be misread
_MIN_VARIED = 5  # letters of a word whose misread forms are looked for anywhere, not beside numbers alone
_MONTHS = (
    "january february march april may june july august september october november december"  # noqa: SIM905 (a list of words reads best as a text)
    " jan feb mar apr jun jul aug sep sept oct nov dec"
    " janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre janv fev fevr avr"
    " juil".split()
)
_SPOKEN_MONTHS = frozenset("moi mal mors jon act mat mots doc dee dec".split())  # noqa: SIM905 (as above)
_WEEKDAYS = "mon tue wed thu fri sat sun lun mar mer jeu ven sam dim".split()  # noqa: SIM905 (as above)
_SHORT = (
    "dob ddn mrn phn nam ssn sin nas mbi npi hcn tel fax vin ext sn no lot tag ser ref cert clm hic ndc dln"  # noqa: SIM905 (as above)
    " sub grp enc".split()
)
_MONTH_STEM = "(?:jan|feb|f[ée]v|mar|apr|avr|may|mai|jun|jui|jul|aug|ao|sep|oct|nov|dec|d[ée]c)"
_MONTH_FIRST = _MONTH_STEM + "[a-zéû]{0,6}[. ]"
_FIGURE = "[0-9OolISBZbgq]"
_DAY_BEFORE = re.compile(rf"(?<![^\W_]){_FIGURE}{{1,2}}(?:st|nd|rd|th|er)?(?: of |[ ,/-]{{0,2}})\Z")
_DAY_OR_YEAR_BEHIND = re.compile(rf"[.,]?[ /-]{{0,2}}['’]?{_FIGURE}{{1,4}}(?:st|nd|rd|th|er)?(?![^\W_])")  # noqa: RUF001
_YEAR_BEHIND = re.compile(r"(?:[.]? \d{1,2})?[.,]?[ /-]{1,2}[12ZlI]" + _FIGURE + r"{3}(?![^\W_])")
_TOLD_BEFORE = re.compile(
    r"(?<![^\W_])(?:le|lc|les|du|dn|au|an|ce|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche) "
    r"(?:[0-9OlI]{1,2}|1er)[ ]\Z",
    re.IGNORECASE,
)
_NUMBER_BEHIND = re.compile(r"[.:# °]{1,4}(?:(?:no|n[º°]|#)[.: ]{0,2})?[+(]?(?:[0-9OolISBZ][-/. )(]{0,2}){7}")
_CODE_BEHIND = re.compile(
    r"[.:# °]{1,4}(?:no\.? |# ?)?[+(]?(?:[A-Z]{1,4}\d?[A-Z]?[ -]?)?[0-9OlI]{2}|\.? \([A-Za-z]{2,3}\) \d"
)
_DAY_BEHIND = re.compile(rf"[.,]{{0,2}} {{1,2}}(?:[0-9OlIZSB]{{1,2}}[ /-]|{_MONTH_FIRST})", re.IGNORECASE)
_JOINED = re.compile(
    r"(?<![^\W_])(?:(?i:dob|ddn|ssn|sin|nas|t[eé]l|fax|cell|ph)(?=\(?[0-9OlI]{3}|[0-9OlI]{1,4}[-/][0-9OlI])"
    rf"|(?i:{_MONTH_STEM})[a-zéû]{{0,6}}(?=[0-9OlI]{{1,2}},? ?(?:19|2[0O])[0-9OlI]{{2}}(?![^\W_])))"
)
_SLASHED = re.compile(r"(?<![^\W_])(?:(?P<n>[Ss])/u|5/(?P<s>[Nn]))(?![^\W_])")
_CELL = re.compile(r"[,;|\t_\n]")
_LOOK_CHARS = 24


def ocr_short_labels(words: Iterable[str]) -> Iterator[str]:
    """Yield the short labels and those of ``words`` that are short with one letter misread."""
    yield from _forms(_SHORT)
    yield from _forms(without_accents(word) for word in words if len(word) == _MIN_VARIED - 1)
    yield from _CAPITAL_FORMS


def _forms(words: Iterable[str], like: Mapping[str, str] = _LIKE) -> Iterator[str]:
    for word in words:
        for place, char in enumerate(word):
            for other in like.get(char, ""):
                yield word[:place] + other + word[place + 1 :]


_LABELS = "dob ddn mrn phn nam ssn sin nas mbi npi hcn".split()  # noqa: SIM905 (as above)
_CAPITAL_FORMS = {
    form: word for word in _LABELS for form in _forms([word], _LIKE_CAPITALS) if form not in _SHORT
}


_THREE = frozenset(month for month in _MONTHS if len(month) < _MIN_VARIED)
_SHORT_MONTHS = f"(?i:{'|'.join(sorted(set(_forms(_THREE))))})"
# Where short words seem to be misread: beside the number that they are written with.
WORD_SIGNS = (
    r"\b(?:[Uu][o0]|5N)[.:# ]{1,3}[A-Z]{0,4}[- ]?[0-9]|\bNA5\b|\b5[SI]N\b|\b(?:[Ss]/u|5/[Nn])\b",
    r"\b[1-3]?[0-9](?:tb|fh|sf|ud)\b",
    rf"\b[0-9OlIZSB]{{1,2}}[ -]?{_SHORT_MONTHS}\b|\b{_SHORT_MONTHS}\.? [0-9]",
    r"\b(?:9[0-9OlI]|1[01][0-9])[ -](?:aus|ons)\b|\b[0-9]{1,5},? (?:ruc|rne) [A-Z]",
    r"\b(?:[Dd]ot[ec]|[Dd]afe|[Dd]atc) (?:of|de) |\b[Ff]ox[.: ]{1,3}\(?[0-9]{3}\b",
    r"\b(?i:dob|ddn|ssn|sin|nas|t[eé]l|fax|cell|ph)(?:\(?[0-9]{3}[-. )]?[0-9]{3}|[0-9]{1,4}[-/][0-9])",
    rf"\b(?i:{_MONTH_STEM})[a-zéû]{{0,6}}[0-9]{{1,2}},? ?(?:19|20)[0-9]{{2}}\b",
    r"\b5t\b|\b8ox [0-9]|\b[0-9]{1,2} rna[iy]\b|\b[1-9][0-9]?c (?:[Rr]ang|[ée]tage|[Aa]venue|[Rr]ue)\b",
)


def loose(word: str) -> str:
    """Return a word with all that scanners confuse made one, letters with letters as well.

    >>> loose("Novembcr") == loose("november"), loose("rcçu") == loose("reçu"), loose("8ox") == loose("box")
    (True, True, True)
    """
    plain = without_accents(word.lower())
    return plain.replace("rn", "m").replace("cl", "d").replace("vv", "w").translate(_ONE)


def without_accents(word: str) -> str:
    """Return a word without its accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def ocr_variants(words: Iterable[str]) -> Iterator[str]:
    """Yield words of five letters or more with one letter misread, with its accents and without.

    >>> list(ocr_variants(["fired"]))
    ['tired', 'flred', 'fircd', 'firecl']
    """
    for word in words:
        written = {word, without_accents(word)}
        if len(word) >= _MIN_VARIED:
            yield from _forms(written)
        if len(word) >= _MIN_VARIED - 1:
            yield from (one.replace(*pair, 1) for one in written for pair in _PAIRS if pair[0] in one)


def with_one_other(token: str) -> Iterator[str]:
    """Yield what a word may have been before one of its letters was misread, in its own letters.

    >>> list(with_one_other("Haf")), list(with_one_other("5uit"))
    (['Hof', 'Hat'], ['Suit'])
    """
    figures = [place for place, char in enumerate(token) if char in _LETTER]
    for place in figures or range(len(token)):
        char = token[place]
        for other in _LETTER.get(char, _LIKE.get(char, "")):
            if other.isalpha():
                yield token[:place] + (other if place else _initial(token, other)) + token[place + 1 :]


def _initial(token: str, letter: str) -> str:
    return letter.upper() if token[0].isupper() or token[0].isdecimal() else letter


class LooseWords:
    """Words to be recognised although some of their letters were misread."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words: dict[str, list[str]] = {}
        for word in dict.fromkeys(words):
            self._words.setdefault(loose(word), []).append(word)

    def corrected(self, token: str) -> str | None:
        """Return the word that differs least from a token, by one letter or, in a long one, by two."""
        words = self._words.get(loose(token))
        if words is None:
            return None
        plain = without_accents(token.lower())
        distance, word = min((_n_other(plain, without_accents(word)), word) for word in words)
        return word if distance <= 1 + (len(plain) >= _LONG_WORD) else None


_MONTH_WORDS = LooseWords(_MONTHS)
_WEEKDAY_WORDS = LooseWords(_WEEKDAYS)
_SHORT_WORDS = LooseWords(_SHORT)


def month_nearby(text: str, start: int, end: int) -> str | None:
    """Return the month that a word beside a day or a year is when a letter of it was misread.

    >>> month_nearby("on 3 Novembcr", 5, 13), month_nearby("le 31 moi", 6, 9), month_nearby("12 moi", 3, 6)
    ('november', 'mai', None)
    """
    month = _MONTH_WORDS.corrected(text[start:end])
    if month is None or without_accents(text[start:end].lower()) == month:
        return None
    before = text[max(0, start - _LOOK_CHARS) : start]
    if text[start:end].lower() in _SPOKEN_MONTHS:
        has_year = _YEAR_BEHIND.match(text, end)
        is_dated = has_year and (_DAY_BEFORE.search(before) or " " in has_year[0].strip())
        return month if is_dated or _TOLD_BEFORE.search(before) else None
    beside = _DAY_BEFORE.search(before) or _DAY_OR_YEAR_BEHIND.match(text, end)
    return month if beside else None


def weekday_nearby(text: str, start: int, end: int) -> str | None:
    """Return the short day of the week that a word before a day is: "Tbu, 19 Dec"."""
    day = _WEEKDAY_WORDS.corrected(text[start:end])
    is_day = day is not None and text[start:end].lower() != day and _DAY_BEHIND.match(text, end)
    return day if is_day else None


def short_label_nearby(text: str, start: int, end: int, *, is_word: bool) -> str | None:
    """Return the short label that a word before a number is, or in a cell, when a letter of it was misread.

    A word that there is must have a long number after it.

    >>> short_label_nearby("lof QK771", 0, 3, is_word=False)
    'lot'
    >>> short_label_nearby("fox 702 555 0133", 0, 3, is_word=True)
    'fax'
    """
    token = text[start:end]
    label = _SHORT_WORDS.corrected(token) or (_CAPITAL_FORMS.get(token.lower()) if token.isupper() else None)
    if label is None or without_accents(token.lower()) == label:
        return None
    if is_word:
        return label if _NUMBER_BEHIND.match(text, end) else None
    if text[max(0, start - 2) : start].strip() in {":", "#", "/"}:
        return None  # the beginning of what a label names
    in_cell = (not start or _CELL.match(text, start - 1)) and (end == len(text) or _CELL.match(text, end))
    return label if in_cell or _CODE_BEHIND.match(text, end) else None


def joined_labels(text: str) -> Iterator[Edit]:
    """Yield the ends of labels and months that a number is at without a space: DOB12/03/1961."""
    for match in _JOINED.finditer(text):
        yield Edit(match.end() - 1, match.end(), f"{match[0][-1]} ")


def serial_signs(text: str) -> Iterator[Edit]:
    """Yield what is misread of "s/n": "s/u", "5/N"."""
    for match in _SLASHED.finditer(text):
        place = match.end() - 1 if match["n"] else match.start()
        capital = (match["n"] or match["s"]).isupper()
        new = "n" if match["n"] else "s"
        yield Edit(place, place + 1, new.upper() if capital else new)


def _n_other(one: str, other: str) -> int:
    if len(one) != len(other):
        return 1
    return sum(a != b for a, b in zip(one, other, strict=True))
