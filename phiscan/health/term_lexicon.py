"""The health terms and the cue words, loaded from dictionaries/health_*.txt and compiled.

Health terms are the features of the bag of concepts. Cue words (``cue:dose``, ``cue:report``,
``cue:generic``...) are no health information: they separate texts about a person from general texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from phiscan.config import data_dir
from phiscan.errors import DictionaryError
from phiscan.health.terms import JointMatcher, Term, TermMatcher
from phiscan.lexicon.dictionary import load_dictionary

# In order of precedence: where two files have the same form, the first one's concept counts.
HEALTH_FILES: Final = (
    "health_conditions",
    "health_symptoms",
    "health_mental",
    "health_drugs",
    "health_procedures",
    "health_labs",
    "health_abbreviations",
    "health_body",
    "health_everyday",
    "health_icd10cm",
    "health_icd10cm_codes",
)
CUE_FILE: Final = "health_cues"
# Abbreviations that are also words, with the context in which they are ignored.
WORDS_FILE: Final = "health_words_too"
LOOKALIKES_FILE: Final = "health_lookalikes"  # words that are no term, but have the folded form of one
LABEL_FILE: Final = "health_labels"  # display labels of concepts that group several terms
TITLE_FILE: Final = "icd10cm_titles"  # display labels of the concepts that are categories of ICD-10-CM
_LABEL_COLUMNS: Final = 3
_COLUMNS: Final = 5
# Abbreviations that are also matched in lower case: "copd", "mri", not "mi" or "PV1".
_MAY_BE_LOWER: Final = re.compile(r"[^\W\d_]{3,6}|[A-Z]\d?[A-Z]{1,2}\d?")
# Single letters with a sign between them: without it they are letters of anything.
_SPACED_LETTERS: Final = re.compile(r"[^\W\d_](?:[/&][^\W\d_])+")
_FLAGS: Final = frozenset({"case", "context", "surname", "-"})


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The compiled lists; one per process."""

    health: TermMatcher
    cues: TermMatcher
    both: JointMatcher  # health terms and cues, in this order
    marks: tuple[tuple[str, str], ...]  # of each health term: its concept and ``kind:`` of concept
    cue_names: tuple[str, ...]  # of each cue word: its class
    icd: dict[str, str]  # concept -> ICD-10-CM code, where one exists
    labels: dict[str, str]  # concept -> the form shown to people
    french_labels: dict[str, str]  # the same in French, of the concepts that have one


@lru_cache(maxsize=2)
def load_lexicon(folder: Path | None = None) -> Lexicon:
    """Read and compile the dictionaries (``folder``, else those of the installation).

    Raises:
        DictionaryError: names the file and the line.
    """
    folder = folder or data_dir("dictionaries")
    terms: list[Term] = []
    icd: dict[str, str] = {}
    labels: dict[str, str] = {}
    french: dict[str, str] = {}
    words = {row[0]: row[1] for row in load_dictionary(folder / f"{WORDS_FILE}.txt").rows}
    for name in HEALTH_FILES:
        for term, code, language in _read(folder / f"{name}.txt", words):
            terms.append(term)
            labels.setdefault(term.concept, term.text)
            if language == "fr":
                french.setdefault(term.concept, term.text)
            if code != "-":
                icd.setdefault(term.concept, code)
    titles = {row[0]: row[1] for row in load_dictionary(folder / f"{TITLE_FILE}.txt").rows}
    labels |= {concept: titles[concept] for concept in labels.keys() & titles.keys()}
    group_labels = _labels(folder / f"{LABEL_FILE}.txt", labels)
    labels |= {concept: english for concept, english, _ in group_labels}
    french |= {concept: label for concept, _, label in group_labels}
    cues = [replace(term, small=False) for term, _, _ in _read(folder / f"{CUE_FILE}.txt", words)]
    lookalikes = [row[0] for row in load_dictionary(folder / f"{LOOKALIKES_FILE}.txt").rows]
    matchers = (TermMatcher().fit(terms, lookalikes), TermMatcher().fit(cues))
    marks = {term.concept: (term.concept, _kind(term.concept)) for term in terms}
    return Lexicon(
        *matchers,
        both=JointMatcher.of(matchers),
        marks=tuple(marks[term.concept] for term in terms),
        cue_names=tuple(term.concept for term in cues),
        icd=icd,
        labels=labels,
        french_labels=french,
    )


def _kind(concept: str) -> str:
    """Return the kind of a concept; an ICD-10-CM code is a diagnosis.

    >>> _kind("rx:metformin"), _kind("icd:e11")
    ('kind:rx', 'kind:dx')
    """
    kind = concept.partition(":")[0]
    return f"kind:{'dx' if kind == 'icd' else kind}"


def _labels(path: Path, known: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return concept, English and French label of every row of the file."""
    dictionary = load_dictionary(path)
    for number, row in enumerate(dictionary.rows, start=len(dictionary.header) + 1):
        if len(row) != _LABEL_COLUMNS or row[0] not in known:
            raise DictionaryError(
                path, f"line {number}: expected a known concept, its English and its French label"
            )
    return [(row[0], row[1], row[2]) for row in dictionary.rows]


def _read(path: Path, words: Mapping[str, str]) -> list[tuple[Term, str, str]]:
    """Return every term of a dictionary with its ICD-10-CM code and its language."""
    dictionary = load_dictionary(path)
    found: list[tuple[Term, str, str]] = []
    for number, row in enumerate(dictionary.rows, start=len(dictionary.header) + 1):
        if len(row) != _COLUMNS or not _FLAGS.issuperset(flags := row[3].split(",")):
            raise DictionaryError(
                path,
                f"line {number}: expected term, concept, code, flags (case, context, surname, -), language",
            )
        is_cased = "case" in flags
        term = Term(
            row[0],
            row[1],
            case=is_cased,
            context="context" in flags,
            surname="surname" in flags,
            word=is_cased and words.get(row[0]) == "capitals",
            spaced=_SPACED_LETTERS.fullmatch(row[0]) is not None,
            small=is_cased and _MAY_BE_LOWER.fullmatch(row[0]) is not None and row[0] not in words,
        )
        found.append((term, row[2], row[4]))
    return found
