"""The kinds of identifiers that say of whom a file is, and whether any is among findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from phiscan.model import EntityType, Finding, PiiBit

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

SPECIALTY: Final = "spec:"


def identifies(findings: Iterable[Finding]) -> bool:
    """Tell whether findings name or single out anybody, or say how to reach somebody."""
    return any(
        found.bits & (NAMES | DIRECT | CONTACT) or found.entity_type is EntityType.DATE_OF_BIRTH
        for found in findings
    )
