"""Pages that are made from the code can be made, are complete, and are not in the repository."""

import re

import jsonschema
import pytest

from phiscan.screen.rules.definitions import load_rules
from phiscan.store.tables.schema import metadata
from tests.docs.generated import DOCS, report_schema, script

SCRIPTS = sorted(path.stem for path in DOCS.glob("make_*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_is_made_outside_the_tree_and_its_links_hold(name: str) -> None:
    made = script(name)
    assert made.PAGE.parent == DOCS.parent / "build" / "docs"
    assert f"`build/docs/{made.PAGE.name}`" in (DOCS / "README.md").read_text(encoding="utf-8")
    page = made.page()
    assert len(page.splitlines()) > 100
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page)
    assert [link for link in links if "://" not in link and not (made.PAGE.parent / link).exists()] == []


def test_the_page_about_the_database_has_every_table_and_column() -> None:
    page = script("make_database").page()
    for table in metadata.tables.values():
        assert f"## {table.name}\n\n{table.comment}" in page
        assert all(f"| `{column.name}` |" in page for column in table.columns)


def test_the_page_about_rules_has_every_rule() -> None:
    page = script("make_rules").page()
    assert [rule.id for rule in load_rules().rules if f"| `{rule.id}` |" not in page] == []


def test_the_schema_of_the_report_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())
