"""What files and folders are called says whom a nameless report is about; and what it does not say."""

from __future__ import annotations

import json
import shutil
import unicodedata
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.extract import extract
from phiscan.model import FILE_NAME, FOLDER_NAME, Document, FileResult, PiiBit, Referral, Segment, SourceFile
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.file_names import (
    MAX_NAMES,
    any_names_person,
    as_examined,
    members_of,
    names_of,
    with_names,
)
from phiscan.pipeline.process import process
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.review.store import Store
from tests.pipeline.harness import ToolHere, source_of

REPORT = """ECHOCARDIOGRAM REPORT

Indication: shortness of breath, known hypertension and type 2 diabetes.
Left ventricle: mildly dilated, ejection fraction 35 %. Moderate mitral regurgitation.
The patient denies chest pain. Currently takes furosemide 40 mg daily and metformin 500 mg twice daily.
Impression: ischemic cardiomyopathy, reduced ejection fraction. Continue treatment, repeat in 6 months.
"""


def examined(engine: Engine, root: Path, path: str, text: str = REPORT) -> FileResult:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    return process(source_of(root, path), engine)


@pytest.mark.parametrize(
    ("path", "locator"),
    [
        ("Tremblay_Marie_echo.txt", FILE_NAME),
        ("Nguyen, T - ortho referral.txt", FILE_NAME),
        ("kowalski_anna_bloodwork.txt", FILE_NAME),
        ("Ken.Wong.referral.txt", FILE_NAME),
        ("Li Wu.txt", FILE_NAME),
        ("Tremblay - Marie.txt", FILE_NAME),
        ("Tremblay%20Marie.txt", FILE_NAME),
        (unicodedata.normalize("NFD", "Hélène Bélanger écho.txt"), FILE_NAME),
        ("Clients/Okafor, Chidi/plan.txt", FOLDER_NAME),
        ("2023/Dossiers patients/TREMBLAY MARIE/irm.txt", FOLDER_NAME),
    ],
)
def test_a_nameless_report_is_referred_for_its_name(
    engine: Engine, tmp_path: Path, path: str, locator: str
) -> None:
    result = examined(engine, tmp_path, path)
    assert (result.referral, result.case) == (Referral.REFERRED, "person_and_health")
    assert locator in {finding.locator for finding in result.findings}
    assert PiiBit.LAST_NAME in result.vector.bits
    assert result.n_people == 1


@pytest.mark.parametrize(
    "path", ["Lettre Bouchard.txt", "consult Okafor 2023-02-11.txt", "letter re Mrs Gagnon.txt"]
)
def test_a_report_under_a_surname_alone_is_at_least_on_the_second_list(
    engine: Engine, tmp_path: Path, path: str
) -> None:
    result = examined(engine, tmp_path, path)
    assert result.referral is Referral.REFERRED or result.second_look
    assert PiiBit.LAST_NAME in result.vector.bits
    assert FILE_NAME in {finding.locator for finding in result.findings}
    assert not result.is_of_content


@pytest.mark.parametrize(
    "path",
    [
        "echo.txt", "Echo report 2023-02-11.txt", "Parkinson guide.txt", "St Joseph Hospital newsletter.txt",
        "Dr Patel.txt", "Grant Proposal.txt", "London report.txt", "Price List 2024.txt", "IMG_2034.txt",
        "Staff/Okafor, Chidi/echo.txt", "Users/marie.tremblay/echo.txt", "Mark sheet.txt",
        "Foley catheter care.txt", "CV Marie Tremblay.txt", "timesheet Patel Anita.txt",
    ],
)  # fmt: skip
def test_a_name_that_says_nothing_changes_nothing(engine: Engine, tmp_path: Path, path: str) -> None:
    result = examined(engine, tmp_path, path)
    assert result.referral is Referral.HEALTH_ONLY
    assert (result.n_chars, result.findings) == (len(REPORT) + 1, ())  # a line break behind each segment
    assert result.is_of_content


def test_a_name_alone_refers_no_text_without_a_patient(engine: Engine, tmp_path: Path) -> None:
    leaflet = "People with diabetes should see their doctor once a year. Ask about your feet and your eyes.\n"
    assert examined(engine, tmp_path, "Tremblay_Marie_leaflet.txt", leaflet).referral is not Referral.REFERRED


