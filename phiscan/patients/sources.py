"""Patient lists to records: CSV, Parquet, FHIR bulk NDJSON, HL7 v2 ADT, or a query's rows; nothing is copied.

Error messages quote no value: they name the file, the line and what was expected.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.lexicon.identifier_labels import BIRTH_DATE, CARD, RECORD, label_words
from phiscan.patients.normalise import listed_date, plain
from phiscan.patients.records import PatientRecord
from phiscan.patients.settings import Mapped

_MAX_NUMBER = 2**32 - 2
_DELIMITERS = ",;\t|"
_YES = frozenset({"1", "true", "yes", "y", "oui", "x"})
# Usual names of columns, for fields that are not mapped; normalised by ``_column_form``.
_USUAL = {
    "number": "number patientnumber opaquenumber",
    "given": "given givenname firstname first prenom",
    "family": "family familyname lastname last surname nom",
    "name": "name fullname patientname",
    "former": "former formername maidenname previousname nomdenaissance",
    "preferred": "preferred preferredname nickname",
    "birth_date": " ".join(("dateofbirth born datedenaissance", *label_words(BIRTH_DATE))),
    "record": " ".join(
        ("record recordnumber medicalrecordnumber patientid chartnumber", *label_words(RECORD))
    ),
    "card": " ".join(("card healthcardnumber healthplannumber memberid", *label_words(CARD))),
    "phone": "phone telephone tel mobile cell homephone workphone phonenumber",
    "email": "email emailaddress courriel",
    "street": "street address streetaddress addressline1 adresse",
    "postal": "postal postalcode zip zipcode codepostal",
    "account": "account accountnumber",
    "region": "region province state",
    "canary": "canary",
}
_LISTS = ("record", "card", "phone", "email", "street", "postal", "account")
_FIELD_OF = {name: field for field, names in _USUAL.items() for name in names.split()}
_HL7_CARDS = frozenset({"JHN", "HC", "NI", "NH", "PHN", "MB", "MC", "MA", "SN"})
_HL7_RECORDS = frozenset({"", "MR", "PI", "MRN", "PT"})


def read_records(
    source: str, *, mapped: Mapped, day_first: bool, query: str | None = None
) -> Iterator[PatientRecord]:
    """Yield the patients of a file, or of a query on a database.

    Raises:
        InputError: names the file and the line: unreadable, of unknown form, or without a mapped column.
    """
    if query is not None:
        yield from _of_query(source, query, mapped, day_first)
        return
    path = Path(source)
    if path.suffix.lower() == ".parquet":
        yield from _of_parquet(path, mapped, day_first)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield from _of_text(path, stream, mapped, day_first)
    except UnicodeDecodeError:
        message = f"{path}: expected UTF-8"
        raise InputError(message) from None
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}"
        raise InputError(message) from None


def _of_text(path: Path, stream: TextIO, mapped: Mapped, day_first: bool) -> Iterator[PatientRecord]:
    lines = iter(stream)
    head = next(lines, "")
    every = chain([head], lines)
    if head.lstrip().startswith("{"):
        yield from _of_ndjson(path, every)
    elif head.startswith(("MSH|", "FHS|", "BHS|", "\x0bMSH|")):
        yield from _of_hl7(every)
    else:
        yield from _of_csv(path, every, mapped, day_first)


def _of_csv(path: Path, lines: Iterable[str], mapped: Mapped, day_first: bool) -> Iterator[PatientRecord]:
    first = list(islice(lines, 1))
    delimiter = max(_DELIMITERS, key=lambda char: first[0].count(char) if first else 0)
    reader = csv.reader(chain(first, lines), delimiter=delimiter)
    try:
        header = next(reader, [])
        indices = _columns_of_fields(str(path), header, mapped)
        for row in reader:
            if row:
                if len(row) != len(header):
                    message = f"{path}:{reader.line_num}: expected {len(header)} columns, got {len(row)}"
                    raise InputError(message)
                yield _of_row(f"{path}:{reader.line_num}", reader.line_num, row, indices, day_first)
    except csv.Error:
        message = f"{path}:{reader.line_num}: not valid CSV"
        raise InputError(message) from None


def _of_parquet(path: Path, mapped: Mapped, day_first: bool) -> Iterator[PatientRecord]:
    try:
        import pyarrow as pa  # noqa: PLC0415 (optional)
        from pyarrow import parquet  # noqa: PLC0415 (optional)
    except ImportError:
        message = f"{path}: reading Parquet needs pip install 'phiscan[parquet]'; or write the table as CSV"
        raise InputError(message) from None
    line = 0
    try:
        with parquet.ParquetFile(path) as table:
            indices = _columns_of_fields(str(path), table.schema_arrow.names, mapped)
            for batch in table.iter_batches(batch_size=10_000):
                columns = [column.to_pylist() for column in batch.columns]
                for row in zip(*columns, strict=True):
                    line += 1
                    yield _of_row(
                        f"{path}: row {line}", line, [_cell(cell) for cell in row], indices, day_first
                    )
    except (pa.ArrowException, OSError):
        message = f"{path}: cannot be read as Parquet, in or after row {line}"
        raise InputError(message) from None


def _cell(value: object) -> str:
    """Return a cell as CSV would write it: a whole number without a fraction, a date-time as its date."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value.date() if isinstance(value, datetime) else value)


