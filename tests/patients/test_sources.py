"""Patient lists in each form give the same keys; a bad one is refused without quoting a value."""

import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa
from pyarrow import parquet

from phiscan.config import config_of
from phiscan.errors import ConfigError, InputError
from phiscan.patients.records import PatientKeys, PatientRecord, keys_of
from phiscan.patients.settings import load_settings, merge_map
from phiscan.patients.sources import read_records

CSV = (
    "MRN,First Name,Last Name,Maiden Name,DOB,Health Card,Phone,Email,Address,Postal Code,Province\n"
    "0012345,Ana María,García-López,Smith,03/04/1956,9876 543 217 XK,(613) 555-0142,"
    "ana@example.org,12 Harbour Rd,k7l3n6,on\n"
)
FHIR = {
    "resourceType": "Patient",
    "identifier": [
        {"type": {"coding": [{"code": "MR"}]}, "value": "0012345"},
        {"type": {"coding": [{"code": "JHN"}]}, "value": "9876543217"},
        {"type": {"coding": [{"code": "DL"}]}, "value": "D1234"},
    ],
    "name": [
        {"use": "official", "family": "García-López", "given": ["Ana", "María"]},
        {"use": "maiden", "family": "Smith", "given": ["Ana"]},
    ],
    "birthDate": "1956-04-03",
    "telecom": [
        {"system": "phone", "value": "613 555 0142"},
        {"system": "email", "value": "ana@example.org"},
    ],
    "address": [{"line": ["12 Harbour Road"], "postalCode": "K7L 3N6", "state": "on"}],
}
HL7 = (
    "MSH|^~\\&|A|B|C|D|20260101||ADT^A08|1|P|2.5\r"
    "PID|1||0012345^^^HOSP^MR~9876543217^^^ON^JHN||García-López^Ana^María~Smith^Ana||19560403|F|||"
    "12 Harbour Rd^^Kingston^ON^K7L3N6||613-555-0142^PRN^PH^ana@example.org\r"
    "PV1|1|I"
)


def _one(path: Path) -> tuple[PatientRecord, PatientKeys]:
    (record,) = read_records(str(path), mapped={}, day_first=True)
    return record, keys_of(record)


def test_parquet_gives_the_keys_of_csv_whatever_the_types_of_its_columns(tmp_path: Path) -> None:
    names = ["MRN", "First Name", "Last Name", "DOB", "Phone", "Canary"]
    days = [date(1956, 4, 3), date(1960, 1, 2)]
    phones = [6135550142, 6135550143]
    columns = [[12345.0, None], ["Ana María", "Bo"], ["García", "Li"], days, phones, ["", ""]]
    parquet.write_table(pa.table(columns, names=names), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(
        "MRN,First Name,Last Name,DOB,Phone,Canary\n12345,Ana María,García,1956-04-03,6135550142,\n"
        ",Bo,Li,1960-01-02,6135550143,\n"
    )
    found, expected = (
        [set(keys_of(one).keys()) for one in read_records(str(tmp_path / name), mapped={}, day_first=True)]
        for name in ("a.parquet", "a.csv")
    )
    assert found == expected
    assert len(found[0]) > 3
    moments = pa.table([["Bo"], ["Li"], [datetime(1960, 1, 2, tzinfo=UTC)]], names=names[1:4])
    parquet.write_table(moments, tmp_path / "b.parquet")
    (one,) = read_records(str(tmp_path / "b.parquet"), mapped={}, day_first=True)
    assert set(keys_of(one).keys()) < expected[1]


def test_a_parquet_file_that_cannot_be_read_is_one_line_without_a_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes("PAR1 García PAR1".encode())
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read as Parquet") as caught:
        list(read_records(str(path), mapped={}, day_first=True))
    assert "García" not in str(caught.value)
    parquet.write_table(pa.table([["x"]], names=["colour"]), path)
    with pytest.raises(InputError, match="no column for record, card, name or family"):
        list(read_records(str(path), mapped={}, day_first=True))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"needs pip install 'phiscan\[parquet\]'"):
        list(read_records(str(path), mapped={}, day_first=True))


