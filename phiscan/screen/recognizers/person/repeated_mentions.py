"""The second pass: a name found under a trusted cue is looked for, in part, in the rest of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, LAST_ONLY, Token, is_term, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, PiiBit
from phiscan.screen.resolution import is_taken, is_within

TRUSTED_SCORE = 0.6
_MIN_LENGTH = 3
_LETTERS = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 (names are written with it)
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001 (texts are written with it)
_NO_NAME = Word.ORDINARY | Word.PARTICLE | Word.NOT_PERSON | Word.EPONYM | Word.MONTH_OR_DAY | Word.CREDENTIAL
_WHOLE, _MIN_WHOLE, _MAX_WHOLE = (2, 3), 5, 60  # words of a name; letters; letters with what joins them


def repeats(
    text: str, tokens: Sequence[Token], found: Sequence[Finding], gazetteer: Gazetteer
) -> Iterator[Finding]:
    """Yield the bare mentions of names already found: same word, same person, same type.

    A word that stands before "syndrome" or "Street" is a term or a place there, whoever else bears it; an
    ordinary word ("May", "Can") is a name again only where it is not the first word of its sentence. A word
    of a whole name that was found is no mention of its own.
    """
    known: dict[str, tuple[bool, frozenset[PiiBit]]] = {}
    for finding in found:
        if finding.score < TRUSTED_SCORE:
            continue
        health = finding.entity_type is EntityType.HEALTH_PROFESSIONAL
        parts = [w for w in _words(finding.span.of(text)) if len(w) >= _MIN_LENGTH]
        for number, part in enumerate(parts):
            if gazetteer.of(part) & Word.PARTICLE:
                continue
            bits = finding.bits if len(parts) == 1 else FIRST_ONLY if number == 0 else LAST_ONLY
            key = part.casefold()
            if key not in known or (known[key][0] and not health):
                known[key] = (health, LAST_ONLY if PiiBit.HEALTH_PROFESSIONAL in bits else bits)
    spans = sorted((f.span.start, f.span.end) for f in found)
    yield from _whole(text, found, spans)
    if not known:
        return
    whole = sorted((f.span.start, f.span.end) for f in found if f.bits == FULL_NAME)
    yield from _small(text, found, spans, gazetteer)
    for index, token in enumerate(tokens):
        key = token.word.casefold()
        owned = _POSSESSIVE.search(key) if key not in known else None
        entry = known.get(key[: owned.start()] if owned else key)
        if (
            entry is None
            or is_within(token.start, token.end, whole)
            or _is_term(text, tokens, index, gazetteer)
        ):
            continue
        health, bits = entry
        yield name_finding(
            token.start, token.end - (2 if owned else 0), health=health, bits=bits, source="names.repeat",
            score=0.65, reason=("label", "repeats a name of this document"),
        )  # fmt: skip


def _small(
    text: str, found: Sequence[Finding], taken: Sequence[tuple[int, int]], gazetteer: Gazetteer
) -> Iterator[Finding]:
    """Yield the mentions in small letters of names that are written so, and are no words: "gord's ecg"."""
    known: dict[str, Finding] = {}
    for finding in found:
        name = finding.span.of(text)
        if finding.score < TRUSTED_SCORE or not finding.bits or not name.islower():
            continue
        for word in _LETTERS.findall(name):
            if len(word) >= _MIN_LENGTH and not gazetteer.of(word) & _NO_NAME:
                known.setdefault(word, finding)
    if not known:
        return
    for match in _LETTERS.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        like = known.get(word)
        end = match.start() + len(word)
        if like is None or is_taken(match.start(), end, taken) or is_term(text, end, gazetteer):
            continue
        yield name_finding(
            match.start(), end, health=like.entity_type is EntityType.HEALTH_PROFESSIONAL,
            bits=FIRST_ONLY if gazetteer.of(word) & Word.FIRST else LAST_ONLY, source="names.repeat",
            score=0.65, reason=("label", "repeats a name of this document"),
        )  # fmt: skip


def _whole(text: str, found: Sequence[Finding], taken: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yield the mentions of whole names found elsewhere: two or three words, in the same letters."""
    known: dict[tuple[str, ...], Finding] = {}
    for finding in found:
        words = tuple(_LETTERS.findall(finding.span.of(text)))
        if finding.bits and len(words) in _WHOLE and sum(map(len, words)) > _MIN_WHOLE:
            known.setdefault(words, finding)
    if not known:
        return
    firsts = {words[0] for words in known}
    for first in _LETTERS.finditer(text):
        if first[0] not in firsts:
            continue
        begin = first.start()
        places = [
            m.span() for m in islice(_LETTERS.finditer(text, begin, begin + _MAX_WHOLE + 1), max(_WHOLE))
        ]
        for size in _WHOLE:
            if len(places) < size or places[size - 1][1] - begin > _MAX_WHOLE:
                break
            like = known.get(tuple(text[a:b] for a, b in places[:size]))
            start, end = begin, places[size - 1][1]
            if like is None or "\n" in text[start:end] or is_taken(start, end, taken):
                continue
            yield name_finding(
                start, end, health=like.entity_type is EntityType.HEALTH_PROFESSIONAL, bits=like.bits,
                source="names.repeat", score=0.65, reason=("label", "repeats a name of this document"),
            )  # fmt: skip


def _words(name: str) -> list[str]:
    return [
        w for w in name.replace(",", " ").replace("^", " ").replace(".", " ").replace('"', " ").split() if w
    ]


def _is_term(text: str, tokens: Sequence[Token], index: int, gazetteer: Gazetteer) -> bool:
    token = tokens[index]
    if is_term(text, token.end, gazetteer, 3):
        return True
    if token.flags & Word.ORDINARY:
        before = text[max(0, token.start - 2) : token.start].rstrip(" ")
        starts_sentence = not before or before[-1] in ".!?:\n-•*"
        return starts_sentence or token.is_caps or bool(token.flags & Word.MONTH_OR_DAY)
    return False