def _of_query(url: str, query: str, mapped: Mapped, day_first: bool) -> Iterator[PatientRecord]:
    engine = None
    try:
        engine = sa.create_engine(url)
        with engine.connect() as connection:
            rows = connection.execution_options(stream_results=True).execute(sa.text(query))
            indices = _columns_of_fields("--query", list(rows.keys()), mapped)
            for line, row in enumerate(rows, 1):
                cells = ["" if cell is None else str(cell) for cell in row]
                yield _of_row(f"--query: row {line}", line, cells, indices, day_first)
    except (sa.exc.SQLAlchemyError, ModuleNotFoundError, ValueError) as error:
        message = f"--query: the database cannot be read ({type(error).__name__})"
        raise InputError(message) from None
    finally:
        if engine is not None:
            engine.dispose()


def _columns_of_fields(where: str, header: Sequence[str], mapped: Mapped) -> dict[str, list[int]]:
    """Return the columns of each field: those that are mapped, else those with a usual name."""
    at = {name: index for index, name in enumerate(header)}
    indices: dict[str, list[int]] = {}
    for field, columns in mapped.items():
        for column in columns:
            if column not in at:
                message = f"{where}: column {column}: not in the header, but mapped to {field}"
                raise InputError(message)
            indices.setdefault(field, []).append(at[column])
    if not mapped:
        for index, name in enumerate(header):
            if field := _FIELD_OF.get("".join(filter(str.isalnum, plain(name))), ""):
                indices.setdefault(field, []).append(index)
    if not {"record", "card", "name", "family"} & indices.keys():
        message = (
            f"{where}: no column for record, card, name or family; map them in [patients.map] or with "
            "--map FIELD=COLUMN"
        )
        raise InputError(message)
    return indices


def _of_row(
    where: str, line: int, row: Sequence[str], indices: Mapping[str, list[int]], day_first: bool
) -> PatientRecord:
    of: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for field, columns in indices.items():
        of[field] = tuple(filter(None, (row[index].strip() for index in columns)))
    firsts, lasts = [*of["given"], *of["preferred"]], [*of["family"], *of["former"]]
    for name in of["name"]:
        last, comma, first = name.partition(",")
        if not comma:
            first, _, last = name.rpartition(" ")
        firsts.append(first.strip())
        lasts.append(last.strip())
    return PatientRecord(
        line=line,
        names=tuple((first, last) for first in firsts for last in lasts),
        births=tuple(filter(None, (listed_date(value, day_first=day_first) for value in of["birth_date"]))),
        **{f"{field}s": of[field] for field in _LISTS},
        region=_region(of["region"]),
        number=_number(where, of["number"]),
        is_canary=any(plain(value) in _YES for value in of["canary"]),
    )


def _region(values: Sequence[str]) -> str:
    return " ".join(values[0].split())[:40].upper() if values else ""


def _number(where: str, values: Sequence[str]) -> int | None:
    if not values:
        return None
    text = values[0]
    if not text.isdecimal() or not 0 < int(text) <= _MAX_NUMBER:
        message = f"{where}: number: expected a whole number from 1 to {_MAX_NUMBER}"
        raise InputError(message)
    return int(text)


