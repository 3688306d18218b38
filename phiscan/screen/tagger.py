"""Names of people, organizations and places by a trained tagger: the recognizer that needs no cue.

A linear-chain conditional random field over words, shapes and gazetteers
(docs/reference/model-card-names.md).
The best path is drawn with a favour for persons (recall first). A name's score is its mean marginal
probability, by which it can be kept or dropped afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

import numpy as np

from phiscan.config import data_dir
from phiscan.errors import DictionaryError
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span
from phiscan.screen.chunks import chunks
from phiscan.screen.gazetteer import Gazetteer, Word, fold, load_gazetteer, terms
from phiscan.screen.hl7 import is_message
from phiscan.screen.name_sureness import SHOWN, is_made_up, is_only_a_name, least
from phiscan.screen.name_tokens import CREDENTIALS, FIRST_ONLY, FULL_NAME, LAST_ONLY, is_term
from phiscan.screen.patterns import bits_of
from phiscan.screen.tagger_features import Stream
from phiscan.screen.tagger_model import TaggerModel
from phiscan.screen.tagger_tokens import HEALTH, PLACE, Ints, Kinds
from phiscan.screen.viterbi import Floats

SOURCE = "names.tagger"
_Tagged = tuple[int, int, str, float]  # start, end, kind, score
PERSON = "PER"
_ADDRESS = "ADR"
FAVOUR = {PERSON: 2.0}  # added to the scores of these labels on the best path
# Persons are kept from SHOWN, and then judged by their words.
MIN_SCORE = {PERSON: SHOWN, "ORG": 0.7, "LOC": 0.5, _ADDRESS: 0.5}
MIN_TITLED = 0.75  # behind the title of a doctor or nurse, as a rule has it that finds the title
MIN_CITY = 0.9  # a field of a table or list that holds a city and nothing else: Boston, Windsor
MAX_DOUBTFUL = 0.19  # whatever else is found at a place stands before a doubtful name
DOUBT = "too unsure for a name that counts"
MAX_SCORE = 0.84  # a rule, a label or a title says more than the model: its finding outranks one of the model
CHUNK_CHARS = 200_000  # bounds the memory; a text is cut at a line end
_TYPES = {
    PERSON: EntityType.PERSON,
    "ORG": EntityType.ORGANIZATION,
    "LOC": EntityType.LOCATION,
    _ADDRESS: EntityType.STREET_ADDRESS,
}
_HEALTH_BEFORE = re.compile(
    r"\b(?:drs?|dre|doctor|docteure?|nurse|infirmi[eè]re?)\b\.?[ ]{0,2}$", re.IGNORECASE
)
_HEALTH_REACH = 14
_ARTICLES = frozenset({"le", "la", "les", "un", "une", "des"})  # before a word in lower case: "le sel"
_SEPARATORS, _CELL_REACH = ",;|\t\n\r", 4
_MAX_CODE = 5  # letters of an abbreviation of a province, a plan or a degree
_HEALTH = ("body", "conditions", "drugs", "icd10cm", "labs", "mental", "procedures", "symptoms")
_MIN_HEALTH_CHARS = 4
_FIRST_COLUMN = re.compile(r"^[^#\t\n]+", re.MULTILINE)
_WORDS = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_ABBREVIATION = re.compile(r"[A-Z]{1,3}")
_KEY = re.compile(r"(?:[0-9A-F]{4}[ :-]?){2,}")  # of a cipher: "0A48 2D8B"
# What a street address has at least: one word alone ("Téléc.") is the label of something else.
_NUMBER_OR_WORDS = re.compile(r"\d|[^\W\d_]\W+[^\W\d_]")


def load_kinds(gazetteer: Gazetteer, folder: Path | None = None) -> Kinds:
    """Return the kinds of words by the dictionaries of names, places and medicine.

    Raises:
        DictionaryError: a dictionary cannot be read.
    """
    folder = folder or data_dir("dictionaries")
    places = frozenset(" ".join(terms(folder / "places.txt")).split())
    try:
        texts = [(folder / f"health_{name}.txt").read_text(encoding="utf-8") for name in _HEALTH]
    except (OSError, UnicodeDecodeError) as error:
        message = f"{folder}: expected the dictionaries health_*.txt: {type(error).__name__}"
        raise DictionaryError(message) from None
    words = " ".join(first for text in texts for first in _FIRST_COLUMN.findall(text)).lower().split()
    health = frozenset(fold(word) for word in set(words) if len(word) >= _MIN_HEALTH_CHARS)
    return Kinds(gazetteer, places=places, health=health, nations=terms(folder / "nations.txt"))


class TaggerRecognizer:
    """Find names by the tagger."""

    def __init__(self, model: TaggerModel, gazetteer: Gazetteer) -> None:
        self._model = model
        self._gazetteer = gazetteer
        kinds = [label[2:] for label in model.labels]
        self._kinds = sorted(set(kinds) - {""})
        self._kind_of = np.array([self._kinds.index(k) if k else -1 for k in kinds], dtype=np.int64)
        self._begins = np.array([label.startswith("B") for label in model.labels])
        self._members = (self._kind_of[:, None] == np.arange(len(self._kinds))[None]).astype(np.float32)
        self._favour = np.array([FAVOUR.get(k, 0.0) for k in kinds], dtype=np.float32)

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """Read the weights of the package, or of ``folder``.

        Raises:
            ModelError: the weights are missing, damaged or of another version.
            DictionaryError: a dictionary cannot be read.
        """
        gazetteer = load_gazetteer()
        return cls(TaggerModel.load(load_kinds(gazetteer), folder), gazetteer)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings that do not overlap, in text order; spans are half-open, in code points."""
        text = document.text
        if is_message(text):
            return  # its fields say what they are
        for base, chunk in chunks(text, CHUNK_CHARS):
            for start, end, kind, score in _joined(chunk, self.spans(chunk)):
                if start == end:
                    continue  # a sign that takes no room
                if score >= MIN_SCORE[kind]:
                    finding = self._finding(text, Span(base + start, base + end), kind, score)
                    if finding is not None:
                        yield finding

    def spans(self, text: str) -> Iterator[_Tagged]:
        """Yield ``(start, end, kind, score)`` of every name on the best path, in text order."""
        model = self._model
        stream = model.lexicon.read(text)
        if not len(stream.units.index):
            return
        emission = model.emission(stream)
        best = model.best(stream, emission, self._favour)
        named = np.flatnonzero(best)
        if not len(named):
            return
        share = self._shares(stream, emission, best)[named]
        kind = self._kind_of[best[named]]
        first = np.zeros(len(best), dtype=bool)
        first[stream.units.starts] = True
        parted = (np.diff(named) > 1) | (kind[1:] != kind[:-1])
        parted |= self._begins[best[named]][1:] | first[named][1:]
        begins = np.concatenate(([0], np.flatnonzero(parted) + 1))
        ends = np.concatenate((begins[1:], [len(named)]))
        scores = np.add.reduceat(share[np.arange(len(named)), kind], begins) / (ends - begins)
        tokens = stream.units.index[named]
        lows = stream.places[tokens[begins]]
        highs = stream.places[tokens[ends - 1]] + stream.sizes[tokens[ends - 1]]
        rows = zip(lows.tolist(), highs.tolist(), kind[begins].tolist(), scores.tolist(), strict=True)
        for low, high, number, score in rows:
            yield low, high, self._kinds[number], score

    def _shares(self, stream: Stream, emission: Floats, best: Ints) -> Floats:
        """Return the probability of each kind at every token, (n, kinds); zero in units without a name."""
        starts, lengths = stream.units.starts, stream.units.lengths
        chosen = np.add.reduceat(best > 0, starts) > 0
        inside = np.repeat(chosen, lengths)
        kept = lengths[chosen]
        probability = self._model.probabilities(emission[inside], np.cumsum(kept) - kept, kept)
        shares = np.zeros((len(best), len(self._kinds)), dtype=np.float32)
        shares[inside] = probability @ self._members
        return shares

    def _finding(self, text: str, span: Span, label: str, score: float) -> Finding | None:
        if label == PERSON:
            return self._person(text, span, score)
        kind: EntityType | None = _TYPES[label]
        if label == _ADDRESS:
            kind = self._address(span.of(text))
        elif kind is EntityType.LOCATION and _ABBREVIATION.fullmatch(span.of(text)):
            kind = kind if fold(span.of(text)) in self._gazetteer.places else None  # "BP 120/80"
        if kind is None:
            return None
        score = min(score, MAX_SCORE)
        return Finding(span, kind, SOURCE, score, bits_of(kind), (Reason("model", SOURCE, score),))

    def _person(self, text: str, span: Span, score: float) -> Finding | None:
        trimmed = self._trimmed(text, span)
        if trimmed is None:
            return None
        span = trimmed
        if is_term(text, span.end, self._gazetteer, kinds=Word.EPONYM):
            return None  # "Joubert syndrome": named after somebody
        words = [word for word in _WORDS.findall(span.of(text)) if len(word) > 1]
        if not words:
            return None
        possible, firm = least(words, self._model.lexicon.flags)
        if len(words) == 1 and fold(words[0]) in self._gazetteer.places and _is_cell(text, span):
            firm = max(firm, MIN_CITY)
        if score < possible:
            return None
        kind, bits = EntityType.PERSON, self._parts(words, span.of(text))
        titled = _HEALTH_BEFORE.search(text[max(0, span.start - _HEALTH_REACH) : span.start]) is not None
        if titled or CREDENTIALS.match(text, span.end):
            kind, bits = EntityType.HEALTH_PROFESSIONAL, bits_of(EntityType.HEALTH_PROFESSIONAL)
        if score < firm:
            reasons = (Reason("model", SOURCE, score), Reason("doubt", DOUBT, min(score, MAX_DOUBTFUL)))
            return Finding(span, kind, SOURCE, reasons[-1].score, frozenset(), reasons)
        score = min(max(score, MIN_TITLED) if titled else score, MAX_SCORE)
        return Finding(span, kind, SOURCE, score, bits, (Reason("model", SOURCE, score),))

    def _address(self, text: str) -> EntityType | None:
        """Return what a street address of the model is: without number and street a place, or nothing."""
        if not _NUMBER_OR_WORDS.search(text) or _KEY.fullmatch(text):
            return None
        words = _WORDS.findall(text)
        look_up = self._model.lexicon.flags
        flags = [look_up(word) for word in words]
        if any(f & Word.NOT_PERSON for f in flags):
            return EntityType.STREET_ADDRESS  # it says street, drive, building
        if any(f & HEALTH for f in flags) and not any(f & PLACE for f in flags):
            return None  # "120/80, sodium 140"
        if words and all(is_made_up(word, look_up) for word in words):
            return None  # "PageLimit 0"
        return EntityType.STREET_ADDRESS if any(map(str.isdigit, text)) else EntityType.LOCATION

    def _trimmed(self, text: str, span: Span) -> Span | None:
        """Return the span without what is no name at its ends.

        In front: signs, the title of a doctor or nurse, a French article. Behind: words in lower case that
        end no name, and codes behind a comma.
        """
        look_up = self._gazetteer.of
        places = [match.span() for match in _WORDS.finditer(text, span.start, span.end)]
        while len(places) > 1 and (
            look_up(text[slice(*places[0])]) & Word.TITLE_HEALTH
            or (text[slice(*places[0])] in _ARTICLES and text[places[1][0]].islower())
        ):
            del places[0]
        cut = len(places) - _n_codes(text, places)
        is_capital = bool(places) and text[places[0][0]].isupper()
        while cut and text[places[cut - 1][0]].islower():
            flags = look_up(text[slice(*places[cut - 1])])
            # Of a name that begins with a capital no particle is the last word, nor a word that no list has.
            if not is_capital and (flags & Word.PARTICLE or not flags & Word.ORDINARY):
                break
            if is_capital and is_only_a_name(flags):
                break
            cut -= 1
        if not cut:
            return None
        return Span(places[0][0], span.end if cut == len(places) else places[cut - 1][1])

    def _parts(self, words: list[str], name: str) -> frozenset[PiiBit]:
        """Return which parts of a name are there: J. Roy and Jean Roy are both, a word alone is one."""
        if len(words) > 1 or len(name.replace(".", ". ").split()) > 1:
            return FULL_NAME
        flags = self._gazetteer.of(words[0])
        return FIRST_ONLY if flags & Word.FIRST else LAST_ONLY


