"""Filters of what a tagger takes for a name or an address: labels and abbreviations, places, other strings.

The labels are those of our own rules: a label of a number is no name. A label that is a name as well
("NAM", "DEA", "SIN") is none only where its place says so. "Port Denise" below the head "city", "St-Laurent"
after "City:", a line between a street and a postal code: the words are a name, their place says of what. A
street address of the tagger says street, box or floor, holds a postal code, or begins with its number before
a name; where it does not ("GCS 15", "Permobil M3") but holds a number as registers give them ("msp 97120"),
that number is the finding.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import re2

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, terms
from phiscan.model import EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.ner.spans import ADDRESS, Tagged, line_around
from phiscan.screen.rules.context import canonical
from phiscan.screen.rules.files import load_rules
from phiscan.screen.table_columns import Tables
from phiscan.screen.validators.codes import no_public_number
from phiscan.screen.validators.verdicts import Verdict
from phiscan.text.automata import automaton
from phiscan.text.offsets import spans_of
from phiscan.text.phrase_patterns import any_label

_LABEL_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 (texts are written with it)
_NAMES: Final = Word.FIRST | Word.LAST
_MAX_CODE, _MIN_LABEL = 5, 2  # letters
_MAX_LABEL = 40
# What is after a label: a sign, or a number.
_VALUE = re.compile(r"[\"']?[ ]{0,2}[:#=]|[ ]{1,4}[A-Z]{0,3}\d")
# A point that ends no sentence, a colon: what precedes it is shortened ("Abd. souple") or a heading.
_SHORTENED = re.compile(r"\.[ ]{0,2}(?:[:,;/]|[a-zà-ÿ0-9])|[ ]?:")
_KEY = re.compile(r"[ ]?=|[\"'][ ]?[:=]")
_CELL_AFTER = re.compile(r"[ ]?(?:[\t;|\n]|$)")
_BETWEEN_CELLS = re.compile(r"[ ]?[|\t;][ ]?|[ ]{2,}")
_WRITTEN_SO = frozenset({"Td", "Hib", "Tdap", "TdaP", "DTaP"})  # vaccines
_MAX_HEAD = 24  # characters
_MIN_HEADS = 3  # cells beside a word that is a label in a line without a number, one of them a label, too
_DIGIT = re.compile(r"\d")
_SMALL = re.compile(r"[a-zà-ÿ]{3}")


class Vetoes:
    """Tells which spans are labels or abbreviations, and no names."""

    def __init__(
        self,
        gazetteer: Gazetteer,
        labels: frozenset[str],
        abbreviations: frozenset[str],
        shorthand: frozenset[str],
    ) -> None:
        self._gazetteer = gazetteer
        self._shorthand = shorthand
        self._labels = labels
        self._abbreviations = abbreviations

    def is_label(self, text: str, start: int, end: int) -> bool:
        """Tell whether a span is wholly made of labels of identifiers, or of abbreviations in capitals."""
        if end - start > _MAX_LABEL:
            return False
        words = _LABEL_WORD.findall(text, start, end)
        if len(words) == 1 and fold(words[0]) in self._shorthand and _SHORTENED.match(text, end):
            return True
        if not words or not all(self._is_term(word) for word in words):
            return canonical(text[start:end]) in self._labels and not self._has_name(words)
        if not all(self._has_name([word]) for word in words):
            return True
        return len(words) == 1 and self._is_label_here(text, start, end)

    def _is_term(self, word: str) -> bool:
        if canonical(word) in self._labels or (word.isupper() and word in self._abbreviations):
            return True
        is_written_so = word.islower() or word.isupper() or word in _WRITTEN_SO
        return is_written_so and fold(word) in self._shorthand

    def _has_name(self, words: list[str]) -> bool:
        return any(self._gazetteer.of(word) & _NAMES for word in words)

    def _is_label_here(self, text: str, start: int, end: int) -> bool:
        """Tell of a label that is a name, too, whether its case and what follows it make it a label."""
        word = text[start:end]
        if word.islower():
            return _KEY.match(text, end) is not None
        if word.isupper() and _VALUE.match(text, end):
            return True
        line = line_around(text, start, end)
        if not word.isupper() or len(word) > _MAX_CODE:
            cells = [canonical(cell) for cell in _BETWEEN_CELLS.split(line) if cell.strip()]
            return (
                len(cells) >= _MIN_HEADS
                and max(map(len, cells)) <= _MAX_HEAD
                and not _DIGIT.search(line)
                and not self._labels.isdisjoint(cells)
            )
        is_head = _CELL_AFTER.match(text, end) and not _DIGIT.search(line)
        return bool(is_head or _SMALL.search(line))


@lru_cache(maxsize=1)
def load_vetoes(gazetteer: Gazetteer) -> Vetoes:
    """Return what our own rules and dictionaries say.

    Raises:
        RuleError, DictionaryError: a file of ours is damaged.
    """
    rules = load_rules()
    contexts = rules.contexts.values()
    labels = {canonical(label) for words in contexts for label in (*words.labels, *words.headers)}
    folder = data_dir("dictionaries")
    abbreviations = load_dictionary(folder / "health_abbreviations.txt").terms
    return Vetoes(
        gazetteer,
        frozenset(label for label in labels if len(label) >= _MIN_LABEL),
        frozenset(abbreviations),
        terms(folder / "clinical_shorthand.txt"),
    )


_LOCATION: Final = "LOC"
_OF_CONTEXT = {
    "place": EntityType.LOCATION,
    "province": EntityType.LOCATION,
    "address": EntityType.STREET_ADDRESS,
    "postal": EntityType.STREET_ADDRESS,
    "organization": EntityType.ORGANIZATION,
    "organization_sure": EntityType.ORGANIZATION,
}
# Of the labels of our rules those that head other columns as well.
_NO_HEADS = frozenset({"line", "office", "st", "plan name", "insurance", "domicile"})
_COUNTRIES = (
    "country", "nationality", "citizenship", "region", "county", "pays", "nationalité", "citoyenneté",
)  # fmt: skip
# A label right before a name, or before its quotation marks.
_LABEL_BEFORE = re.compile(
    r"([^\W\d_](?:[^\W\d_]|['’ /-](?=[^\W\d_])){0,32})"  # noqa: RUF001 (texts are written with it)
    r"(?:[ ]{0,2}[:=][ ]{0,2}|[\"'][ ]{0,2}[:=][ ]{0,2}\[?[\"'](?P<quoted>[^\"'\n]{0,40}))$"
)
_LABEL_WORDS = 3
_LABEL_CHARS = 80
_STREET_CHARS = 24
_MIN_ROWS = 2
_CELL_CHARS, _CELL_STARTS = 4, "\n\t;|,"
_WORD = re.compile(r"[^\W\d_]{3}")
_MARKS = "\n \t>*•?-\"'.,;"  # around a name alone in a line: of quotations, lists, the end of a sentence
# Before the name of whom a street is called after.
_STREETS = (
    "rue|avenue|boulevard|boul|chemin|allée|impasse|viale|piazza|calle|avenida|ronda|rambla|rua|jalan|ulica|ul"
    "|strada|bulevardul|corso|travessa"
)
_STREET_BEFORE = re.compile(
    rf"(?<!\w)(?:{_STREETS})\.?[ ](?:(?:de|du|des|de[ ]la|del|della|do|da|dos)[ ])?$", re.IGNORECASE
)


@lru_cache(maxsize=1)
def _heads() -> tuple[dict[str, EntityType], re2._Regexp]:
    """Return what the labels of places and organizations say, and what finds them at the start of a cell."""
    contexts = load_rules().contexts
    phrases = {
        phrase: kind
        for name, kind in _OF_CONTEXT.items()
        for phrase in (*contexts[name].labels, *contexts[name].headers)
        if phrase not in _NO_HEADS
    }
    phrases |= dict.fromkeys(_COUNTRIES, EntityType.LOCATION)
    kinds = {canonical(phrase): kind for phrase, kind in phrases.items()}
    return kinds, automaton(any_label(phrases))


class PlaceFields:
    """Which fields of one text hold places or organizations; read when first asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cells: list[tuple[int, int, EntityType]] | None = None

    def kind(self, span: Span) -> EntityType | None:
        """Return what a name in a text is by its label, its column or the word before it; None for a name."""
        text, start, end = self._text, span.start, span.end
        is_spaced = text[start - 1 : start] == " "
        if is_spaced and _STREET_BEFORE.search(text, max(0, start - _STREET_CHARS), start):
            return EntityType.STREET_ADDRESS
        kind = self._labelled(start)
        if kind is not None:
            return kind
        if self._cells is None:
            self._cells = sorted(_columns(text), key=lambda cell: cell[:2])
        index = bisect_right(self._cells, (start, len(text) + 1)) - 1
        if index >= 0 and end <= self._cells[index][1]:
            return self._cells[index][2]
        return None

    def _labelled(self, start: int) -> EntityType | None:
        """Return what the label before a name says; an address may begin with who lives there."""
        line = self._text.rfind("\n", max(0, start - _LABEL_CHARS), start) + 1
        before = self._text[max(line, start - _LABEL_CHARS) : start]
        found = _LABEL_BEFORE.search(before) if ":" in before or "=" in before else None
        if found is None:
            return None
        kinds, _ = _heads()
        words = found[1].split(" ")
        for n_words in range(min(len(words), _LABEL_WORDS), 0, -1):
            kind = kinds.get(canonical(" ".join(words[-n_words:])))
            if kind is not None:
                is_whole = found["quoted"] is not None
                return kind if is_whole or kind is not EntityType.STREET_ADDRESS else None
        return None


