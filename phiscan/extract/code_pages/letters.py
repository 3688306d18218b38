"""Words with letters above ASCII to the code page in which they look most like words.

Each candidate reads the same words. A letter that languages use often scores best; a capital within a word of
small letters, a sign or a piece of a frame within a word scores worst. What is read best wins, where it is
clearly better than Windows-1252.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

CANDIDATES = (
    "cp1252",
    "iso8859-15",
    "iso8859-2",
    "mac-roman",
    "cp850",
    "cp437",
    "cp863",
    "cp1250",
    "cp852",
    "cp1254",
    "cp857",
    "mac-latin2",
)
_WORD = re.compile(rb"[A-Za-z\x80-\xff']*[\x80-\xff][A-Za-z\x80-\xff']*")
_MOST_WORDS, _LONGEST_WORD = 300, 32  # longer ones are no words
_MARGIN = 0.35  # of score for a character
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
}
_OWN, _OTHER, _BORDER, _SIGN, _MISPLACED, _UNDEFINED = -0.2, -2.5, -0.3, -1.0, -5.0, -8.0
_LAST_LATIN = 0x21F
_OPENING, _CLOSING = frozenset("\u2018“«„\u201a¿¡"), frozenset("\u2019”»…")
_WITHIN = frozenset("\u2019\xad")
_ALONE = frozenset("\u2013—€°•·½¼¾²³ºª©®™§£±\xd7÷\xa0")


def code_page(sample: bytes) -> str:
    """Return the code page of a text in single bytes; ``cp1252`` unless another is clearly better.

    >>> code_page("Hélène Côté, née à Québec".encode("cp850"))
    'cp850'
    """
    found = dict.fromkeys(word for word in _WORD.findall(sample) if len(word) <= _LONGEST_WORD)
    words = list(found)[:_MOST_WORDS]
    if not words:
        return "cp1252"
    scores = {name: _score(words, name) for name in CANDIDATES}
    best = max(CANDIDATES, key=lambda name: scores[name])
    return best if scores[best] > scores["cp1252"] + _MARGIN else "cp1252"


def is_latin(sample: bytes) -> bool:
    """Tell a text in Latin letters: within its words with letters above ASCII, most letters are ASCII."""
    words = b"".join(_WORD.findall(sample))
    n_ascii = sum(code < 0x80 for code in words)  # noqa: PLR2004 (the first above ASCII)
    return 2 * n_ascii > len(words)


def _score(words: Iterable[bytes], name: str) -> float:
    """Return the mean score of the characters above ASCII, in the language that fits best."""
    decoded = [word.decode(name, "replace") for word in words]
    signs = [
        _sign(word, at)
        for word in decoded
        for at, char in enumerate(word)
        if char > "\x7f" and not char.isalpha()
    ]
    placed = [
        _letter(word, at)
        for word in decoded
        for at, char in enumerate(word)
        if char > "\x7f" and char.isalpha()
    ]
    counts = Counter(char.lower() for word in decoded for char in word if char > "\x7f" and char.isalpha())
    spelt = max(
        sum((_OWN if char in own else _OTHER) * count for char, count in counts.items())
        for own in _ALPHABETS.values()
    )
    return (sum(signs) + sum(placed) + spelt) / max(len(signs) + counts.total(), 1)


def _letter(word: str, at: int) -> float:
    """Return what speaks against a letter where it stands: a capital among small letters, another script."""
    char = word[at]
    if ord(char) > _LAST_LATIN or char in "ªºµ":
        return _MISPLACED
    if char.isupper() and at > 0 and word[at - 1].islower():
        return _MISPLACED
    return _SIGN if char.isupper() and word[at + 1 : at + 2].islower() and at > 0 else 0.0


def _sign(word: str, at: int) -> float:
    char = word[at]
    if char == "\ufffd" or char < "\xa0":
        return _UNDEFINED
    before, after = word[at - 1 : at] if at else "", word[at + 1 : at + 2]
    if before.isalpha() and after.isalpha():
        return _BORDER if char in _WITHIN else _MISPLACED
    if (char in _OPENING and not before.isalpha()) or (char in _CLOSING and not after.isalpha()):
        return _BORDER
    if char in _ALONE:
        return _BORDER if not before.isalpha() and not after.isalpha() else _OTHER
    return _MISPLACED
