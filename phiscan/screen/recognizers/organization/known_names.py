"""Organizations by their names alone: hospitals, insurers and employers that everybody calls by a short name.

``dictionaries/organization_names.txt`` tells which names are nothing else ("Sunnybrook") and which are a
family, a place or a word, too ("Grady", "Delta"): those count only where an organization is due.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.rules.context import whole_word
from phiscan.text.automata import automaton
from phiscan.text.offsets import spans_of
from phiscan.text.phrase_patterns import any_of

SOURCE = "organizations.name"
_SCORE = 0.845  # above the tagger's, below that of a name with a word that says what it is
_BITS = bits_of(EntityType.ORGANIZATION)
_WRITTEN = {
    "e": "[eéèê]",
    "o": "[oô]",
    "a": "[aàâ]",
    "i": "[iîï]",
    "c": "[cç]",
    "'": "['’]",  # noqa: RUF001 (names are written with it)
    ".": r"\.?",
    "-": "[ -]",
}
_REACH, _NEAR = 44, 12
_SHORT = 5  # letters of initials
_WORDS = r"(?:[ ][\w'’/+-]{1,16}){0,3}"  # noqa: RUF001 (texts are written with it)
# Where an organization is due before a name that is something else as well.
_DUE = re.compile(
    r"(?<!\w)(?:at|@|to|from|via|through|thru|out of|chez|au|à|vers|du|former"
    r"|ancienn?e?)[ ](?:the[ ]|la[ ]|le[ ])?$"
    r"|(?:à|de|vers)[ ]l['’]$|[:=>→][ ]{0,3}$|[(][ ]?$"  # noqa: RUF001 (texts are written with it)
    r"|(?:call(?:ed)?|ask(?:ed)?|notif(?:y|ied)|aviser?|appel[ée]r?)[ ]$",
    re.IGNORECASE,
)
# What a name that is a word needs at least, with a capital; a name that is nothing else, in small letters.
_AT = re.compile(r"(?<!\w)(?:at|@|to|from|via|chez|au)[ ](?:the[ ])?$", re.IGNORECASE)
_FROM = re.compile(r"(?<!\w)(?:at|@|to|from|by|with|via|chez|au|à|de|du|par)[ ](?:the[ ])?$", re.IGNORECASE)
# In small letters a name that is a word needs more: what is done there.
_DUE_SMALL = re.compile(
    r"(?<!\w)(?:work(?:s|ed|ing)?|employ(?:ed|é|ée)|job|nights|days|shifts?|retired|laid off"
    r"|hired|seen|admitted|treated"
    r"|transferred|discharged|hospitali[sz]ed|surgery|note|insur(?:ed|ance)|claim|coverage"
    r"|travaill(?:e|ait|é)|suivie?"
    r"|vue?|transf[ée]r[ée]e?|admise?|op[ée]r[ée]e?|assur[ée]e?|employ[ée]e?|retrait[ée]e?|va|mri"
    r"|ct|scan|echo|[ée]cho|irm)"
    rf"{_WORDS}[ ](?:at|@|to|from|with|for|through|chez|pour|à|au|à la|à l['’])[ ]?$"  # noqa: RUF001 (texts are written with it)
    r"|(?<!\w)(?:chez|(?:employed|insured|covered) by|(?:employ|assur)ée? par)[ ]$",
    re.IGNORECASE,
)
# What continues after a name makes it another one: "Henry Ford Rouge plant" does not, "Douglas Smith" does.
_GOES_ON = re.compile(r"[ ]([^\W\d_a-zà-öø-ÿ][^\W\d_]*)")
_STREET = re.compile(
    r"['’]s?\b|[ ](?:syndrome|disease|sign|palsy)\b|[ ](?:st|street|rd|road|ave|avenue|blvd|dr"  # noqa: RUF001 (texts are written with it)
    r"|drive|lane|crescent|cres|way)\b",
    re.IGNORECASE,
)
_STORE = re.compile(r"[ ](?:#[ ]?|No\.?[ ]?|store[ ]#?)\d{1,5}(?![\w-])", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?<!\w)(?:mrs?|ms|miss|dre?|m|mme|mlle|rue|boul|av|ave|[^\W\d_a-zà-öø-ÿ]\.?)\.?[ ]$", re.IGNORECASE
)


class KnownRecognizer:
    """Finds organizations by their short names; built once per process."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        rows = load_dictionary(data_dir("dictionaries") / "organization_names.txt").rows
        self._is_sure = {_plain(name): kind == "sure" for name, kind in rows}
        names = [[_WRITTEN.get(char, re.escape(char)) for char in fold(name)] for name, _ in rows]
        self._names = automaton(any_of(names))

    def recognize(self, text: str) -> Iterator[Finding]:
        """Yield findings in text order; spans are half-open, in code points."""
        for start, end in spans_of(self._names, text):
            if not whole_word(text, start, end) or not self._is_one(text, start, end):
                continue
            number = _STORE.match(text, end)
            end = end if number is None else number.end()  # noqa: PLW2901 (with the number of its store)
            reason = Reason("dictionary", "the name of an organization", _SCORE)
            yield Finding(Span(start, end), EntityType.ORGANIZATION, SOURCE, _SCORE, _BITS, (reason,))

    def _is_one(self, text: str, start: int, end: int) -> bool:
        name = text[start:end]
        before = text[max(0, start - _REACH) : start]
        if _BEFORE.search(before) or _STREET.match(text, end) or text.startswith("-", end):
            return False
        is_sure = self._is_sure.get(_plain(name), False)
        if is_sure and not self._is_name(name):
            return not (name.islower() and self._is_plain(name)) or _FROM.search(before) is not None
        if name.islower():
            return _DUE_SMALL.search(before) is not None
        if self._is_plain(name):
            is_known = is_sure and name.isupper() and not before[-_NEAR:].isupper()
            return is_known or (_AT.search(before) or _DUE_SMALL.search(before)) is not None
        return (
            self._is_whole(text, name, end) and (_DUE.search(before) or _DUE_SMALL.search(before)) is not None
        )

    def _is_whole(self, text: str, name: str, end: int) -> bool:
        """Tell whether a name that is somebody's, too, is written as one and does not go on as a person's."""
        if len(name) < _SHORT and not (name.isupper() or name.istitle()):
            return False  # IgA
        goes_on = _GOES_ON.match(text, end)
        if goes_on is None or name.isupper():
            return True
        flags = self._gazetteer.of(goes_on[1])
        return bool(flags) and not flags & (Word.FIRST | Word.LAST)

    def _is_name(self, name: str) -> bool:
        """Tell whether a name is a single word that people bear, too."""
        return bool(self._gazetteer.of(name) & (Word.FIRST | Word.LAST))

    def _is_plain(self, name: str) -> bool:
        """Tell whether every word of a name is a word of the language, too."""
        return all(self._gazetteer.of(word) & Word.ORDINARY for word in name.replace("-", " ").split())


def _plain(name: str) -> str:
    return " ".join(fold(name).replace(".", "").replace("-", " ").split())
