"""Tables 1 to 5 of the challenge for any corpus: sizes, out-of-vocabulary PHI and ambiguity.

Tokens are runs without white space. Ambiguity compares them without case ("RIGHT" the doctor, "right" the
side), and a token of punctuation alone is never ambiguous; the paper specifies neither.

Source: Uzuner, Luo & Szolovits (2007).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

from papers.i2b2.corpus import NAMED_TYPES, TYPES
from papers.i2b2.surrogates import medical_words
from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.metrics.deidentification.span_tokens import covered_tokens, token_extents
from phiscan.metrics.deidentification.spans import AnnotatedText

NON_PHI = "NON-PHI"
_VOCABULARY = ("first_names", "last_names", "towns", "places", "ordinary_words")


@cache
def vocabulary() -> frozenset[str]:
    """Return the words of the shipped lists of names, places, ordinary and medical words, in lower case."""
    words = set(medical_words())
    for which in _VOCABULARY:
        for term in load_dictionary(data_dir("dictionaries") / f"{which}.txt").terms:
            words.update(term.lower().split())
    return frozenset(words)


def is_known(token: str, words: Collection[str]) -> bool:
    """Return whether a token is in the vocabulary, ignoring case; tokens without letters are known.

    >>> is_known("Hospital", {"hospital"}), is_known("Valtawnprinceel", {"hospital"}), is_known(",", ())
    (True, False, True)
    """
    letters = token.strip(".,;:()'").lower()
    return letters in words or len(letters) < 2 or not any(map(str.isalpha, letters))  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class TypeStatistics:
    """One category: counts, and percentages of its instances and tokens."""

    instances: int
    tokens: int
    unknown: tuple[float, float] | None  # (instances, tokens) out of vocabulary; names and places only
    in_record: tuple[float, float]  # ambiguous with non-PHI of the same record
    in_corpus: tuple[float, float]


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Tables 1 to 3 by category, tokens outside PHI, and Table 4 (or 5)."""

    non_phi_tokens: int
    by_type: dict[str, TypeStatistics]
    between: dict[str, dict[str, float]]


def corpus_statistics(
    records: Sequence[AnnotatedText], words: Collection[str] | None = None
) -> CorpusStatistics:
    """Return the tables of a corpus; ``words`` is the vocabulary (the shipped lists if None).

    An instance is out of vocabulary or ambiguous if one of its tokens is.
    """
    known = vocabulary() if words is None else words
    found: dict[str, list[list[tuple[int, str]]]] = {kind: [] for kind in TYPES}
    tokens: dict[str, list[str]] = defaultdict(list)
    plain_of: list[set[str]] = []
    for number, record in enumerate(records):
        text = record.text or ""
        extents = token_extents(text)
        covered: set[int] = set()
        for span in record.spans:
            inside = sorted(covered_tokens(extents, [span]))
            covered.update(inside)
            parts = text[span.start : span.end].casefold().split()
            found.setdefault(span.type, []).append([(number, part) for part in parts])
            tokens[span.type] += parts
        plain = [
            text[slice(*extent)].casefold() for index, extent in enumerate(extents) if index not in covered
        ]
        tokens[NON_PHI] += plain
        plain_of.append(set(plain))
    anywhere = set().union(*plain_of)

    def share(kind: str, test: Callable[[int, str], bool]) -> tuple[float, float]:
        instances = [[test(number, part) for number, part in instance] for instance in found[kind]]
        flat = [hit for instance in instances for hit in instance]
        return _percent([any(instance) for instance in instances]), _percent(flat)

    by_type = {}
    for kind in TYPES:
        unknown = share(kind, lambda _, part: not is_known(part, known)) if kind in NAMED_TYPES else None
        by_type[kind] = TypeStatistics(
            instances=len(found[kind]),
            tokens=len(tokens[kind]),
            unknown=unknown,
            in_record=share(kind, lambda number, part: _word(part) and part in plain_of[number]),
            in_corpus=share(kind, lambda _, part: _word(part) and part in anywhere),
        )
    kinds = (NON_PHI, *TYPES)
    sets = {kind: set(tokens[kind]) for kind in kinds}
    between = {
        row: {
            column: _percent([_word(token) and token in sets[column] for token in tokens[row]])
            for column in kinds
            if column != row
        }
        for row in kinds
    }
    return CorpusStatistics(len(tokens[NON_PHI]), by_type, between)


def _word(token: str) -> bool:
    return any(map(str.isalnum, token))


def _percent(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits) if hits else 0.0
