"""Single names and lower-case names by the words around them: a verb of people, a list of names, a vocative.

A first name alone is never a finding; a first name that speaks, owns, is addressed or is in a list of
names is one, with a modest score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, LAST_ONLY, Token, is_term, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import Finding, PiiBit
from phiscan.text.prefilter import Rare

SCORE = 0.5
_BLOCK = Word.EPONYM | Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.TITLE | Word.TITLE_HEALTH | Word.CREDENTIAL
_VERBS = (  # noqa: SIM905 (a list of words reads best as a text)
    "said says told tells asked asks thinks thought lives lived resides was were is has had went came"
    " goes comes"
    " works worked reports reported denies denied states stated presents presented complains complained"
    " called"
    " calls feels felt wants wanted needs needed likes liked loves loved knows knew died dies married moved"
    " returned returns took takes gave gives got gets made makes left leaves will would can could"
    " should does did"
    " shouted began writes wrote sings sang sent says plays played starring lost met died smiled whose"
    " is-from dit demande habite vit travaille est était a avait sera se veut présente rapporte nie"
).split()
_AFTER = re.compile(rf"[ ](?:{'|'.join(_VERBS)})(?!\w)|['’]s [a-zà-ÿ]|:[ \"“]")  # noqa: RUF001 (names are written with it)
_BEFORE = re.compile(
    r"(?:(?<!\w)(?:told|asked|met|saw|thanks|thank|named|called|contacted|by|to|said|says|kid|partner"
    r"|name|under|including|producer|but|and|like|because|visited|married|meet|email|emailed|phoned"
    r"|texted|with|for|give|gave|show|tell|ask|remind|help|helped|invite|invited|est-ce que|avec|chez)[ ]"
    r"|[a-zà-ÿ],[ ])$"
)
_VOCATIVE_END = re.compile(r"[ ]?[?!.]+(?:\s|$|[\"”])")
_ADDRESSED = re.compile(
    r",[ ](?:can|could|would|will|do|did|have|are|is|how|what|when|where|why|i|we|you|please|my)(?!\w)"
)
_LIST_GAP = frozenset({", ", " and ", ", and ", " & ", " et ", " or ", " ou "})
_MIN_LIST = 3
_LOWER_PAIR = re.compile(r"(?<![\w.@/-])([a-zà-ÿ]{3,}) ([a-zà-ÿ]{3,}(?:-[a-zà-ÿ]{3,})?)(?![\w@/-])")
_NAMES = Word.FIRST | Word.LAST
# A title in small letters within a sentence: "rappeler monsieur Haddad".
_LOWER_TITLE = Rare(
    re.compile(
        r"(?<![\w.])(?P<title>monsieur|madame|mademoiselle|docteure?|doctor|nurse|dre?|mr|mrs|ms|mme|mlle|miss)"
        r"\.?[ ]"
        r"(?P<name>[^\W\d_a-zà-ÿ][^\W\d_]*[a-zà-ÿ][^\W\d_]*(?:[-'\u2019][^\W\d_]+)*)"
    ),
    r"(?:monsieur|madame|mademoiselle|docteure?|doctor|nurse|dre?|mr|mrs|ms|mme|mlle|miss)\.? [\p{L}\p{N}]",
)
_HEALTH_TITLES = frozenset({"docteur", "docteure", "doctor", "nurse", "dr", "dre"})


class ContextRecognizer:
    """Find single first names with a context of people, lists of names, and full names in lower case."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer

    def in_tokens(self, text: str, tokens: Sequence[Token]) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        for index, token in enumerate(tokens):
            if not self._is_first(token) or self._part_of_longer(text, tokens, index):
                continue
            if _has_context(text, token) and not is_term(text, token.end, self._gazetteer, 3):
                yield _single(token, FIRST_ONLY, "a first name in a context of people")
        yield from self._lists(text, tokens)
        yield from self._lower(text)
        yield from self._lower_titles(text)

    def _is_first(self, token: Token) -> bool:
        if token.flags & (Word.FIRST | Word.ORDINARY | _BLOCK) != Word.FIRST or len(token.word) < 3:  # noqa: PLR2004
            return False
        return not token.is_caps and fold(token.word) not in self._gazetteer.places

    def _part_of_longer(self, text: str, tokens: Sequence[Token], index: int) -> bool:
        """Tell whether another capitalised word touches this one: a longer name or a title of something."""
        token = tokens[index]
        before = tokens[index - 1] if index else None
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        touches_before = before is not None and text[before.end : token.start] in (" ", "-")
        touches_after = after is not None and text[token.end : after.start] in (" ", "-")
        return touches_before or touches_after

    def _lists(self, text: str, tokens: Sequence[Token]) -> Iterator[Finding]:
        """Yield the members of "Gaetane, Hannah and Anthony": three or more names and nothing else."""
        start = 0
        while start < len(tokens):
            stop = start + 1
            while stop < len(tokens) and text[tokens[stop - 1].end : tokens[stop].start] in _LIST_GAP:
                stop += 1
            members = tokens[start:stop]
            if len(members) >= _MIN_LIST:
                good = [m for m in members if not m.flags & (Word.ORDINARY | _BLOCK) and not m.is_initial]
                first = [m for m in good if m.flags & Word.FIRST]
                placed = [
                    m for m in members if fold(m.word) in self._gazetteer.places and not m.flags & Word.FIRST
                ]
                known = sum(bool(m.flags & _NAMES) for m in good)
                if len(good) == len(members) and 2 * len(first) >= len(members) and known > 1 and not placed:
                    for member in members:
                        bits = FIRST_ONLY if member.flags & Word.FIRST else LAST_ONLY
                        yield _single(member, bits, "a list of names")
            start = stop

    def _lower(self, text: str) -> Iterator[Finding]:
        """Yield "patricia desrosiers" in lower case: both are names and neither is an ordinary word."""
        look_up = self._gazetteer.of
        position = 0
        while (match := _LOWER_PAIR.search(text, position)) is not None:
            flags = look_up(match[1])
            if flags & (Word.FIRST | Word.ORDINARY | _BLOCK) == Word.FIRST:
                last = look_up(match[2])
                if last & (Word.LAST | Word.ORDINARY | _BLOCK) == Word.LAST:
                    yield name_finding(
                        match.start(), match.end(), health=False, bits=FULL_NAME, source="names.context",
                        score=SCORE, reason=("gazetteer", "first and last name in lower case"),
                    )  # fmt: skip
            position = match.end(1)

    def _lower_titles(self, text: str) -> Iterator[Finding]:
        """Yield the last name after a title in small letters; an ordinary word is none."""
        for match in _LOWER_TITLE.finditer(text):
            flags = self._gazetteer.of(match["name"])
            if flags & _BLOCK or flags & (Word.ORDINARY | Word.LAST) == Word.ORDINARY:
                continue
            yield name_finding(
                match.start("name"), match.end("name"), health=match["title"] in _HEALTH_TITLES,
                bits=LAST_ONLY, source="names.title", score=0.75, reason=("title", "title in small letters"),
            )  # fmt: skip


def _has_context(text: str, token: Token) -> bool:
    before = text[max(0, token.start - 16) : token.start]
    line_start = not before or before[-1] in '\n>"“'
    after = _AFTER.match(text, token.end)
    if after is not None:
        return after[0][0] != ":" or line_start or before.endswith("\n ")
    if _ADDRESSED.match(text, token.end) and line_start:
        return True
    return _BEFORE.search(before) is not None and (
        not before.endswith(", ") or _VOCATIVE_END.match(text, token.end) is not None
    )


def _single(token: Token, bits: frozenset[PiiBit], detail: str) -> Finding:
    return name_finding(
        token.start, token.end, health=False, bits=bits, source="names.context",
        score=SCORE, reason=("context", detail),
    )  # fmt: skip
