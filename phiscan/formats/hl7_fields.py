"""Field map of HL7 v2: entity types by segment and field number, for fields with identifiers.

Source: HL7 v2.9, chapters 2 (MSH), 3 (EVN, PID, PD1, NK1, PV1, PV2, MRG), 4 (ORC, OBR, RXE), 6 (FT1, DG1,
PR1, GT1, IN1, IN2), 7 (OBX, SPM), 9 (TXA), 10 (SCH, AIP) and 15 (ROL); table 0203
(types of identifiers) and table 0363 (assigning authorities).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from phiscan.model import EntityType


class Part(Enum):
    """Kinds of composite fields, and of fields whose entity type depends on a component."""

    NAME = "XPN"
    DOCTOR = "XCN"  # its number is a licence number
    OPERATOR = "XCN, staff"  # its number is an employee number
    ADDRESS = "XAD"
    ORGANIZATION = "XON, HD"
    EMPLOYER = "XON, XPN"
    PLACE = "PL"  # a bed: its fourth component is the facility
    NUMBER = "EI, CX"  # number of an order, specimen or message: only the first component


_ID, _PHONE, _PLAN = EntityType.OTHER_ID, EntityType.PHONE, EntityType.HEALTH_PLAN
_MRN, _BIRTH = EntityType.MRN, EntityType.DATE_OF_BIRTH
Kind = Part | EntityType

FIELDS: Mapping[str, Mapping[int, Kind]] = MappingProxyType({
    "MSH": {4: Part.ORGANIZATION, 6: Part.ORGANIZATION, 10: Part.NUMBER, 22: Part.ORGANIZATION,
            23: Part.ORGANIZATION},
    "MSA": {2: Part.NUMBER},
    "EVN": {5: Part.OPERATOR, 7: Part.ORGANIZATION},
    "PID": {
        2: _MRN, 3: _MRN, 4: _MRN, 5: Part.NAME, 6: Part.NAME, 7: _BIRTH, 9: Part.NAME, 11: Part.ADDRESS,
        13: _PHONE, 14: _PHONE, 18: EntityType.ACCOUNT, 19: EntityType.SSN, 20: EntityType.DRIVER_LICENSE,
        21: _MRN, 29: EntityType.DATE,
    },
    "PD1": {3: Part.ORGANIZATION, 4: Part.DOCTOR},
    "NK1": {
        2: Part.NAME, 4: Part.ADDRESS, 5: _PHONE, 6: _PHONE, 12: _ID, 13: Part.EMPLOYER, 16: _BIRTH,
        26: Part.NAME, 30: Part.NAME, 31: _PHONE, 32: Part.ADDRESS, 33: _ID, 37: EntityType.SSN,
    },
    "PV1": {
        3: Part.PLACE, 6: Part.PLACE, 7: Part.DOCTOR, 8: Part.DOCTOR, 9: Part.DOCTOR, 11: Part.PLACE,
        17: Part.DOCTOR, 19: EntityType.ACCOUNT, 42: Part.PLACE, 43: Part.PLACE, 50: EntityType.ACCOUNT,
        52: Part.DOCTOR,
    },
    "PV2": {1: Part.PLACE, 13: Part.DOCTOR, 23: Part.ORGANIZATION},
    "ORC": {
        2: Part.NUMBER, 3: Part.NUMBER, 4: Part.NUMBER, 8: Part.NUMBER, 10: Part.OPERATOR, 11: Part.OPERATOR,
        12: Part.DOCTOR, 14: _PHONE, 19: Part.OPERATOR, 21: Part.ORGANIZATION, 22: Part.ADDRESS, 23: _PHONE,
        24: Part.ADDRESS,
    },
    "OBR": {
        2: Part.NUMBER, 3: Part.NUMBER, 10: Part.OPERATOR, 16: Part.DOCTOR, 17: _PHONE, 18: Part.NUMBER,
        19: Part.NUMBER, 20: Part.NUMBER, 21: Part.NUMBER, 28: Part.DOCTOR, 29: Part.NUMBER, 32: Part.DOCTOR,
        33: Part.DOCTOR, 34: Part.OPERATOR, 35: Part.OPERATOR,
    },
    "OBX": {16: Part.OPERATOR, 18: EntityType.DEVICE, 23: Part.ORGANIZATION, 24: Part.ADDRESS,
            25: Part.DOCTOR},
    "SPM": {2: Part.NUMBER, 3: Part.NUMBER},
    "SCH": {1: Part.NUMBER, 2: Part.NUMBER, 12: Part.OPERATOR, 13: _PHONE, 16: Part.OPERATOR, 17: _PHONE,
            20: Part.OPERATOR, 21: _PHONE},
    "TXA": {5: Part.DOCTOR, 9: Part.DOCTOR, 10: Part.DOCTOR, 11: Part.OPERATOR, 12: Part.NUMBER,
            14: Part.NUMBER, 15: Part.NUMBER, 22: Part.DOCTOR},
    "DG1": {16: Part.DOCTOR},
    "PR1": {8: Part.DOCTOR, 11: Part.DOCTOR, 12: Part.DOCTOR},
    "FT1": {2: Part.NUMBER, 20: Part.DOCTOR, 21: Part.DOCTOR, 23: Part.NUMBER},
    "RXE": {13: Part.DOCTOR, 14: Part.DOCTOR, 15: Part.NUMBER},
    "RXA": {10: Part.OPERATOR},
    "GT1": {
        2: _ID, 3: Part.NAME, 4: Part.NAME, 5: Part.ADDRESS, 6: _PHONE, 7: _PHONE, 8: _BIRTH,
        12: EntityType.SSN, 16: Part.EMPLOYER, 17: Part.ADDRESS, 18: _PHONE, 19: _ID, 21: Part.EMPLOYER,
        45: Part.NAME, 46: _PHONE, 51: Part.EMPLOYER,
    },
    "IN1": {
        2: _PLAN, 4: Part.ORGANIZATION, 5: Part.ADDRESS, 6: Part.NAME, 7: _PHONE, 8: _PLAN, 9: Part.EMPLOYER,
        10: _ID, 11: Part.EMPLOYER, 14: _ID, 16: Part.NAME, 18: _BIRTH, 19: Part.ADDRESS, 36: _PLAN,
        44: Part.ADDRESS, 49: _PLAN,
    },
    "IN2": {1: _ID, 2: EntityType.SSN, 3: Part.EMPLOYER, 6: _PLAN, 8: _PLAN, 61: _PLAN, 63: _PHONE,
            64: _PHONE},
    "MRG": {1: _MRN, 2: _MRN, 3: EntityType.ACCOUNT, 4: _MRN, 5: EntityType.ACCOUNT, 7: Part.NAME},
    "ROL": {4: Part.DOCTOR, 11: Part.ADDRESS, 12: _PHONE},
    "AIP": {3: Part.DOCTOR},
})  # fmt: skip
# Segments with dates, and no other identifiers.
DATED = ("FHS", "BHS", "NTE", "AL1", "IAM", "ACC", "UB1", "UB2", "PDA", "DB1", "RXD", "RXO", "RXR", "SAC",
         "AIS", "AIL", "AIG", "TQ1", "PRT", "PRB", "GOL", "CTI", "CON", "ARV", "Z[A-Z0-9]{2}")  # fmt: skip
# Entity type of long numbers in any field of these segments, which all identify one person.
# Site-defined (Z) segments are treated alike.
STRAY: Mapping[str, EntityType] = MappingProxyType({"GT1": _ID, "IN1": _PLAN, "IN2": _PLAN})
# The value of an observation (OBX-5) by the type that OBX-2 gives.
OBSERVED: Mapping[str, Kind] = MappingProxyType({
    "PN": Part.NAME, "XPN": Part.NAME, "CN": Part.OPERATOR, "XCN": Part.OPERATOR, "AD": Part.ADDRESS,
    "XAD": Part.ADDRESS, "TN": _PHONE, "XTN": _PHONE, "XON": Part.ORGANIZATION, "CX": _ID, "CK": _ID,
})  # fmt: skip
# The type code of an identifier (table 0203) takes precedence over its field.
CODES: Mapping[str, EntityType] = MappingProxyType({
    "MR": _MRN, "PI": _MRN, "PT": _MRN,
    "SS": EntityType.SSN,
    "SIN": EntityType.SIN,
    "DL": EntityType.DRIVER_LICENSE,
    "PPN": EntityType.PASSPORT,
    "JHN": EntityType.HEALTH_CARD, "HC": EntityType.HEALTH_CARD, "NH": EntityType.HEALTH_CARD,
    "PHN": EntityType.HEALTH_CARD,
    "MC": _PLAN, "MA": _PLAN, "MI": _PLAN, "MB": _PLAN, "PN": _PLAN, "SN": _PLAN, "IND": _PLAN,
    "AN": EntityType.ACCOUNT, "VN": EntityType.ACCOUNT, "BA": EntityType.ACCOUNT,
    "VS": EntityType.CREDIT_CARD, "AM": EntityType.CREDIT_CARD, "DI": EntityType.CREDIT_CARD,
    "NPI": EntityType.LICENSE, "DEA": EntityType.LICENSE, "UPIN": EntityType.LICENSE,
    "MD": EntityType.LICENSE, "LN": EntityType.LICENSE, "RN": EntityType.LICENSE,
    "EI": _ID, "EN": _ID, "WC": _ID, "WCN": _ID, "SR": _ID, "MCR": _PLAN, "MCD": _PLAN,
})  # fmt: skip
# Assigning authorities of health cards and social security numbers, without a type code: whole words of CX.4.
AUTHORITIES: Mapping[str, EntityType] = MappingProxyType({
    **dict.fromkeys(
        ("ON", "QC", "BC", "AB", "SK", "MB", "NB", "NS", "PE", "NL", "YT", "NT", "NU", "OHIP", "MOH",
         "MOHLTC", "RAMQ", "MSP", "BCPHN", "PHN", "ULI", "HCN", "MCP", "JHN", "CANON", "CANQC", "CANBC",
         "CANAB", "CANSK", "CANMB", "CANNB", "CANNS", "CANPE", "CANNL", "CANYT", "CANNT", "CANNU", "NHS"),
        EntityType.HEALTH_CARD,
    ),
    **dict.fromkeys(("SSA", "USSSA"), EntityType.SSN),
    **dict.fromkeys(("USDEA", "NPI", "CPSO", "CMQ"), EntityType.LICENSE),
})  # fmt: skip

# The names of the fields that describe a person, as they are shown after a message.
FIELD_NAMES: Mapping[str, Mapping[int, str]] = MappingProxyType({
    "PID": {
        2: "Patient ID", 3: "Patient identifier", 4: "Alternate patient ID", 5: "Patient name",
        6: "Mother's maiden name", 7: "Date of birth", 8: "Sex", 9: "Patient alias", 11: "Patient address",
        13: "Home phone", 14: "Business phone", 18: "Patient account number", 19: "SSN",
        20: "Driver's license number", 21: "Mother's identifier", 23: "Birth place", 29: "Date of death",
    },
    "NK1": {
        2: "Next of kin name", 4: "Next of kin address", 5: "Next of kin phone",
        6: "Next of kin business phone", 16: "Next of kin date of birth", 30: "Contact person name",
        31: "Contact person phone", 32: "Contact person address", 37: "Contact person SSN",
    },
    "PV1": {
        7: "Attending doctor", 8: "Referring doctor", 9: "Consulting doctor", 17: "Admitting doctor",
        19: "Visit number", 44: "Admission date", 45: "Discharge date",
    },
    "ORC": {
        12: "Ordering provider", 21: "Ordering facility", 22: "Ordering facility address",
        24: "Provider address",
    },
    "OBR": {
        16: "Ordering provider", 17: "Callback phone", 28: "Copies to", 32: "Principal interpreter",
    },
    "IN1": {
        2: "Health plan ID", 4: "Insurance company", 5: "Insurance company address", 8: "Group number",
        16: "Name of insured", 18: "Insured's date of birth", 19: "Insured's address", 36: "Policy number",
        49: "Insured's ID number",
    },
    "IN2": {
        1: "Insured's employee ID", 2: "Insured's SSN", 6: "Medicare number", 8: "Medicaid number",
        61: "Patient member number",
    },
    "GT1": {
        3: "Guarantor name", 5: "Guarantor address", 6: "Guarantor phone", 8: "Guarantor date of birth",
        12: "Guarantor SSN",
    },
    "MRG": {
        1: "Prior patient identifier", 3: "Prior account number", 4: "Prior patient ID",
        7: "Prior patient name",
    },
    "DG1": {
        3: "Diagnosis", 4: "Diagnosis description", 16: "Diagnosing clinician",
    },
    "AL1": {
        3: "Allergy",
    },
})  # fmt: skip
