"""A small share, and a phiscan of its own for each test."""

from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.pipeline.engine import Engine, build_engine
from tests.pipeline.harness import Tool, ToolHere, write_share


@pytest.fixture(scope="session")
def engine() -> Engine:
    """Return the stages as a worker has them, built once."""
    return build_engine(Config(), b"k" * 32)


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """Return the installed program; each run is a process that loads everything anew, for seconds."""
    return Tool(tmp_path / "home")


@pytest.fixture
def tool_here(tmp_path: Path, warm: None) -> ToolHere:  # noqa: ARG001 (it must run)
    """Return the program in this process, for scans whose process is not what is tested."""
    return ToolHere(tmp_path / "home")


@pytest.fixture
def share(tmp_path: Path) -> Path:
    return write_share(tmp_path / "share", 20)
