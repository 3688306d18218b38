"""Which PII characteristic each type of finding shows."""

from __future__ import annotations

from phiscan.model import EntityType, PiiBit

BITS = {
    EntityType.HEALTH_PROFESSIONAL: PiiBit.HEALTH_PROFESSIONAL,
    EntityType.ORGANIZATION: PiiBit.ORGANIZATION,
    EntityType.STREET_ADDRESS: PiiBit.STREET_ADDRESS,
    EntityType.LOCATION: PiiBit.LOCATION,
    EntityType.POSTAL_CODE: PiiBit.LOCATION,
    EntityType.DATE: PiiBit.DATE,
    EntityType.DATE_OF_BIRTH: PiiBit.DATE,
    EntityType.AGE_OVER_89: PiiBit.AGE_OVER_89,
    EntityType.PHONE: PiiBit.PHONE,
    EntityType.FAX: PiiBit.FAX,
    EntityType.EMAIL: PiiBit.EMAIL,
    EntityType.SIN: PiiBit.SIN,
    EntityType.SSN: PiiBit.SSN,
    EntityType.HEALTH_CARD: PiiBit.HEALTH_CARD,
    EntityType.PASSPORT: PiiBit.PASSPORT,
    EntityType.DRIVER_LICENSE: PiiBit.DRIVER_LICENSE,
    EntityType.MRN: PiiBit.MRN,
    EntityType.HEALTH_PLAN: PiiBit.HEALTH_PLAN,
    EntityType.ACCOUNT: PiiBit.ACCOUNT,
    EntityType.CREDIT_CARD: PiiBit.ACCOUNT,
    EntityType.LICENSE: PiiBit.LICENSE,
    EntityType.VEHICLE: PiiBit.VEHICLE,
    EntityType.DEVICE: PiiBit.DEVICE,
    EntityType.URL: PiiBit.URL,
    EntityType.IP: PiiBit.IP,
    EntityType.BIOMETRIC: PiiBit.BIOMETRIC,
    EntityType.OTHER_ID: PiiBit.OTHER_ID,
}


def bits_of(entity_type: EntityType) -> frozenset[PiiBit]:
    """Return the PII characteristics that a finding of this type shows (a person's depend on its parts)."""
    bit = BITS.get(entity_type)
    return frozenset() if bit is None else frozenset({bit})
