"""A path that names a person beside an illness or care is referred by itself, whatever is in the file."""

from __future__ import annotations

import io
import json
import tarfile
import tomllib
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.model import OWN_NAMES, TITLED, Document, Outcome, Referral, SourceFile
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.file_names import unread_document
from phiscan.pipeline.path_examination import examine_path
from phiscan.pipeline.process import process
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.review.store import Store
from tests.pipeline.harness import ToolHere, source_of

NAMES = tomllib.loads((Path(__file__).parent / "path_names.toml").read_text(encoding="utf-8"))
NOTES = tomllib.loads((Path(__file__).parents[1] / "text/notes.toml").read_text(encoding="utf-8"))
VIDEO = b"\0\0\0\x18ftypmp42" + bytes(range(256)) * 4
RESULTS = "Hb 9.8 g/dL\nFerritin 4 ug/L\nSee again in two weeks.\n"


@pytest.fixture(scope="module")
def engine(engine: Engine) -> Engine:
    return replace(engine, audit_share=0.0)


def is_referred(path: str, engine: Engine) -> bool:
    path, _, member = path.partition("!/")
    source = SourceFile(b"/srv/share", path.encode(), 0, 0, 0, 0, 0)
    return examine_path(Document("", (), "", members=(member,) * bool(member)), source, engine) is not None


@pytest.mark.parametrize(("part", "recall"), [("tuned", 0.95), ("held_out", 0.9), ("later", 0.9)])
def test_paths_of_patients_are_referred(part: str, recall: float, engine: Engine) -> None:
    paths = NAMES[part]["patients"]
    missed = [path for path in paths if not is_referred(path, engine)]
    print(part, f"{len(paths) - len(missed)} of {len(paths)}", missed)
    assert len(paths) - len(missed) >= recall * len(paths)


@pytest.mark.parametrize("part", ["tuned", "held_out", "later"])
def test_paths_of_other_documents_are_not(part: str, engine: Engine) -> None:
    assert [path for path in NAMES[part]["others"] if is_referred(path, engine)] == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Okafor Chidi/biopsy results.mp4", True),
        ("Staff/Okafor Chidi/biopsy results.mp4", False),
        ("Staff/Patients/Okafor Chidi/biopsy results.mp4", True),
        ("site-packages/tests/marie_poisson_results.csv", False),
        ("Okafor Chidi.zip!/scans/biopsy.mp4", True),
        ("biopsies.zip!/Okafor Chidi/1.mp4", True),
        ("hodgkin-howard-1295.json", False),
        ("Ms Patel pregnancy.png", True),
        ("Patel 2019 pregnancy.png", False),
    ],
)
def test_person_and_care_may_stand_in_different_parts_of_a_path(
    path: str, expected: bool, engine: Engine
) -> None:
    assert is_referred(path, engine) is expected


