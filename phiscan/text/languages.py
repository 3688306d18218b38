"""A text to its language, and whether phiscan reads it: a part in neither English nor French is not covered.

Windows are cut from all over a text, so many that their cost is bounded; py3langid says their language. A
window without words in a row (code, tables of numbers, lists of names) has none; in another script than
Latin, letters suffice. One part that is not covered makes the text so, whatever language its other parts
have: a header in English does not make a letter in Chinese readable.
"""

from __future__ import annotations

import io
import lzma
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import regex
from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

COVERED: Final = frozenset({"en", "fr"})
WINDOW_CHARS: Final = 320
N_WINDOWS: Final = 5  # whose language is asked for
N_SCRIPT_WINDOWS: Final = 20  # whose letters are counted
MIN_WORDS: Final = 15  # in a row, of a window with a language
MIN_PART: Final = 0.3  # of the characters of such a window
MIN_LETTERS: Final = 60  # of scripts other than Latin
LETTERS_OF_A_SIGN: Final = 2  # what a letter of a script without blanks counts
MIN_PROBABILITY: Final = 0.5  # of the language of a window
SURE: Final = 0.9

# The library's languages that texts without a language get: none, placeholder text, English without grammar.
_NO_LANGUAGE: Final = frozenset({"zxx", "la", "pcm"})
_OTHER_LETTER: Final = regex.compile(r"[^\P{L}\p{Latin}\p{Greek}]|\p{Greek}(?=\p{Greek})")
_SIGN: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_WORD_IN_A_ROW: Final = regex.compile(
    r"(?<![^\s('\u2019\"«])[\p{L}\p{M}'\u2019-]+[,.;:)]?(?= [\p{L}(«\"'\u2019])"
)


@dataclass(frozen=True, slots=True)
class Language:
    """The language of a text; of one that is not covered, the language of the part that is not."""

    code: str = ""  # ISO 639; "" = none: code, numbers, names, or too little text
    covered: bool = True


def detect_language(text: str) -> Language:
    """Return the language of a text by windows from all over it.

    >>> detect_language("x = [1, 2, 3]")
    Language(code='', covered=True)
    """
    if not text.isascii() and (code := _of_other_script(text)):
        return Language(code, covered=False)
    doubt: defaultdict[str, float] = defaultdict(lambda: 1.0)  # that no window is in this language
    for window in _windows(text, N_WINDOWS):
        words = _WORD_IN_A_ROW.findall(window)
        if len(words) >= MIN_WORDS and sum(map(len, words)) >= MIN_PART * len(window):
            probabilities = dict(load_identifier().rank(window))
            code = next(iter(probabilities))
            if probabilities[code] >= MIN_PROBABILITY and code not in _NO_LANGUAGE:
                # What is not Spanish may be Portuguese: neither is covered.
                other = {code} if code in COVERED else probabilities.keys() - COVERED - _NO_LANGUAGE
                doubt[code] *= max(1.0 - sum(probabilities[one] for one in other), 0.0)
    sure = [code for code in sorted(doubt, key=doubt.__getitem__) if 1.0 - doubt[code] >= SURE]
    foreign = [code for code in sure if code not in COVERED]
    if foreign:
        return Language(foreign[0], covered=False)
    return Language(min(COVERED & doubt.keys(), key=doubt.__getitem__, default=""))


def _of_other_script(text: str) -> str:
    """Return the language of the windows that are mostly in another script than Latin, "" if they are few."""
    total, largest, where = 0, 0, ""
    for window in _windows(text, N_SCRIPT_WINDOWS):
        n_other = 0 if window.isascii() else len(_OTHER_LETTER.findall(window))
        if 2 * n_other > sum(map(str.isalpha, window)):
            n_letters = n_other + (LETTERS_OF_A_SIGN - 1) * len(_SIGN.findall(window))
            total += n_letters
            largest, where = max((largest, where), (n_letters, window))
    return load_identifier().classify(where)[0] if total >= MIN_LETTERS else ""


def _windows(text: str, n_windows: int) -> Iterator[str]:
    """Yield windows at equal distances, the first at the beginning and the last at the end."""
    room = max(len(text) - WINDOW_CHARS, 0)
    steps = min(n_windows - 1, -(-room // WINDOW_CHARS)) or 1
    for start in dict.fromkeys(room * step // steps for step in range(steps + 1)):
        yield text[start : start + WINDOW_CHARS]


@cache
def load_identifier() -> LanguageIdentifier:
    """Return the models of the library, read once; a confined process cannot read them any more.

    They are decompressed in memory: the library's own loader needs as much space for a temporary file.
    """
    with lzma.open(MODEL_DIR / MODEL_FILE) as source:
        stored = io.BytesIO(source.read())
    with np.load(stored, allow_pickle=False) as data:
        moves, rows = (_as_array(data[name]) for name in ("nextmove", "nextmove_row"))
        classes, features = data["classes"].tolist(), data["out_feat"].tolist()
        return LanguageIdentifier(
            data["ptc"], data["pc"], classes, moves, features, norm_probs=True, tk_row=rows
        )


def _as_array(numbers: npt.NDArray[np.unsignedinteger[Any]]) -> array[int]:
    found: array[int] = array({2: "H", 4: "I", 8: "L"}[numbers.itemsize])
    found.frombytes(np.ascontiguousarray(numbers).tobytes())
    return found
