"""Words with letters above ASCII to the code page in which they look most like words.

Each candidate reads the same words. A letter that languages use often scores best; a capital within a word of
small letters, a sign or a piece of a frame within a word scores worst. What is read best wins, where it is
clearly better than Windows-1252.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

CANDIDATES = (
    "cp1252",
    "iso8859-15",
    "iso8859-2",
    "cp850",
    "cp437",
    "cp863",
    "mac-roman",
    "cp1250",
    "cp852",
    "cp1254",
    "cp857",
    "mac-latin2",
    "cp1257",
    "cp775",
    "mac-turkish",
    "cp860",
    "cp861",
    "mac-iceland",
)
_WORD = re.compile(rb"[A-Za-z\x80-\xff']*[\x80-\xff][A-Za-z\x80-\xff']*")
_MOST_WORDS, _LONGEST_WORD = 300, 32  # longer ones are no words
_MARGIN = 0.2  # of score for a character
# The letters above ASCII of each language, or of a group of languages that share them.
_ALPHABETS = {
    "French": "éèàêçâôîûëïùœæüÿ",
    "German": "äöüßé",
    "Spanish": "áéíóúñü",
    "Portuguese": "ãõáéíóúâêôçàü",
    "Italian": "àèéìòùîí",
    "Nordic": "åæøäöé",
    "Icelandic": "áðéíóúýþæö",
    "Polish": "ąćęłńóśźżé",
    "Czech": "áčďéěíňóřšťúůýžľĺŕäô",
    "Hungarian": "áéíóöőúüű",
    "Turkish": "çğıöşüâîûİ",
    "Romanian": "ăâîșțşţ",
    "Croatian": "čćđšž",
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Estonian": "äöüõšž",
}
# Added to the score: of languages that read a word equally well, the one with more texts here is more likely.
_RARITY = {"French": 0.0, "German": 0.04, "Spanish": 0.04}
_OTHER_RARITY = 0.08
_OWN, _OTHER, _BORDER, _SIGN, _MISPLACED, _UNDEFINED = -0.2, -2.5, -0.3, -1.0, -5.0, -8.0
READABLE = _OWN - _MARGIN
_LAST_LATIN = 0x21F
_LAST_ASCII, _BLANK = 0x7F, 0x20
_ASCII = bytes(range(128))
_LOW_QUOTE = "\u201a"
_OPENING, _CLOSING = frozenset("\u2018“«„¿¡"), frozenset("\u2019”»…")
_AFTER_CEDILLA = frozenset("aouõãâôóúáAOU\u0131iüöeéèê")
_WITHIN = frozenset("\u2019\xad")
_TURKISH_OR_ICELANDIC = frozenset(
    b"\xd0\xdd\xde\xf0\xfd\xfe"
)  # letters that only one of the two languages has
_ALONE = frozenset("\u2013—€°•·½¼¾²³ºª©®™§£±\xd7÷\xa0")


def code_page(sample: bytes) -> str:
    """Return the code page of a text in single bytes; ``cp1252`` unless another is clearly better.

    >>> code_page("Hélène Côté, née à Québec".encode("cp850"))
    'cp850'
    """
    return scored_code_page(sample)[0]


def scored_code_page(sample: bytes) -> tuple[str, float]:
    """Return the code page of a text in Latin letters, and its score, above ``READABLE`` for real words."""
    found = dict.fromkeys(word for word in _WORD.findall(sample) if len(word) <= _LONGEST_WORD)
    words = list(found)[:_MOST_WORDS]
    if not words:
        return "cp1252", 0.0
    text = b" ".join([b"", *words, b""])
    triples = Counter(
        triple for triple in zip(text, text[1:], text[2:], strict=False) if triple[1] > _LAST_ASCII
    )
    own = _score(triples, "cp1252")
    if own >= READABLE:  # no other can be clearly better
        is_turkish = not _TURKISH_OR_ICELANDIC.isdisjoint(text) and _is_turkish(triples, text, own)
        return ("cp1254" if is_turkish else "cp1252"), own
    scores = {name: _score(triples, name) for name in CANDIDATES}
    best = max(CANDIDATES, key=lambda name: scores[name])
    return (best, scores[best]) if scores[best] > own + _MARGIN else ("cp1252", own)


def _is_turkish(triples: Counter[tuple[int, int, int]], text: bytes, own: float) -> bool:
    """Tell Turkish from Icelandic, whose letters have the same codes, by a model of the languages."""
    if _score(triples, "cp1254") < own:
        return False
    import chardet  # noqa: PLC0415 (slow to import, rarely needed)

    return chardet.detect(text)["language"] == "tr"


def is_latin(sample: bytes) -> bool:
    """Tell a text in Latin letters: within its words with letters above ASCII, most letters are ASCII."""
    words = b"".join(_WORD.findall(sample))
    return 2 * n_above_ascii(words) < len(words)


def n_above_ascii(data: bytes) -> int:
    """Return the number of bytes above 127."""
    return len(data.translate(None, _ASCII))


def _score(triples: Counter[tuple[int, int, int]], name: str) -> float:
    """Return the mean score of the bytes above ASCII, in the language that fits best."""
    placed, letters = 0.0, Counter[int]()
    n_signs = 0
    for triple, count in triples.items():
        placed += count * _placed(name, triple)
        if _characters(name)[triple[1]].isalpha():
            letters[triple[1]] += count
        else:
            n_signs += count
    alphabets = _spelt(name)
    spelt = max(sum(own[code] * count for code, count in letters.items()) for own in alphabets)
    return (placed + spelt) / max(n_signs + letters.total(), 1)


@lru_cache(maxsize=32)
def _characters(name: str) -> str:
    """Return the characters of the 256 bytes of a code page."""
    return "".join(bytes([code]).decode(name, "replace") for code in range(256))


@lru_cache(maxsize=32)
def _spelt(name: str) -> tuple[tuple[float, ...], ...]:
    """Return for each alphabet what each byte of a code page adds to the score."""
    lowered = [char if char == "İ" else char.lower() for char in _characters(name)]
    return tuple(
        tuple((_OWN if char in own else _OTHER) - _RARITY.get(language, _OTHER_RARITY) for char in lowered)
        for language, own in _ALPHABETS.items()
    )


@lru_cache(maxsize=16_384)
def _placed(name: str, triple: tuple[int, int, int]) -> float:
    """Return the score of a character between its neighbours; a blank ends the word."""
    before, char, after = ("" if code == _BLANK else _characters(name)[code] for code in triple)
    return (_letter if char.isalpha() else _sign)(before, char, after)


def _letter(before: str, char: str, after: str) -> float:
    """Return what speaks against a letter where it is: a capital among small letters, another script."""
    if ord(char) > _LAST_LATIN or char in "ªºµ":
        return _MISPLACED
    if char.isupper() and before.islower():
        return _MISPLACED
    if char == "ç" and after.isalpha() and after not in _AFTER_CEDILLA:
        return _SIGN
    return _SIGN if char.isupper() and after.islower() and before else 0.0


def _sign(before: str, char: str, after: str) -> float:
    if char == "\ufffd" or char < "\xa0":
        return _UNDEFINED
    if before.isalpha() and after.isalpha():
        return _BORDER if char in _WITHIN else _MISPLACED
    if char == _LOW_QUOTE:  # rarely used; it has the code of é in DOS
        return _MISPLACED if before.isalpha() else _SIGN
    if (char in _OPENING and not before.isalpha()) or (char in _CLOSING and not after.isalpha()):
        return _BORDER
    if char in _ALONE:
        return _BORDER if not before.isalpha() and not after.isalpha() else _OTHER
    return _MISPLACED