def test_what_cannot_be_read_is_referred_by_its_name(engine: Engine, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        archive.writestr("scans/Nguyen_Thi_Lan colonoscopy.mp4", VIDEO)
        archive.writestr("Okafor Chidi biopsy.txt", "")
    with tarfile.open(tmp_path / "old.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("Okafor Chidi biopsy.txt"), io.BytesIO())
    (tmp_path / "Haddad Rania mammogram.mp4").write_bytes(VIDEO)
    for name, reason in (
        ("old.zip", "unsupported"),
        ("old.tar", ""),
        ("Haddad Rania mammogram.mp4", "unsupported"),
    ):
        result = process(source_of(tmp_path, name), engine)
        assert (result.referral, result.case, result.by_name) == (Referral.REFERRED, "file_name", True), name
        assert result.reason == reason
        assert (result.outcome is Outcome.FAILED) == bool(reason)
        assert result.findings


def test_the_names_of_an_unread_file_are_its_content() -> None:
    one, other = (
        unread_document(SourceFile(b"/srv", path, 0, 0, 0, 0, 0))
        for path in (b"a/Roy Ann.mp4", b"Roy Ann.mp4")
    )
    assert one.text == "Roy Ann.mp4\nsrv\na\n"
    assert one.content_hash != other.content_hash


@pytest.mark.slow
def test_a_share_ends_with_each_file_in_its_place(tool_here: ToolHere, tmp_path: Path) -> None:
    tool, share = tool_here, tmp_path / "share"
    (tmp_path / "phiscan.toml").write_text("audit_share = 0.0\n")  # which are read at once
    (share / "Patients/Okafor, Chidi").mkdir(parents=True)
    (share / "Patients/Okafor, Chidi/colonoscopy.mp4").write_bytes(VIDEO)
    (share / "Marchetti Paolo - epilepsy.txt").touch()
    (share / "nothing.txt").touch()
    (share / "Haddad Rania biopsy.txt").symlink_to("nothing.txt")
    (share / "Asante Kwabena - accommodation request - Crohns.txt").write_text("approved\n")
    (share / "Lindholm Ruth - parking request - Lot C.txt").write_text("approved\n")
    (share / "Kowalczyk Adam lab results.txt").write_text(RESULTS)
    (share / "minutes.txt").write_text("The committee met on Monday and agreed on the library's budget. " * 4)
    for language, notes in NOTES.items():
        (share / f"note_{language}.txt").write_text(f"Discharge summary, ward 5\n\n{notes[0]}")
    done = tool.run("scan", share, "--json")
    assert done.returncode == 3, done.stderr
    summary = json.loads(done.stdout)
    assert summary["by_name"] == 4
    assert summary["not_covered"] == dict.fromkeys(sorted(NOTES), 1)
    rows = {
        row["path"]: row
        for row in map(json.loads, tool.run("queue", "export", "--json", "--all").stdout.splitlines())
    }
    by_name = {path: row["outcome"] for path, row in rows.items() if row["by_name"]}
    assert by_name == {
        "Asante Kwabena - accommodation request - Crohns.txt": "screened",
        "Haddad Rania biopsy.txt": "skipped",
        "Marchetti Paolo - epilepsy.txt": "skipped",
        "Patients/Okafor, Chidi/colonoscopy.mp4": "failed",
    }
    results = "Kowalczyk Adam lab results.txt"  # referred by what is in it, now that it is known whose it is
    assert {rows[path]["decision"] for path in (*by_name, results)} == {"referred"}
    assert rows["nothing.txt"]["decision"] is None
    assert (rows["minutes.txt"]["language"], rows["minutes.txt"]["covered"]) == ("en", True)
    for language in NOTES:
        row = rows[f"note_{language}.txt"]
        assert (row["language"], row["covered"]) == (language, False)
        assert row["second_look"] or row["decision"] == "referred"
    again = json.loads(tool.run("scan", share, "--json").stdout)
    assert (again["by_name"], again["not_covered"]) == (summary["by_name"], summary["not_covered"])
    assert again["unchanged"] == summary["screened"]
    now = datetime(2026, 11, 28, tzinfo=UTC)
    with Store.open(f"sqlite:///{tool.database}") as store, Rereader(Config(home=tool.home)) as rereader:
        for path in by_name:
            shown = store.desk.reveal(store.find(path), purpose="test", by="ana", now=now)
            text = rereader.read(shown).text
            people = [text[start:end] for start, end, kind in shown.spans if kind == "PERSON"]
            assert len(people) == 1, path
            assert people[0].split(",")[0].split()[0] in path


VISITS = (
    "Name,Date,Time,Room\nAmara Okonkwo,2024-07-01,09:00,4\nLiam Gallagher,2024-07-02,09:30,4\n"
    "Sofia Petrova,2024-07-02,10:15,2\n"
)
SUIVI = (
    "Nom;Début;Étape;Revue\nJean-Marc Tremblay;2024-07-01;2;2024-08-12\n"
    "Solange Bélanger;2024-07-15;1;2024-08-20\nKarim Haddad;2024-06-03;4;2024-09-01\n"
)
CALL = "Please call Mrs. Eleni Papadopoulou about the result before Friday.\nTel. 613-555-0142\nDeepak\n"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (VISITS, "Oncology/chemo appointments/June.csv", True),
        (VISITS, "Clinic/Diabetes/foot checks.csv", True),
        (VISITS, "Methadone clinic/attendance.csv", True),
        (VISITS, "HR/Sick leave 2024/list.csv", True),
        (VISITS, "Meeting rooms/bookings/June.csv", False),
        (VISITS, "HR/Onboarding 2024/rota.csv", False),
        (VISITS, "Driving school/lessons.csv", False),
        (VISITS, "Cardiology/Staff rota/June.csv", False),  # who works there is ill of nothing
        (VISITS, "Dental practice/staff rota.csv", False),
        (SUIVI, "RH/Santé au travail/retour progressif.csv", True),
        (SUIVI, "Réadaptation/clients/suivi.csv", True),
        (SUIVI, "RH/Arrêts maladie/2024.csv", True),
        (SUIVI, "RH/Formations/2024.csv", False),
        (SUIVI, "Informatique/déploiement/étapes.csv", False),
        (CALL, "Lab/biopsies/to do.txt", True),
        (CALL, "Fertility clinic/messages/note.txt", True),
        (CALL, "Sales/leads/note.txt", False),
        (CALL, "Exams/calls/note.txt", False),
    ],
)
def test_people_are_judged_below_the_names_of_folders(
    text: str, path: str, expected: bool, tmp_path: Path, engine: Engine
) -> None:
    share = tmp_path / "share"
    (share / path).parent.mkdir(parents=True)
    (share / path).write_text(text)
    result = process(source_of(share, path), engine)
    assert (result.referral is Referral.REFERRED) == expected
    assert (result.case == TITLED) == expected
    places = [(finding.span, finding.entity_type) for finding in result.findings]
    assert len(places) == len(set(places))
    assert all(finding.locator not in OWN_NAMES for finding in result.findings)
    assert not result.by_name


def test_copies_below_other_names_are_judged_by_themselves(tmp_path: Path, tool_here: ToolHere) -> None:
    for folder in ("Archive", "Meeting rooms", "Oncology/chemo appointments", "Training"):
        (tmp_path / "share" / folder).mkdir(parents=True)
        (tmp_path / "share" / folder / "June.csv").write_text(VISITS)
    assert tool_here.run("scan", tmp_path / "share").returncode == 1
    listed = json.loads(tool_here.run("queue", "list", "--json").stdout)["items"]
    assert [item["path"] for item in listed] == ["Oncology/chemo appointments/June.csv"]
    shown = tool_here.run("queue", "show", str(listed[0]["file"])).stdout
    assert "the names of its file and folders tell of an illness or care" in shown.lower()
