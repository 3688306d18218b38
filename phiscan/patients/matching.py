"""Match the findings of a document to the organization's own patients: keyed lookups of numbers and pairs.

A unique number is a match, and so is a pair of values that belong together; a name alone is one only if it is
rare. Every lookup is counted with the probability of a false match, so that a scan reports the number of
matches expected by chance.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from phiscan.model import OWN_NAMES, Document, EntityType, Finding, PatientCheck, PatientMatch, Span
from phiscan.patients import normalise
from phiscan.patients.chance import (
    CARD_OCR_ERROR,
    DENSE,
    collision_of,
    expected_with_name,
    is_rare,
    number_density,
    rare_name_chance,
)
from phiscan.patients.index import PatientIndex, open_index
from phiscan.patients.lifecycle import load_hasher
from phiscan.patients.names import forms_of, pair_of
from phiscan.patients.normalise import shape_of
from phiscan.patients.records import FORMS, RARE, WITH_NAME, Hasher, Kind
from phiscan.patients.settings import PatientSettings

PASSAGE_CHARS: Final = 500  # largest distance between a name and its birth date outside a row
MAX_PARTNERS: Final = 6  # nearest values of one kind that a name is paired with
MAX_VALUES: Final = 20_000  # of one document
_NEAR_CHARS: Final = 60  # between a given and a family name that were found separately
_LATEST: Final = "20991231"
_CELL: Final = re.compile(r" \| |\t|[;,](?=\S)|\|")
_MIN_CELLS: Final = 2
_POSTAL: Final = re.compile(r"\b[A-Za-z]\d[A-Za-z][ -]?\d[A-Za-z]\d\b|\b\d{5}(?:-\d{4})?\b")
_PART_OF: Final = {
    EntityType.DATE_OF_BIRTH: "birth",
    EntityType.DATE: "birth",
    EntityType.PHONE: "phone",
    EntityType.FAX: "phone",
    EntityType.EMAIL: "email",
    EntityType.STREET_ADDRESS: "street",
    EntityType.POSTAL_CODE: "postal",
    EntityType.ACCOUNT: "account",
}
_NUMBERS: Final = frozenset(
    {EntityType.MRN, EntityType.HEALTH_CARD, EntityType.HEALTH_PLAN, EntityType.OTHER_ID, EntityType.ACCOUNT}
)


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a document in its normal forms, with its span."""

    span: Span
    forms: tuple[str, ...] = field(repr=False)
    cards: tuple[str, ...] = field(default=(), repr=False)  # of a number: as a health card


@dataclass(frozen=True, slots=True)
class Candidates:
    """The values of a document by kind, each list in text order."""

    names: Sequence[Value]  # forms: the words of the name
    numbers: Sequence[Value]
    parts: Mapping[str, Sequence[Value]]
    rows: Sequence[tuple[int, int]] = ()  # lines of tables

    def partners(self, value: Value, part: str) -> Iterator[Value]:
        """Yield the values of a kind that belong to a value, the nearest first.

        In a row of a table that has one of this kind, only those of the row.
        """
        values = self.numbers if part == "number" else self.parts.get(part, ())
        if not values:
            return
        row = self._row(value.span.start)
        if row is not None and (inside := _between(values, *row)):
            yield from inside[:MAX_PARTNERS]
            return
        low, high = value.span.start - PASSAGE_CHARS, value.span.end + PASSAGE_CHARS
        near = sorted(
            _between(values, low, high),
            key=lambda one: max(one.span.start - value.span.end, value.span.start - one.span.end),
        )
        yield from near[:MAX_PARTNERS]

    def _row(self, at: int) -> tuple[int, int] | None:
        place = bisect_right(self.rows, (at, len(self.rows) + (1 << 60))) - 1
        if place < 0 or not self.rows[place][0] <= at < self.rows[place][1]:
            return None
        return self.rows[place]


def _between(values: Sequence[Value], low: int, high: int) -> Sequence[Value]:
    first = bisect_left(values, low, key=_start)
    return values[first : bisect_left(values, high, first, key=_start)]


def _start(value: Value) -> int:
    return value.span.start


