"""Write build/docs/rules.md, the list of the shipped rules, from the pattern files (`make docs`)."""

from __future__ import annotations

from pathlib import Path

from phiscan.screen.rules.definitions import load_rules

PAGE = Path(__file__).resolve().parents[1] / "build" / "docs" / "rules.md"


def page() -> str:
    """Return the rules as a Markdown table, in the order of the files."""
    lines = [
        "# The rules that are shipped\n",
        "| Rule | Type | Finds | Score | Needs a label | Check | Source |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rule in load_rules().rules:
        label = f"`{rule.context}`" if rule.needs_evidence else ""
        check = f"`{rule.check}`" if rule.check else ""
        lines.append(
            f"| `{rule.id}` | {rule.entity_type.value} | {rule.summary} | {rule.score} | {label} | {check} "
            f"| {rule.source} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
