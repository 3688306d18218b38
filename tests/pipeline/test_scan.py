"""The scan of a whole share: the contract of its summary, what is read again, what becomes of bad files."""

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from phiscan.cli.scan.lock import lock_roots
from phiscan.crawl import check_roots
from tests.pipeline.harness import ToolHere
from tests.pipeline.test_trouble import RULE


def _state(share: Path) -> dict[Path, tuple[int, int, int]]:
    found = ((path, path.stat()) for path in sorted(share.rglob("*")))
    return {path: (info.st_mtime_ns, info.st_ctime_ns, info.st_size) for path, info in found}


def _adds_up(summary: dict[str, Any]) -> bool:
    known = summary["screened"] + summary["unchanged"]
    return bool(
        summary["crawled"] == known + sum(summary["skipped"].values()) + sum(summary["failed"].values())
    )


@pytest.mark.slow
def test_reads_again_what_changed_and_nothing_else(tool_here: ToolHere, share: Path) -> None:
    before = _state(share)
    first = tool_here.scan(share)
    assert (first["crawled"], first["screened"], first["referred"]) == (20, 20, 2)
    assert first["screened_positive"] >= 2
    assert first["bytes"] == sum(p.stat().st_size for p in share.rglob("*.txt"))
    assert _adds_up(first)
    second = tool_here.scan(share)
    assert (second["screened"], second["unchanged"], second["bytes"], second["referred"]) == (0, 20, 0, 2)
    assert _adds_up(second)
    assert _state(share) == before  # it writes nothing there
    path = share / "0/file0000.txt"
    times = path.stat()
    path.write_text(path.read_text().replace("diabetes", "diabetez"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # only the change time tells
    third = tool_here.scan(share)
    assert (third["screened"], third["unchanged"]) == (1, 19)


def test_moved_deleted_and_copied_files_are_recorded_as_such(tool_here: ToolHere, share: Path) -> None:
    table = "name,health card\n" + "".join(f"Patient {n},{n:06}\n" for n in range(30))
    (share / "people.txt").write_text(table)
    (share / "people.csv").write_text(table)  # another name may mean another reading
    shutil.copy(share / "0/file0000.txt", share / "zz.txt")
    assert tool_here.scan(share)["copies"] == 1
    (share / "0/file0000.txt").rename(share / "2/renamed.txt")
    (share / "1/file0001.txt").unlink()
    summary = tool_here.scan(share)
    assert (summary["screened"], summary["copies"], summary["moved"], summary["deleted"]) == (1, 1, 1, 1)
    with sqlite3.connect(tool_here.database) as database:
        gone = database.execute(
            "SELECT f.display, m.display FROM departure d JOIN file f ON f.id = d.file_id"
            " LEFT JOIN file m ON m.id = d.moved_to ORDER BY f.display"
        ).fetchall()
    assert gone == [("0/file0000.txt", "2/renamed.txt"), ("1/file0001.txt", None)]
    full = tool_here.scan(share, "--full")  # every content once more
    assert (full["screened"], full["copies"], full["moved"], full["deleted"]) == (22, 1, 0, 0)


def test_only_looks_at_what_was_asked_for_and_lets_the_rest_stand(tool_here: ToolHere, share: Path) -> None:
    (share / "letter.md").write_text("A letter about nothing.\n")
    whole = tool_here.scan(share)
    (share / "new.md").write_text("Another letter about nothing.\n")
    (share / "1/file0001.txt").unlink()
    some = tool_here.scan(share, "--only", "*.md")
    assert (some["crawled"], some["screened"], some["unchanged"], some["deleted"]) == (2, 1, 1, 0)
    rest = tool_here.scan(share)
    assert rest["crawled"] == whole["crawled"]
    assert (rest["screened"], rest["deleted"]) == (0, 1)


@pytest.mark.slow
def test_reads_everything_again_when_a_rule_changed(tool_here: ToolHere, share: Path) -> None:
    tool_here.scan(share)
    site = tool_here.home.parent / "site.toml"
    site.write_text(RULE.format(pattern=r"\bLKC-\d{6}\b"))
    config = tool_here.home.parent / "phiscan.toml"
    config.write_text(f'extra_patterns = ["{site}"]\n')
    done = tool_here.run("--config", config, "scan", share, "--json", "--exit-zero")
    assert json.loads(done.stdout)["screened"] == 20, done.stderr


def test_names_what_was_not_read_and_tries_again_only_when_asked(tool_here: ToolHere, share: Path) -> None:
    (share / "broken.docx").write_bytes(b"PK\x03\x04" + b"\0" * 200)
    (share / "empty").touch()
    (share / "link").symlink_to("file")
    (tool_here.home.parent / ".phiscanignore").write_text("/0/\n")
    first = tool_here.run("scan", share, "--json")
    assert first.returncode == 3
    for options in ((), ("--retry-failed",)):
        summary = tool_here.scan(share, *options)
        assert summary["failed"] == {"corrupt": 1}
        assert summary["skipped"] == {"empty": 1, "ignored": 1, "symlink": 1}
        assert _adds_up(summary)
    with sqlite3.connect(tool_here.database) as connection:
        (looks,) = connection.execute(
            "SELECT count(*) FROM examination JOIN file ON file.id = examination.file_id"
            " WHERE file.display = 'broken.docx'"
        ).fetchone()
    assert looks == 2  # the first scan's and the retry's; the second scan did not open it


def test_counts_without_opening(tool_here: ToolHere, share: Path) -> None:
    (share / "empty").touch()
    done = tool_here.run("scan", share, "--dry-run", "--json")
    counted = json.loads(done.stdout)
    (row,) = counted["roots"]
    assert counted["files"] == row["files"] == 20
    assert (row["skipped"], row["unlisted"]) == ({"empty": 1}, 0)
    shown = tool_here.run("scan", share, "--dry-run").stdout
    assert f"{share}: files, with the owner and the mode bits" in shown
    assert "\n20 with" in shown
    assert not tool_here.home.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan", "nowhere"], "nowhere: expected a folder"),
        (["scan"], "Missing argument"),
        (["scan", ".", "--workers", "0"], "workers"),
        (["scan", ".", "--format", "xml"], "format"),
        (["--config", "no.toml", "scan", "."], "no.toml: no such file"),
        (["scan", ".", "--only", "!"], "--only !: expected a pattern"),
    ],
)
def test_says_in_one_line_what_is_wrong(tool_here: ToolHere, arguments: list[str], message: str) -> None:
    done = tool_here.run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.slow
def test_writes_a_row_per_file_as_csv_and_sarif(tool_here: ToolHere, share: Path) -> None:
    (share / "=cmd.txt").write_text("nothing to see")
    done = tool_here.run("scan", share, "--format", "csv", "--exit-zero")
    lines = done.stdout.splitlines()
    assert len(lines) == 22
    assert any(line.startswith("'=cmd.txt,") for line in lines)
    sarif = json.loads(tool_here.run("scan", share, "--format", "sarif", "--exit-zero").stdout)
    assert sarif["version"] == "2.1.0"
    assert len(sarif["runs"][0]["results"]) == 2


@pytest.mark.slow
def test_refuses_a_second_scan_of_the_same_share_at_the_same_time(tool_here: ToolHere, share: Path) -> None:
    with lock_roots(tool_here.home, check_roots([share])):
        done = tool_here.run("scan", share)
    assert done.returncode == 2
    assert "is being scanned already" in done.stderr
    assert tool_here.run("scan", share).returncode == 1
