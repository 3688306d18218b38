"""Pages that are made from the code say what the code says."""

import pytest

from phiscan.store.tables import metadata
from tests.docs.generated import DOCS, script


@pytest.mark.parametrize("name", sorted(path.stem for path in DOCS.glob("make_*.py")))
def test_the_page_is_what_its_script_writes(name: str) -> None:
    made = script(name)
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run `make docs` and commit what it writes"


def test_the_page_about_the_database_has_every_table_and_column() -> None:
    page = script("make_database").PAGE.read_text(encoding="utf-8")
    for table in metadata.tables.values():
        assert f"## {table.name}\n\n{table.comment}" in page
        assert all(f"| `{column.name}` |" in page for column in table.columns)
