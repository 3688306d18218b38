"""A small share, and a phiscan of its own for each test."""

from pathlib import Path

import pytest

from tests.pipeline.harness import Tool, write_share


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path / "home")


@pytest.fixture
def share(tmp_path: Path) -> Path:
    return write_share(tmp_path / "share", 60)
