"""The pattern recognizer: one pass of one linear automaton over the text, then work only where it stopped.

Where the scanner stops, the text is either a label (then the value is looked for after it, or in the column
below it) or the shape of a value (then the rules that fit the place are matched again with `regex`, which
knows Unicode word boundaries and has a timeout). Checks veto or confirm, words near by raise or lower the
score. A number without any evidence is never even looked at, so a table of plain numbers costs what the
scanner costs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, takewhile
from typing import ClassVar, Final

from phiscan.errors import RuleError
from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.rules.compiled import TIMEOUT_S, CompiledRule, Judged, joined_cells
from phiscan.screen.rules.context import GAP_CHARS, JSON_FIELD, JSON_REACH, Surroundings
from phiscan.screen.rules.definitions import RuleSet
from phiscan.screen.rules.scanner import REACH_CHARS, WITHOUT_DIGITS, AfterLabel, Evidence, Place, Scanner
from phiscan.screen.table_columns import Tables
from phiscan.screen.validators.registry import CHECKS
from phiscan.screen.validators.verdicts import Verdict

# Numbers with check digit or label, and birth dates: lists of them are reported without health information.
STRONG_TYPES: Final = frozenset({
    EntityType.SIN, EntityType.SSN, EntityType.HEALTH_CARD, EntityType.HEALTH_PLAN, EntityType.PASSPORT,
    EntityType.DRIVER_LICENSE, EntityType.MRN, EntityType.BIOMETRIC, EntityType.DATE_OF_BIRTH,
    EntityType.CREDIT_CARD, EntityType.ACCOUNT, EntityType.LICENSE, EntityType.VEHICLE, EntityType.DEVICE,
})  # fmt: skip
MAX_HITS = 20_000  # places of one kind examined in one file; beyond, every n-th is, and the findings say so
# Dates, names and places are found by their own form; these types only by their column.
AMONG_WORDS = STRONG_TYPES.union({EntityType.OTHER_ID}) - {
    EntityType.SIN, EntityType.SSN, EntityType.BIOMETRIC, EntityType.DATE_OF_BIRTH, EntityType.CREDIT_CARD,
}  # fmt: skip
MAX_CELL_CHARS = 80  # of a cell with a number and words; a longer one is a remark
_MIN_DIGITS = 3
_PIECE = re.compile(r"[^;(),:]+")
# Whole words: "2024" is no number in "04/05/2024".
_CELL_NUMBER = re.compile(
    r"(?<![^\s;(),:])(?:\b[A-Z]{1,5} )?"
    r"(?P<bare>[^\s/]{0,20}\d[^\s/]{0,40}(?: [^\s/]{0,20}\d[^\s/]{0,40}){0,4})(?![^\s;(),:])"
)
_CELLS_AT_ONCE = 512
_DIGIT = re.compile(r"\d")
# After a number: how many there are, and no number of any of them ("the charts of 412 patients").
_COUNTED = re.compile(
    r"(?<=\d)[ ](?:(?:consecutive|adult|eligible|new|other|nouveaux|nouvelles)[ ])?"
    r"(?:patient(?:e?s)|cases|cas|women|men|femmes|hommes|adultes?|adults|children|enfants|participante?s|subjects"
    r"|people|persons|personnes|individuals|individus|residents|résidente?s|clients|infants|newborns)\b(?![/=:])",
    re.IGNORECASE,
)
_Part = tuple[Sequence[tuple[int, int]], str]  # cells, and as ``joined_cells`` has them


@dataclass(frozen=True, slots=True)
class Refused:
    """A match that is no finding: its check vetoed it, or too little spoke for it."""

    span: Span
    entity_type: EntityType
    rule: str
    reasons: tuple[Reason, ...]  # the steps up to the one that refused it, which is the last


class _TriggeredSearch:
    """Matches of rules with a trigger in one text; triggers come in text order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._searched: dict[int, int] = {}  # rule -> offset before which no match begins that is unknown

    def spans(self, index: int, compiled: CompiledRule, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the matches of a rule around its trigger ``[start, end)`` that no earlier trigger had.

        The stretches around triggers that are close together overlap, as in a list of web addresses.
        """
        text = self._text
        low, high, limit = max(0, start - compiled.rule.ahead), end + REACH_CHARS, end + compiled.reach // 2
        low = max(low, self._searched.get(index, 0))
        if low >= limit:
            return
        searched = end  # what begins later may be cut off
        found = compiled.at_hit.finditer(text, low, high, timeout=TIMEOUT_S)
        # All at once: the timeout counts from the iterator's start, the processor time of its consumer too.
        for match in list(takewhile(lambda one: one.start() < limit, found)):
            if match.end() > start:
                if match.end() == high or match.start() > end:
                    match = compiled.at_hit.match(text, match.start(), timeout=TIMEOUT_S) or match  # noqa: PLW2901 (whole)
                searched = max(searched, match.end())
                yield match.span()
        self._searched[index] = max(searched, low)


class PatternRecognizer:
    """Find the identifiers that rules describe; built once per process."""

    name: ClassVar = "rules"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.UPPERCASE

    def __init__(self, ruleset: RuleSet) -> None:
        near = {name: Surroundings(words) for name, words in ruleset.contexts.items()}
        for rule in ruleset.rules:
            if rule.check and rule.check not in CHECKS:
                raise RuleError(rule.path, f"{rule.id}: check: expected one of {', '.join(sorted(CHECKS))}")
        self.contexts = ruleset.contexts
        self._ruleset = ruleset
        self.rules = tuple(CompiledRule(rule, near.get(rule.context)) for rule in ruleset.rules)
        self._scanner = Scanner(ruleset)

    @cached_property
    def strong(self) -> PatternRecognizer:
        """The same rules for values of ``STRONG_TYPES`` alone, in an eighth of the processor time."""
        found = copy(self)
        found._scanner = Scanner(self._ruleset, STRONG_TYPES)  # noqa: SLF001 (of the same class)
        return found

    def compile(self) -> None:
        """Compile all rules now, which is otherwise done when a text first needs one."""
        for index, rule in enumerate(self.rules):
            rule.compile(is_labelled=index in self._scanner.labelled)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap); spans are half-open, in code points."""
        return (found for found in self._weigh(document, refused=False) if isinstance(found, Finding))

    def places(self, text: str) -> Iterator[Place]:
        """Yield the places where there may be an identifier; the cheap half of ``recognize``."""
        return self._scanner.places(text, in_json=JSON_FIELD in text)

    def weigh(self, document: Document) -> Iterator[Finding | Refused]:
        """Yield findings, and what was vetoed among them."""
        return self._weigh(document, refused=True)

    def _weigh(self, document: Document, *, refused: bool) -> Iterator[Finding | Refused]:
        """Yield findings; with ``refused`` also what was vetoed in the cells of columns."""
        text = document.text
        in_json = JSON_FIELD in text
        places = list(self._scanner.places(text, in_json=in_json))
        # Dense kinds are sampled each by itself: a million dates must not hide the one number among them.
        kinds = Counter(place.rules for place in places if not place.evidence)
        reached: Counter[tuple[int, ...]] = Counter()
        tables = Tables(text)
        search = _TriggeredSearch(text)
        labelled: set[tuple[int, int, int]] = set()
        shaped: set[tuple[int, int, int]] = set()
        for place in places:
            kind, stride, by_label = place.rules, 1, bool(place.evidence)
            if by_label:
                found = self._labelled(text, tables, place, in_json=in_json, refused=refused)
            else:
                stride = -(-kinds[kind] // MAX_HITS)
                reached[kind] += 1
                if (reached[kind] - 1) % stride:
                    continue
                found = self._shaped(text, place, search)
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

    def _shaped(
        self, text: str, place: Place, search: _TriggeredSearch
    ) -> Iterator[tuple[int, Finding | Refused]]:
        """Yield what the rules of a place match there, each with the index of its rule."""
        for index in place.rules:
            compiled = self.rules[index]
            if compiled.reach:
                for start, end in search.spans(index, compiled, place.start, place.end):
                    yield index, _judge(compiled, text, start, end)
            elif match := compiled.at_hit.match(text, place.start, timeout=TIMEOUT_S):
                yield index, _judge(compiled, text, match.start(), match.end())

    def _labelled(
        self, text: str, tables: Tables, place: Place, *, in_json: bool, refused: bool
    ) -> Iterator[tuple[int, Finding | Refused]]:
        end = place.end
        cells = tables.column(place.start, end)
        if cells is None and place.following is AfterLabel.NOTHING:
            return
        in_json = in_json and cells is None and text.find(JSON_FIELD, end, end + JSON_REACH) >= 0
        numbered = cells is not None or (
            place.following is AfterLabel.ANYTHING and _DIGIT.search(text, end, end + GAP_CHARS) is not None
        )
        filled: set[EntityType] = set()  # types of which one rule has found every cell of the column
        parts = None if cells is None else _parts(text, cells[:: max(1, -(-len(cells) // MAX_HITS))])
        for item in place.evidence:
            compiled = self.rules[item.rule]
            if not numbered and compiled.rule.entity_type not in WITHOUT_DIGITS:
                continue
            if parts is not None:
                if item.entity_type in filled:
                    continue
                n_found = 0
                for found in _in_cells(compiled, text, parts, item, refused=refused):
                    n_found += isinstance(found[1], Finding)
                    yield found
                if n_found == sum(len(part) for part, _ in parts):
                    filled.add(item.entity_type)
            elif not item.column_only:
                pattern = compiled.in_json if in_json else compiled.after_label
                match = pattern.match(text, end, timeout=TIMEOUT_S)
                if match and not _COUNTED.match(text, match.end("value_")):
                    low, high = match.span("value_")
                    yield item.rule, _judge(compiled, text, low, high, item, "label")


def _parts(text: str, cells: Sequence[tuple[int, int]]) -> list[_Part]:
    """Cut the cells of a column into parts that are matched in one go; every rule of its label reads them."""
    parts = (cells[low : low + _CELLS_AT_ONCE] for low in range(0, len(cells), _CELLS_AT_ONCE))
    return [(part, joined_cells(text, part)) for part in parts]


def _in_cells(
    compiled: CompiledRule, text: str, parts: Sequence[_Part], item: Evidence, *, refused: bool
) -> Iterator[tuple[int, Finding | Refused]]:
    """Weigh the cells below a header; what is seen of one is mostly what was seen of the one before."""
    check = compiled.check
    verdict: Verdict | None = None
    judged: Judged | None = None
    fits = partial(compiled.fills, text)
    among_words = compiled.rule.entity_type in AMONG_WORDS
    filled = chain.from_iterable(compiled.filled(text, cells, joined) for cells, joined in parts)
    cells = chain.from_iterable(cells for cells, _ in parts)
    for cell, is_filled in zip(cells, filled, strict=True):
        # One word was looked at whole; more of them may hold a number.
        if not is_filled and (not among_words or text[cell[0] : cell[1]].isalnum()):
            continue
        for low, high in (cell,) if is_filled else numbers(text, *cell, fits):
            seen = None if check is None else check(text[low:high])
            if judged is None or seen is not verdict:
                verdict, judged = seen, compiled.judged((item, "header", seen, 0))
            if refused or not judged.refused:
                yield item.rule, _result(compiled, judged, low, high)


def numbers(text: str, start: int, end: int, fits: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each number between the words of the cell ``[start, end)`` that ``fits``.

    The capital letters before a number may belong to it ("CHTR 482") or not ("NL 40718").

    >>> text = "towed: CKLM 903 (twice)"
    >>> [text[a:b] for a, b in numbers(text, 0, len(text), lambda a, b: True)]
    ['CKLM 903']
    """
    if end - start > MAX_CELL_CHARS:
        return
    for piece in _PIECE.finditer(text, start, end):
        for number in _CELL_NUMBER.finditer(text, *piece.span()):
            if len(_DIGIT.findall(number["bare"])) < _MIN_DIGITS:
                continue
            for low, high in dict.fromkeys((number.span(), number.span("bare"))):
                if fits(low, high):
                    yield low, high
                    break


def _judge(  # noqa: PLR0917 (a place and what is there)
    compiled: CompiledRule, text: str, start: int, end: int, evidence: Evidence | None = None, kind: str = ""
) -> Finding | Refused:
    """Weigh one match by its rule, label, check and surroundings; refuse it when too little is left."""
    verdict = None if compiled.check is None else compiled.check(text[start:end])
    weight = 0
    if evidence is None and compiled.surroundings is not None and verdict is not Verdict.VETO:
        weight = compiled.surroundings.weigh(text, start, end)
    return _result(compiled, compiled.judged((evidence, kind, verdict, weight)), start, end)


def _result(compiled: CompiledRule, judged: Judged, start: int, end: int) -> Finding | Refused:
    span, source = Span(start, end), compiled.rule.id
    if judged.refused:
        return Refused(span, judged.entity_type, source, judged.reasons)
    is_bare = judged.score <= compiled.rule.score  # neither a label nor a check or a word nearby raised it
    priority = compiled.rule.priority if is_bare else None
    return Finding(span, judged.entity_type, source, judged.score, judged.bits, judged.reasons, priority)
