"""Names in the names of files: "Tremblay_Marie_results.pdf", "Okoro_C_facesheet.docx", "JohnSmith-labs"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from phiscan.model import Finding
from phiscan.screen.gazetteer import Gazetteer, Word
from phiscan.screen.name_tokens import FULL_NAME, name_finding

_SCORE = 0.6
_MIN_UNKNOWN = 4  # letters of a word that no list has and that may be a surname
_MIN_SMALL = 3  # letters of each where nothing is written with a capital
_BLOCK = Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.CREDENTIAL
_EXTENSION = re.compile(
    r"(?<=[^\W_])\.(?i:pdf|docx?|xlsx?|csv|txt|rtf|odt|pptx?|jpe?g|png|tiff?|dcm|msg|eml|zip|html?|xml|mp[34]|m4a|wav|mov)\b"
)
_LAST_WORD = re.compile(r"(?<![^\W_])[^\W\d_][\w'-]{3,80}\Z")
_STEM_CHARS = 80
_FOLDER = re.compile(r"[/\\](?P<stem>[^\W\d_][\w'-]{3,80})(?=[/\\])")
_PART = re.compile(
    r"[^\W\d_A-Z][^\W\d_]+|[A-Z](?![^\W\d_])|[A-Z]{2,}(?![^\W\d_])|[A-Z]'?[^\W\d_A-Z][^\W\d_A-Z]*"
)


def filed_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield names that files are named for; spans are half-open, in code points."""
    for start, end in _stems(text):
        parts = list(_PART.finditer(text, start, end))
        for first, second in pairwise(parts):
            gap = text[first.end() : second.start()]
            if gap not in {"", "_", "-", "__"} or not (gap or second[0][0].isupper()):
                continue
            if _are_a_name(first[0], second[0], gazetteer):
                reason = ("label", "the name of a file")
                yield name_finding(
                    first.start(), second.end(),
                    health=False, bits=FULL_NAME, source="names.file", score=_SCORE, reason=reason,
                )  # fmt: skip
                break


def _stems(text: str) -> Iterator[tuple[int, int]]:
    """Yield the names of files without their extension, and of folders."""
    for extension in _EXTENSION.finditer(text):
        low = max(0, extension.start() - _STEM_CHARS)
        stem = _LAST_WORD.search(text, low, extension.start())
        if stem is not None:
            yield stem.span()
    for folder in _FOLDER.finditer(text):
        yield folder.span("stem")


def _are_a_name(first: str, second: str, gazetteer: Gazetteer) -> bool:
    """Tell whether two parts are a given name and a surname, in any order, or a surname and an initial."""
    if len(second) == 1:
        return second.isupper() and gazetteer.of(first) & (Word.LAST | Word.ORDINARY) == Word.LAST
    style = _style(first)
    if style != _style(second) or gazetteer.is_place(f"{first} {second}".lower()):
        return False
    flags = gazetteer.of(first), gazetteer.of(second)
    if any(one & _BLOCK for one in flags) or (not style and min(len(first), len(second)) < _MIN_SMALL):
        return False
    return any(
        given & (Word.FIRST | Word.ORDINARY) == Word.FIRST
        and (other & Word.LAST or (style and not other and len(word) >= _MIN_UNKNOWN))
        for given, other, word in ((*flags, second), (*flags[::-1], first))
    )


def _style(word: str) -> int:
    return 0 if word.islower() else 1 if word.isupper() else 2
