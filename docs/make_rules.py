"""Write the list of rules in docs/reference/rules.md from the pattern files.

    .venv/bin/python docs/make_rules.py

A test refuses a page that is behind the files.
"""

from __future__ import annotations

from pathlib import Path

from phiscan.screen.rules.files import load_rules

PAGE = Path(__file__).resolve().parent / "reference" / "rules.md"
BEGIN, END = "<!-- rules: begin -->", "<!-- rules: end -->"


def table() -> str:
    """Return the rules as a Markdown table, in the order of the files."""
    lines = [
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
    return "\n".join(lines)


def page() -> str:
    """Return the page with its list replaced."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
