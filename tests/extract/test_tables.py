"""Tables as rows with the heads of their columns, also of sheets too large to be loaded: windows of rows."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from phiscan.config import Limits
from phiscan.extract.spreadsheets import sheet_xml as extent
from phiscan.extract.spreadsheets.rows import find_delimiter
from phiscan.model import Document
from tests.extract.packages import saved
from tests.large.made_files import write_xlsx

Read = Callable[..., Document]


def test_reads_hidden_sheets_dates_numbers_and_comments(read: Read) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Patients"
    sheet.append(["Name", "Health card", "Visit"])
    sheet.append(["Ann Roy", 1234567890, dt.datetime(2024, 3, 1)])  # noqa: DTZ001 (a cell has no zone)
    sheet["A2"].comment = openpyxl.comments.Comment("called her husband", "nurse")
    hidden = book.create_sheet("Lena Okafor")
    hidden.sheet_state = "veryHidden"
    hidden.append(["secret list"])
    sheet.oddHeader.center.text = "Ward Nine"
    document = read(saved(book), "p.xlsx")
    assert "Name: Ann Roy | Health card: 1234567890 | Visit: 2024-03-01" in document.text
    assert all(words in document.text for words in ("secret list", "called her husband", "Ward Nine"))
    assert document.locate(document.text.index("Ann Roy")) == "#sheet1!A2"
    assert document.locate(document.text.index("secret list")) == "#sheet2!A1"
    assert "Lena Okafor" in document.text  # a title is text, and in no locator
    assert not any("Okafor" in part.locator for part in document.segments)


QUESTIONS = """Respondent ID,Start,What is your name?,,Which illness were you treated for?,Ward,
,,First name,Last name,Open-Ended Response,Medical,Surgical
1001,2026-01-02,Lena,Okafor,congestive heart failure,x,
1002,2026-01-03,Marc,Delisle,prostate cancer,,x
"""
FORM = "Patient name,Ann Roy\nDate of birth,1950-01-02\nPhone,416-555-0100\n"
ILLNESS = "Which illness were you treated for?: congestive heart failure"
NAMES = """record_id,first_name,last_name,mrn
Record ID,First name,Last name,Hospital number
1,Lena,Okafor,40718823
2,Marc,Delisle,51120934
"""


@pytest.mark.parametrize(
    ("text", "name", "row"),
    [
        (QUESTIONS, "a.csv", f"First name: Lena | Last name: Okafor | {ILLNESS} | Ward Medical: x"),
        (NAMES, "a.csv", "First name: Lena | Last name: Okafor | Hospital number: 40718823"),
        (
            "Last name,First name,DOB\nRoy,Ann,x\nRoy,,1951-04-05\n",
            "a.csv",
            "Last name: Roy | DOB: 1951-04-05",
        ),
        (
            "Clinic list,\n,\nName,Phone\nAnn Roy,416-555-0100\n",
            "a.csv",
            "Name: Ann Roy | Phone: 416-555-0100",
        ),
        ("Ann Roy,Laval\nBob Can,Sutton\nCy Dee,Ajax\n", "a.csv", "Ann Roy | Laval\nBob Can | Sutton\n"),
        (FORM, "a.csv", "Patient name: Ann Roy\nDate of birth: 1950-01-02\n"),
        ("Name,Date,\n,2026-01-02,seen\nRoy,2026-01-03,seen\n", "a.csv", "Name: Roy | Date: 2026-01-03"),
        (
            "<table><tr><th>Name</th><th>MRN</th></tr><tr><td>Roy</td><td>4</td></tr></table>",
            "a.html",
            "Name: Roy | MRN: 4",
        ),
    ],
)
def test_rows_keep_their_heads(read: Read, text: str, name: str, row: str) -> None:
    assert row in read(text.encode(), name).text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_finds_the_delimiter(read: Read, delimiter: str) -> None:
    lines = [
        ["Name", "City", "Phone"],
        ["Ann Roy", "Laval", "450-555-0100"],
        ["Bob Can", "Ajax", "905-555-0101"],
    ]
    text = "\n".join(delimiter.join(line) for line in lines)
    assert find_delimiter(text) == delimiter
    document = read(text.encode(), "list.csv")
    assert "Name: Bob Can | City: Ajax | Phone: 905-555-0101" in document.text
    assert document.locate(document.text.index("Bob Can")) == "#row3"


def test_keeps_commas_and_line_breaks_within_quotes(read: Read) -> None:
    document = read(b'Name,Address\n"Roy, Ann","1 Main St\nLaval"\n"Can, Bob","2 Elm"\n', "a.csv")
    assert "Name: Roy, Ann | Address: 1 Main St\nLaval" in document.text
    assert document.locate(document.text.index("Can, Bob")) == "#row4"


def test_an_unbalanced_quote_does_not_swallow_the_file(read: Read) -> None:
    rows = "".join(f"{number},value{number},x\n" for number in range(100))
    document = read(("id,what,note\n" + '5,"open,x\n' + rows).encode(), "a.csv")
    assert "what: value99" in document.text


def test_a_long_table_stays_linear(read: Read) -> None:
    rows = "".join(f"Name{number},{number},Laval\n" for number in range(20_000))
    document = read(("name,number,city\n" + rows).encode(), "a.csv")
    assert len(document.segments) == 20_001
    assert len(document.text) < 5 * len(rows)


def test_reads_lines_that_end_with_a_carriage_return(read: Read) -> None:
    text = read(
        b"name,dob,city,unit\rAnn Roy,1950-01-02,Laval,B\rLena May,1951-01-02,Laval,C\r", "a.csv"
    ).text
    assert "name: Lena May | dob: 1951-01-02" in text


HEAD = "Patient name: Ann Roy | Date of birth: 1950-05-03 | Chart number: 4431298"


@pytest.fixture
def _small_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "LARGE_BYTES", 1_000)


@pytest.mark.usefixtures("_small_bound")
def test_shared_strings_and_dates_are_read_as_a_person_sees_them(read: Read) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Patient name", "Date of birth", "Chart number"])
    sheet.append(["Ann Roy", dt.date(1950, 5, 3), 4431298])
    sheet.append([None, None, 17])
    book.create_sheet("Second").append(["Zoe Tremblay"])
    document = read(saved(book), "a.xlsx")
    assert HEAD in document.text
    assert document.locate(document.text.index("Ann Roy")) == "#sheet1!A2"
    assert "Chart number: 17" in document.text
    assert document.locate(document.text.index("Zoe Tremblay")) == "#sheet2!A1"
    assert document.unread == ()


@pytest.mark.usefixtures("_small_bound")
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
