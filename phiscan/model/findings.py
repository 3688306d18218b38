"""What screening and classifying find in a document: Finding, Screening, HealthScore, PatientCheck."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phiscan.model.documents import Span
from phiscan.model.entities import EntityType, PiiBit, PiiVector


@dataclass(frozen=True, slots=True)
class Reason:
    """One step in why a finding stands: the rule, a context word of ours, a check, a veto.

    ``detail`` never holds document text, only names from our own rules and dictionaries.
    """

    kind: str  # "rule", "context", "check", "gazetteer", "label", "title", "place", "role", "doubt", ...
    detail: str
    score: float  # the score after this step


@dataclass(frozen=True, slots=True)
class Finding:
    """One identifier in a document: where, of what type, and why we think so; never its value."""

    span: Span
    entity_type: EntityType
    source: str  # rule id or recognizer id
    score: float  # in [0, 1]
    bits: frozenset[PiiBit]  # the PII characteristics that it shows
    reasons: tuple[Reason, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether it is too unsure to count: it identifies nobody, and no decision rests on it."""
        return not self.bits and any(reason.kind == "doubt" for reason in self.reasons)

    def set_aside(self, kind: str, detail: str) -> Finding:
        """Return it as one that stays, with this last reason, and sets no characteristic."""
        return replace(self, bits=frozenset(), reasons=(*self.reasons, Reason(kind, detail, self.score)))

    def was_set_aside(self, detail: str) -> bool:
        """Tell whether it was set aside for this reason."""
        return any(reason.detail == detail for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Screening:
    """What the screener says of one document."""

    findings: tuple[Finding, ...]
    vector: PiiVector
    hamming: int  # bits still lacking to satisfy eq. 4; 0 = satisfies
    missing: tuple[PiiBit, ...]  # one cheapest set of bits that would satisfy eq. 4
    nearest_prototype: str  # name of the nearest stored prototype (eq. 5)
    prototype_distance: int  # plain Hamming distance to it
    n_people: int  # distinct people at risk, an estimate
    people_interval: tuple[int, int] | None = None  # 95 % of it; None where the whole text was examined

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The findings that decisions rest on: all but the doubtful ones."""
        return tuple(finding for finding in self.findings if not finding.is_doubtful)


@dataclass(frozen=True, slots=True)
class TermHit:
    """A health term in the document: where, and its concept id (never the text)."""

    span: Span
    concept: str


@dataclass(frozen=True, slots=True)
class WindowBag:
    """What the stretch of a document that decided its health score says, in ids of our own dictionaries."""

    n_chars: int
    counts: tuple[tuple[str, int], ...]  # concept, kind or cue, and how often; never a word of the text
    patient_score: float = 0.0  # patient classifier's score, in [0, 1], before any reviewer correction


@dataclass(frozen=True, slots=True)
class HealthScore:
    """How much a document looks like health information about a person, and by which terms."""

    score: float  # in [0, 1]; 0.5 is the threshold learned from the prototypes
    distance: float | None  # Euclidean distance to the k-th nearest prototype; None without terms
    nearest_prototype: str  # name of the nearest prototype, "" without terms
    terms: tuple[TermHit, ...]
    window: WindowBag | None = None  # None where no window says anything
    by_concepts: float = 0.0  # the score by concepts and cues alone, as detector B asks it
    correction: float = 0.0  # log-odds that reviewers' decisions added to the score


@dataclass(frozen=True, slots=True)
class PatientMatch:
    """One of the organization's own patients in a document: who, by what and where; never a value."""

    patient: int  # opaque number, as in the organization's own list
    kind: str  # what agreed: "record", "card", "name_birth", ..., "rare_name"
    span: Span
    locator: str = ""
    is_canary: bool = False  # a record that does not exist in reality


@dataclass(frozen=True, slots=True)
class PatientCheck:
    """How a document was compared with the patient index."""

    index_id: str  # build of the index
    matches: tuple[PatientMatch, ...] = ()
    n_patients: int = 0  # distinct, by a strong key or a pair
    n_rare_names: int = 0  # further ones, by a rare name alone
    n_lookups: int = 0
    expected_by_chance: float = 0.0  # matches to be expected if all people in it were strangers