def _columns(text: str) -> Iterator[tuple[int, int, EntityType]]:
    """Yield the cells below heads of places and organizations."""
    kinds, scanner = _heads()
    places = spans_of(scanner, text)
    if not places:
        return
    tables = Tables(text)
    for start, end in places:
        kind = kinds.get(canonical(text[start:end]))
        before = text[max(0, start - _CELL_CHARS) : start].rstrip(' "')
        if kind is None or (before and before[-1] not in _CELL_STARTS):
            continue  # "12 Elm Street" is no head of its column
        cells = tables.column(start, end)
        if cells is not None and len(cells) >= _MIN_ROWS:
            yield from ((low, high, kind) for low, high in cells)


def as_location(finding: Finding, kind: EntityType) -> Finding:
    """Return what was found as a name as a place or organization; as sure as it was."""
    reasons = (*finding.reasons, Reason("place", "stands where a place stands", finding.score))
    bits = bits_of(kind) if finding.bits else finding.bits
    return replace(finding, entity_type=kind, bits=bits, reasons=reasons)


def in_block(text: str, tagged: Sequence[Tagged], index: int) -> bool:
    """Tell whether a name fills the line of a city: between a street and a postal code or country.

    ``tagged``: what the tagger found, in text order; ``index``: of the name.
    """
    if not 0 < index < len(tagged) - 1:
        return False
    before, name, after = tagged[index - 1 : index + 2]
    if before.kind != ADDRESS or not (after.kind == _LOCATION or _is_code(text, after)):
        return False
    return all(
        gap.count("\n") == 1 and not gap.strip(_MARKS)
        for gap in (text[before.end : name.start], text[name.end : after.start])
    )


