"""Names by their form: a title and a name, a name and credentials, a first name and a last name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import (
    CREDENTIALS,
    FULL_NAME,
    LAST_ONLY,
    Token,
    is_term,
    joined,
    name_finding,
    tokenize,
)
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import Document, Finding
from phiscan.screen.ner.name_boundaries import NameEnds

MAX_NAME_WORDS = 5
# Titles after which any capitalised word is a name; the others (Father, General, President) need the lists.
STRONG_TITLES = frozenset(
    "mr mrs ms miss mx dr drs dre prof doctor docteur docteure professor professeur monsieur madame"  # noqa: SIM905 (a list of words reads best as a text)
    " mademoiselle"
    " mme mlle mmes mister m".split()
)
_TITLES = Word.TITLE | Word.TITLE_HEALTH
_NAMES = Word.FIRST | Word.LAST
_BLOCK = Word.EPONYM | Word.NOT_PERSON | Word.MONTH_OR_DAY


class FormRecognizer:
    """Find names that show themselves by their form, without a label."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._ends = NameEnds(gazetteer)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings in text order; spans are half-open, in code points."""
        yield from self.in_tokens(document.text, tokenize(document.text, self._gazetteer))

    def in_tokens(self, text: str, tokens: list[Token]) -> Iterator[Finding]:
        """Yield the names among the capitalised words of a text."""
        index, n_tokens = 0, len(tokens)
        while index < n_tokens:
            token = tokens[index]
            flags = token.flags
            if flags & _TITLES and not token.is_initial:
                run = self._run(text, tokens, index + 1) if _after_title(text, tokens, index) else []
                found = self._titled(text, token, run)
            elif token.is_initial and token.word == "M" and text[token.end : token.end + 2] == ". ":
                run = self._run(text, tokens, index + 1) if _after_title(text, tokens, index) else []
                found = self._titled(text, token, run) or self._formed(text, self._run(text, tokens, index))
            elif flags & _NAMES or not flags & Word.ORDINARY:
                run = self._run(text, tokens, index)
                found = self._formed(text, run)
            else:
                found = None
            if found is None:
                index += 1
                continue
            yield found
            while index < n_tokens and tokens[index].start < found.span.end:
                index += 1

    def _run(self, text: str, tokens: list[Token], index: int) -> list[Token]:
        """Return the words from ``index`` on that may stand in one name."""
        if index >= len(tokens):
            return []
        run = [tokens[index]]
        for token in tokens[index + 1 : index + MAX_NAME_WORDS]:
            if not joined(text, run[-1], token) or (token.flags & _TITLES and token.flags & Word.ORDINARY):
                break
            if token.word.lower() in STRONG_TITLES and not token.is_initial:
                break  # "Avisé Dre Roy"
            run.append(token)
        return run

    def _titled(self, text: str, title: Token, run: list[Token]) -> Finding | None:  # noqa: C901 (one decision after the other reads best in one place)
        """Judge the words after a title."""
        strong = title.word.rstrip(".").lower() in STRONG_TITLES
        if not run or (
            run[0].flags & _TITLES and run[0].flags & Word.ORDINARY and not _is_prince(title, run[0])
        ):
            return None
        first = run[0]
        if first.flags & (_BLOCK | Word.CREDENTIAL) and not first.flags & _NAMES:
            return None
        if not strong and (first.flags & Word.ORDINARY or not first.flags & _NAMES):
            return None
        if (first.is_caps or title.is_caps) and not first.may_name:
            return None  # "for MS. In this form", "Dr. COPD"
        kept = [first]
        for token in run[1:]:
            if token.flags & _BLOCK or (token.flags & Word.CREDENTIAL and token.is_caps):
                break
            is_plain = not token.flags & Word.ORDINARY or token.flags & Word.LAST or "-" in token.word
            if not is_plain and not token.is_initial:
                break
            if first.is_caps and token.word in _CAPITAL_WORDS:
                break  # "LE DR PETIT EN MAI", "MME ROY A L'ACCUEIL"
            kept.append(token)
        while len(kept) > 1 and kept[-1].is_initial:
            kept.pop()
        if kept[-1].is_initial and len(kept) == 1 and len(run) > 1:
            kept = run[:2]
        if kept[-1].is_initial:
            return None
        health = bool(title.flags & Word.TITLE_HEALTH)
        return name_finding(
            kept[0].start,
            kept[-1].end,
            health=health or _credential_after(text, kept[-1].end),
            bits=FULL_NAME if len(kept) > 1 else LAST_ONLY,
            source="names.title",
            score=0.9 if strong else 0.75,
            reason=("title", "health title" if health else "title"),
        )

    def _formed(self, text: str, run: list[Token]) -> Finding | None:  # noqa: PLR0911 (one decision after the other reads best in one place)
        """Judge a run of capitalised words: credentials after it, else first name and last name."""
        run = run[self._ends.n_leads(text, [(token.start, token.end) for token in run]) :]  # "Pt Ann Roy"
        length = _name_length(run)
        if length < 2:  # noqa: PLR2004 (a single word is never a finding by itself)
            return self._last_first(text, run)
        kept = run[:length]
        end = kept[-1].end
        if (
            kept[0].start
            and text[kept[0].start - 1] in "&-"
            and text[kept[0].start - 2 : kept[0].start] != "--"
        ):
            return None
        following = run[length] if length < len(run) else None
        if following is not None and following.flags & _BLOCK:
            return None
        if is_term(text, end, self._gazetteer):
            return None
        score = _score(kept)
        if _credential_after(text, end) and score > 0:
            return name_finding(
                kept[0].start, end, health=True, bits=FULL_NAME, source="names.credential", score=0.9,
                reason=("title", "credential"),
            )  # fmt: skip
        if score < MIN_FORM_SCORE or self._is_place(text, kept):
            return None
        return name_finding(
            kept[0].start, end, health=False, bits=FULL_NAME, source="names.form", score=score,
            reason=("gazetteer", "first and last name"),
        )  # fmt: skip

    def _is_place(self, text: str, kept: list[Token]) -> bool:
        """Tell whether words are a place before they are a name: "in Hong Kong", "West Daniel"."""
        first, last = kept[0], kept[-1]
        return fold(first.word) in _PLACE_HEADS or self._gazetteer.is_place(text[first.start : last.end])

    def _last_first(self, text: str, run: list[Token]) -> Finding | None:
        """Judge "Last, First M." at the start of a line or cell."""
        if not run:
            return None
        last = run[0]
        # "VANDERMEER, JOOST": an unknown word in capitals is a last name before a known first name.
        unknown = last.is_caps and not last.flags and len(last.word) >= _MIN_UNKNOWN_LAST
        if not (last.flags & Word.LAST or unknown) or last.flags & Word.ORDINARY or last.is_initial:
            return None
        before = text[max(0, last.start - 2) : last.start].rstrip(" ")
        if before and before[-1] not in "\n\t|;:\"'(>":
            return None
        match = _FIRST_AFTER_COMMA.match(text, last.end)
        if match is None or self._gazetteer.of(match["first"]) & (Word.FIRST | Word.ORDINARY) != Word.FIRST:
            return None
        if unknown and not match["first"][0].isupper():
            return None
        return name_finding(
            last.start, match.end(), health=_credential_after(text, match.end()), bits=FULL_NAME,
            source="names.last_first", score=0.55, reason=("gazetteer", "last name, first name"),
        )  # fmt: skip


