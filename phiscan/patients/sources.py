"""Patient lists to records: CSV, Parquet, FHIR bulk NDJSON, HL7 v2 ADT, or a query's rows; nothing is copied.

Error messages quote no value: they name the file, the line and what was expected.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
_HL7_RECORDS = frozenset({"MR", "PI", "MRN", "PT"})
# Field of a patient, number of the field of PID, and component from 0; names and numbers are read apart.
_HL7_PARTS = (
    *(("birth_date", 7, 0), ("street", 11, 0), ("postal", 11, 4), ("region", 11, 3), ("phone", 13, 0)),
    *(("phone", 14, 0), ("email", 13, 3), ("email", 14, 3), ("account", 18, 0), ("card", 19, 0)),
)


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
        raise InputError(path, "expected UTF-8") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None


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
        raise InputError(
            path, "reading Parquet needs pip install 'phiscan[parquet]'; or write the table as CSV"
        ) from None
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
        raise InputError(path, f"cannot be read as Parquet, in or after row {line}") from None


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
                raise InputError(where, f"column {column}: not in the header, but mapped to {field}")
            indices.setdefault(field, []).append(at[column])
    if not mapped:
        for index, name in enumerate(header):
            if field := _FIELD_OF.get("".join(filter(str.isalnum, plain(name))), ""):
                indices.setdefault(field, []).append(index)
    if not {"record", "card", "name", "family"} & indices.keys():
        raise InputError(
            where,
            "no column for record, card, name or family; map them in [patients.map] or with "
            "--map FIELD=COLUMN",
        )
    return indices


def _of_row(
    where: str, line: int, row: Sequence[str], indices: Mapping[str, list[int]], day_first: bool
) -> PatientRecord:
    of: defaultdict[str, list[str]] = defaultdict(list)
    for field, columns in indices.items():
        of[field] = [text for index in columns if (text := row[index].strip())]
    for name in of["name"]:
        last, comma, first = name.partition(",")
        if not comma:
            first, _, last = name.rpartition(" ")
        of["given"].append(first.strip())
        of["family"].append(last.strip())
    of["given"] += of["preferred"]
    of["family"] += of["former"]
    return _record(where, line, of, day_first=day_first)


def _record(
    where: str, line: int, of: Mapping[str, Sequence[str]], *, day_first: bool = False
) -> PatientRecord:
    """Return the record of the values of each field; every given name goes with every family name."""
    births = (listed_date(value, day_first=day_first) for value in of["birth_date"])
    region = next(iter(of["region"]), "")
    return PatientRecord(
        line=line,
        names=tuple(dict.fromkeys((first, last) for first in of["given"] for last in of["family"])),
        births=tuple(filter(None, births)),
        **{f"{field}s": tuple(filter(None, of[field])) for field in _LISTS},
        region=" ".join(region.split())[:40].upper(),
        number=_number(where, of["number"]),
        is_canary=any(plain(value) in _YES for value in of["canary"]),
    )


def _number(where: str, values: Sequence[str]) -> int | None:
    if not values:
        return None
    text = values[0]
    if not text.isdecimal() or not 0 < int(text) <= _MAX_NUMBER:
        raise InputError(where, f"number: expected a whole number from 1 to {_MAX_NUMBER}")
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
    of: defaultdict[str, list[str]] = defaultdict(list)
    of["birth_date"].append(str(patient.get("birthDate") or ""))
    for name in _objects(patient.get("name")):
        of["given"].append(" ".join(_texts(name.get("given"))))
        of["family"].append(str(name.get("family") or ""))
    for address in _objects(patient.get("address")):
        of["street"] += _texts(address.get("line"))[:1]
        of["postal"].append(str(address.get("postalCode") or ""))
        of["region"] += filter(None, [str(address.get("state") or "")])
    for telecom in _objects(patient.get("telecom")):
        field = {"phone": "phone", "sms": "phone", "email": "email"}.get(str(telecom.get("system")), "")
        of[field].append(str(telecom.get("value") or ""))
    for one in _objects(patient.get("identifier")):
        of[_kind_of_number(_codes(one))].append(str(one.get("value") or ""))
    return _record("", line, of)


def _kind_of_number(codes: Collection[str]) -> str:
    """Return the field of a number with codes of HL7 table 0203; "" = another number."""
    if not _HL7_CARDS.isdisjoint(codes):
        return "card"
    return "" if codes and _HL7_RECORDS.isdisjoint(codes) else "record"


def _codes(identifier: Mapping[str, Any]) -> frozenset[str]:
    kind = identifier.get("type")
    coding = _objects(kind.get("coding")) if isinstance(kind, dict) else ()
    return frozenset(filter(None, (str(one.get("code") or "").upper() for one in coding)))


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

    of: defaultdict[str, list[str]] = defaultdict(list)
    for index in (5, 9):
        of["given"] += [f"{one[1]} {one[2]}".strip() for one in repeated(index)]
        of["family"] += [one[0] for one in repeated(index)]
    for index in (2, 3, 4):
        for one in repeated(index):
            of[_kind_of_number(list(filter(None, [one[4].upper()])))].append(one[0])
    for field, index, part in _HL7_PARTS:
        of[field] += [one[part] for one in repeated(index) if one[part]]
    of["birth_date"] = [value[:8] for value in of["birth_date"]]
    return _record("", line, of)