def _is_code(text: str, tagged: Tagged) -> bool:
    """Tell whether an address is a postal code and nothing else."""
    return tagged.kind == ADDRESS and _WORD.search(text, tagged.start, tagged.end) is None


_STREET_WORDS = (
    r"street|st|str|avenue|ave?|boul|boulevard|blvd|bd|road|rd|drive|dr|lane|ln|court|ct|cres(?:cent)?"
    r"|circle|cir|place|pl|square|sq|terrace|terr?|trail|trl|tr|way|parkway|pkwy|highway|hwy|freeway"
    r"|expressway|county road|cr|close|gate|grove|heights|hts|hill|hills|row|walk|alley|bay|bend|bluff"
    r"|bridge|brook|common|corner|cove|creek|crossing|dale|estates?|falls|farm|ferry|fields?|flats?"
    r"|gardens?|glen|green|harbou?r|hollow|island|isle|junction|knoll|lake|landing|loop|mall|manor"
    r"|meadows?|mews|mills?|mount|mountain|mtn|orchard|park|pass|path|pike|plaza|plz|point|port|ranch"
    r"|ridge|river|route|rte|rt|run|shores?|springs?|station|stn|turnpike|tpke|valley|view|village|vista"
    r"|wharf|woods|line|concession|conc|sideroad|townline|rang|rg|rue|chemin|ch\.?(?= d)|mont[ée]e"
    r"|c[ôo]te|all[ée]e|impasse|quai|ruelle|croissant|promenade|sentier|box|b\.?p|c\.?p|p\.?o|r\.?r"
    r"|rural|hc|drawer|general delivery|gen del|poste restante|site|comp|suite|ste|apt|apartment|unit"
    r"|app|appartement|appt|bureau|floor|fl|[ée]tage|bldg|building|b[âa]timent|lot(?= \d{1,3}\b)|slip"
    r"|trailer|house|hse|maison|pavillon|tower|tour|fm|calle|via|rua|stra(?:ss|ß)e|weg|platz"
)
_ADDRESS_WORD = re.compile(rf"(?<![^\W_])(?:{_STREET_WORDS})(?![^\W_]|-)", re.IGNORECASE)
_POSTAL = re.compile(
    r"(?<!\w)[A-Za-z]\d[A-Za-z] ?\d[A-Za-z]\d(?!\w)"
    r"|(?:[A-Z][a-z]+|(?<!\w)[A-Z]{2}|, (?:[A-Z][A-Za-z]+ )?[A-Z]+),? \d{5}(?:-\d{4})?(?!\w)"
)
_NUMBERED = re.compile(r"\W{0,2}\d{1,5}[A-Za-z]?(?:-\d{1,4})?,? \w{0,2}\.? ?[A-ZÀ-Ý][a-zà-ÿ’'-]{2,}")  # noqa: RUF001 (names are written with it)
_NUMBER = re.compile(
    r"(?<=[^\W\d_][ .:#-])(?<![\d./-])"
    r"(?P<number>(?:[A-Z]{1,4}-?)?(?=(?:[A-Z .-]?\d){5})\d[\dA-Z]*(?:[-. ]\d[\dA-Z]*)*"
    r"|\d{2}-\d{2,4})(?![^\W_])(?![-/.]\d)"
)
_MAX_CHARS = 200
# The label of an address, which in small letters looks like its beginning.
_LABEL = re.compile(
    r"(?:(?:old|new|home|mailing|current|prev(?:ious)?|temp|his|her|their|pt|nouvelle|ancienne)[ ])?"
    r"(?:addr?(?:ess)?|adresse)\b(?:[ ](?:is|est))?[ .:,]{1,3}(?=\w)",
    re.IGNORECASE,
)


def reads_as_address(name: str) -> bool:
    """Tell whether what the tagger took for a street address can be one.

    >>> reads_as_address("12 Elm"), reads_as_address("po box 1190 moapa"), reads_as_address("GCS 15")
    (True, True, False)
    """
    return bool(_ADDRESS_WORD.search(name) or _POSTAL.search(name) or _NUMBERED.match(name))


def label_chars(name: str) -> int:
    """Return how many characters of a label begin what the tagger took for a street address.

    >>> label_chars("old addr 204 W 4th Ave"), label_chars("12 Elm St")
    (9, 0)
    """
    label = _LABEL.match(name)
    return 0 if label is None else label.end()


def number_in(name: str) -> tuple[int, int] | None:
    """Return where a number as registers give them is in what is no address; None where there is none.

    >>> number_in("msp 97120"), number_in("GCS 15")
    ((4, 9), None)
    """
    match = _NUMBER.search(name[:_MAX_CHARS])
    return None if match is None or no_public_number(match["number"]) is Verdict.VETO else match.span()
