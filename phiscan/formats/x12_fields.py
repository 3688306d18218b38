"""Field map of X12: entity types by segment and element number, for elements with identifiers.

Source: X12 005010 implementation guides 837 (X222, X223), 835 (X221), 834 (X220), 270/271 (X279), 278 (X217);
code lists 98 (parties), 66 (types of identification code), 128 (types of reference), 365 (channels).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from phiscan.model import EntityType

_ID, _PLAN, _LICENSE = EntityType.OTHER_ID, EntityType.HEALTH_PLAN, EntityType.LICENSE

# Parties who act for a facility or a payer (NM101); any other person is a patient, a subscriber, a relative.
STAFF = frozenset(
    "1P 1T 3D 40 41 45 71 72 73 77 82 85 87 DD DK DN DQ FA G3 H5 HH LI OB P3 P4 PE PR PRP PW QB QV SEP"  # noqa: SIM905 (a list of codes reads best as a text)
    " SJ TL TT TU VN X3 Y2 ZZ".split()
)
# Codes of NM101, N101 and PER01 that may be shown in reasons; other values there may be document text.
SHOWN = STAFF | frozenset(
    "03 13 1I 2B 36 55 5P 70 74 75 80 8W 98 9K ACV BL C CX E1 EI EXS EY GB GD GP GW IC IL IN IP LR M8 NH"  # noqa: SIM905 (a list of codes reads best as a text)
    " ON P5 PH Q QC QD RF S1 S2 S3 TR X4 Y".split()
)
# Entity type of an identification code (NM108, N103). Numbers of payers and senders identify no person.
CODES: Mapping[str, EntityType] = MappingProxyType({
    "MI": _PLAN, "HN": _PLAN, "MR": _PLAN, "II": _PLAN, "N": _PLAN, "C": _PLAN, "C1": _PLAN,
    "34": EntityType.SSN, "SY": EntityType.SSN,
    "XX": _LICENSE, "SV": _LICENSE, "UP": _LICENSE, "BD": _LICENSE, "BS": _LICENSE,
    "MC": _LICENSE, "PC": _LICENSE,
    "EI": _ID, "FI": _ID, "24": _ID, "EQ": _ID, "ZZ": _ID,
})  # fmt: skip
# Entity type of a reference by its qualifier (REF01).
REFERENCES: Mapping[str, EntityType] = MappingProxyType({
    "EA": EntityType.MRN,
    "SY": EntityType.SSN,
    "EJ": EntityType.ACCOUNT,
    **dict.fromkeys(("0F", "18", "1L", "1W", "38", "3L", "49", "6P", "F6", "HJ", "IG", "NQ"), _PLAN),
    **dict.fromkeys(
        ("0B", "1A", "1B", "1C", "1D", "1E", "1G", "1H", "1J", "D3", "G2", "HPI", "N5"), _LICENSE
    ),
    **dict.fromkeys(
        ("23", "3H", "4A", "60", "6R", "9A", "9C", "9F", "ABB", "BB", "BT", "D9", "EI", "EL", "EO", "F4",
         "F8", "FJ", "G1", "G3", "G4", "GH", "LX", "NT", "PQ", "Q4", "TJ", "X4", "XP", "XZ", "Y4", "ZH"),
        _ID,
    ),
})  # fmt: skip
# Numbers with a qualifier: the qualifier's element, the number's element, entity type by qualifier.
QUALIFIED: Mapping[str, tuple[int, int, Mapping[str, EntityType]]] = MappingProxyType({
    "NM1": (8, 9, CODES),
    "N1": (3, 4, CODES),
    "REF": (1, 2, REFERENCES),
    "PRV": (2, 3, MappingProxyType({"HPI": _LICENSE, "XX": _LICENSE})),
})  # fmt: skip
# Numbers by segment and element, in any context.
NUMBERS: Mapping[str, Mapping[int, EntityType]] = MappingProxyType({
    "BHT": {3: _ID},
    "BPR": {9: EntityType.ACCOUNT, 15: EntityType.ACCOUNT},
    "CLM": {1: EntityType.ACCOUNT},
    "CLP": {1: EntityType.ACCOUNT, 7: _ID},
    "COB": {2: _PLAN},
    "PLB": {1: _LICENSE},
    "PWK": {6: _ID},
    "SBR": {3: _PLAN},
    "TRN": {2: _ID},
})  # fmt: skip
# Days by segment and element; DMG holds the date of birth.
DAYS: Mapping[str, tuple[int, ...]] = MappingProxyType({
    "BGN": (3,), "BHT": (4,), "BPR": (16,), "DTM": (2, 6), "DTP": (3,), "GS": (4,), "INS": (12,), "ISA": (9,),
    "PAT": (6,), "HI": tuple(range(1, 13)),
})  # fmt: skip
# Contact channels (PER03, 05 and 07, each before its number).
CHANNELS: Mapping[str, EntityType] = MappingProxyType({
    **dict.fromkeys(("TE", "HP", "WP", "CP", "AP", "NP", "BN", "VM"), EntityType.PHONE),
    "FX": EntityType.FAX, "EM": EntityType.EMAIL, "UR": EntityType.URL,
})  # fmt: skip
# A contact (PER02) of these words is a department, not a person.
DESKS = frozenset(
    "accounts admin administration appeals benefit benefits billing business care center centre claim claims"  # noqa: SIM905 (a list of words reads best as a text)
    " client clinic contact customer department dept desk edi eligibility enrollment enrolment finance group"
    " health help helpdesk hospital hr information inquiries inquiry insurance line medical member office"
    " operations partner payer payment plan provider relations sales security service services solutions"
    " support system systems team tech technical unit web website".split()
)
