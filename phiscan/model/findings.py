"""Results of screening and classification of a document: Finding, Screening, HealthScore, PatientCheck."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phiscan.model.documents import Span
from phiscan.model.entities import EntityType, PiiBit, PiiVector


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of a finding's score: the rule, a context word, a validator, a veto.

    ``detail`` never holds document text, only names from the rules and dictionaries.
    """

    kind: str  # "rule", "context", "check", "gazetteer", "label", "title", "place", "role", "doubt", ...
    detail: str
    score: float  # the score after this step


@dataclass(frozen=True, slots=True)
class Finding:
    """One identifier in a document: span, type and reasons; never its value."""

    span: Span
    entity_type: EntityType
    source: str  # rule id or recognizer id
    score: float  # in [0, 1]
    bits: frozenset[PiiBit]  # the PII characteristics that it shows
    reasons: tuple[Reason, ...] = ()
    priority: int | None = None  # among overlapping findings, in thousandths; None: by its confidence

    @property
    def rank(self) -> float:
        """The place among overlapping findings, in thousandths: the priority, else the confidence."""
        return 1000 * self.score if self.priority is None else self.priority

    @property
    def is_doubtful(self) -> bool:
        """Whether its confidence is too low: it identifies no person, and decisions ignore it."""
        return not self.bits and any(reason.kind == "doubt" for reason in self.reasons)

    def set_aside(self, kind: str, detail: str) -> Finding:
        """Return the finding without PII characteristics, with this additional reason."""
        return replace(self, bits=frozenset(), reasons=(*self.reasons, Reason(kind, detail, self.score)))

    def was_set_aside(self, detail: str) -> bool:
        """Return whether it was set aside for this reason."""
        return any(reason.detail == detail for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Screening:
    """The screening result of one document."""

    findings: tuple[Finding, ...]
    vector: PiiVector
    hamming: int  # number of missing bits to satisfy eq. 4; 0 = satisfied
    missing: tuple[PiiBit, ...]  # one smallest set of bits that would satisfy eq. 4
    nearest_prototype: str  # name of the nearest stored prototype (eq. 5)
    prototype_distance: int  # plain Hamming distance to it
    n_people: int  # distinct people at risk, an estimate
    people_interval: tuple[int, int] | None = None  # 95 % interval of it; None if the whole text was examined

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The findings used by decisions: all but the doubtful ones."""
        return tuple(finding for finding in self.findings if not finding.is_doubtful)


@dataclass(frozen=True, slots=True)
class TermHit:
    """A health term in the document: its span and concept id, never the text."""

    span: Span
    concept: str


@dataclass(frozen=True, slots=True)
class WindowBag:
    """The bag of dictionary ids of the window that decided a document's health score."""

    n_chars: int
    counts: tuple[tuple[str, int], ...]  # concept, kind or cue, and its count; never a word of the text


@dataclass(frozen=True, slots=True)
class HealthScore:
    """The score of a document as health information about a person, and its health terms."""

    score: float  # in [0, 1]; 0.5 is the threshold learned from the prototypes
    distance: float | None  # Euclidean distance to the k-th nearest prototype; None without terms
    nearest_prototype: str  # name of the nearest prototype, "" without terms
    terms: tuple[TermHit, ...]
    window: WindowBag | None = None  # None if no window was scored
    by_concepts: float = 0.0  # the score by concepts and cues alone, for detector B


@dataclass(frozen=True, slots=True)
class PatientMatch:
    """One of the organization's own patients in a document: opaque number, kind and span; never a value."""

    patient: int  # opaque number, as in the organization's own list
    kind: str  # matched values: "record", "card", "name_birth", ..., "rare_name"
    span: Span
    locator: str = ""
    is_canary: bool = False  # an invented record, planted to detect leaks


@dataclass(frozen=True, slots=True)
class PatientCheck:
    """The result of comparing a document with the patient index."""

    index_id: str  # build of the index
    matches: tuple[PatientMatch, ...] = ()
    n_patients: int = 0  # distinct, by a strong key or a pair
    n_rare_names: int = 0  # further ones, by a rare name alone
    n_lookups: int = 0
    expected_by_chance: float = 0.0  # expected number of false matches
