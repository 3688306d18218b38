"""The pattern recognizer: one pass of one linear automaton over the text, then work only where it stopped.

All rules and all labels stand in ONE ungrouped alternation of google-re2 that runs over UTF-8 bytes. Where it
stops, the text is either a label (then the value is looked for behind it, or in the column below it) or the
shape of a value (then the rules that fit the place are matched again with `regex`, which knows Unicode word
boundaries and has a timeout). Checks veto or confirm, words near by raise or lower the score. A number
without
any evidence is never even looked at, so a table of plain numbers costs what the automaton costs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import re2
import regex

from phiscan.errors import RuleError
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span
from phiscan.rules import Rule, RuleSet
from phiscan.screen.checks import CHECKS, CONFIRM_RATE, Verdict
from phiscan.screen.context import (
    GAP,
    GAP_CHARS,
    JSON_FIELD,
    JSON_GAP,
    JSON_REACH,
    Surroundings,
    Tables,
    canonical,
    label_pattern,
    whole_word,
)
from phiscan.screen.offsets import code_points

WINDOW_CHARS = 1 << 20
OVERLAP_CHARS = 4096  # more than any match, so that what a window cuts off the next one has
DFA_BYTES = 256 << 20  # the default of 8 MB makes re2 fall back to its slow engines
MAX_HITS = 20_000  # places of one kind examined in one file; beyond, every n-th is, and the findings say so
REACH_CHARS = 96  # how far a match may extend around the place where its trigger stood
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
    "word": (r"(?<!\w)", r"(?!\w)"),
    # A number is not a part of a longer one: no digit behind a separator on either side.
    "number": (r"(?<![\w.])(?<!\d[-/.:+])(?<!\w-)", r"(?!\w)(?![-/.:+]\d)"),
    "none": ("", ""),
}


# Values that may stand without a digit; every other labelled value has one, which is quicker to look for.
_WITHOUT_DIGITS = frozenset({EntityType.ORGANIZATION, EntityType.LOCATION})
_DIGIT = re.compile(r"\d")


def bits_of(entity_type: EntityType) -> frozenset[PiiBit]:
    """Return the PII characteristics that a finding of this type shows (a person's depend on its parts)."""
    bit = BITS.get(entity_type)
    return frozenset() if bit is None else frozenset({bit})


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a label stands for: values of this rule, then of this type; ``column_only`` for headers."""

    rule: int
    entity_type: EntityType
    label: str
    column_only: bool


class _RuleFinder:
    """Which rules match at a place: one automaton for all of them.

    Plain patterns are anchored at the start of the place; triggers may stand anywhere in it.
    """

    def __init__(self, indexes: Sequence[int], ruleset: RuleSet, options: re2.Options) -> None:
        self._indexes = indexes
        triggered = bool(indexes) and bool(ruleset.rules[indexes[0]].trigger)
        self._set = re2.Set.SearchSet(options) if triggered else re2.Set.MatchSet(options)
        for index in indexes:
            self._set.Add(_trigger(ruleset.rules[index]).encode())
        if indexes:
            self._set.Compile()

    def of(self, raw: bytes) -> list[int]:
        """Return the indexes of the rules that match in ``raw``."""
        return [self._indexes[i] for i in self._set.Match(raw) or ()] if self._indexes else []


class CompiledRule:
    """A rule with its expressions, compiled when first needed (compiling all would slow every start)."""

    def __init__(self, rule: Rule, surroundings: Surroundings | None) -> None:
        self.rule = rule
        self.bits = bits_of(rule.entity_type)
        self.check = CHECKS[rule.check] if rule.check else None
        self.surroundings = surroundings
        self.reach = REACH_CHARS if rule.trigger else 0

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
        return self._compile(f"{gap}(?:(?<!\\w)|(?=\\W))(?P<value_>{self.rule.pattern}){tail}")

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
        self.rules = tuple(CompiledRule(rule, near.get(rule.context)) for rule in ruleset.rules)
        self._labels, phrases = _labels(ruleset)
        options = re2.Options()
        options.max_mem = DFA_BYTES
        options.never_capture = True
        options.log_errors = False
        self._shapes = [i for i, rule in enumerate(ruleset.rules) if not rule.needs_evidence]
        triggers = [_trigger(ruleset.rules[i]) for i in self._shapes]
        self._plain = _RuleFinder([i for i in self._shapes if not ruleset.rules[i].trigger], ruleset, options)
        self._triggered = _RuleFinder([i for i in self._shapes if ruleset.rules[i].trigger], ruleset, options)
        labels = "|".join(label_pattern(phrase) for phrase in sorted(phrases, key=len, reverse=True))
        alternatives = [f"(?i:{labels})"] if labels else []
        self._scanner = re2.compile("|".join(alternatives + triggers).encode(), options)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap); spans are half-open, in code points."""
        return (found for found in self.weigh(document) if isinstance(found, Finding))

    def weigh(self, document: Document) -> Iterator[Finding | Refused]:
        """Yield findings, and what was vetoed among them."""
        text = document.text
        hits = list(self._hits(text))
        # Dense kinds are sampled each by itself: a million dates must not hide the one number among them.
        kinds = Counter(tuple(rules) for _, _, evidence, rules in hits if evidence is None)
        reached: Counter[tuple[int, ...]] = Counter()
        tables = Tables(text)
        seen: set[tuple[bool, int, int, int]] = set()
        for start, end, evidence, rules in hits:
            kind, stride = tuple(rules), 1
            if evidence is None:
                stride = -(-kinds[kind] // MAX_HITS)
                reached[kind] += 1
                if (reached[kind] - 1) % stride:
                    continue
            shaped = ((False, *item) for item in self._shaped(text, start, end, rules))
            found: Iterator[tuple[bool, int, Finding | Refused]] = shaped
            if evidence is not None:
                labelled = ((True, *item) for item in self._labelled(text, tables, start, end, evidence))
                found = chain(labelled, shaped)
            for by_label, index, finding in found:
                if isinstance(finding, Refused):
                    yield finding
                    continue
                key = (index, finding.span.start, finding.span.end)
                # A match reaches ahead of its place: a value may be met before its label, which still counts.
                if (by_label, *key) not in seen and (True, *key) not in seen:
                    seen.add((by_label, *key))
                    if stride > 1:
                        note = Reason("cap", f"1 of {stride} of {kinds[kind]} places examined", finding.score)
                        finding = replace(finding, reasons=(*finding.reasons, note))  # noqa: PLW2901 (a note on it)
                    yield finding

    def _hits(self, text: str) -> Iterator[tuple[int, int, Sequence[_Evidence] | None, Sequence[int]]]:
        """Yield where the scanner stopped: start, end, the label's evidence or None, the rules that fit."""
        done = 0
        for base in range(0, max(len(text), 1), WINDOW_CHARS):
            window = text[base : base + WINDOW_CHARS + OVERLAP_CHARS]
            raw = window.encode("utf-8", "surrogatepass")
            spans = [match.span() for match in self._scanner.finditer(raw)]
            if not spans:
                continue
            places = np.asarray(spans, dtype=np.int64)
            chars = places if len(raw) == len(window) else code_points(raw, places)
            for (a, b), (start, end) in zip(spans, chars.tolist(), strict=True):
                if start >= WINDOW_CHARS or base + start < done:
                    continue
                done = base + end
                evidence = self._labels.get(canonical(window[start:end]))
                if evidence is not None and not whole_word(window, start, end):
                    evidence = None
                yield base + start, base + end, evidence, self._which(raw, a, b)

    def _shaped(
        self, text: str, start: int, end: int, rules: Sequence[int]
    ) -> Iterator[tuple[int, Finding | Refused]]:
        for index in rules:
            compiled = self.rules[index]
            if not compiled.reach:
                match = compiled.at_hit.match(text, start, timeout=TIMEOUT_S)
                if match:
                    yield index, _judge(compiled, text, match.start(), match.end())
                continue
            low = max(0, start - compiled.reach)
            for match in compiled.at_hit.finditer(text, low, end + REACH_CHARS, timeout=TIMEOUT_S):
                if match.start() >= end + compiled.reach // 2:
                    break
                if match.end() > start:
                    yield index, _judge(compiled, text, match.start(), match.end())

    def _which(self, raw: bytes, start: int, end: int) -> list[int]:
        """Return the rules that fit where the scanner stopped; a trigger may begin inside what it took."""
        return self._plain.of(raw[start : end + REACH_CHARS]) + self._triggered.of(raw[start : end + 16])

    def _labelled(
        self, text: str, tables: Tables, start: int, end: int, evidence: Sequence[_Evidence]
    ) -> Iterator[tuple[int, Finding | Refused]]:
        cells = tables.column(start, end)
        in_json = cells is None and text.find(JSON_FIELD, end, end + JSON_REACH) >= 0
        numbered = cells is not None or _DIGIT.search(text, end, end + GAP_CHARS) is not None
        for item in evidence:
            compiled = self.rules[item.rule]
            if not numbered and compiled.rule.entity_type not in _WITHOUT_DIGITS:
                continue
            if cells is not None:
                step = max(1, -(-len(cells) // MAX_HITS))
                for low, high in cells[::step]:
                    if compiled.in_cell.fullmatch(text, low, high, timeout=TIMEOUT_S):
                        yield item.rule, _judge(compiled, text, low, high, item, "header")
            elif not item.column_only:
                behind = compiled.in_json if in_json else compiled.after_label
                match = behind.match(text, end, timeout=TIMEOUT_S)
                if match:
                    low, high = match.span("value_")
                    yield item.rule, _judge(compiled, text, low, high, item, "label")


def _judge(  # noqa: PLR0917 (a place and what stands there)
    compiled: CompiledRule,
    text: str,
    start: int,
    end: int,
    evidence: _Evidence | None = None,
    kind: str = "",
) -> Finding | Refused:
    """Weigh one match by its rule, label, check and surroundings; refuse it when too little is left."""
    rule = compiled.rule
    score = rule.score
    reasons = [Reason("rule", rule.id, score)]
    entity_type = rule.entity_type
    if evidence is not None:
        entity_type = evidence.entity_type
        if not rule.needs_evidence:
            score += (1 - score) * CONFIRM_RATE
        reasons.append(Reason(kind, evidence.label, score))
    if compiled.check is not None:
        verdict = compiled.check(text[start:end])
        if verdict is Verdict.VETO:
            reasons.append(Reason("veto", rule.check, 0.0))
            return Refused(Span(start, end), entity_type, rule.id, tuple(reasons))
        if verdict is Verdict.CONFIRM:
            score += (1 - score) * CONFIRM_RATE
            reasons.append(Reason("check", rule.check, score))
    if evidence is None and compiled.surroundings is not None:
        weight = compiled.surroundings.weigh(text, start, end)
        if weight:
            score = score + (1 - score) * NEAR_GAIN if weight > 0 else score * NEGATIVE_FACTOR
            reasons.append(Reason("context", rule.context if weight > 0 else f"not {rule.context}", score))
    if score < MIN_SCORE:
        return Refused(Span(start, end), entity_type, rule.id, tuple(reasons))
    bits = compiled.bits if entity_type is rule.entity_type else bits_of(entity_type)
    return Finding(Span(start, end), entity_type, rule.id, min(score, 1.0), bits, tuple(reasons))


def _trigger(rule: Rule) -> str:
    """Return what the scanner looks for: the rule's trigger, else its pattern at the start of a word.

    Without the word boundary every digit of a run would begin another match, and the automaton would need a
    state for every set of digits seen: it falls back to its slow engine on tables of numbers.
    """
    head = "" if rule.trigger or rule.guard == "none" else r"\b"
    pattern = f"{head}(?:{rule.trigger or rule.pattern})"
    return f"(?i:{pattern})" if rule.ignore_case else pattern


def _labels(ruleset: RuleSet) -> tuple[dict[str, list[_Evidence]], set[str]]:
    """Map each label's canonical form to the rules it is evidence for; and give all phrases."""
    table: dict[str, list[_Evidence]] = {}
    phrases: set[str] = set()
    for index, rule in enumerate(ruleset.rules):
        named = list(rule.labelled_as)
        if rule.context and (rule.needs_evidence or ruleset.contexts[rule.context].labels):
            named.append((rule.context, rule.entity_type))
        for name, entity_type in named:
            words = ruleset.contexts[name]
            for column_only, phrases_of in ((False, words.labels), (True, words.headers)):
                for phrase in phrases_of:
                    phrases.add(phrase)
                    table.setdefault(canonical(phrase), []).append(
                        _Evidence(index, entity_type, phrase, column_only)
                    )
    return table, phrases