MIN_FORM_SCORE = 0.5
_CIVIL = frozenset({"mr", "mrs", "ms", "mme", "mlle", "dr", "dre"})
# Short words of French and English that are names or initials only in other places: in a text of capitals.
_CAPITAL_WORDS = frozenset(
    {"A", "EN", "AU", "AUX", "ET", "EST", "LE", "LA", "LES", "SUR", "PAR", "DANS", "IS", "AT"}
)
_PLACE_HEADS = frozenset({"north", "south", "east", "west", "saint", "sainte", "port", "lake", "mount"})
_MIN_UNKNOWN_LAST = 5  # letters: shorter words in capitals are abbreviations


def _is_prince(title: Token, name: Token) -> bool:
    """Tell whether what is also a title is a name after Mr. or Dr.: "MR. PRINCE", not "Mrs. President"."""
    return title.word.rstrip(".").lower() in _CIVIL and bool(name.flags & _NAMES) and not title.is_initial


def _after_title(text: str, tokens: list[Token], index: int) -> bool:
    if index + 1 >= len(tokens):
        return False
    gap = text[tokens[index].end : tokens[index + 1].start]
    return gap in (" ", ". ", ".", "\u00a0", ".\u00a0", ".  ", "  ", " de ", ", ") and (
        gap != ", " or tokens[index].word.rstrip(".").lower() in {"dr", "dre"}
    )


def _name_length(run: list[Token]) -> int:
    """Return how many words of a run can be a name: an ordinary word that is no last name ends it."""
    length = 0
    for token in run:
        if token.flags & (_BLOCK | _TITLES) and (length == 0 or token.flags & Word.ORDINARY):
            break
        if token.flags & Word.CREDENTIAL and token.is_caps and length >= 2:  # noqa: PLR2004 (first and last)
            break
        if token.flags & Word.ORDINARY and not token.flags & _NAMES and not token.is_initial:
            break
        length += 1
    while length and run[length - 1].is_initial:
        length -= 1
    return length


def _score(kept: list[Token]) -> float:  # noqa: PLR0911 (one decision after the other reads best in one place)
    """Return how sure a run of words that may be names is one, by the lists alone."""
    first, last = kept[0], kept[-1]
    caps = first.is_caps or last.is_caps
    first_known = bool(first.flags & Word.FIRST)
    last_known = bool(last.flags & Word.LAST)
    first_plain = not first.flags & Word.ORDINARY
    last_plain = not last.flags & Word.ORDINARY
    if caps:
        known = first_known and first_plain and last_known and last_plain and first.is_caps and last.is_caps
        return 0.65 if known else 0.2
    if len(kept) > 2 and any(t.is_initial for t in kept[1:-1]) and first_plain and last_plain:  # noqa: PLR2004
        return 0.8 if first_known or last_known else 0.6  # a middle initial
    if first.is_initial:
        return 0.65 if last_known and last_plain else 0.3
    if first_known and first_plain:
        if last_known:
            return 0.85 if last_plain else 0.6
        return 0.7 if last_plain else 0.3
    if first_known and last_known and last_plain:
        return 0.6
    if last_known and last_plain and first_plain:
        return 0.5
    return 0.3


_FIRST_AFTER_COMMA = re.compile(r",[ ]?(?P<first>[^\W\d_]+(?:-[^\W\d_]+)?)(?:[ ][A-Z]\.?)?(?=[\s|;\"'<(,]|$)")


def _credential_after(text: str, end: int) -> bool:
    return CREDENTIALS.match(text, end) is not None