def test_every_form_of_a_list_gives_the_same_keys(tmp_path: Path) -> None:
    for name, text in (("a.csv", CSV), ("a.ndjson", json.dumps(FHIR) + "\n"), ("a.hl7", HL7)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [_one(tmp_path / name) for name in ("a.csv", "a.ndjson", "a.hl7")]
    first = set(found[0][1].keys())
    assert len(first) > 12
    assert all(set(keys.keys()) == first for _, keys in found)
    assert {record.region for record, _ in found} == {"ON"}


def test_rows_of_a_query_are_a_list(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'mpi.db'}"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE p (mrn INTEGER, nm TEXT, born TEXT, gone TEXT)")
        connection.exec_driver_sql("INSERT INTO p VALUES (1234567, 'Roy, Ann', '1956-03-12', NULL)")
    mapped = {"record": ("mrn",), "name": ("nm",), "birth_date": ("born",), "former": ("gone",)}
    (record,) = read_records(url, mapped=mapped, day_first=True, query="SELECT * FROM p")
    assert (record.records, record.names, record.births) == (("1234567",), (("Ann", "Roy"),), ("19560312",))
    with pytest.raises(InputError, match="the database cannot be read"):
        list(read_records(url, mapped={}, day_first=True, query="SELECT * FROM secret_table"))


def test_former_and_preferred_names_are_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("given;family;former;preferred;record\nWilhelmina;Roy;Marlowe;Mina;1234567\n")
    record, _ = _one(path)
    assert set(record.names) == {
        ("Wilhelmina", "Roy"), ("Mina", "Roy"), ("Wilhelmina", "Marlowe"), ("Mina", "Marlowe"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\nSecretname,2\n", "no column for record, card, name or family"),
        ("record,family\n1234567,Secretname,more\n", "a.csv:2: expected 2 columns, got 3"),
        ("record,number\n1234567,Secretname\n", "a.csv:2: number: expected a whole number"),
        ('{"resourceType": "Patient", Secretname\n', "a.csv:1: not a JSON object"),
    ],
)
def test_a_bad_list_is_refused_without_its_values(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        list(read_records(str(path), mapped={}, day_first=True))
    assert caught.value.__cause__ is None
    assert "Secretname" not in str(caught.value)


def test_unreadable_lists_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("record,family\n1,Lef\xe8vre\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.csv: expected UTF-8"):
        list(read_records(str(tmp_path / "latin.csv"), mapped={}, day_first=True))
    with pytest.raises(InputError, match=r"missing\.csv: cannot be read"):
        list(read_records(str(tmp_path / "missing.csv"), mapped={}, day_first=True))
    with pytest.raises(InputError, match="Parquet"):
        list(read_records("a.parquet", mapped={}, day_first=True))
    (tmp_path / "b.csv").write_text("record\n1234567\n")
    with pytest.raises(InputError, match="column mrn: not in the header"):
        list(read_records(str(tmp_path / "b.csv"), mapped={"record": ("mrn",)}, day_first=True))


def test_a_record_never_shows_its_values(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    record, _ = _one(tmp_path / "a.csv")
    assert not any(value in repr(record) for value in ("Ana", "García", "0012345", "1956", "9876"))


def test_settings_are_checked() -> None:
    table = {"max_age_days": 7, "map": {"record": "MRN", "phone": ["home", "cell"]}}
    settings = load_settings(config_of({"patients": table}))
    assert settings.mapped == {"record": ("MRN",), "phone": ("home", "cell")}
    assert settings.folder.name == "patients"
    for bad, message in (
        ({"map": {"recrod": "MRN"}}, "map.recrod: unknown field"),
        ({"map": {"record": 3}}, "map.record: expected a list of texts"),
        ({"hard_cost": 17}, "hard_cost: expected a power of 2"),
        ({"max_age_days": 0}, "max_age_days"),
        ({"colour": "red"}, "patients.colour: unknown field"),
    ):
        with pytest.raises(ConfigError, match=message.replace(".", r"\.")):
            load_settings(config_of({"patients": bad}))
    with pytest.raises(InputError, match="expected FIELD=COLUMN"):
        merge_map({}, ("record",))
