"""The page about the database says what the tables say."""

import importlib.util
from pathlib import Path

from phiscan.store.tables import metadata

SCRIPT = Path(__file__).parents[2] / "docs" / "make_database.py"


def test_page_is_what_the_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_database", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = script.PAGE.read_text(encoding="utf-8")
    assert page == script.page()
    for table in metadata.tables.values():
        assert f"## {table.name}\n\n{table.comment}" in page
        assert all(f"| `{column.name}` |" in page for column in table.columns)