def candidates_of(document: Document, findings: Sequence[Finding]) -> Candidates:
    """Return the values of match keys in the findings of a document."""
    text = document.text
    names: list[Value] = []
    numbers: list[Value] = []
    parts: dict[str, list[Value]] = defaultdict(list)
    for finding in sorted(findings, key=lambda one: (one.span.start, -one.span.end))[:MAX_VALUES]:
        span, kind = finding.span, finding.entity_type
        written = span.of(text)
        if kind is EntityType.PERSON:
            if forms := forms_of(written):
                names.append(Value(span, forms))
        elif (part := _PART_OF.get(kind)) and (others := _forms(part, written)):
            parts[part].append(Value(span, others))
        if kind is EntityType.STREET_ADDRESS:
            parts["postal"] += _postal_codes(span, written)
        if kind in _NUMBERS and (value := _number(span, written)) is not None:
            numbers.append(value)
    for values in parts.values():
        values.sort(key=_start)
    spans = [value.span for value in (*names, *(one for some in parts.values() for one in some))]
    return Candidates(tuple(_joined(names, document)), numbers, parts, _rows(text, spans))


def _forms(part: str, written: str) -> tuple[str, ...]:
    if part == "birth":
        return tuple(day for day in normalise.date_forms(written) if day <= _LATEST)
    form = FORMS[part](written)
    return (form,) if form else ()


def _postal_codes(span: Span, written: str) -> list[Value]:
    return [
        Value(Span(span.start + match.start(), span.start + match.end()), (form,))
        for match in _POSTAL.finditer(written)
        if (form := normalise.postal_form(match[0]))
    ]


def _number(span: Span, written: str) -> Value | None:
    form, card = normalise.number_form(written), normalise.card_form(written)
    cards = dict.fromkeys(filter(None, (card, form[:10] if 10 < len(form) <= 12 else "")))  # noqa: PLR2004 (a version code with OCR errors)
    return Value(span, (form,), tuple(cards)) if form else None


def _joined(names: Sequence[Value], document: Document) -> Iterator[Value]:
    """Yield the names, and a joined name for each given and family name that were found separately."""
    for before, after in zip([None, *names], names, strict=False):
        yield after
        if before is None or len(before.forms) > 1 or len(after.forms) > 1:
            continue
        gap = after.span.start - before.span.end
        if 0 <= gap <= _NEAR_CHARS and not document.locate(after.span.start).endswith(OWN_NAMES):
            yield Value(Span(before.span.start, after.span.end), (*before.forms, *after.forms))


def _rows(text: str, spans: Iterable[Span]) -> Sequence[tuple[int, int]]:
    """Return the lines with values that are rows of a table."""
    lines = {(text.rfind("\n", 0, span.start) + 1, text.find("\n", span.start)) for span in spans}
    rows = sorted((start, len(text) if end < 0 else end) for start, end in lines)
    return [row for row in rows if sum(1 for _ in _CELL.finditer(text, *row)) >= _MIN_CELLS]


STRONG_LOG_ODDS: Final = 4.0
RARE_NAME_LOG_ODDS: Final = 1.0
"""Added by a match to the log-odds of PHI; derived in docs/explanation/patient-index.md."""
MAX_HOLDERS: Final = 3  # patients that share a key; a key with more is ignored
_ORDER: Final = {kind: number for number, kind in enumerate(Kind)}
# OCR confusions that names.token_form does not map to one letter.
_LIKE: Final = {"a": "o", "o": "a", "n": "u", "u": "nv", "h": "b", "b": "h", "t": "f", "f": "t", "g": "q",
                "q": "g", "v": "yu", "y": "v", "k": "h", "r": "n", "s": "z", "z": "s"}  # fmt: skip
_MIN_VARIED: Final = 4  # letters of a word in which one OCR error is tried


@dataclass(frozen=True, slots=True)
class _Lookup:
    kind: Kind
    key: int
    span: Span
    chance: float
    is_dense: bool = False  # counts only with another key of the same patient


