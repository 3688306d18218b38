"""Evidence of a file to a named case: identifying (Hamming fold) and health information (Euclidean fold).

The cases are data: the rows of ``TABLE``, tried in order; the first match names the case of a referral.
Whether a file is referred is decided by P(PHI) (``phiscan.decision``).
docs/reference/decision-table.md explains each row with an example.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from phiscan.health.features import BLOCKS
from phiscan.model import Document, EntityType, HealthScore, PiiBit, Referral, Screening

# Identifiers that single out one person without a name; 45 CFR 164.514(b)(2) and eq. 4's ID.
DIRECT: Final = frozenset(
    {
        PiiBit.SIN,
        PiiBit.HEALTH_CARD,
        PiiBit.PASSPORT,
        PiiBit.DRIVER_LICENSE,
        PiiBit.SSN,
        PiiBit.MRN,
        PiiBit.HEALTH_PLAN,
        PiiBit.BIOMETRIC,
    }
)
# Identifiers that only patients and insured persons have.
RECORD: Final = frozenset({PiiBit.HEALTH_CARD, PiiBit.MRN, PiiBit.HEALTH_PLAN})
CONTACT: Final = frozenset({PiiBit.STREET_ADDRESS, PiiBit.PHONE, PiiBit.EMAIL, PiiBit.FAX})
MAIL_HEADER: Final = "#headers"  # suffix of the locator of a mail's header segment
NAMES: Final = frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME})

HEALTH: Final = 0.5  # the learned threshold of the health score
CLEAR_HEALTH: Final = 0.7  # well above the threshold
HINT: Final = 0.2  # below the threshold, but with some clinical features

SPECIALTY: Final = "spec:"
_NO_FINDING: Final = (*BLOCKS, SPECIALTY)
LIST_HINT: Final = 0.25  # a list of people has fewer clinical features per person


@dataclass(frozen=True, slots=True)
class Evidence:
    """The inputs of the decision table."""

    hamming: int
    name: bool  # any part of a person's name
    full_name: bool
    direct: bool  # an identifier that singles out one person
    record: bool  # an identifier that only a patient or insured person has
    birth_date: bool
    contact: bool  # an address, telephone number or e-mail address
    n_people: int
    health: float
    n_terms: int  # different health concepts close together, specialties left out
    layout: bool  # detector C: written and laid out like a record

    def stored_values(self) -> tuple[tuple[str, int], ...]:
        """Return the values stored in addition to the probability: all fields but the score, as integers."""
        return tuple(
            (item.name, int(getattr(self, item.name))) for item in fields(self) if item.name != "health"
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One case: it applies when every condition is met."""

    case: str
    referral: Referral
    min_health: float = 0.0
    max_hamming: int | None = None
    name: bool = False
    full_name: bool = False
    direct: bool = False
    record: bool = False
    birth_date: bool = False
    contact: bool = False
    min_people: int = 0
    min_terms: int = 0
    layout: bool = False

    def applies(self, evidence: Evidence) -> bool:
        """Return whether the evidence meets every condition of this row."""
        return (
            evidence.health >= self.min_health
            and (self.max_hamming is None or evidence.hamming <= self.max_hamming)
            and evidence.name >= self.name
            and evidence.full_name >= self.full_name
            and evidence.direct >= self.direct
            and evidence.record >= self.record
            and evidence.birth_date >= self.birth_date
            and evidence.contact >= self.contact
            and evidence.n_people >= self.min_people
            and evidence.n_terms >= self.min_terms
            and evidence.layout >= self.layout
        )


TABLE: Final[tuple[Row, ...]] = (
    Row("concept", Referral.REFERRED, min_health=HEALTH, max_hamming=0),
    Row("patient_identifier", Referral.REFERRED, min_health=HEALTH, direct=True),
    Row("birth_date", Referral.REFERRED, min_health=HEALTH, birth_date=True),
    Row("bare_name", Referral.REFERRED, min_health=HEALTH, name=True),
    Row("contact", Referral.REFERRED, min_health=CLEAR_HEALTH, contact=True),
    Row("thin_record", Referral.REFERRED, min_health=HINT, record=True, min_terms=1),
    Row(
        "patient_list",
        Referral.REFERRED,
        min_health=LIST_HINT,
        full_name=True,
        birth_date=True,
        min_people=2,
        min_terms=2,
    ),
    Row("people_list", Referral.REFERRED, min_health=LIST_HINT, full_name=True, min_people=3, min_terms=3),
    Row("laid_out_as_a_record", Referral.REFERRED, min_health=HINT, name=True, layout=True, min_terms=2),
    Row("health_without_person", Referral.HEALTH_ONLY, min_health=HEALTH),
    Row("person_by_name", Referral.PII_ONLY, name=True),
    Row("person_by_identifier", Referral.PII_ONLY, direct=True),
    Row("neither", Referral.CLEAR),
)


def decide(
    document: Document, screening: Screening, health: HealthScore, *, layout: bool
) -> tuple[Referral, str]:
    """Return the referral and the case: the first row of ``TABLE`` that applies.

    ``layout``: the verdict of detector C, False where it did not run.

    Source: eq. 4 of Sokolova & El Emam (2008) for ``concept``; the reason of each other row is in
    docs/reference/decision-table.md.
    """
    row = row_of(evidence_of(document, screening, health, layout=layout))
    return row.referral, row.case


def row_of(evidence: Evidence) -> Row:
    """Return the first row of ``TABLE`` that applies; the last one has no condition."""
    return next(row for row in TABLE if row.applies(evidence))


def evidence_of(document: Document, screening: Screening, health: HealthScore, *, layout: bool) -> Evidence:
    """Return the inputs of the table: identifiers, health score and detector C's verdict (``layout``).

    Addresses in a mail's header are not contacts: the sender of a leaflet is not the person it is about.
    """
    bits = screening.vector.bits
    return Evidence(
        hamming=screening.hamming,
        name=bool(bits & NAMES),
        full_name=bits >= NAMES,
        direct=bool(bits & DIRECT),
        record=bool(bits & RECORD),
        birth_date=any(found.entity_type is EntityType.DATE_OF_BIRTH for found in screening.findings),
        contact=any(
            finding.bits & CONTACT and not document.locate(finding.span.start).endswith(MAIL_HEADER)
            for finding in screening.findings
        ),
        n_people=screening.n_people,
        health=health.score,
        n_terms=_terms_together(health),
        layout=layout,
    )


def _terms_together(health: HealthScore) -> int:
    """Return the number of concepts in the window with the best score; a long text names many diseases.

    Specialties are left out: a roster of cardiology and surgery lists no patients.
    """
    if health.window is None:
        return len({hit.concept for hit in health.terms if not hit.concept.startswith(SPECIALTY)})
    return len([name for name, _ in health.window.counts if not name.startswith(_NO_FINDING)])
