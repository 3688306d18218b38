"""Proof that rules work: every example is found, no counterexample is, nothing is shadowed or slow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from phiscan.model import Document, Finding
from phiscan.screen.resolution import resolve
from phiscan.screen.rules.context import canonical
from phiscan.screen.rules.definitions import Rule, RuleSet, form_defects
from phiscan.screen.rules.recognizer import PatternRecognizer

_MIN_LABEL = 2  # letters without accents: the label "à" would stop the scanner at every "a"


def check_rules(ruleset: RuleSet) -> Iterator[str]:
    """Yield one line per defect, ``FILE: RULE: what is wrong``; nothing when the rules are sound.

    The examples and counterexamples go the way of a whole document: scanner, checks, context, overlap.

    Raises:
        RuleError: a rule names a check that does not exist.
    """
    sound = True
    for rule in ruleset.rules:
        for defect in form_defects(rule):
            sound = False
            yield f"{rule.path}: {rule.id}: {defect}"
    if not sound:
        return  # the scanner cannot be built from patterns that do not compile
    for name, words in ruleset.contexts.items():
        for phrase in words.labels + words.headers:
            if len(canonical(phrase)) < _MIN_LABEL:
                yield f"context.{name}: labels: expected two letters or more, got {phrase}"
    recognizer = PatternRecognizer(ruleset)
    for rule in ruleset.rules:
        for defect in _behaviour(rule, recognizer):
            yield f"{rule.path}: {rule.id}: {defect}"


def _behaviour(rule: Rule, recognizer: PatternRecognizer) -> Iterator[str]:
    survives = 0
    winners: set[str] = set()
    for number, example in enumerate(rule.examples, start=1):
        found = list(recognizer.recognize(_document(example)))
        if not _has(found, rule):
            yield f"example {number}: expected a finding, got none"
            continue
        standing = resolve(found)
        survives += _has(standing, rule)
        winners.update(finding.source for finding in standing)
    if not survives and winners:
        yield f"expected one example that no other rule takes, but {', '.join(sorted(winners))} shadows it"
    for number, counterexample in enumerate(rule.counterexamples, start=1):
        if _has(recognizer.recognize(_document(counterexample)), rule):
            yield f"counterexample {number}: expected no finding, got one"


def _document(text: str) -> Document:
    return Document(text, (), "text/plain")


def _has(found: Iterable[Finding], rule: Rule) -> bool:
    return any(finding.source == rule.id for finding in found)
