"""The commands that change the index: numbers for the join, update, rotation, destruction, and their log."""

import json
import sqlite3
from pathlib import Path

import pytest

from phiscan.review.store import Store
from tests.cli.program import refused, run
from tests.patients.population import population, write_list


@pytest.fixture(autouse=True)
def _patient_list(home: Path) -> None:
    write_list(home.parent / "list.csv", population(30))


def _json(*words: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(run("patients", *words, "--json"))
    return found


def test_an_index_from_its_building_to_its_destruction(home: Path, tmp_path: Path) -> None:
    built = _json("build", "list.csv", "--numbers", "numbers.csv", "--by", "Ann")
    assert built["patients"] == 30
    assert (tmp_path / "numbers.csv").read_text().splitlines()[:3] == ["row,number", "1,1", "2,2"]
    write_list(tmp_path / "more.csv", list(population(3, seed=7, first_number=1000)))
    write_list(tmp_path / "gone.csv", list(population(2)))
    updated = _json("update", "more.csv", "--remove", "gone.csv", "--by", "Ann")
    assert (updated["added"], updated["changed"], updated["removed"]) == (3, 0, 2)
    assert (updated["index"], updated["patients"]) == (built["index"], 31)
    rotated = _json("rotate", "list.csv", "more.csv", "--by", "Bo")
    assert rotated["key"] != built["key"]
    assert rotated["patients"] == 33
    destroyed = _json("destroy", "--certificate", "certificate.json", "--by", "Bo")
    assert json.loads((tmp_path / "certificate.json").read_text()) == destroyed
    assert (destroyed["key"], destroyed["destroyed_by"]) == (rotated["key"], "Bo")
    assert {path.name for path in home.iterdir()} == {"phiscan.db"}
    with sqlite3.connect(home / "phiscan.db") as connection:
        rows = connection.execute("SELECT event, done_by, details FROM patient_event ORDER BY id").fetchall()
    assert [row[:2] for row in rows] == [
        ("build", "Ann"), ("update", "Ann"), ("rotate", "Bo"), ("destroy", "Bo"),
    ]  # fmt: skip
    assert json.loads(rows[2][2])["former_key"] == built["key"]
    with Store.open(f"sqlite:///{home / 'phiscan.db'}") as store:
        assert store.verify_audit().ok


def test_wrong_use_is_said_in_one_line(home: Path, tmp_path: Path) -> None:
    assert not home.exists()
    for words, message in (
        (("status",), "there is no patient index"),
        (("update",), "expected FILE"),
        (("build", "missing.csv"), "missing.csv: cannot be read"),
        (("build", "list.csv", "--map", "colour=red"), "expected FIELD=COLUMN"),
        (("build", "list.csv", "more.csv", "--query", "SELECT 1"), "expected one FILE"),
        (("rotate", "list.csv"), "there is no patient index"),
    ):
        assert message in refused("patients", *words)
    run("patients", "build", "list.csv")
    (tmp_path / "c.json").write_text("{}")
    assert "never overwritten" in refused("patients", "destroy", "--certificate", "c.json")
    assert _json("status")["patients"] == 30
