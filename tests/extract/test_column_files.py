"""Tables of Parquet, Arrow, ORC, SPSS, SAS and Stata: rows after the names or the labels of their columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import orc, parquet

from phiscan.config import Limits
from phiscan.extract.databases import column_files
from phiscan.model import Document, FailReason

Read = Callable[..., Document]
N_ROWS = 12_000


def table(n_rows: int = 2) -> Any:
    rows = range(n_rows)
    return pa.table(
        {
            "record_number": [40718823 + row for row in rows],
            "patientName": ["Lena Okafor" if row % 2 == 0 else "Marc Delisle" for row in rows],
            "dob": [dt.date(1951, 3, 14) for _ in rows],
            "illnesses": [["asthma", "gout"] for _ in rows],
            "scan": [b"\x00\xff" for _ in rows],
            "note": [b"seen today" for _ in rows],
        }
    ).replace_schema_metadata({"owner": "Respiratory clinic", "pandas": "{}"})


def as_parquet(made: Any, path: Path) -> None:
    parquet.write_table(made, path, row_group_size=5_000)


def as_arrow(made: Any, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, made.schema) as writer:
        writer.write_table(made, max_chunksize=7_000)


ROWS = {
    "pid": ["40718823", "51120934"],
    "name": ["Lena Okafor", "Marc Côté-Delisle of the north ward"],
    "dob": [dt.date(1951, 3, 14), dt.date(1948, 7, 2)],
    "dx": [1.0, 2.0],
    "wt": [61.5, None],
}
HEADS = {
    "pid": "Hospital number",
    "name": "Patient name",
    "dob": "Date of birth",
    "dx": "Illness treated for",
    "wt": "Weight",
}
ILLNESSES = {"dx": {1: "congestive heart failure", 2: "prostate cancer"}}
WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "visits.parquet": as_parquet,
    "visits.arrow": as_arrow,
    "visits.orc": orc.write_table,
}
STATISTICS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {
    "study.sav": (pyreadstat.write_sav, {"variable_value_labels": ILLNESSES, "note": "Seen by Ann Roy"}),
    "study.zsav": (pyreadstat.write_sav, {"variable_value_labels": ILLNESSES, "compress": True}),
    "study.dta": (pyreadstat.write_dta, {"variable_value_labels": ILLNESSES}),
    "study.xpt": (pyreadstat.write_xport, {}),
}


def written(name: str, folder: Path, n_rows: int = 2) -> bytes:
    path = folder / f"made-{name}"
    if name in WRITERS:
        WRITERS[name](table(n_rows), path)
    else:
        write, options = STATISTICS[name]
        write(pd.DataFrame(ROWS), path, column_labels=HEADS, **options)
    return path.read_bytes()


@pytest.mark.parametrize("name", WRITERS)
def test_rows_follow_the_names_of_columns(read: Read, tmp_path: Path, name: str) -> None:
    document = read(written(name, tmp_path), name)
    assert "ecord number: 40718823 | " in document.text
    assert "atient name: Lena Okafor | " in document.text.replace("Name", "name")
    assert "1951-03-14" in document.text
    assert "seen today" in document.text
    assert "asthma" in document.text
    assert "xff" not in document.text
    assert not document.unread


def test_what_people_wrote_of_a_table_is_text(read: Read, tmp_path: Path) -> None:
    text = read(written("visits.parquet", tmp_path), "visits.parquet").text
    assert "owner: Respiratory clinic" in text
    assert "pandas" not in text


@pytest.mark.parametrize("name", ["visits.parquet", "visits.arrow", "visits.orc"])
def test_all_rows_of_many_batches_are_read(read: Read, tmp_path: Path, name: str) -> None:
    document = read(written(name, tmp_path, N_ROWS), name)
    assert document.text.count("Lena Okafor") == N_ROWS // 2
    assert document.locate(document.text.index(str(40718823 + N_ROWS - 1))).startswith("#row")


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_table_is_never_silent(read: Read, tmp_path: Path, name: str) -> None:
    whole = written(name, tmp_path, 500)
    for data in (whole[: len(whole) // 2], whole[:-40]):
        document = read(data, name)
        assert document.unread
        assert "binary data" not in document.unread[0].detail


def test_what_is_over_the_limit_of_text_is_too_large_and_not_damaged(read: Read, tmp_path: Path) -> None:
    data = written("visits.parquet", tmp_path, N_ROWS)
    document = read(data, "visits.parquet", Limits(text_chars=50_000))
    assert len(document.text) <= 50_000
    assert {part.reason for part in document.unread} == {FailReason.TOO_LARGE}


def test_a_long_value_that_many_rows_share_is_written_out_for_few_at_once(read: Read, tmp_path: Path) -> None:
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 100_000]))
    path = tmp_path / "made"
    parquet.write_table(pa.table({"name": shared}), path)
    assert path.stat().st_size < 1_000_000  # 10 GB when written out
    document = read(path.read_bytes(), "bomb.parquet", Limits(text_chars=1_000_000))
    assert {part.reason for part in document.unread} == {FailReason.TOO_LARGE}


def test_a_text_that_begins_with_the_same_letters_is_text(read: Read) -> None:
    document = read(b"ORC\nThe committee met on Tuesday.\n", "minutes.txt")
    assert document.media_type == "text/plain"
    assert not document.unread


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("visits.arrow", "needs pyarrow, which is not installed (pip install 'phiscan[parquet]')"),
        (
            "study.dta",
            "Stata data file: needs pyreadstat, which is not installed (pip install 'phiscan[statistics]')",
        ),
    ],
)
def test_without_the_library_the_file_is_named_and_its_runs_of_text_are_read(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setattr(column_files, "find_spec", lambda _: None)
    document = read(written(name, tmp_path), name)
    assert "Lena Okafor" in document.text
    assert [part.reason for part in document.unread] == [FailReason.UNSUPPORTED]
    assert f"{said}: only the runs of text in it are read; export it to CSV" in document.unread[0].detail


@pytest.mark.parametrize("name", STATISTICS)
def test_rows_follow_the_labels_of_variables(read: Read, tmp_path: Path, name: str) -> None:
    document = read(written(name, tmp_path), name)
    illness = "1" if name == "study.xpt" else "congestive heart failure"  # a transport file has no labels
    assert (
        "Hospital number: 40718823 | Patient name: Lena Okafor | Date of birth: 1951-03-14"
        f" | Illness treated for: {illness} | Weight: 61.5"
    ) in document.text
    assert "Marc Côté-Delisle of the north ward | Date of birth: 1948-07-02" in document.text
    assert not document.unread


def test_notes_and_the_labels_of_values_are_text(read: Read, tmp_path: Path) -> None:
    document = read(written("study.sav", tmp_path), "study.sav")
    assert "Seen by Ann Roy" in document.text
    assert "dx: Illness treated for (1 = congestive heart failure; 2 = prostate cancer)" in document.text


def test_a_portable_file_is_read(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "made.por"
    pyreadstat.write_por(pd.DataFrame({"pid": ["40718823"], "name": ["Lena Okafor"]}), path)
    assert "40718823 | NAME: Lena Okafor" in read(path.read_bytes(), "a.por").text


def test_rows_are_read_in_blocks(read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_files, "_CELLS_AT_ONCE", 7)
    path = tmp_path / "made.sav"
    numbers = [str(40_000_000 + number) for number in range(500)]
    pyreadstat.write_sav(pd.DataFrame({"pid": numbers}), path)
    document = read(path.read_bytes(), "a.sav")
    assert [number for number in numbers if f"pid: {number}" not in document.text] == []
    assert [segment.locator for segment in document.segments][-1] == "#row498"


def test_of_a_file_that_is_cut_the_rows_before_the_cut_are_read(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "made.dta"
    pyreadstat.write_dta(pd.DataFrame({"name": [f"Lena Okafor{number:04d}" for number in range(400)]}), path)
    data = path.read_bytes()
    at = data.index(b"Okafor0200")
    document = read(data[:at], "a.dta")
    assert "Okafor0150" in document.text
    assert {part.reason for part in document.unread} <= {FailReason.CORRUPT, FailReason.UNSUPPORTED}
    assert document.unread
