"""What a recognizer declares: its name, its cost, and which case variants of a text it reads."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, Flag, IntEnum, auto
from typing import ClassVar, Protocol

from phiscan.model import Document, Finding


class Cost(Enum):
    """Processor time: cheap recognizers read every file, expensive ones what can still matter."""

    CHEAP = auto()  # linear automata, validators, field maps
    EXPENSIVE = auto()  # learned taggers, names in running text, OCR repairs of names


class CaseVariant(Flag):
    """Which variants a recognizer reads of a text that is wholly in small letters or in capitals."""

    AS_WRITTEN = 0
    UPPERCASE = auto()  # a text in small letters is read in capitals as well
    RECASED = auto()  # such a text is read once more with the usual capitals


class Priority(IntEnum):
    """The rank of findings that must not rank by their confidence alone, in thousandths of confidence."""

    MODEL = 840  # at most, of a tagger: a label, a cue or a rule for a whole form says more than the model


class Recognizer(Protocol):
    """Whatever finds identifiers in a document, built once per process."""

    name: ClassVar[str]
    cost: ClassVar[Cost]
    case_variants: ClassVar[CaseVariant]

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; they may overlap; spans are half-open, in code points of the document."""
        ...
