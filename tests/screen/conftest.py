from __future__ import annotations

import time
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


@pytest.fixture(scope="session")
def seconds() -> Callable[[Callable[[str], object], str, int], float]:
    """Return the least of two processor times that a reading of a repeated unit takes."""

    def least(read: Callable[[str], object], unit: str, n_chars: int) -> float:
        text = unit * (n_chars // len(unit))
        best = float("inf")
        for _ in range(2):
            start = time.process_time()
            read(text)
            best = min(best, time.process_time() - start)
        return best

    return least
