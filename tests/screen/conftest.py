from __future__ import annotations

from collections.abc import Callable

import pytest

from phiscan.config import Config
from phiscan.model import Document, Screening, Segment
from phiscan.screen import Screener, build_screener, screen


def document(text: str) -> Document:
    return Document(text, (Segment("", 0, len(text)),), "text/plain")


@pytest.fixture(scope="session")
def screener() -> Screener:
    return build_screener(Config())


@pytest.fixture(scope="session")
def screened(screener: Screener) -> Callable[[str], Screening]:
    return lambda text: screen(document(text), screener)


@pytest.fixture(scope="session")
def found(screened: Callable[[str], Screening]) -> Callable[[str], set[tuple[str, str]]]:
    """Screen a text; give (type, covered text) of every finding."""

    def run(text: str) -> set[tuple[str, str]]:
        return {(f.entity_type.value, f.span.of(text)) for f in screened(text).findings}

    return run