def test_a_member_of_an_archive_is_known_by_its_name(engine: Engine, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        archive.writestr("scans/Nguyen_Thi_Lan.txt", REPORT)
        archive.writestr("scans/readme.txt", "Scans of the year before.\n")
    result = process(source_of(tmp_path, "old.zip"), engine)
    assert result.referral is Referral.REFERRED
    assert {finding.locator for finding in result.findings} == {f"scans/Nguyen_Thi_Lan.txt{FILE_NAME}"}
    assert result.is_of_content  # it is within the bytes, so every copy has it


def test_names_stand_behind_the_text_with_their_places() -> None:
    text = "one\ntwo"
    segments = (Segment("a.zip!/Roy_Ann.txt#line1", 0, 3), Segment("a.zip!/Roy_Ann.txt#line2", 4, 7))
    document = Document(text, segments, "text/plain")
    members = (("a.zip" + FILE_NAME, "a.zip"), ("a.zip!/Roy_Ann.txt" + FILE_NAME, "Roy Ann.txt"))
    own = ((FILE_NAME, "b.eml"), (FOLDER_NAME, "Roy"))
    of_source = SourceFile(b"/srv/patients", b"Roy/b.eml", 0, 0, 0, 0, 0)
    assert names_of(of_source) == own
    assert members_of(document) == members
    named = with_names(document, (*members, *own))
    assert named.text == "one\ntwo\na.zip\nRoy Ann.txt\nb.eml\nRoy\n"
    assert named.segments[:2] == segments
    found = [(part.locator, named.text[part.start : part.end]) for part in named.segments[2:]]
    assert found == [*members, *own]
    assert with_names(document, ()) == document
    for some in ((), members, own, (*members, *own)):
        shown = with_names(document, some)
        assert as_examined(document, of_source, len(shown.text)) == shown
    assert as_examined(document, of_source, 0) == document


def test_of_a_container_with_many_members_the_first_are_looked_at() -> None:
    segments = tuple(Segment(f"{n}.txt", n, n + 1) for n in range(1_000))
    assert len(members_of(Document("x" * 1_000, segments, ""))) == MAX_NAMES


@pytest.mark.parametrize(
    ("locator", "names"),
    [
        ("Room #4/Roy_Ann.txt#p3/form", ["Roy Ann.txt"]),
        ("Roy_Ann #2 echo.txt", ["Roy Ann #2 echo.txt"]),
        ("Roy_Ann.zip!/echo.txt#line1", ["Roy Ann.zip", "echo.txt"]),
        ("2023\\Clients\\Roy Ann\\echo.txt", ["echo.txt", "Roy Ann"]),
        ("#p3", []),
        ("#sheet1!A7", []),
    ],
)
def test_members_are_known_by_their_locators(locator: str, names: list[str]) -> None:
    assert [name for _, name in members_of(Document("x", (Segment(locator, 0, 1),), ""))] == names


@pytest.mark.parametrize(
    ("root", "path", "folders"),
    [
        ("/srv/Patients", "Roy Ann/2023/echo.txt", ["Roy Ann", "2023"]),
        ("/srv/share", "a/in-patients/Roy Ann/echo.txt", ["Roy Ann"]),
        ("/srv/share", "Roy Ann/echo.txt", []),
        ("/srv/share", "impatience/Roy Ann/echo.txt", []),
    ],
)
def test_folders_count_below_one_of_patients(root: str, path: str, folders: list[str]) -> None:
    found = names_of(SourceFile(root.encode(), path.encode(), 0, 0, 0, 0, 0))
    assert found[0] == (FILE_NAME, "echo.txt")
    assert [name for locator, name in found[1:] if locator == FOLDER_NAME] == folders


@pytest.mark.parametrize(
    "name", [b"\xff\xfe.txt", b"a\nb\r\x00.txt", "\N{RIGHT-TO-LEFT OVERRIDE}a".encode(), b"."]
)
def test_takes_any_bytes_for_a_name(engine: Engine, name: bytes) -> None:
    names = names_of(SourceFile(b"/", name, 0, 0, 0, 0, 0))
    assert names[0][1].isprintable()
    assert not any_names_person(names, engine.screener)


@pytest.mark.slow
def test_copies_of_a_container_have_its_findings_where_they_stand(
    tool_here: ToolHere, tmp_path: Path
) -> None:
    tool = tool_here
    share = tmp_path / "share"
    (share / "Clients/a box").mkdir(parents=True)
    with zipfile.ZipFile(share / "Clients/a box/z.zip", "w") as archive:
        archive.writestr("scans/Nguyen_Thi_Lan.txt", REPORT)
    names = ["Clients/a box/z.zip", "a.zip", "a second copy of the archive.zip"]
    for name in names[1:]:
        shutil.copy(share / names[0], share / name)
    assert tool.scan(share)["copies"] == 2
    now = datetime(2026, 11, 22, tzinfo=UTC)
    with Store.open(f"sqlite:///{tool.database}") as store, Rereader(Config(home=tool.home)) as rereader:
        for name in names:
            shown = store.desk.reveal(store.find(name), purpose="test", by="ana", now=now)
            text = rereader.read(shown).text
            assert [text[start:end] for start, end, _ in shown.spans] == ["Nguyen Thi Lan"]


@pytest.mark.slow
def test_copies_with_other_names_are_about_other_people(tool_here: ToolHere, tmp_path: Path) -> None:
    tool = tool_here
    share = tmp_path / "share"
    share.mkdir()
    for name in ("a.txt", "b.txt", "Tremblay_Marie_echo.txt", "Okafor_Chidi_echo.txt", "z.txt"):
        (share / name).write_text(REPORT)
    done = tool.run("scan", share, "--json", "--exit-zero")
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["screened"], summary["copies"], summary["referred"]) == (5, 2, 2)
    assert summary["people_at_risk"] == 2
    shutil.copy(share / "Okafor_Chidi_echo.txt", share / "later.txt")
    assert tool.scan(share)["referred"] == 2
    lines = tool.run("queue", "export", "--json", "--all").stdout.splitlines()
    decisions = {row["path"]: row["decision"] for row in map(json.loads, lines)}
    assert decisions["later.txt"] == decisions["z.txt"] == "health_only"
    now = datetime(2026, 11, 22, tzinfo=UTC)
    with Store.open(f"sqlite:///{tool.database}") as store, Rereader(Config(home=tool.home)) as rereader:
        number = store.find("Okafor_Chidi_echo.txt")
        shown = store.desk.reveal(number, purpose="test", by="ana", now=now)
        text = rereader.read(shown).text
        assert [text[start:end] for start, end, kind in shown.spans if kind == "PERSON"] == ["Okafor Chidi"]
        plain = store.desk.reveal(store.find("a.txt"), purpose="test", by="ana", now=now)
        assert rereader.read(plain).text == extract(source_of(share, "a.txt"), Config().limits).text
