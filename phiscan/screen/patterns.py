"""The pattern recognizer: one pass of one linear automaton over the text, then work only where it stopped.

Where the scanner stops, the text is either a label (then the value is looked for behind it, or in the column
below it) or the shape of a value (then the rules that fit the place are matched again with `regex`, which
knows Unicode word boundaries and has a timeout). Checks veto or confirm, words near by raise or lower the
score. A number without any evidence is never even looked at, so a table of plain numbers costs what the
scanner costs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import regex

from phiscan.errors import RuleError
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span
from phiscan.rules import Rule, RuleSet
from phiscan.screen.cells import AMONG_WORDS, numbers
from phiscan.screen.checks import CHECKS, CONFIRM_RATE, Verdict
from phiscan.screen.context import (
    GAP,
    GAP_CHARS,
    JSON_FIELD,
    JSON_GAP,
    JSON_REACH,
    Surroundings,
)
from phiscan.screen.scanner import REACH_CHARS, WITHOUT_DIGITS, Evidence, Place, Scanner
from phiscan.screen.tables import Tables

MAX_HITS = 20_000  # places of one kind examined in one file; beyond, every n-th is, and the findings say so
TIMEOUT_S = 2.0  # of one match of one rule at one place
MIN_SCORE = 0.4
NEAR_GAIN = 0.5  # share of the remaining doubt that a near word takes away
NEGATIVE_FACTOR = 0.4

BITS = {
    EntityType.HEALTH_PROFESSIONAL: PiiBit.HEALTH_PROFESSIONAL,
    EntityType.ORGANIZATION: PiiBit.ORGANIZATION,
    EntityType.STREET_ADDRESS: PiiBit.STREET_ADDRESS,
    EntityType.LOCATION: PiiBit.LOCATION,
    EntityType.POSTAL_CODE: PiiBit.LOCATION,
    EntityType.DATE: PiiBit.DATE,
    EntityType.DATE_OF_BIRTH: PiiBit.DATE,
    EntityType.AGE_OVER_89: PiiBit.AGE_OVER_89,
    EntityType.PHONE: PiiBit.PHONE,
    EntityType.FAX: PiiBit.FAX,
    EntityType.EMAIL: PiiBit.EMAIL,
    EntityType.SIN: PiiBit.SIN,
    EntityType.SSN: PiiBit.SSN,
    EntityType.HEALTH_CARD: PiiBit.HEALTH_CARD,
    EntityType.PASSPORT: PiiBit.PASSPORT,
    EntityType.DRIVER_LICENSE: PiiBit.DRIVER_LICENSE,
    EntityType.MRN: PiiBit.MRN,
    EntityType.HEALTH_PLAN: PiiBit.HEALTH_PLAN,
    EntityType.ACCOUNT: PiiBit.ACCOUNT,
    EntityType.CREDIT_CARD: PiiBit.ACCOUNT,
    EntityType.LICENSE: PiiBit.LICENSE,
    EntityType.VEHICLE: PiiBit.VEHICLE,
    EntityType.DEVICE: PiiBit.DEVICE,
    EntityType.URL: PiiBit.URL,
    EntityType.IP: PiiBit.IP,
    EntityType.BIOMETRIC: PiiBit.BIOMETRIC,
    EntityType.OTHER_ID: PiiBit.OTHER_ID,
}
_GUARDS = {
    "word": (r"(?<![^\W_])", r"(?![^\W_])"),
    # A number is not a part of a longer one: no digit behind a separator on either side.
    "number": (r"(?<![^\W_])(?<!\.)(?<!\d[-/.:+])(?<!\w-)", r"(?![^\W_])(?![-/.:+]\d)"),
    "none": ("", ""),
}


_DIGIT = re.compile(r"\d")


def bits_of(entity_type: EntityType) -> frozenset[PiiBit]:
    """Return the PII characteristics that a finding of this type shows (a person's depend on its parts)."""
    bit = BITS.get(entity_type)
    return frozenset() if bit is None else frozenset({bit})


_Seen = tuple[Evidence | None, str, Verdict | None, int]  # label, where it stood, the check, words near by


@dataclass(frozen=True, slots=True)
class _Judged:
    """What becomes of every match of one rule of which the same was seen."""

    refused: bool
    entity_type: EntityType
    score: float
    bits: frozenset[PiiBit]
    reasons: tuple[Reason, ...]


class CompiledRule:
    """A rule with its expressions, compiled when first needed (compiling all would slow every start)."""

    def __init__(self, rule: Rule, surroundings: Surroundings | None) -> None:
        self.rule = rule
        self.bits = bits_of(rule.entity_type)
        self.check = CHECKS[rule.check] if rule.check else None
        self.surroundings = surroundings
        self.reach = REACH_CHARS if rule.trigger else 0
        self._judged: dict[_Seen, _Judged] = {}

    def judged(self, seen: _Seen) -> _Judged:
        """Return what becomes of a match; in a dense table thousands of matches share it."""
        if seen not in self._judged:
            self._judged[seen] = _weighed(self, seen)
        return self._judged[seen]

    @cached_property
    def at_hit(self) -> regex.Pattern[str]:
        """Match the value anywhere, with the guards at its ends."""
        head, tail = _GUARDS[self.rule.guard]
        return self._compile(f"{head}(?:{self.rule.pattern}){tail}")

    @cached_property
    def after_label(self) -> regex.Pattern[str]:
        """Match the value right behind a label."""
        return self._behind(GAP)

    @cached_property
    def in_json(self) -> regex.Pattern[str]:
        """Match the value behind a label, or in the JSON field "value" that follows it."""
        return self._behind(JSON_GAP)

    def _behind(self, gap: str) -> regex.Pattern[str]:
        tail = _GUARDS[self.rule.guard][1]
        return self._compile(f"{gap}(?:(?<![^\\W_])|(?=\\W))(?P<value_>{self.rule.pattern}){tail}")

    @cached_property
    def in_cell(self) -> regex.Pattern[str]:
        """Match a whole cell of a table."""
        return self._compile(self.rule.pattern)

    def _compile(self, pattern: str) -> regex.Pattern[str]:
        return regex.compile(pattern, regex.IGNORECASE if self.rule.ignore_case else 0)


@dataclass(frozen=True, slots=True)
class Refused:
    """A match that is no finding: its check vetoed it, or too little spoke for it."""

    span: Span
    entity_type: EntityType
    rule: str
    reasons: tuple[Reason, ...]  # the steps up to the one that refused it, which is the last


class PatternRecognizer:
    """Find the identifiers that rules describe; built once per process."""

    def __init__(self, ruleset: RuleSet) -> None:
        near = {name: Surroundings(words) for name, words in ruleset.contexts.items()}
        for rule in ruleset.rules:
            if rule.check and rule.check not in CHECKS:
                message = f"{rule.path}: {rule.id}: check: expected one of {', '.join(sorted(CHECKS))}"
                raise RuleError(message)
        self.contexts = ruleset.contexts
        self.rules = tuple(CompiledRule(rule, near.get(rule.context)) for rule in ruleset.rules)
        self._scanner = Scanner(ruleset)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap); spans are half-open, in code points."""
        return (found for found in self.weigh(document) if isinstance(found, Finding))

    def weigh(self, document: Document) -> Iterator[Finding | Refused]:
        """Yield findings, and what was vetoed among them."""
        text = document.text
        places = list(self._scanner.places(text))
        # Dense kinds are sampled each by itself: a million dates must not hide the one number among them.
        kinds = Counter(place.rules for place in places if not place.evidence)
        reached: Counter[tuple[int, ...]] = Counter()
        tables = Tables(text)
        in_json = JSON_FIELD in text
        labelled: set[tuple[int, int, int]] = set()
        shaped: set[tuple[int, int, int]] = set()
        for place in places:
            kind, stride, by_label = place.rules, 1, bool(place.evidence)
            if by_label:
                found = self._labelled(text, tables, place, in_json=in_json)
            else:
                stride = -(-kinds[kind] // MAX_HITS)
                reached[kind] += 1
                if (reached[kind] - 1) % stride:
                    continue
                found = self._shaped(text, place)
            for index, finding in found:
                if isinstance(finding, Refused):
                    yield finding
                    continue
                key = (index, finding.span.start, finding.span.end)
                # A match reaches ahead of its place: a value may be met before its label, which still counts.
                if key not in labelled and (by_label or key not in shaped):
                    (labelled if by_label else shaped).add(key)
                    if stride > 1:
                        note = Reason("cap", f"1 of {stride} of {kinds[kind]} places examined", finding.score)
                        finding = replace(finding, reasons=(*finding.reasons, note))  # noqa: PLW2901 (a note on it)
                    yield finding

    def _shaped(self, text: str, place: Place) -> Iterator[tuple[int, Finding | Refused]]:
        start, end = place.start, place.end
        for index in place.rules:
            compiled = self.rules[index]
            if not compiled.reach:
                match = compiled.at_hit.match(text, start, timeout=TIMEOUT_S)
                if match:
                    yield index, _judge(compiled, text, match.start(), match.end())
                continue
            low = max(0, start - compiled.rule.ahead)
            for match in compiled.at_hit.finditer(text, low, end + REACH_CHARS, timeout=TIMEOUT_S):
                if match.start() >= end + compiled.reach // 2:
                    break
                if match.end() > start:
                    if match.end() == end + REACH_CHARS:  # cut off there, not ended
                        match = compiled.at_hit.match(text, match.start(), timeout=TIMEOUT_S) or match  # noqa: PLW2901
                    yield index, _judge(compiled, text, match.start(), match.end())

    def _labelled(
        self, text: str, tables: Tables, place: Place, *, in_json: bool
    ) -> Iterator[tuple[int, Finding | Refused]]:
        end = place.end
        cells = tables.column(place.start, end)
        in_json = in_json and cells is None and text.find(JSON_FIELD, end, end + JSON_REACH) >= 0
        numbered = cells is not None or _DIGIT.search(text, end, end + GAP_CHARS) is not None
        for item in place.evidence:
            compiled = self.rules[item.rule]
            if not numbered and compiled.rule.entity_type not in WITHOUT_DIGITS:
                continue
            if cells is not None:
                yield from _in_cells(compiled, text, cells[:: max(1, -(-len(cells) // MAX_HITS))], item)
            elif not item.column_only:
                behind = compiled.in_json if in_json else compiled.after_label
                match = behind.match(text, end, timeout=TIMEOUT_S)
                if match:
                    low, high = match.span("value_")
                    yield item.rule, _judge(compiled, text, low, high, item, "label")


def _in_cells(
    compiled: CompiledRule, text: str, cells: Sequence[tuple[int, int]], item: Evidence
) -> Iterator[tuple[int, Finding | Refused]]:
    """Weigh the cells below a header; what is seen of one is mostly what was seen of the one before."""
    matches, check = compiled.in_cell.fullmatch, compiled.check
    verdict: Verdict | None = None
    judged: _Judged | None = None

    def fits(start: int, end: int) -> bool:
        return matches(text, start, end, timeout=TIMEOUT_S) is not None

    among_words = compiled.rule.entity_type in AMONG_WORDS
    for cell in cells:
        places = [cell] if fits(*cell) else numbers(text, *cell, fits) if among_words else ()
        for low, high in places:
            seen = None if check is None else check(text[low:high])
            if judged is None or seen is not verdict:
                verdict, judged = seen, compiled.judged((item, "header", seen, 0))
            yield item.rule, _result(compiled, judged, low, high)


def _judge(  # noqa: PLR0917 (a place and what stands there)
    compiled: CompiledRule,
    text: str,
    start: int,
    end: int,
    evidence: Evidence | None = None,
    kind: str = "",
) -> Finding | Refused:
    """Weigh one match by its rule, label, check and surroundings; refuse it when too little is left."""
    verdict = None if compiled.check is None else compiled.check(text[start:end])
    weight = 0
    if evidence is None and compiled.surroundings is not None and verdict is not Verdict.VETO:
        weight = compiled.surroundings.weigh(text, start, end)
    return _result(compiled, compiled.judged((evidence, kind, verdict, weight)), start, end)


def _result(compiled: CompiledRule, judged: _Judged, start: int, end: int) -> Finding | Refused:
    span, source = Span(start, end), compiled.rule.id
    if judged.refused:
        return Refused(span, judged.entity_type, source, judged.reasons)
    return Finding(span, judged.entity_type, source, judged.score, judged.bits, judged.reasons)


def _weighed(compiled: CompiledRule, seen: _Seen) -> _Judged:
    """Weigh what was seen at a place."""
    evidence, kind, verdict, weight = seen
    rule = compiled.rule
    score = rule.score
    reasons = [Reason("rule", rule.id, score)]
    entity_type = rule.entity_type
    if evidence is not None:
        entity_type = evidence.entity_type
        if not rule.needs_evidence:
            score += (1 - score) * CONFIRM_RATE
        reasons.append(Reason(kind, evidence.label, score))
    if verdict is Verdict.VETO:
        reasons.append(Reason("veto", rule.check, 0.0))
        return _Judged(True, entity_type, 0.0, frozenset(), tuple(reasons))
    if verdict is Verdict.CONFIRM:
        score += (1 - score) * CONFIRM_RATE
        reasons.append(Reason("check", rule.check, score))
    if weight:
        score = score + (1 - score) * NEAR_GAIN if weight > 0 else score * NEGATIVE_FACTOR
        reasons.append(Reason("context", rule.context if weight > 0 else f"not {rule.context}", score))
    bits = compiled.bits if entity_type is rule.entity_type else bits_of(entity_type)
    return _Judged(score < MIN_SCORE, entity_type, min(score, 1.0), bits, tuple(reasons))
