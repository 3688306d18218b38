"""Parquet, Arrow and ORC tables: rows after the names of their columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from phiscan.config import Limits
from phiscan.extract import extract
from phiscan.extract.databases import column_files
from phiscan.model import Document, FailReason, SourceFile

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


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "visits.parquet": as_parquet,
    "visits.arrow": as_arrow,
    "visits.orc": orc.write_table,
}


def written(name: str, folder: Path, n_rows: int = 2) -> bytes:
    path = folder / f"made-{name}"
    WRITERS[name](table(n_rows), path)
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


def test_what_is_over_the_limit_of_text_is_too_large_and_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    path.write_bytes(written("visits.parquet", tmp_path, N_ROWS))
    source = SourceFile.of(bytes(tmp_path), b"visits.parquet", path.lstat())
    document = extract(source, Limits(text_chars=50_000))
    assert len(document.text) <= 50_000
    assert {part.reason for part in document.unread} == {FailReason.TOO_LARGE}


def test_a_long_value_that_many_rows_share_is_written_out_for_few_at_once(tmp_path: Path) -> None:
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 100_000]))
    path = tmp_path / "bomb.parquet"
    parquet.write_table(pa.table({"name": shared}), path)
    assert path.stat().st_size < 1_000_000  # 10 GB when written out
    source = SourceFile.of(bytes(tmp_path), b"bomb.parquet", path.lstat())
    document = extract(source, Limits(text_chars=1_000_000))
    assert {part.reason for part in document.unread} == {FailReason.TOO_LARGE}


def test_a_text_that_begins_with_the_same_letters_is_text(read: Read) -> None:
    document = read(b"ORC\nThe committee met on Tuesday.\n", "minutes.txt")
    assert document.media_type == "text/plain"
    assert not document.unread


def test_without_the_library_the_runs_of_text_are_read(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_files, "find_spec", lambda _: None)
    document = read(written("visits.arrow", tmp_path), "visits.arrow")
    assert "Lena Okafor" in document.text
    assert [part.reason for part in document.unread] == [FailReason.UNSUPPORTED]
    assert "phiscan[parquet]" in document.unread[0].detail
