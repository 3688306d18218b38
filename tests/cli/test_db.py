"""``phiscan db`` from the outside: what it prints, what it leaves, with which exit status it ends."""

import json
import sqlite3
from pathlib import Path

import pytest

from phiscan.store.identity import create_key
from phiscan.store.tables import SCHEMA_VERSION
from tests.cli.program import invoke, refused, run
from tests.review.results import url_of


def test_migrate_says_what_it_would_do_and_does_it(home: Path) -> None:
    missing = run("db", "migrate", "--plan", status=2)
    assert "no such database" in missing
    home.mkdir()
    (home / "phiscan.db").touch()
    planned = json.loads(run("db", "migrate", "--plan", "--json"))
    assert (planned["from"], planned["to"], planned["plan"]) == (None, SCHEMA_VERSION, True)
    assert planned["steps"][0]["revision"] == SCHEMA_VERSION
    assert json.loads(run("db", "status", "--json"))["up_to_date"] is False
    assert f"schema {SCHEMA_VERSION}" in run("db", "migrate")
    assert json.loads(run("db", "migrate", "--json"))["steps"] == []


@pytest.mark.parametrize("command", [("queue", "list"), ("scan", "."), ("db", "migrate"), ("init",)])
def test_the_schema_of_another_version_is_refused_by_each_command(
    scanned: Path, command: tuple[str, ...]
) -> None:
    with sqlite3.connect(scanned / "phiscan.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0017'")
    said = refused(*command)
    assert "schema 0017, expected" in said
    assert "use that version, or begin with a new database (move this one away, `phiscan init`)" in said
    assert json.loads(run("db", "status", "--json"))["schema"] == "0017"


def test_status_counts_what_is_there(scanned: Path) -> None:
    found = json.loads(run("db", "status", "--json"))
    assert (found["kind"], found["up_to_date"], found["holds"], found["purges"]) == ("sqlite", True, 0, 0)
    assert found["tables"]["file"] == 6
    assert found["bytes"] == (scanned / "phiscan.db").stat().st_size
    text = run("db", "status")
    assert "file                                6" in text


def test_backs_up_verifies_and_restores(
    scanned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_key(scanned / "key")
    made = json.loads(run("db", "backup", "copy.phiscan", "--json"))
    assert made["tables"]["file"]["rows"] == 6
    assert "a backup is never overwritten" in run("db", "backup", "copy.phiscan", status=2)
    assert json.loads(run("db", "verify", "copy.phiscan", "--json")) == made
    assert "whole: copy.phiscan" in run("db", "verify", "copy.phiscan", "--restore")
    monkeypatch.setenv("PHISCAN_DATABASE", url_of(tmp_path / "new.db"))
    assert "restored: copy.phiscan" in run("db", "restore", "copy.phiscan")
    assert "expected an empty database" in run("db", "restore", "copy.phiscan", status=2)
    assert run("db", "verify").count("whole") == 5
    assert json.loads(run("queue", "list", "--json"))["n"] == 2


def test_verify_names_what_is_wrong(scanned: Path) -> None:
    with sqlite3.connect(scanned / "phiscan.db") as connection:
        connection.execute("DROP TRIGGER decision_no_update")
    result = run("db", "verify", "--json", status=2)
    assert result == ""
    with sqlite3.connect(scanned / "phiscan.db") as connection:
        connection.execute("UPDATE finding SET examination_id = 99 WHERE examination_id = 1")
    text = invoke("db", "verify").stdout
    assert "decision_no_update: of the schema was removed" in text
    assert "a row of finding refers to a row of examination that is not there" in text


@pytest.mark.usefixtures("scanned")
def test_purges_only_when_told_to(tmp_path: Path) -> None:
    assert "expected either --dry-run or --yes" in run("db", "purge", status=2)
    (tmp_path / "phiscan.toml").write_text("[retention]\nsuperseded_years = 0\n")
    assert "retention.superseded_years: expected years above 0" in run("db", "purge", "--dry-run", status=2)
    (tmp_path / "phiscan.toml").write_text("[retention]\nyears = 1\n")
    assert "retention.years: unknown field" in run("db", "purge", "--dry-run", status=2)
    (tmp_path / "phiscan.toml").write_text(f"[retention]\n{'findings_years = 1e-9'}\n")
    assert run("db", "purge", "--dry-run") == "nothing to purge\n"
    assert "certificate 1: there is no such purge" in run("db", "certificate", "1", status=2)


def test_certifies_a_purge_and_holds_keep_it_off(scanned: Path, tmp_path: Path) -> None:
    with sqlite3.connect(scanned / "phiscan.db") as connection:
        for column in ("started", "ended"):
            connection.execute(f"UPDATE scan SET {column} = '2010-01-01T00:00:00.000000+00:00'")  # noqa: S608
        names = "scan_key, status, ended, seconds, versions, options, reading"
        moment = "'2011-01-01T00:00:00.000000+00:00'"
        connection.execute(f"INSERT INTO scan (id, started, {names}) SELECT 2, {moment}, {names} FROM scan")  # noqa: S608
        connection.execute("UPDATE root SET complete_scan_id = 2")
    assert "reason: expected a text" in run("db", "hold", "--root", "/share", status=2)
    assert "--lift and --reason: expected --file or --root" in run("db", "hold", "--lift", status=2)
    unknown = refused("db", "hold", "--file", "letters/none.txt", "--reason", "case 7")
    assert "letters/none.txt: no such file; expected a path or number" in unknown
    run("db", "hold", "--root", "/share/", "--reason", "case\x1b[31m 7", "--by", "ada")
    assert "\x1b" not in run("db", "hold")
    assert json.loads(run("db", "hold", "--json"))["holds"][0]["root"] == "/share"
    kept = "1 legal holds are in force, 0 incidents are not closed"
    assert run("db", "purge", "--yes") == f"nothing to purge; {kept}\n"
    run("db", "hold", "--root", "/share", "--reason", "closed", "--lift")
    planned = json.loads(run("db", "purge", "--dry-run", "--json"))
    made = json.loads(run("db", "purge", "--yes", "--by", "ada", "--json"))
    assert planned["counts"] == made["counts"]
    assert made["counts"]["file"] == 6
    assert json.loads(run("db", "certificate", "1", "--json")) == {
        name: value for name, value in made.items() if name != "dry_run"
    }
    assert "certificate 1:" in run("db", "certificate")
    assert "all in order" in run("audit", "verify")
    assert tmp_path


@pytest.mark.slow
def test_rotates_the_key_and_a_scan_with_another_one_ends_at_once(home: Path, tmp_path: Path) -> None:
    run("init")
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "a.txt").write_text("Minutes of the parking committee.")
    run("scan", "share")
    first = (home / "key").read_text()
    assert "expected either --seal FILE or --destroy" in run("db", "rotate-key", status=2)
    done = json.loads(run("db", "rotate-key", "--seal", "old", "--json"))
    assert (tmp_path / "old").read_text() == first
    run("scan", "share")
    (home / "key").write_text(first)
    message = refused("scan", "share")
    assert f"holds key {done['old']}" in message
    assert f"made with key {done['new']}" in message
    assert first.strip() not in message


def test_grants_are_plain_sql() -> None:
    text = run("db", "grants", "phiscan_app")
    assert all(line.endswith(";") for line in text.splitlines())
    assert "UPDATE, DELETE ON access" in text
    assert "expected a role's name" in run("db", "grants", "x; DROP", status=2)
