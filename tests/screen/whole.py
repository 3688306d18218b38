"""Texts through the whole screener, as it is shipped."""

from functools import cache

from phiscan.config import Config
from phiscan.model import Document, Screening, Segment
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.rules.recognizer import PatternRecognizer


@cache
def shipped() -> Screener:
    return build_screener(Config())


def rules() -> PatternRecognizer:
    """Return the recognizer of the rules, which is made once for all tests."""
    return next(one for one in shipped().recognizers if isinstance(one, PatternRecognizer))


def plain(text: str) -> Document:
    return Document(text, (Segment("", 0, len(text)),), "text/plain")


def screened(text: str) -> Screening:
    return screen(plain(text), shipped())


def found(text: str) -> set[tuple[str, str]]:
    """Screen a text; return (type, covered text) of every finding."""
    return {(one.entity_type.value, one.span.of(text)) for one in screened(text).findings}


def values(text: str, *kinds: str) -> list[str]:
    """Return what is found of these types in order, without what is doubtful."""
    return [
        one.span.of(text)
        for one in screened(text).findings
        if one.entity_type.value in kinds and not one.is_doubtful
    ]
