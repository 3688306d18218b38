"""Workbooks with sheets that are too large to be loaded: windows of rows of each sheet."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from phiscan.config import Limits
from phiscan.extract.spreadsheets import sheet_xml as extent
from phiscan.model import Document
from tests.large.made_files import write_xlsx

Read = Callable[..., Document]
HEAD = "Patient name: Ann Roy | Date of birth: 1950-05-03 | Chart number: 4431298"


@pytest.fixture(autouse=True)
def _small_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "LARGE_BYTES", 1_000)


def test_shared_strings_and_dates_are_read_as_a_person_sees_them(read: Read, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Patient name", "Date of birth", "Chart number"])
    sheet.append(["Ann Roy", dt.date(1950, 5, 3), 4431298])
    sheet.append([None, None, 17])
    book.create_sheet("Second").append(["Zoe Tremblay"])
    book.save(tmp_path / "a.xlsx")
    document = read((tmp_path / "a.xlsx").read_bytes(), "a.xlsx")
    assert HEAD in document.text
    assert document.locate(document.text.index("Ann Roy")) == "#sheet1!A2"
    assert "Chart number: 17" in document.text
    assert document.locate(document.text.index("Zoe Tremblay")) == "#sheet2!A1"
    assert document.unread == ()


def test_windows_lie_over_the_whole_sheet_and_keep_the_heads_of_its_columns(
    read: Read, tmp_path: Path
) -> None:
    path = tmp_path / "a.xlsx"
    write_xlsx(path, 20_000)
    document = read(path.read_bytes(), "a.xlsx", replace(Limits(), text_chars=600_000))
    rows = [
        int(segment.locator.rpartition("!A")[2]) for segment in document.segments if "!A" in segment.locator
    ]
    assert min(rows) == 1
    assert max(rows) > 15_000
    assert 1_500 < len(rows) < 10_000
    assert document.n_chars_unread > 1_000_000
    labelled = [line for line in document.text.splitlines() if line.startswith("Patient name: ")]
    assert len(labelled) > 0.99 * len(rows)
    assert [part.locator for part in document.unread] == ["#sheet1"]
