"""What a recognizer declares: its name, its cost, and which case variants of a text it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, auto
from typing import Protocol

from phiscan.lexicon.capitalized_words import name_finding
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span, bits_of


class Cost(Enum):
    """Processor time: cheap recognizers read what could matter, expensive ones what still can after them."""

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

    @property
    def name(self) -> str:
        """The name by which measurements and ablations call it."""

    @property
    def cost(self) -> Cost:
        """Its processor time."""

    @property
    def case_variants(self) -> CaseVariant:
        """Which variants of a text it reads."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; they may overlap; spans are half-open, in code points of the document."""
        ...


@dataclass(frozen=True, slots=True)
class FieldRecognizer:
    """A recognizer of fields of a format: a function that yields the findings of a document."""

    name: str
    recognize: Callable[[Document], Iterator[Finding]]
    cost: Cost = Cost.CHEAP
    case_variants: CaseVariant = CaseVariant.AS_WRITTEN


@dataclass(frozen=True, slots=True)
class FieldSource:
    """What reads the fields of a format, and how sure they are; ``where``: what a field is called."""

    name: str
    score: float

    def value(self, kind: EntityType, span: Span, where: str) -> Finding:
        """Return the finding of a value in a field."""
        return Finding(
            span, kind, self.name, self.score, bits_of(kind), (Reason("label", where, self.score),)
        )

    def person(self, span: Span, bits: Iterable[PiiBit], where: str, *, health: bool) -> Finding:
        """Return the finding of a name in a field."""
        source, shown = f"names.{self.name}", frozenset(bits)
        reason = ("label", where)
        return name_finding(
            span.start, span.end, health=health, bits=shown, source=source, score=self.score, reason=reason
        )
