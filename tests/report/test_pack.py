import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from phiscan.errors import InputError
from phiscan.model import FileResult, Outcome, Referral, Verdict
from phiscan.report.gather import gather
from phiscan.report.pack import pack, write_pack
from phiscan.review.store import Store
from tests.docs.generated import report_schema
from tests.report.page import json_numbers, parsed, shown_numbers, visible_text
from tests.report.synthetic import NOW, Fill, Made, decide_referred, failed, fill, screened, share, source
from tests.review.samples import members


def pack_of(made: Made, **options: Any) -> dict[str, str]:
    return dict(pack(gather(made.database, now=NOW, **options)))


def reviewed(filled: Fill) -> Made:
    made = filled(share(500))
    decide_referred(made, share_decided=0.8)
    store = Store(made.database)
    store.desk.draw_sample(n_queued=10, n_unreferred=60, by="B", now=NOW)
    sample = members(made.database, referred=False)
    store.decide_all([(number, Verdict.NOT_PHI) for number in sample], reviewer="C", now=NOW)
    return made


CASES: dict[str, Callable[[Fill], Made]] = {
    "reviewed": reviewed,
    "nothing reviewed": lambda filled: filled(share(200)),
    "empty": lambda filled: filled([]),
    "all failed": lambda filled: filled([failed(f"{n}.pdf", number=n) for n in range(5)]),
    "all clear": lambda filled: filled([screened(f"{n}.txt", Referral.CLEAR, number=n) for n in range(5)]),
    "all referred": lambda filled: filled([screened(f"{n}", Referral.REFERRED, number=n) for n in range(5)]),
    "two roots": lambda filled: filled(share(20), roots=(b"/srv/share", b"/srv/other")),
}


@pytest.fixture(scope="module", params=sorted(CASES))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    made = CASES[request.param](partial(fill, tmp_path_factory.mktemp("database")))
    yield made
    made.database.close()


@pytest.fixture(scope="module")
def files(made: Made) -> dict[str, str]:
    return pack_of(made)


def test_page_is_well_formed_and_stands_alone(files: dict[str, str]) -> None:
    page = files["report.html"]
    root = parsed(page)
    assert root.get("lang") == "en"
    assert not list(root.iter("script", "link", "img", "iframe"))
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    assert "url(" not in page
    assert "@import" not in page


def test_page_is_structured_for_screen_readers(files: dict[str, str]) -> None:
    root = parsed(files["report.html"])
    levels = [int(element.tag[1]) for element in root.iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for link in root.iter("a"):
        assert link.get("href")[1:] in ids
    for table in root.iter("table"):
        assert table.find("caption") is not None
        assert all(cell.get("scope") in {"row", "col"} for cell in table.iter("th"))
    for svg in root.iter("svg"):
        assert svg.get("aria-hidden") == "true" or svg.get("aria-label")


def test_every_number_of_the_page_is_in_the_json(files: dict[str, str]) -> None:
    sums = {
        float(sum(json.loads(files["report.json"])["coverage"][kind].values()))
        for kind in ("skipped", "failed")
    }
    known = json_numbers(files["report.json"]) | sums
    assert shown_numbers(files["report.html"]) - known == set()


def test_json_satisfies_the_published_schema(files: dict[str, str]) -> None:
    jsonschema.validate(json.loads(files["report.json"]), report_schema())


def test_every_null_of_a_figure_has_a_reason(files: dict[str, str]) -> None:
    def check(value: Any) -> None:
        if isinstance(value, dict):
            if {"value", "reason"} <= value.keys() and value["value"] is None:
                assert value["reason"]
            for item in value.values():
                check(item)
        elif isinstance(value, list):
            for item in value:
                check(item)

    check(json.loads(files["report.json"]))


def test_csv_tables_are_rectangular(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".csv"):
            header, *rows = csv.reader(io.StringIO(text))
            assert len(header) == len(set(header)), name
            assert all(len(row) == len(header) for row in rows), name


def test_files_csv_names_every_crawled_file(made: Made, files: dict[str, str]) -> None:
    rows = list(csv.DictReader(io.StringIO(files["files.csv"])))
    assert len(rows) == len(made.results)


def test_plots_are_svg_files_of_their_own(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".svg"):
            assert parsed(text).tag == "{http://www.w3.org/2000/svg}svg"


def test_names_of_files_cannot_change_the_page(filled: Fill) -> None:
    paths = [
        "<script>alert(1)</script>.txt",
        "a\u202efdp.exe",
        '"><b onload=x>.txt',
        "=HYPERLINK(1).txt",
        "new\nline.txt",
    ]
    made = filled([screened(path, Referral.REFERRED, number=n) for n, path in enumerate(paths)])
    files = pack_of(made)
    page = files["report.html"]
    assert parsed(page) is not None
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\\u202e" in page
    assert "\\x0a" in page
    cells = [cell for row in csv.reader(io.StringIO(files["files.csv"])) for cell in row]
    assert not any(cell.startswith("=") for cell in cells)


def test_names_that_are_not_utf8_are_shown(filled: Fill) -> None:
    raw = FileResult(source(b"caf\xe9.pdf"), Outcome.FAILED, reason="corrupt")
    assert "caf\\xe9.pdf" in visible_text(pack_of(filled([raw]))["report.html"])


def test_says_how_many_are_open(filled: Fill) -> None:
    made = filled([screened(f"{n}.txt", Referral.REFERRED, number=n) for n in range(4)])
    Store(made.database).decide_all([(1, Verdict.PHI)], reviewer="A", now=NOW)
    assert "3 of 4 referred files have no verdict yet" in visible_text(pack_of(made)["report.html"])


def test_says_that_an_unread_file_is_not_clean(filled: Fill) -> None:
    text = visible_text(
        pack_of(filled([failed("a.pdf"), screened("b.txt", Referral.CLEAR, number=2)]))["report.html"]
    )
    assert "1 could not be read" in text
    assert "needs a password that phiscan was not given" in text
    assert "a.pdf" in text


def test_many_files_render_with_capped_lists(filled: Fill) -> None:
    made = filled(share(4_000))
    decide_referred(made)
    files = pack_of(made)
    page = files["report.html"]
    assert len(page) < 2_000_000
    assert "all are in tables/unread.csv" in visible_text(page)
    n_unread = len(json.loads(files["report.json"])["coverage"]["unread"])
    assert len(files["tables/unread.csv"].splitlines()) == n_unread + 1 > 100


def test_writes_private_files_and_replaces_an_earlier_report(filled: Fill, tmp_path: Path) -> None:
    report = gather(filled([screened("a.txt", Referral.REFERRED)]).database, now=NOW)
    out = tmp_path / "new" / "report"
    write_pack(report, out)
    written = write_pack(report, out)
    assert {path.relative_to(out).as_posix() for path in written} == {*pack(report), "report.pdf"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in written)
    assert not list(out.rglob("*.new"))


def test_a_folder_that_cannot_be_written_is_one_line(filled: Fill, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_pack(gather(filled([]).database, now=NOW), tmp_path / "file")


def test_writes_everything_else_when_the_pdf_fails(
    filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(page: str) -> bytes:
        raise ValueError(page)

    report = gather(filled([screened("a.txt", Referral.REFERRED)]).database, now=NOW)
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.pdf").write_bytes(b"of an earlier scan")
    monkeypatch.setattr("phiscan.report.pack.render_pdf", fail)
    written = write_pack(report, out)
    assert {path.relative_to(out).as_posix() for path in written} == {*pack(report)}
    assert not (out / "report.pdf").exists()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "report.pdf" in said
    assert "ValueError" in said
    assert "a.txt" not in said