@dataclass(frozen=True, slots=True)
class Matcher:
    """An open index with its key."""

    index: PatientIndex
    hasher: Hasher = field(repr=False)

    def check(self, document: Document, findings: Sequence[Finding]) -> PatientCheck:
        """Return the patients of the index that match the findings of a document."""
        values = candidates_of(document, findings)
        lookups = list({(one.kind, one.key): one for one in self._lookups(values)}.values())
        matches = self._matches(lookups, document)
        strong = {match.patient for match in matches if match.kind != Kind.RARE_NAME}
        return PatientCheck(
            index_id=self.index.manifest.index_id,
            matches=matches,
            n_patients=len(strong),
            n_rare_names=len({match.patient for match in matches} - strong),
            n_lookups=len(lookups),
            expected_by_chance=float(sum(one.chance for one in lookups)),
        )

    def _matches(self, lookups: Sequence[_Lookup], document: Document) -> tuple[PatientMatch, ...]:
        if not lookups:
            return ()
        low, high = self.index.holders(np.array([one.key for one in lookups], np.uint64))
        found: dict[int, _Lookup] = {}
        kinds: dict[int, set[Kind]] = {}
        for place in np.flatnonzero(high > low).tolist():
            one = lookups[place]
            most = 1 if one.kind in {Kind.BIRTH_POSTAL, Kind.RARE_NAME} else MAX_HOLDERS
            holders = self.index.numbers(int(low[place]), int(high[place]))
            if len(holders) > most:
                continue
            for patient in holders:
                kinds.setdefault(patient, set()).add(one.kind)
                best = found.get(patient)
                if best is None or (best.is_dense, _ORDER[best.kind]) > (one.is_dense, _ORDER[one.kind]):
                    found[patient] = one
        matches = [
            PatientMatch(
                patient=patient,
                kind=one.kind.value,
                span=one.span,
                locator=document.locate(one.span.start),
                is_canary=patient in self.index.canaries,
            )
            for patient, one in found.items()
            if not one.is_dense or len(kinds[patient]) > 1
        ]
        return tuple(sorted(matches, key=lambda match: (match.span, match.patient)))

    def _lookups(self, values: Candidates) -> Iterator[_Lookup]:
        known = self._known_pairs(values)
        for name in values.names:
            for pair in combinations_of(name.forms):
                if pair in known:
                    yield from self._of_name(values, name, pair, known[pair])
        yield from self._of_numbers(values)
        both = collision_of(self.index, "birth") * collision_of(self.index, "postal")
        chance = self.index.manifest.n_patients * both
        for birth in values.parts.get("birth", ()):
            for postal in values.partners(birth, "postal"):
                for day in birth.forms:
                    value = f"{day}\0{postal.forms[0]}"
                    yield from self._lookup(Kind.BIRTH_POSTAL, value, _over(birth, postal), chance)

    def _lookup(self, kind: Kind, value: str, span: Span, chance: float) -> Iterator[_Lookup]:
        """Yield the lookup of a match key if the index has keys of its kind."""
        if self.index.n_keys_of(kind):
            yield _Lookup(kind, self.hasher.match_key(kind, value), span, chance)

    def _of_name(
        self, values: Candidates, name: Value, pair: str, spellings: Mapping[str, int]
    ) -> Iterator[_Lookup]:
        """Yield the lookups of a name with the values near it, in each spelling that the index has."""
        for part, kind in WITH_NAME.items():
            for partner in values.partners(name, part):
                for spelling, n_patients in spellings.items():
                    chance = expected_with_name(n_patients, collision_of(self.index, part))
                    for form in partner.forms:
                        yield from self._lookup(kind, f"{spelling}\0{form}", _over(name, partner), chance)
        n_patients = self.index.manifest.n_patients
        if spellings.get(pair) == 1 and is_rare(self._counts("token", pair.split(" ")), n_patients):
            key = self.hasher.part("pair", pair) ^ RARE
            yield _Lookup(Kind.RARE_NAME, key, name.span, rare_name_chance(self.index))

    def _of_numbers(self, values: Candidates) -> Iterator[_Lookup]:
        for number in values.numbers:
            for form in filter(partial(self._fits, Kind.RECORD), number.forms):
                density = number_density(self.index, Kind.RECORD, form)
                is_dense = density > DENSE
                for one in self._lookup(Kind.RECORD, form, number.span, 0.0 if is_dense else density):
                    yield replace(one, is_dense=is_dense)
            for form in filter(partial(self._fits, Kind.CARD), number.cards):
                chance = CARD_OCR_ERROR * number_density(self.index, Kind.CARD, form)
                yield from self._lookup(Kind.CARD, form, number.span, chance)
        collision = collision_of(self.index, "family")
        for name in values.names:
            for number in values.partners(name, "number"):
                for form in filter(partial(self._fits, Kind.RECORD), number.forms):
                    chance = collision * number_density(self.index, Kind.RECORD, form)
                    for token in name.forms:
                        value = f"{token}\0{form}"
                        yield from self._lookup(Kind.NAME_RECORD, value, _over(name, number), chance)

    def _fits(self, kind: Kind, form: str) -> bool:
        """Return whether the list has numbers of this shape; without stored shapes all are looked up."""
        shapes = self.index.manifest.shapes.get(kind)
        return not shapes or shape_of(form) in shapes

    def _known_pairs(self, values: Candidates) -> dict[str, dict[str, int]]:
        """Return the name pairs of patients in the document, each with its spellings and their counts.

        A pair that no patient has is tried with one OCR error, if other values are near the name.
        """
        pairs = list(dict.fromkeys(pair for name in values.names for pair in combinations_of(name.forms)))
        known = {pair: {pair: n} for pair, n in zip(pairs, self._counts("pair", pairs), strict=True) if n}
        if any(values.parts.values()):
            for pair in [pair for pair in pairs if pair not in known]:
                spelt = list(_with_ocr_error(pair))
                counts = zip(spelt, self._counts("pair", spelt), strict=True)
                if found := {other: n for other, n in counts if n}:
                    known[pair] = found
        return known

    def _counts(self, part: str, values: Sequence[str]) -> list[int]:
        hashes = np.array([self.hasher.part(part, value) for value in values], np.uint64)
        found: list[int] = self.index.counts(hashes).tolist()
        return found