def _joined(text: str, spans: Iterable[_Tagged]) -> Iterator[_Tagged]:
    """Yield spans as ``spans`` gives them, parts of one street address as one: "12", "elm street"."""
    held: _Tagged | None = None
    for span in spans:
        start, end, kind, score = span
        if held is not None and held[2] == kind == _ADDRESS and text[held[1] : start] in {" ", ", ", ","}:
            held = (held[0], end, kind, max(held[3], score))
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held


def _is_cell(text: str, span: Span) -> bool:
    """Tell whether a name fills a field between separators or ends of lines."""
    before = text[max(0, span.start - _CELL_REACH) : span.start].rstrip(' "')
    after = text[span.end : span.end + _CELL_REACH].lstrip(' "')
    return (not before or before[-1] in _SEPARATORS) and (not after or after[0] in _SEPARATORS)


def _n_codes(text: str, places: list[tuple[int, int]]) -> int:
    """Return how many words behind a comma are short capitals: "Ann Roy, NB", "Ann Roy, AB PHN".

    ``places``: of the words of a name. A name in capitals has none: "ROY, ANN".
    """
    words = [text[start:end] for start, end in places]
    for number in range(1, len(words)):
        if "," in text[places[number - 1][1] : places[number][0]]:
            tail = words[number:]
            short = all(word.isupper() and 1 < len(word) <= _MAX_CODE for word in tail)
            return len(tail) if short and not any(word.isupper() for word in words[:number]) else 0
    return 0
