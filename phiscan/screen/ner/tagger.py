"""Text to names of people, organizations, places and street addresses, by a trained sequence tagger.

The tagger is the sum of a linear-chain conditional random field over words, shapes and gazetteers and of a
bidirectional LSTM (docs/reference/model-card-names.md). Viterbi decoding adds a bias to the labels of persons
(recall first). The score of a name is its mean marginal probability, to which thresholds are applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

import numpy as np

from phiscan.config import data_dir
from phiscan.lexicon.capitalized_words import (
    CREDENTIALS,
    FIRST_ONLY,
    FULL_NAME,
    LAST_ONLY,
    has_civil_title,
    is_term,
)
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, load_gazetteer, terms
from phiscan.lexicon.ordinary_words import health_words
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span, bits_of
from phiscan.screen.filters.false_names import load_vetoes
from phiscan.screen.free_text import in_free_text
from phiscan.screen.ner.ensemble import TaggerEnsemble
from phiscan.screen.ner.name_boundaries import NameEnds
from phiscan.screen.ner.name_confidence import (
    MAX_DOUBTFUL,
    SHOWN,
    as_doubtful,
    is_made_up,
    is_only_a_name,
    least,
    least_in_place,
    without_elision,
)
from phiscan.screen.ner.spans import ADDRESS, PERSON, LabelKinds, Tagged, is_cell, joined, line_around, named
from phiscan.screen.ner.tokens import HEALTH, PLACE, Kinds
from phiscan.screen.recognizer import Priority
from phiscan.screen.recognizers.location import is_code
from phiscan.text.intervals import chunks

SOURCE = "names.tagger"
LABEL_BIAS = {PERSON: 1.0, "ORG": 0.2}  # added to the scores of these labels for the best path
# And for a second path, for what the first leaves out: all that it finds is doubtful. None may be less.
SECOND_BIAS = {PERSON: 1.9, "ORG": 2.0, "LOC": 2.0, ADDRESS: 2.0}
# Probabilities from which a name is shown, and from which it is more than doubtful; those of persons also
# depend on their words (``name_confidence``).
MIN_SHOWN = {PERSON: SHOWN, "ORG": 0.1, "LOC": 0.1, ADDRESS: 0.1}
MIN_SCORE = {PERSON: SHOWN, "ORG": 0.7, "LOC": 0.5, ADDRESS: 0.5}
MIN_TITLED = 0.75  # after the title of a doctor or nurse, as of the rule for titles
MIN_OTHER_SCRIPT = 1.1  # of names in scripts that training hardly has: doubtful whatever the probability
MIN_CITY = 0.9  # a field of a table or list that holds a city and nothing else: Boston, Windsor
DOUBT = "too unsure for a name that counts"
CHUNK_CHARS = 100_000  # bounds the memory; a text is cut at a line end
_TYPES = {
    PERSON: EntityType.PERSON,
    "ORG": EntityType.ORGANIZATION,
    "LOC": EntityType.LOCATION,
    ADDRESS: EntityType.STREET_ADDRESS,
}
_HEALTH_BEFORE = re.compile(
    r"\b(?:(?:drs?|dre|doctor|docteure?)\b\.?"
    r"|(?<!retired )(?<!former )(?<!ancienne )(?:nurse|infirmi[eè]re?)\b)[ ]{0,2}$",
    re.IGNORECASE,
)
_HEALTH_REACH = 24
_TO_WRITE_ON = re.compile(r"_{2,}")
_N_FLAGS = 20_000  # words of names of which the flags are remembered
_WORDS = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_QUOTES = "'\"’”"  # noqa: RUF001 (texts are written with them)
_ABBREVIATION = re.compile(r"[A-Z]{1,3}")
_POSSESSIVE = re.compile(r"['\u2019]s?[ ]")
_FOLLOWING = re.compile(r"[ ]([^\W\d_]+)")
_NAMES = Word.FIRST | Word.LAST
_DEGREE = re.compile(r"[ ](?:(?:stage|grade|type)[ ](?:\d|[IVX]+\b)|repair\b)")
_MIN_STREET_CHARS = 3  # of its longest word
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
# What a street address has at least: one word alone ("Téléc.") is the label of something else.
_NUMBER_OR_WORDS = re.compile(r"\d|[^\W\d_]\W+[^\W\d_]")


def load_kinds(gazetteer: Gazetteer, folder: Path | None = None) -> Kinds:
    """Return the kinds of words by the dictionaries of names, places and medicine.

    Raises:
        DictionaryError: a dictionary cannot be read.
    """
    folder = folder or data_dir("dictionaries")
    places = frozenset(" ".join(terms(folder / "places.txt")).split())
    return Kinds(gazetteer, places=places, health=health_words(folder), nations=terms(folder / "nations.txt"))


class TaggerRecognizer:
    """Find names by the tagger."""

    def __init__(self, model: TaggerEnsemble, gazetteer: Gazetteer) -> None:
        self._model = model
        self._gazetteer = gazetteer
        self._vetoes = load_vetoes(gazetteer)
        self._kinds = LabelKinds.read(model.labels)
        self._ends = NameEnds(gazetteer)
        conditions = load_dictionary(data_dir("dictionaries") / "health_conditions.txt")
        self._conditions = frozenset(map(fold, conditions.terms))
        self._flags = lru_cache(_N_FLAGS)(without_elision(model.lexicon.flags))
        self._biases = np.array(
            [[bias.get(label[2:], 0.0) for label in model.labels] for bias in (LABEL_BIAS, SECOND_BIAS)],
            dtype=np.float32,
        )

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """Read the weights of the package, or of ``folder``.

        Raises:
            ModelError: the weights are missing, damaged or of another version.
            DictionaryError: a dictionary cannot be read.
        """
        gazetteer = load_gazetteer()
        return cls(TaggerEnsemble.load(load_kinds(gazetteer), folder), gazetteer)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings that do not overlap, in text order; spans are half-open, in code points."""
        yield from in_free_text(document, self._read)

    def _read(self, document: Document) -> Iterator[Finding]:
        text = document.text
        for base, chunk in chunks(text, CHUNK_CHARS):
            spans = joined(chunk, self.spans(_without_lines(chunk)))
            for start, end, kind, score, second in spans:
                if start == end or score < MIN_SHOWN[kind]:
                    continue  # of no characters, or below the threshold
                finding = self._finding(text, Span(base + start, base + end), kind, score)
                if finding is not None:
                    yield as_doubtful(finding, DOUBT) if second or score < MIN_SCORE[kind] else finding

    def spans(self, text: str) -> Iterator[Tagged]:
        """Yield every name on the best path, and on a second one what that leaves out, in text order."""
        model = self._model
        stream = model.lexicon.read(text)
        if not len(stream.units.index):
            return
        emission = model.emission(stream)
        starts, lengths = stream.units.starts, stream.units.lengths
        best, second = model.paths(emission, self._biases, starts, lengths)
        # The second bias is the larger: a unit without a name on the second path has none on the first.
        chosen = np.add.reduceat(second > 0, starts) > 0
        inside = np.repeat(chosen, lengths)
        chosen_lengths = lengths[chosen]
        starts = np.cumsum(chosen_lengths) - chosen_lengths
        second[best > 0] = 0
        share = np.zeros((len(best), len(self._kinds.names)), dtype=np.float32)
        share[inside] = model.probabilities(emission[inside], starts, chosen_lengths) @ self._kinds.members
        found = [
            *named(stream, best, share, self._kinds, second=False),
            *named(stream, second, share, self._kinds, second=True),
        ]
        yield from sorted(found)

    def _finding(self, text: str, span: Span, label: str, score: float) -> Finding | None:
        if label == PERSON:
            return self._person(text, span, score)
        kind: EntityType | None = _TYPES[label]
        span = Span(span.start, max(span.start + len(span.of(text).rstrip(_QUOTES)), span.start + 1))
        if label == ADDRESS:
            kind = self._address(span.of(text))
        elif kind is EntityType.ORGANIZATION and self._is_no_organization(span.of(text), score):
            return None
        elif kind is EntityType.LOCATION and _ABBREVIATION.fullmatch(span.of(text)):
            kind = kind if fold(span.of(text)) in self._gazetteer.places else None  # "BP 120/80"
        if kind is None:
            return None
        reasons = (Reason("model", SOURCE, score),)
        return Finding(span, kind, SOURCE, score, bits_of(kind), reasons, _priority(score))

    def _is_no_organization(self, name: str, score: float) -> bool:
        """Is it a province, or below the threshold and an ordinary word: "PEI health card"?"""
        is_word = name.islower() and bool(self._gazetteer.of(name) & Word.ORDINARY)
        return is_code(name) or (is_word and score < MIN_SCORE["ORG"])

    def _person(self, text: str, span: Span, score: float) -> Finding | None:
        trimmed = self._ends.trimmed(text, span)
        if trimmed is None:
            return None
        span = trimmed
        if self._is_no_name(text, span):
            return None
        words = [word for word in _WORDS.findall(span.of(text)) if len(word) > 1]
        if not words:
            return None
        shown, counted = least(words, self._flags)
        if (
            len(words) == 1
            and fold(words[0]) in self._gazetteer.places
            and is_cell(text, span.start, span.end)
        ):
            counted = max(counted, MIN_CITY)
        if score < shown:
            return None
        if not _LATIN.search(text, span.start, span.end):
            counted = MIN_OTHER_SCRIPT
        # Only a word in small letters depends on its line.
        line = line_around(text, span.start, span.end) if words[0].islower() else ""
        counted = max(counted, least_in_place(words, span.of(text), line, self._flags))
        kind, bits = EntityType.PERSON, self._parts(words, span.of(text))
        titled = _HEALTH_BEFORE.search(text[max(0, span.start - _HEALTH_REACH) : span.start]) is not None
        if bits == FIRST_ONLY and has_civil_title(text, span.start):
            bits = LAST_ONLY  # "Mrs. Thompson"
        if titled or CREDENTIALS.match(text, span.end):
            kind, bits = EntityType.HEALTH_PROFESSIONAL, bits_of(EntityType.HEALTH_PROFESSIONAL)
        if score < counted:
            reasons = (Reason("model", SOURCE, score), Reason("doubt", DOUBT, min(score, MAX_DOUBTFUL)))
            return Finding(span, kind, SOURCE, reasons[-1].score, frozenset(), reasons)
        score = max(score, MIN_TITLED) if titled else score
        found = Finding(span, kind, SOURCE, score, bits, (Reason("model", SOURCE, score),))
        return replace(found, priority=_priority(score))

    def _is_no_name(self, text: str, span: Span) -> bool:
        """Tell whether a name is one of a thing: "Joubert syndrome", "NAM"."""
        if self._vetoes.is_label(text, span.start, span.end):
            return True
        is_eponym = is_term(text, span.end, self._gazetteer, kinds=Word.EPONYM)
        return is_eponym and not self._is_patients(text, span)

    def _is_patients(self, text: str, span: Span) -> bool:
        """Tell whether the illness after a name is somebody's: "Ann Roy's disease", "Ann Roy, hernia repair".

        Of "Crohn's disease" and "Joubert syndrome" a surname alone, or no possessive before a word that is no
        illness by itself, is the eponym. Eponyms that look like full names ("Lou Gehrig's disease") are
        filtered later, by their dictionary.
        """
        words = _WORDS.findall(text, span.start, span.end)
        first = self._gazetteer.of(words[0]) if len(words) > 1 else 0
        if _POSSESSIVE.match(text, span.end):
            return bool(first & _NAMES) or has_civil_title(text, span.start)
        following = _FOLLOWING.match(text, span.end)
        is_illness = following is not None and fold(following[1]) in self._conditions
        if not (is_illness or _DEGREE.match(text, span.end)):
            return False
        last = self._flags(words[-1])
        has_first = bool(first & Word.FIRST) or is_only_a_name(first)
        return has_first and bool(last & _NAMES) and not last & (HEALTH | Word.EPONYM)

    def _address(self, text: str) -> EntityType | None:
        """Return the type of what the model labels as a street address; None for a false positive."""
        if not _NUMBER_OR_WORDS.search(text):
            return None
        words = _WORDS.findall(text)
        if max(map(len, words), default=0) < _MIN_STREET_CHARS:
            return None  # "FO20,50", "HB 121"
        look_up = self._flags
        flags = [look_up(word) for word in words]
        if any(f & Word.NOT_PERSON for f in flags):
            return EntityType.STREET_ADDRESS  # street, drive, building
        if any(f & HEALTH for f in flags) and not any(f & PLACE for f in flags):
            return None  # "120/80, sodium 140"
        if words and all(is_made_up(word, look_up) for word in words):
            return None  # "PageLimit 0"
        return EntityType.STREET_ADDRESS if any(map(str.isdigit, text)) else EntityType.LOCATION

    def _parts(self, words: list[str], name: str) -> frozenset[PiiBit]:
        """Return the bits of the parts of a name: both for J. Roy and Jean Roy, one for a single word."""
        if len(words) > 1 or len(name.replace(".", ". ").split()) > 1:
            return FULL_NAME
        flags = self._gazetteer.of(words[0])
        return FIRST_ONLY if flags & Word.FIRST else LAST_ONLY


def _without_lines(text: str) -> str:
    """Return a text of the same length with spaces for the lines of a form to write on."""
    return _TO_WRITE_ON.sub(lambda line: " " * len(line[0]), text)


def _priority(score: float) -> int | None:
    """Return the priority of a finding whose confidence would outrank those of labels, cues and forms."""
    return Priority.MODEL if 1000 * score > Priority.MODEL else None
