"""The fields of HL7 v2, X12 and EDIFACT that identify, and the codes that say of what type a value is.

They are read from ``dictionaries/message_fields.txt``, where their sources stand: a segment or list of codes,
the number of a field or a code, what is there, and the label under which it is shown after a message.
"""

from __future__ import annotations

from enum import Enum

from phiscan.config import data_dir
from phiscan.model import EntityType


class Part(Enum):
    """Kinds of composite fields of HL7, and of fields whose entity type depends on a component."""

    NAME = "XPN"
    DOCTOR = "XCN"  # its number is a licence number
    OPERATOR = "staff"  # its number is an employee number
    ADDRESS = "XAD"
    ORGANIZATION = "XON"
    EMPLOYER = "employer"  # an organization or a person
    PLACE = "PL"  # a bed: its fourth component is the facility
    NUMBER = "EI"  # of an order, specimen or message: only the first component


Kind = Part | EntityType
_LINES = (data_dir("dictionaries") / "message_fields.txt").read_text(encoding="utf-8").splitlines()
_ROWS = [line.split("\t") for line in _LINES if not line.startswith("#")]


def _kind(name: str) -> Kind:
    return EntityType[name] if name in EntityType.__members__ else Part(name)


def _codes(table: str) -> dict[str, EntityType]:
    """Return the entity types of the codes of a list."""
    return {key: EntityType[kind] for name, key, kind, _ in _ROWS if name == table}


FIELDS: dict[str, dict[int, Kind]] = {}
# Numbers and days of X12 and EDIFACT, by format and segment: element, component (None: all), entity type.
NUMBERS: dict[tuple[str, str], list[tuple[int, int | None, EntityType]]] = {}
# The names of the fields that describe a person, as they are shown after a message.
FIELD_NAMES: dict[str, dict[int, str]] = {}
for _name, _key, _type, _label in _ROWS:
    _format, _, _segment = _name.partition(" ")
    if _label != "-":
        FIELD_NAMES.setdefault(_segment, {})[int(_key)] = _label
    if _format == "HL7" and _type != "-":
        FIELDS.setdefault(_segment, {})[int(_key)] = _kind(_type)
    elif _segment and _type != "-":
        _element, _, _component = _key.partition(":")
        _place = int(_element), int(_component) if _component else None
        NUMBERS.setdefault((_format.lower(), _segment), []).append((*_place, EntityType[_type]))
# Segments with dates, and no other identifiers.
DATED = ("FHS", "BHS", "NTE", "AL1", "IAM", "ACC", "UB1", "UB2", "PDA", "DB1", "RXD", "RXO", "RXR", "SAC",
         "AIS", "AIL", "AIG", "TQ1", "PRT", "PRB", "GOL", "CTI", "CON", "ARV", "Z[A-Z0-9]{2}")  # fmt: skip
# Entity type of long numbers in any field of these segments, which all identify one person.
# Site-defined (Z) segments are treated alike.
STRAY = {"GT1": EntityType.OTHER_ID, "IN1": EntityType.HEALTH_PLAN, "IN2": EntityType.HEALTH_PLAN}
# The value of an observation (OBX-5) by the type that OBX-2 gives.
OBSERVED = {key: _kind(kind) for name, key, kind, _ in _ROWS if name == "HL7/OBX-5"}
# The type code of an identifier (table 0203) takes precedence over its field.
CODES = _codes("HL7/0203")
# Assigning authorities of health cards and social security numbers, without a type code: whole words of CX.4.
AUTHORITIES = _codes("HL7/0363")

# X12's numbers with a qualifier: the qualifier's element, the number's element, entity type by qualifier.
# Numbers of payers and senders identify no person.
QUALIFIED = {
    "NM1": (8, 9, _codes("X12/NM108")),
    "N1": (3, 4, _codes("X12/NM108")),
    "REF": (1, 2, _codes("X12/REF01")),
    "PRV": (2, 3, _codes("X12/PRV02")),
}
# Codes of NM101, N101 and PER01 that may be shown in reasons; other values there may be document text.
SHOWN = {key for name, key, _, _ in _ROWS if name == "X12/NM101"}
# Parties who act for a facility or a payer; any other person is a patient, a subscriber, a relative.
STAFF = {key for name, key, kind, _ in _ROWS if name == "X12/NM101" and kind == "staff"}
# Contact channels, each before its number in X12 and after it in EDIFACT.
CHANNELS = _codes("X12/PER03") | _codes("EDIFACT/COM")
# A contact (PER02) of these words is a department, not a person.
DESKS = {key for name, key, _, _ in _ROWS if name == "X12/PER02"}