def _of_ndjson(path: Path, lines: Iterable[str]) -> Iterator[PatientRecord]:
    """Yield the Patient resources of a FHIR bulk export; other resources are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            resource = json.loads(line)
        except (ValueError, RecursionError):
            message = f"{path}:{number}: not a JSON object"
            raise InputError(message) from None
        if isinstance(resource, dict) and resource.get("resourceType") == "Patient":
            yield _of_resource(number, resource)


def _of_resource(line: int, patient: Mapping[str, Any]) -> PatientRecord:
    names = [
        (" ".join(_texts(name.get("given"))), str(name.get("family") or ""))
        for name in _objects(patient.get("name"))
    ]
    addresses = list(_objects(patient.get("address")))
    telecom = [
        (str(one.get("system") or ""), str(one.get("value") or ""))
        for one in _objects(patient.get("telecom"))
    ]
    cards: list[str] = []
    records: list[str] = []
    for one in _objects(patient.get("identifier")):
        value, codes = str(one.get("value") or ""), _codes(one)
        (cards if codes & _HL7_CARDS else records if codes & _HL7_RECORDS or not codes else []).append(value)
    lists = [(first, last) for first, _ in names for _, last in names]
    return PatientRecord(
        line=line,
        names=tuple(dict.fromkeys(lists)),
        births=tuple(filter(None, [listed_date(str(patient.get("birthDate") or ""), day_first=False)])),
        records=tuple(filter(None, records)),
        cards=tuple(filter(None, cards)),
        phones=tuple(value for system, value in telecom if system in {"phone", "sms"} and value),
        emails=tuple(value for system, value in telecom if system == "email" and value),
        streets=tuple(text for one in addresses for text in _texts(one.get("line"))[:1]),
        postals=tuple(str(one["postalCode"]) for one in addresses if one.get("postalCode")),
        region=_region([str(one["state"]) for one in addresses if one.get("state")]),
    )


def _codes(identifier: Mapping[str, Any]) -> frozenset[str]:
    kind = identifier.get("type")
    coding = _objects(kind.get("coding")) if isinstance(kind, dict) else ()
    return frozenset(str(one.get("code") or "").upper() for one in coding)


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _of_hl7(lines: Iterable[str]) -> Iterator[PatientRecord]:
    """Yield the patient of each PID segment of ADT messages; segments end with CR, LF or both."""
    number = 0
    for line in lines:
        for segment in line.replace("\r", "\n").split("\n"):
            number += 1
            if segment.startswith("PID|"):
                yield _of_segment(number, segment.split("|"))


def _of_segment(line: int, fields: Sequence[str]) -> PatientRecord:
    def repeated(index: int) -> list[list[str]]:
        text = fields[index] if index < len(fields) else ""
        return [[*one.split("^"), *[""] * 6] for one in text.split("~") if one]

    names = [(f"{one[1]} {one[2]}".strip(), one[0]) for index in (5, 9) for one in repeated(index)]
    numbers = [(one[4].upper(), one[0]) for index in (2, 3, 4) for one in repeated(index)]
    addresses = repeated(11)
    records, cards = (
        tuple(value for kind, value in numbers if value and kind in kinds)
        for kinds in (_HL7_RECORDS, _HL7_CARDS)
    )
    contact = [one for index in (13, 14) for one in repeated(index)]
    births = [listed_date(one[0][:8], day_first=False) for one in repeated(7)]
    return PatientRecord(
        line=line,
        names=tuple(dict.fromkeys((first, last) for first, _ in names for _, last in names)),
        births=tuple(filter(None, births)),
        records=records,
        cards=(*cards, *(one[0] for one in repeated(19) if one[0])),
        phones=tuple(one[0] for one in contact if one[0]),
        emails=tuple(one[3] for one in contact if one[3]),
        streets=tuple(one[0] for one in addresses if one[0]),
        postals=tuple(one[4] for one in addresses if one[4]),
        accounts=tuple(one[0] for one in repeated(18) if one[0]),
        region=_region([one[3] for one in addresses if one[3]]),
    )
