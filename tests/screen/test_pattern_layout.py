"""The pattern files that are shipped can be read and compared line by line."""

import re
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "patterns").glob("*.toml"))
LONGEST = 110
LIST_ON_A_LINE = re.compile(r"\w+ = \[.*\]$")


def test_there_are_pattern_files() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_long_list_has_one_value_on_each_line(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    long = [n for n, line in enumerate(lines, 1) if len(line) > LONGEST and LIST_ON_A_LINE.match(line)]
    assert not long, f"{file.name}: lists that belong on several lines, in lines {long}"
