"""Token features in named groups; every system uses a subset of the groups.

Source: Uzuner, Luo & Szolovits (2007), Table 6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from papers.i2b2.surrogates import medical_words, names
from papers.i2b2.tokens import TokenizedRecord

_TEMPLATES = {
    "date": re.compile(r"(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])"),
    "mmdd": re.compile(r"\d{4}"),
    "month": re.compile(
        r"(January|February|March|April|May|June|July|August|September|October|November|December)"
    ),
    "phone": re.compile(r"\(?\d{3}\)?[- ]\d{3}-\d{4},?|\d{3}-\d{4},?|x\d{3,5}|\d{6}-\d{4}"),
    "unit": re.compile(r"\d{3}-\d{2}-\d{2}|\d{5,9}|[A-Z]{2,}\d+|[A-Z]\d{2}-\d{4}|\d+/\d+[a-z]\d+"),
    "year": re.compile(r"/(19|20)?\d\d"),
    "age": re.compile(r"9\d|1[01]\d"),
    "initial": re.compile(r"[A-Z]\."),
    "slash": re.compile(r"\d+/\d+"),
}
CUES = {
    "doctor": frozenset({"dr.", "drs.", "md", "m.d.", "attending", "dictated", "tr", "cc"}),
    "patient": frozenset(
        {"mr.", "ms.", "mrs.", "name", "daughter", "son", "wife", "husband", "sister", "brother"}
    ),
    "hospital": frozenset(
        {"hospital", "medical", "center", "memorial", "community", "nursing", "clinic", "rehabilitation",
         "transferred", "discharged", "admitted"}
    ),
    "location": frozenset({"lives", "street", "road", "avenue", "lane", "address", "moved", "ma", "nh"}),
    "phone": frozenset({"call", "pager", "phone", "beeper", "reached", "x"}),
}  # fmt: skip
_DICTIONARIES = ("first_names", "last_names", "towns", "ordinary_words")
HEADER_LINES, FOOTER_LINES = 12, 6


@cache
def shape(word: str) -> str:
    """Return the orthography: upper, lower and digit runs.

    >>> shape("FMT51"), shape("Gates"), shape("10/29")
    ('A9', 'Aa', '9/9')
    """
    mapped = "".join(
        "A" if c.isupper() else "a" if c.islower() else "9" if c.isdigit() else c for c in word[:20]
    )
    return re.sub(r"(.)\1+", r"\1", mapped)


@cache
def templates(word: str) -> tuple[str, ...]:
    """Return the names of the regular-expression templates that a whole word fits."""
    return tuple(name for name, pattern in _TEMPLATES.items() if pattern.fullmatch(word))


@cache
def _lists() -> dict[str, frozenset[str]]:
    found = {which: frozenset(names(which)) for which in _DICTIONARIES}
    return found | {"medical": frozenset(medical_words())}


@cache
def dictionaries(word: str) -> tuple[str, ...]:
    """Return the names of the lists that contain a word: names, towns, ordinary and medical words."""
    letters = word.strip(".,").lower()
    return tuple(name for name, words in _lists().items() if letters in words)


def _word(word: str) -> list[str]:
    return [f"w={word.lower()}"]


def _orthography(word: str) -> list[str]:
    return [f"s={shape(word)}", f"n={min(len(word), 12)}"]


def _special(word: str) -> list[str]:
    return [f"c={character}" for character in sorted(set(word)) if not character.isalnum()]


def _affixes(n: int) -> Callable[[str], list[str]]:
    def affixes(word: str) -> list[str]:
        lower = word.lower()
        return [f"p{k}={lower[:k]}" for k in range(2, n + 1)] + [
            f"q{k}={lower[-k:]}" for k in range(2, n + 1)
        ]

    return affixes


def _templates(word: str) -> list[str]:
    return [f"t={name}" for name in templates(word)]


def _dictionaries(word: str) -> list[str]:
    return [f"d={name}" for name in dictionaries(word)]


_BY_WORD: dict[str, Callable[[str], list[str]]] = {
    "word": _word,
    "orthography": _orthography,
    "special": _special,
    "affixes2": _affixes(2),
    "affixes4": _affixes(4),
    "templates": _templates,
    "dictionaries": _dictionaries,
}


def token_features(record: TokenizedRecord, groups: Sequence[str]) -> list[list[str]]:
    """Return the features of each token of a record.

    Groups by word: word, orthography, special, affixes2, affixes4, templates, dictionaries. Of the
    surroundings: window1, window2, window3 (words and shapes around), window6 (words only), cues (words of
    CUES within four tokens), heading (of the section), position (of the line in the record, of the token in
    the line), length (of the line), previous (last words of the line before).
    """
    by_word = [_BY_WORD[group] for group in groups if group in _BY_WORD]
    cache_of: dict[str, list[str]] = {}
    features = []
    for word in record.words:
        if word not in cache_of:
            cache_of[word] = ["1", *(name for make in by_word for name in make(word))]
        features.append(list(cache_of[word]))
    for group in groups:
        if group.startswith("window"):
            _add_window(record, features, int(group[6:]))
        elif group in _SURROUNDINGS:
            _SURROUNDINGS[group](record, features)
    return features


def _add_window(record: TokenizedRecord, features: list[list[str]], width: int) -> None:
    n = len(record.words)
    lower = [word.lower() for word in record.words]
    shapes = [shape(word) for word in record.words] if width < 6 else None  # noqa: PLR2004
    for offset in (*range(-width, 0), *range(1, width + 1)):
        for position in range(n):
            other = position + offset
            if 0 <= other < n:
                features[position].append(f"{offset}w={lower[other]}")
                if shapes is not None and abs(offset) <= 2:  # noqa: PLR2004
                    features[position].append(f"{offset}s={shapes[other]}")
            else:
                features[position].append(f"{offset}w=")


def _add_cues(record: TokenizedRecord, features: list[list[str]]) -> None:
    for position, word in enumerate(record.words):
        letters = word.lower().strip(":,")
        for name, words in CUES.items():
            if letters in words:
                for other in range(max(0, position - 4), min(len(features), position + 5)):
                    if other != position:
                        side = "before" if position < other else "after"
                        features[other].append(f"cue={name}{side}{min(abs(position - other), 2)}")


def _add_heading(record: TokenizedRecord, features: list[list[str]]) -> None:
    heading, start, last = "", 0, -1
    for position, word in enumerate(record.words):
        if record.lines[position] != last:
            start, last = position, record.lines[position]
        if word == ":" and position - start <= 4:  # noqa: PLR2004
            heading = " ".join(record.words[start:position]).lower()
        features[position].append(f"h={heading}")


def _add_position(record: TokenizedRecord, features: list[list[str]]) -> None:
    n_lines = record.lines[-1] + 1 if record.lines else 0
    start, last = 0, -1
    for position, line in enumerate(record.lines):
        if line != last:
            start, last = position, line
        if line < HEADER_LINES:
            zone = f"head{line}"
        else:
            zone = f"foot{n_lines - line}" if n_lines - line < FOOTER_LINES else "body"
        features[position] += [f"z={zone}", f"i={min(position - start, 5)}"]


def _add_length(record: TokenizedRecord, features: list[list[str]]) -> None:
    counts: dict[int, int] = {}
    for line in record.lines:
        counts[line] = counts.get(line, 0) + 1
    for position, line in enumerate(record.lines):
        features[position].append(f"l={min(counts[line], 12)}")


def _add_previous(record: TokenizedRecord, features: list[list[str]]) -> None:
    ends: dict[int, str] = {}
    for word, line in zip(record.words, record.lines, strict=True):
        ends[line] = word.lower()
    for position, line in enumerate(record.lines):
        features[position].append(f"e={ends.get(line - 1, '')}")


_SURROUNDINGS: dict[str, Callable[[TokenizedRecord, list[list[str]]], None]] = {
    "cues": _add_cues,
    "heading": _add_heading,
    "position": _add_position,
    "length": _add_length,
    "previous": _add_previous,
}
