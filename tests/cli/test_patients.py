"""The commands of the patient index: the tutorial as it stands, then questions to what it left."""

import csv
import json
import re
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from phiscan.review.store import Store
from tests.cli.program import as_published
from tests.pipeline.harness import ToolHere

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "patients.md"
_BLOCK = re.compile(r"<!-- (?P<what>[^>]+) -->\n```\w+\n(?P<text>.*?)```", re.DOTALL)
PATIENTS = ("Karrowick", "Vandelune", "Ostriba", "Jellicorn", "1234567897", "40117718", "1941-07-30")


@dataclass
class Run:
    tool: ToolHere
    outputs: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory, warm: None) -> Run:  # noqa: ARG001 (it must run)
    """Run the commands of the tutorial, and note what it promises and was not printed."""
    folder = tmp_path_factory.mktemp("patients")
    run = Run(ToolHere(folder / "home"))
    for block in _BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")):
        what, _, value = block["what"].partition(":")
        if what == "file":
            path = folder / value.strip()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
        elif what == "run":
            for line in block["text"].splitlines():
                words = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]
                assert words[0] == "phiscan"
                done = run.tool.run(*words[1:])
                assert done.returncode == int(value.split()[-1] if value else 0), (line, done.stderr)
                run.outputs += [done.stdout, done.stderr]
        elif what == "output":
            run.missing += [line for line in block["text"].splitlines() if line not in run.outputs[-2]]
        elif (folder / value.strip()).read_text() != block["text"]:
            run.missing.append(value)
    return run


def test_the_tutorial_does_what_it_says(tutorial: Run) -> None:
    assert len(tutorial.outputs) == 2 * 6
    assert tutorial.missing == []


def test_no_patient_is_in_what_was_printed_or_stored(tutorial: Run) -> None:
    written = b"".join(path.read_bytes() for path in tutorial.tool.home.rglob("*") if path.is_file())
    printed = "".join(tutorial.outputs).encode()
    assert [value for value in PATIENTS if value.encode() in written + printed] == []


def test_matches_are_stored_by_opaque_number(tutorial: Run) -> None:
    with sqlite3.connect(tutorial.tool.database) as connection:
        found = connection.execute(
            "SELECT patient, kind FROM patient_match WHERE kind <> 'rare_name' ORDER BY patient"
        ).fetchall()
        checks = connection.execute("SELECT n_patients, expected_by_chance FROM patient_check").fetchall()
    assert found == [(1, "name_birth"), (2, "card"), (3, "card")]
    assert sorted(n for n, _ in checks) == [1, 2]
    assert all(0 < chance < 0.01 for _, chance in checks)


def test_a_match_raises_the_probability_and_says_so(tutorial: Run) -> None:
    shown = tutorial.tool.run("queue", "show", "letters/referral.txt").stdout
    assert "holds a patient of the organization's own list" in shown


def test_find_answers_by_name_and_by_number_and_logs_who_asked(tutorial: Run) -> None:
    tool = tutorial.tool

    def paths(*question: str) -> list[str]:
        done = tool.run("patients", "find", *question, "--purpose", "request 4", "--json")
        assert done.returncode == 0
        found = as_published("patients-find", done.stdout)["files"]
        assert all(one["present"] and one["first_seen"] == one["last_seen"] for one in found)
        return [one["path"] for one in found]

    before = _events(tool)
    assert paths("--name", "KARROWICK, Torvald", "--birth-date", "12/03/1956") == ["letters/referral.txt"]
    assert paths("--number", "9876543217") == ["tables/clinic.csv"]
    assert paths("--number", "1111222233") == []
    assert paths("--name", "Zantho Jellicorn", "--birth-date", "2001-01-19") == []
    # The stranger of the table is in no index: found by the stored hashes of findings.
    assert paths("--name", "Bristil Prathewin", "--birth-date", "1970-05-05") == ["tables/clinic.csv"]
    assert paths("--number", "6011000990") == ["tables/clinic.csv"]
    new = _events(tool)[len(before) :]
    assert [(event, purpose) for event, purpose, _ in new] == [("find", "request 4")] * 6
    assert not any(value in details for _, _, details in new for value in (*PATIENTS, "Prathewin"))
    with Store.open(f"sqlite:///{tool.database}") as store:
        assert store.verify_audit().ok


def test_find_refuses_what_names_nobody_in_the_same_words_for_all(tutorial: Run) -> None:
    tool = tutorial.tool
    for question, message in (
        (("--name", "Torvald Karrowick"), "expected either a name and a birth date, or a number"),
        (("--name", "Karrowick", "--birth-date", "1956-03-12"), "expected a given and a family name"),
        (("--name", "A B", "--birth-date", "1956-03-12"), "expected a given and a family name"),
        (("--name", "Torvald Karrowick", "--birth-date", "spring"), "expected a date"),
        (("--number", "12"), "expected at least 4"),
    ):
        done = tool.run("patients", "find", *question, "--purpose", "x")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert "Karrowick" not in done.stderr
    assert "purpose" in tool.run("patients", "find", "--number", "9876543217", "--purpose", " ").stderr


def test_an_account_without_the_role_may_not_search(tutorial: Run) -> None:
    tool = tutorial.tool
    password = tool.home.parent / "password"
    password.write_text("correct horse battery staple\n")
    for name, role in (("Rea Der", "reader"), ("Re Viewer", "reviewer")):
        tool.run("users", "add", name, "--role", role, "--password-file", password)
    question = ("patients", "find", "--number", "9876543217", "--purpose", "x", "--json")
    refused = tool.run(*question, "--by", "Rea Der")
    assert refused.returncode == 2
    assert "may not search" in refused.stderr
    assert len(json.loads(tool.run(*question, "--by", "Re Viewer").stdout)["files"]) == 1


def test_affected_counts_each_patient_once_over_copies(tutorial: Run) -> None:
    out = tutorial.tool.home.parent / "any.csv"
    done = tutorial.tool.run("patients", "affected", "--decided", "any", "--out", out, "--json")
    found = as_published("patients-affected", done.stdout)
    assert (found["patients"], found["by_region"]) == (3, {"ON": 2, "QC": 1})
    assert found["files_without_match"] == 0
    assert list(csv.reader(out.open())) == [["patient"], ["1"], ["2"], ["3"]]
    assert out.stat().st_mode & 0o077 == 0
    none = tutorial.tool.run("patients", "affected", "--decided", "unsure", "--out", out, "--json")
    assert json.loads(none.stdout)["patients"] == 0


def test_status_says_what_the_index_is_and_warns_of_its_age(tutorial: Run) -> None:
    tool = tutorial.tool
    found = json.loads(tool.run("patients", "status", "--json").stdout)
    assert (found["patients"], found["age_days"]) == (4, 0)
    manifest = tool.home / "patients" / "index.json"
    text = manifest.read_text()
    try:
        manifest.write_text(text.replace(found["updated"], "2020-01-01T00:00:00+00:00"))
        assert "days old" in tool.run("patients", "status").stderr
    finally:
        manifest.write_text(text)


def _events(tool: ToolHere) -> list[tuple[str, str, str]]:
    with sqlite3.connect(tool.database) as connection:
        return connection.execute("SELECT event, purpose, details FROM patient_event ORDER BY id").fetchall()
