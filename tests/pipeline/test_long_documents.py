"""Long documents are examined in windows: what is found stands when the budget ends, on any machine."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.extract import extract_bytes
from phiscan.extract.core.content import Sink, TextFullError
from phiscan.model import Document, FailReason, FileResult, Referral, Segment, Span
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.process import process
from phiscan.pipeline.windows import examination
from phiscan.pipeline.windows.examination import MOST_FINDINGS, NOT_SCREENED
from phiscan.pipeline.windows.people_estimate import WindowCount, estimate_people
from phiscan.pipeline.windows.text_windows import cut_window, window_ranges
from tests.large.made_files import WRITERS, write_csv, write_inventory, write_prose
from tests.pipeline.harness import source_of
from tests.screen.whole import plain

PHI_ROW = "Jean Tremblay,chart 4431298,diagnosed with type 2 diabetes,born 1961-05-03,613-555-0142"
PHI_SENTENCE = (
    "Jean Tremblay (MRN 4431298) was admitted with chest pain and treated for heart failure with furosemide."
)
N_BYTES = 5_000_000
QUICK = 15_000  # records


def result_of(path: Path, engine: Engine) -> FileResult:
    return process(source_of(path.parent, path), engine)


def unread_details(result: FileResult) -> list[str]:
    return [part.detail for part in result.unread if part.locator == NOT_SCREENED]


@pytest.mark.slow
def test_an_export_of_75000_patients_is_referred_and_its_people_are_estimated(
    engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "export.csv"
    write_csv(path, 75_000)
    result = result_of(path, engine)
    document = extract_bytes(path.read_bytes(), path.name, engine.limits)
    charts = [found for found in result.findings if found.entity_type == "MRN"]
    assert len(charts) > 100
    assert all(found.span.of(document.text).isdecimal() for found in charts)
    assert all(found.locator == document.locate(found.span.start) for found in result.findings)
    assert result.referral is Referral.REFERRED
    assert 72_000 < result.n_people < 78_000
    assert len(result.findings) <= MOST_FINDINGS
    assert "people (" in result.detail
    assert result.people_interval is not None
    assert result.people_interval[0] <= result.n_people <= result.people_interval[1]
    assert result.people_interval[0] > 50_000
    (detail,) = unread_details(result)
    assert detail.startswith("not screened: 9")
    assert {part.reason for part in result.unread} == {FailReason.SAMPLED}
    assert {"FirstName", "LastName", "MedicalRecordN", "PhoneNumber"} <= set(result.vector.names)


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "patients.pdf"])
@pytest.mark.slow
def test_many_records_are_referred_in_every_format(name: str, engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path, QUICK)
    result = result_of(path, engine)
    assert result.referral is Referral.REFERRED
    assert 0.85 * QUICK < result.n_people < 1.15 * QUICK


@pytest.mark.slow
@pytest.mark.parametrize("n_times", [1, 5])
@pytest.mark.parametrize("name", list(WRITERS))
def test_very_many_records_are_referred_in_every_format(
    name: str, n_times: int, engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / name
    WRITERS[name](path, 75_000 * n_times)
    assert result_of(path, engine).referral is Referral.REFERRED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "line", "name"),
    [(write_inventory, PHI_ROW, "stock.csv"), (write_prose, PHI_SENTENCE, "minutes.txt")],
)
def test_the_only_record_in_the_middle_of_a_long_file_is_found(
    write: Callable[[Path, int, str], None], line: str, name: str, engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path, N_BYTES, line)
    result = result_of(path, engine)
    assert result.referral is Referral.REFERRED
    document = extract_bytes(path.read_bytes(), name, engine.limits)
    at = document.text.index("4431298")
    assert any(found.span.start <= at < found.span.end for found in result.findings)


@pytest.mark.parametrize(("write", "name"), [(write_inventory, "stock.csv"), (write_prose, "minutes.txt")])
def test_a_long_file_without_a_record_is_not_referred(
    write: Callable[[Path, int], None], name: str, engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path, 2_000_000)
    result = result_of(path, engine)
    assert result.referral is not Referral.REFERRED
    assert result.n_chars > 1_900_000
    assert unread_details(result)
    assert {part.reason for part in result.unread} == {FailReason.TOO_LARGE}  # PHI may be in the rest


@pytest.mark.slow
def test_scarce_processor_time_changes_no_referral(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stock.csv"
    write_inventory(path, 1_000_000, PHI_ROW)
    at_leisure = result_of(path, engine)
    ticks = count(1000, step=1000)
    monkeypatch.setattr(examination, "process_time", lambda: float(next(ticks)))
    in_haste = result_of(path, engine)
    assert (in_haste.referral, in_haste.case) == (at_leisure.referral, at_leisure.case)
    assert in_haste.referral is Referral.REFERRED
    assert len(in_haste.findings) <= len(at_leisure.findings)
    assert in_haste.unread != at_leisure.unread


@pytest.mark.slow
def test_a_file_called_after_a_patient_is_shown_with_its_name(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "Tremblay_Marie_MRN_4431298.csv"
    write_csv(path, 3_000)
    result = result_of(path, engine)
    assert any(found.locator == "#filename" for found in result.findings)
    assert result.n_chars > len(extract_bytes(path.read_bytes(), path.name, engine.limits).text)


def test_windows_cover_the_text_and_end_with_lines() -> None:
    text = "".join(f"line {number} of a log\n" for number in range(5_000))
    document = plain(text)
    ranges = window_ranges(document, 1_000)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert all(text[end - 1] == "\n" for _, end in ranges)
    assert all(end - start <= 1_000 for start, end in ranges)


def test_a_text_without_any_boundary_is_cut_all_the_same() -> None:
    document = Document("x" * 2_500, (Segment("", 0, 2_500),), "text/plain")
    assert window_ranges(document, 1_000) == [(0, 1_000), (1_000, 2_000), (2_000, 2_500)]


def test_a_window_of_a_dump_begins_with_the_names_of_its_columns() -> None:
    head = "INSERT INTO visits (name, chart) VALUES\n"
    rows = "".join(f"('Ann Roy', '{number}'),\n" for number in range(1_000))
    document = Document(head + rows, (Segment("", 0, len(head + rows)),), "text/plain")
    start = document.text.index("('Ann Roy', '500')")
    window = cut_window(document, start, start + 100)
    assert window.document.text.startswith("INSERT INTO visits (name, chart) VALUES\n('Ann Roy', '500')")
    at = window.document.text.index("500")
    place = window.in_whole(Span(at, at + 3))
    assert place is not None
    assert place.of(document.text) == "500"
    assert window.in_whole(Span(0, 6)) is None


def test_people_who_occur_in_every_window_are_not_scaled() -> None:
    same = frozenset({"a", "b"})
    windows = [WindowCount(2, 100, {"PERSON": same}, is_sampled=number > 0) for number in range(6)]
    assert estimate_people(windows, 10_000).n_people == 2


def test_reading_ends_when_its_processor_time_is_over_and_says_so() -> None:
    now = iter([0.0, *[100.0] * 10])
    sink = Sink(Limits(processor_s=10), clock=lambda: next(now))
    sink.add("word " * 250_000, "#first")
    with pytest.raises(TextFullError):
        sink.add("word", "#second")
    assert [(part.locator, part.reason) for part in sink.unread] == [("#second", FailReason.TIMED_OUT)]
    assert "word" in sink.text()


def test_a_table_with_more_text_than_is_kept_is_read_in_windows(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    write_csv(path, 20_000)
    document = extract_bytes(path.read_bytes(), path.name, replace(Limits(), text_chars=500_000))
    assert 350_000 < len(document.text) <= 500_000
    assert document.n_chars_unread > 1_500_000
    assert document.segments[-1].locator.startswith("bytes ")
    assert all(line.startswith("Patient name") for line in document.text.splitlines())
