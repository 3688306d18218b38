"""A compiled rule, and the score of its matches, step by step, with the reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from phiscan.model import EntityType, PiiBit, Reason, bits_of
from phiscan.screen.rules.context import GAP, JSON_GAP, Surroundings
from phiscan.screen.rules.definitions import Rule
from phiscan.screen.rules.scanner import REACH_CHARS, Evidence
from phiscan.screen.validators.registry import CHECKS
from phiscan.screen.validators.verdicts import CONFIRM_RATE, Verdict

TIMEOUT_S = 2.0  # of one match of one rule at one place
MIN_SCORE = 0.4
NEAR_GAIN = 0.5  # share of the remaining doubt that a near word takes away
NEGATIVE_FACTOR = 0.4
_MANY_CELLS = 8
_LOOKS_BEYOND = re.compile(r"\(\?<|(?<!\\)\$")  # after itself, or for the end of its cell
_GUARDS = {
    "word": (r"(?<![^\W_])", r"(?![^\W_])"),
    # A number is not a part of a longer one: no digit after a separator on either side.
    "number": (r"(?<![^\W_])(?<!\.)(?<!\d[-/.:+])(?<!\w-)", r"(?![^\W_])(?![-/.:+]\d)"),
    "none": ("", ""),
}
_Features = tuple[
    Evidence | None, str, Verdict | None, int
]  # label, label or header, verdict of the check, weight of near words


@dataclass(frozen=True, slots=True)
class Judged:
    """The result for every match of one rule with the same features."""

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
        self._judged: dict[_Features, Judged] = {}

    def compile(self, *, is_labelled: bool) -> None:
        """Compile the expressions now that most texts need; ``is_labelled``: labels name this rule's values.

        Processes that are forked afterwards share them.
        """
        if not self.rule.needs_evidence:
            _ = self.at_hit
        if is_labelled:
            _ = self.after_label, self.in_cell

    def judged(self, seen: _Features) -> Judged:
        """Return the result for a match; in a dense table thousands of matches share it."""
        known = self._judged.get(seen)
        if known is None:
            known = self._judged[seen] = _weighed(self, seen)
        return known

    @cached_property
    def at_hit(self) -> regex.Pattern[str]:
        """Match the value anywhere, with the guards at its ends."""
        head, tail = _GUARDS[self.rule.guard]
        return self._compile(f"{head}(?:{self.rule.pattern}){tail}")

    @cached_property
    def after_label(self) -> regex.Pattern[str]:
        """Match the value right after a label."""
        return self._after(GAP)

    @cached_property
    def in_json(self) -> regex.Pattern[str]:
        """Match the value after a label, or in the JSON field "value" that follows it."""
        return self._after(JSON_GAP)

    def _after(self, gap: str) -> regex.Pattern[str]:
        tail = _GUARDS[self.rule.guard][1]
        return self._compile(f"{gap}(?:(?<![^\\W_])|(?=\\W))(?P<value_>{self.rule.pattern}){tail}")

    @cached_property
    def in_cell(self) -> regex.Pattern[str]:
        """Match a whole cell of a table."""
        return self._compile(self.rule.pattern)

    @cached_property
    def in_column(self) -> regex.Pattern[str]:
        """Match cells after a NUL each, one after the other; the group holds a cell that the value fills."""
        return self._compile(rf"\x00((?:{self.rule.pattern})(?=\x00))?+")

    def filled(self, text: str, cells: Sequence[tuple[int, int]], joined: str) -> list[bool]:
        """Tell of each cell whether a value fills it; ``joined``: the cells as ``joined_cells`` has them."""
        if len(cells) >= _MANY_CELLS and not _LOOKS_BEYOND.search(self.rule.pattern):
            # One match of many cells: a call costs as much as a cell.
            found = self.in_column.findall(joined, timeout=TIMEOUT_S)
            if len(found) == joined.count("\0") == len(cells) + 1:
                return [bool(value if isinstance(value, str) else value[0]) for value in found[:-1]]
        return [self.fills(text, start, end) for start, end in cells]

    def fills(self, text: str, start: int, end: int) -> bool:
        """Tell whether a value fills ``[start, end)``."""
        return self.in_cell.fullmatch(text, start, end, timeout=TIMEOUT_S) is not None

    def _compile(self, pattern: str) -> regex.Pattern[str]:
        return regex.compile(pattern, regex.IGNORECASE if self.rule.ignore_case else 0)


def joined_cells(text: str, cells: Sequence[tuple[int, int]]) -> str:
    """Return the cells with a NUL before each and after the last."""
    return "\0".join(("", *(text[start:end] for start, end in cells), ""))


def _weighed(compiled: CompiledRule, seen: _Features) -> Judged:
    """Compute the score of a match from its features, with the reasons."""
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
        return Judged(True, entity_type, 0.0, frozenset(), tuple(reasons))
    if verdict is Verdict.CONFIRM:
        score += (1 - score) * CONFIRM_RATE
        reasons.append(Reason("check", rule.check, score))
    if weight:
        score = score + (1 - score) * NEAR_GAIN if weight > 0 else score * NEGATIVE_FACTOR
        reasons.append(Reason("context", rule.context if weight > 0 else f"not {rule.context}", score))
    bits = compiled.bits if entity_type is rule.entity_type else bits_of(entity_type)
    return Judged(score < MIN_SCORE, entity_type, min(score, 1.0), bits, tuple(reasons))