def combinations_of(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the name pairs of the words of a name, in any order.

    >>> list(combinations_of(("roy", "ann")))
    ['ann roy']
    """
    for first, second in combinations(dict.fromkeys(tokens), 2):
        yield pair_of(first, second)
    if len(tokens) == 3:  # noqa: PLR2004 (a given name and a double family name)
        yield pair_of(tokens[0], tokens[1] + tokens[2])
        yield pair_of(tokens[2], tokens[0] + tokens[1])


def _with_ocr_error(pair: str) -> Iterator[str]:
    """Yield a pair with one letter replaced by a usual OCR confusion."""
    first, _, second = pair.partition(" ")
    for token, other in ((first, second), (second, first)):
        if len(token) < _MIN_VARIED:
            continue
        for place, letter in enumerate(token):
            for like in _LIKE.get(letter, ""):
                yield pair_of(token[:place] + like + token[place + 1 :], other)


def _over(first: Value, second: Value) -> Span:
    return Span(min(first.span.start, second.span.start), max(first.span.end, second.span.end))


def log_odds_of(check: PatientCheck | None) -> float:
    """Return the log-odds of PHI that the matches of a document add.

    >>> log_odds_of(None), log_odds_of(PatientCheck("", n_patients=3)), log_odds_of(PatientCheck(""))
    (0.0, 4.0, 0.0)
    """
    if check is None:
        return 0.0
    if check.n_patients:
        return STRONG_LOG_ODDS
    return RARE_NAME_LOG_ODDS if check.n_rare_names else 0.0


def merged(checks: Iterable[PatientCheck]) -> PatientCheck | None:
    """Merge the checks of the windows of one document: each patient once, by the strongest key.

    The spans must be those of the whole document.
    """
    windows = list(checks)
    if not windows:
        return None
    found: dict[int, PatientMatch] = {}
    for match in (match for window in windows for match in window.matches):
        best = found.get(match.patient)
        if best is None or _ORDER[Kind(best.kind)] > _ORDER[Kind(match.kind)]:
            found[match.patient] = match
    n_rare = sum(match.kind == Kind.RARE_NAME for match in found.values())
    return replace(
        windows[0],
        matches=tuple(sorted(found.values(), key=lambda match: (match.span, match.patient))),
        n_patients=len(found) - n_rare,
        n_rare_names=n_rare,
        n_lookups=sum(one.n_lookups for one in windows),
        expected_by_chance=sum(one.expected_by_chance for one in windows),
    )


def load_matcher(settings: PatientSettings) -> Matcher | None:
    """Open the index with its key; None if none was built.

    Raises:
        ConfigError: the index is damaged, or its key is missing.
    """
    if not settings.is_built:
        return None
    index = open_index(settings.folder)
    return Matcher(index, load_hasher(settings, index.manifest))
