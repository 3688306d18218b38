"""The first page of the report: six questions with their answers, and what its three pictures show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the first page: a number or a moment, and a sentence that says what it claims.

    ``caution`` says what the number leaves out; ``reason`` why there is neither a number nor a moment.
    """

    id: str
    question: str
    n: int | None
    due: datetime | None
    sentence: str
    caution: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A named count of a picture; ``kind`` is its colour."""

    name: str
    kind: str
    n: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The first page: the answers, what became of the files, who can read the PHI, and where it is."""

    answers: tuple[Answer, ...]
    outcomes: tuple[Bar, ...]
    exposures: tuple[Bar, ...]
    places: tuple[Bar, ...]
    places_are: str  # what ``places`` counts by: folder or format
