"""What reviewers say about single spans and topics: the gold for scores, positions and types only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from phiscan.model import EntityType, Span


class Mark(StrEnum):
    """What a reviewer says of one span."""

    RIGHT = "right"
    WRONG_TYPE = "wrong_type"
    WRONG_EXTENT = "wrong_extent"
    SPURIOUS = "spurious"
    MISSED = "missed"
    WITHDRAWN = "withdrawn"  # takes back what was said of this span


@dataclass(frozen=True, slots=True)
class Correction:
    """What stands about one span of the present content.

    ``position`` is the finding's place in its examination (as in ``ItemDetail.findings``), None for a missed
    one. ``span`` and ``entity_type`` are the right ones; of a spurious finding, its own.
    """

    id: int
    position: int | None
    mark: Mark
    span: Span
    entity_type: EntityType
    reviewer: str
    corrected: datetime


@dataclass(frozen=True, slots=True)
class ItemCorrections:
    """All that was said about the spans and topics of one file's present content."""

    spans: tuple[Correction, ...]
    complete: bool  # every span was gone through: what is not marked is right
    completed_by: str
    topics: tuple[str, ...] | None  # None = nobody has said


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file whose spans were all gone through: what is there, and what the machine had found."""

    file_id: int
    path: str
    content_hash: str
    gold: tuple[tuple[int, int, str], ...]  # start, end, type; in text order
    system: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class TopicGold:
    """The labels that reviewers gave a file, and those of the concepts that the machine found."""

    file_id: int
    path: str
    labels: tuple[str, ...]
    concepts: tuple[str, ...]  # concept ids found, once each
