import json
from pathlib import Path

import pytest

from phiscan.screen import screen
from tests.screen.golden_files import FOLDER, read, rows, texts
from tests.screen.whole import shipped


@pytest.mark.parametrize("path", texts(), ids=lambda path: path.stem)
def test_finds_exactly_what_the_golden_file_says(path: Path) -> None:
    document = read(path)
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    # After an intended change: .venv/bin/python tests/screen/golden_files.py, and read the difference.
    assert rows(document, screen(document, shipped())) == expected


def test_there_is_a_text_for_each_golden_file_and_kind_of_document() -> None:
    stems = {path.stem for path in texts()}
    assert stems == {path.stem for path in FOLDER.glob("*.json")}
    kinds = {stem.partition("_")[0] for stem in stems}
    assert kinds >= {"letter", "form", "spreadsheet", "mail", "discharge", "message", "list", "note"}
