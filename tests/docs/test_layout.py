"""Small packages and modules: a person finds a behaviour in two guesses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "phiscan"
MAX_FILES, MAX_LINES = 20, 400


def test_no_package_has_more_than_twenty_modules() -> None:
    modules = Counter(path.parent for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    assert len(modules) > 50
    assert {str(folder): n for folder, n in modules.items() if n > MAX_FILES} == {}


def test_no_module_has_more_than_four_hundred_lines() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in PACKAGE.rglob("*.py")}
    assert {str(path): n for path, n in lines.items() if n > MAX_LINES} == {}
