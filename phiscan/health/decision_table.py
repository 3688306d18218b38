"""The joint decision: identifying information (Hamming fold) and health information (Euclidean fold).

The cases are data: the rows of ``TABLE``, tried from the top; the first that applies names the case that a
referral carries. Whether a file is referred is decided by P(PHI) (``phiscan.decision``).
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
# Identifiers that exist only because somebody is a patient or insured.
RECORD: Final = frozenset({PiiBit.HEALTH_CARD, PiiBit.MRN, PiiBit.HEALTH_PLAN})
CONTACT: Final = frozenset({PiiBit.STREET_ADDRESS, PiiBit.PHONE, PiiBit.EMAIL, PiiBit.FAX})
MAIL_HEADER: Final = "#headers"  # how the locator of a mail's header segment ends
NAMES: Final = frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME})

HEALTH: Final = 0.5  # the learned threshold of the health score
CLEAR_HEALTH: Final = 0.7  # well above the threshold: a record, not a doubtful text
HINT: Final = 0.2  # below the threshold, but not without clinical traits

SPECIALTY: Final = "spec:"
_NO_FINDING: Final = (*BLOCKS, SPECIALTY)
LIST_HINT: Final = 0.25  # a list of people has less of a record's traits per person


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the decision looks at, as yes and no."""

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

    def kept(self) -> tuple[tuple[str, int], ...]:
        """Return what is stored of it beside the probability: everything but the score, as numbers."""
        return tuple(
            (item.name, int(getattr(self, item.name))) for item in fields(self) if item.name != "health"
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One case. A row applies when all that it asks for is there."""

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
        """Tell whether the evidence has everything that this row asks for."""
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

    Source: eq. 4 of Sokolova & El Emam (2008) for ``concept``; the other rows are ours, each with its reason
    in docs/reference/decision-table.md.
    """
    row = row_of(weigh(document, screening, health, layout=layout))
    return row.referral, row.case


def row_of(evidence: Evidence) -> Row:
    """Return the first row of ``TABLE`` that applies; the last one asks for nothing."""
    return next(row for row in TABLE if row.applies(evidence))


def weigh(document: Document, screening: Screening, health: HealthScore, *, layout: bool) -> Evidence:
    """Gather the evidence of both folds, and how the text is laid out.

    A mail's own header does not count as a contact: the address of whoever sent a leaflet is not that of
    the person whom the leaflet is about.
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
    """Count the concepts of the window that decided the score: a speech of an hour names many diseases.

    A specialty is no finding: a roster of cardiology and surgery lists no patients.
    """
    if health.window is None:
        return len({hit.concept for hit in health.terms if not hit.concept.startswith(SPECIALTY)})
    return len([name for name, _ in health.window.counts if not name.startswith(_NO_FINDING)])
