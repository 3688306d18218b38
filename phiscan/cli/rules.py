"""``phiscan rules``: list and verify the patterns."""

from __future__ import annotations

from typing import Any

import click

from phiscan.cli.output import Answer, answers, config_of, print_message
from phiscan.errors import RuleError
from phiscan.screen.rules.definitions import RuleSet, load_rules
from phiscan.screen.rules.self_check import check_rules


@click.group(short_help="List the patterns and prove that they work.")
def rules() -> None:
    """List and verify the patterns.

    Includes the shipped rules and those of the site (extra_patterns in phiscan.toml).

    Example: phiscan rules check
    """


@rules.command("check", short_help="Prove ids, examples, counterexamples and linear time of every rule.")
@click.pass_obj
def check(config_path: str | None) -> None:
    """Verify ids, examples, counterexamples and linear time of every rule.

    Every example is processed like a document. Prints one line per defect, and exits 2 if there is one.

    Example: phiscan rules check
    """
    ruleset = _load(config_path)
    defects = list(check_rules(ruleset))
    for defect in defects[:-1]:
        print_message(f"phiscan: {defect}")
    if defects:
        raise RuleError(defects[-1])
    n_texts = sum(len(rule.examples) + len(rule.counterexamples) for rule in ruleset.rules)
    click.echo(f"{len(ruleset.rules)} rules and their {n_texts} examples and counterexamples are sound")


@rules.command("list", short_help="List the rules: id, type, score and what they find.")
@answers
def list_rules(config_path: str | None) -> Answer:
    """List the rules: id, type, score and summary.

    Example: phiscan rules list --json
    """
    listed, lines = [], []
    for rule in _load(config_path).rules:
        kind = rule.entity_type.value
        shown: dict[str, Any] = {"id": rule.id, "entity_type": kind, "summary": rule.summary}
        shown |= {"score": rule.score, "needs_evidence": rule.needs_evidence}
        listed.append({**shown, "check": rule.check or None, "source": rule.source})
        evidence = " (under a label)" if rule.needs_evidence else ""
        lines.append(f"{rule.id:28} {kind:16} {rule.score:.2f}  {rule.summary}{evidence}")
    return {"rules": listed}, lines


def _load(config_path: str | None) -> RuleSet:
    return load_rules(config_of(config_path))
