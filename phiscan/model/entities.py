"""Enumerations: outcomes, entity types, PII characteristics, referrals, verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Outcome(StrEnum):
    """The outcome of a crawled file; exactly one of these."""

    SCREENED = "screened"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


class SkipReason(StrEnum):
    """The rule by which a file was skipped."""

    IGNORED = "ignored"  # a line of the operator's .phiscanignore
    HARD_LINK = "hard_link"  # same inode as a file already crawled in this scan
    SYMLINK = "symlink"  # never followed
    NOT_REGULAR = "not_regular"  # FIFO, socket, device
    EMPTY = "empty"  # size 0


class FailReason(StrEnum):
    """Why a file, or a part of one, could not be read."""

    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    NO_PERMISSION = "no_permission"
    CHANGED = "changed"  # changed or vanished while it was read
    UNSUPPORTED = "unsupported"
    NEEDS_OCR = "needs_ocr"  # it has only pictures, and no OCR is installed
    IO_ERROR = "io_error"
    NESTED_TOO_DEEP = "nested_too_deep"
    SAMPLED = "sampled"  # a part of a long text that was left out between samples; the file is referred


OCR_PENDING = "not yet read by OCR"  # detail of files that the first pass of a scan leaves to the second


class EntityType(StrEnum):
    """The types of identifiers that the screener reports (the span types of ``screen``; names are fixed)."""

    PERSON = "PERSON"
    HEALTH_PROFESSIONAL = "HEALTH_PROFESSIONAL"
    ORGANIZATION = "ORGANIZATION"
    STREET_ADDRESS = "STREET_ADDRESS"
    LOCATION = "LOCATION"
    POSTAL_CODE = "POSTAL_CODE"
    DATE = "DATE"
    DATE_OF_BIRTH = "DATE_OF_BIRTH"
    AGE_OVER_89 = "AGE_OVER_89"
    PHONE = "PHONE"
    FAX = "FAX"
    EMAIL = "EMAIL"
    SIN = "SIN"
    SSN = "SSN"
    HEALTH_CARD = "HEALTH_CARD"
    PASSPORT = "PASSPORT"
    DRIVER_LICENSE = "DRIVER_LICENSE"
    MRN = "MRN"
    HEALTH_PLAN = "HEALTH_PLAN"
    ACCOUNT = "ACCOUNT"
    CREDIT_CARD = "CREDIT_CARD"
    LICENSE = "LICENSE"
    VEHICLE = "VEHICLE"
    DEVICE = "DEVICE"
    URL = "URL"
    IP = "IP"
    BIOMETRIC = "BIOMETRIC"
    OTHER_ID = "OTHER_ID"


class PiiBit(StrEnum):
    """One PII characteristic of a file.

    The first eleven are those of Sokolova & El Emam (2008), eq. 4; the rest are the remaining HIPAA
    Safe Harbor identifiers, 45 CFR 164.514(b)(2). The order is the bit order and is never changed:
    it is stored in databases.
    """

    FIRST_NAME = "FirstName"
    LAST_NAME = "LastName"
    SIN = "SIN"
    HEALTH_CARD = "HealthCardN"
    PASSPORT = "PassportN"
    DRIVER_LICENSE = "DriverLicenseN"
    ORGANIZATION = "OrganizationName"
    STREET_ADDRESS = "StreetAddress"
    HEALTH_PROFESSIONAL = "HealthProfessionalName"
    PHONE = "PhoneNumber"
    EMAIL = "Email"
    LOCATION = "Location"
    DATE = "Date"
    AGE_OVER_89 = "AgeOver89"
    FAX = "FaxNumber"
    SSN = "SSN"
    MRN = "MedicalRecordN"
    HEALTH_PLAN = "HealthPlanN"
    ACCOUNT = "AccountN"
    LICENSE = "LicenseN"
    VEHICLE = "VehicleN"
    DEVICE = "DeviceN"
    URL = "URL"
    IP = "IPAddress"
    BIOMETRIC = "Biometric"
    OTHER_ID = "OtherID"


ALL_PII_BITS: tuple[PiiBit, ...] = tuple(PiiBit)

_BIT_OF_TYPE = {
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
    bit = _BIT_OF_TYPE.get(entity_type)
    return frozenset() if bit is None else frozenset({bit})


_PII_BIT_INDEX = {bit: index for index, bit in enumerate(ALL_PII_BITS)}


class Referral(StrEnum):
    """The pipeline's decision on a screened file (``decision`` in the JSON of the contract)."""

    REFERRED = "referred"
    PII_ONLY = "pii_only"
    HEALTH_ONLY = "health_only"
    CLEAR = "clear"


class Verdict(StrEnum):
    """A reviewer's verdict on a file."""

    PHI = "phi"
    NOT_PHI = "not_phi"
    UNSURE = "unsure"


class Search(StrEnum):
    """Which recognizers ran on a file, and why: the expensive ones run only where they could refer it."""

    EVERYTHING = "everything"  # all of them, because the cascade is off
    NEEDED = "needed"  # all of them, because their findings could refer the file
    AUDIT = "audit"  # all of them, because the file is in the audit sample of the others
    LEFT_OUT = "left_out"  # the cheap ones only


@dataclass(frozen=True, slots=True)
class PiiVector:
    """The PII characteristics present in a file, one bit each, in the order of ``PiiBit``."""

    bits: frozenset[PiiBit] = frozenset()

    def to_int(self) -> int:
        """Pack into an integer, the first characteristic in the lowest bit (for storage)."""
        return sum(1 << _PII_BIT_INDEX[bit] for bit in self.bits)

    @classmethod
    def from_int(cls, packed: int) -> Self:
        """Unpack an integer of ``to_int``."""
        return cls(frozenset(b for b, i in _PII_BIT_INDEX.items() if packed >> i & 1))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bits that are set, in bit order."""
        return tuple(bit.value for bit in ALL_PII_BITS if bit in self.bits)

    def hamming(self, other: PiiVector) -> int:
        """Return the number of differing bits. Source: Sokolova & El Emam (2008), eq. 5."""
        return len(self.bits ^ other.bits)
