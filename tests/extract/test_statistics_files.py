"""SPSS, SAS and Stata files: rows after the labels of variables, coded values by their labels."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from phiscan.extract.databases import column_files
from phiscan.model import Document, FailReason

Read = Callable[..., Document]
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
WRITERS: dict[str, Callable[[Path], None]] = {
    "study.sav": lambda path: pyreadstat.write_sav(
        pd.DataFrame(ROWS), path, column_labels=HEADS, variable_value_labels=ILLNESSES, note="Seen by Ann Roy"
    ),
    "study.zsav": lambda path: pyreadstat.write_sav(
        pd.DataFrame(ROWS), path, column_labels=HEADS, variable_value_labels=ILLNESSES, compress=True
    ),
    "study.dta": lambda path: pyreadstat.write_dta(
        pd.DataFrame(ROWS), path, column_labels=HEADS, variable_value_labels=ILLNESSES
    ),
    "study.xpt": lambda path: pyreadstat.write_xport(pd.DataFrame(ROWS), path, column_labels=HEADS),
}


def written(name: str, folder: Path) -> bytes:
    path = folder / f"made-{name}"
    WRITERS[name](path)
    return path.read_bytes()


@pytest.mark.parametrize("name", WRITERS)
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


def test_without_the_library_the_file_is_named(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_files, "find_spec", lambda _: None)
    document = read(written("study.dta", tmp_path), "study.dta")
    assert "Lena Okafor" in document.text
    assert document.unread[0].detail == (
        "Stata data file: needs pyreadstat, which is not installed (pip install 'phiscan[statistics]'):"
        " only the runs of text in it are read; export it to CSV"
    )
