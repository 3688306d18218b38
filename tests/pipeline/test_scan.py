"""The scan of a whole share: the contract of its summary, what is read again, what becomes of bad files."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from phiscan.cli.scan.lock import lock_roots
from phiscan.crawl import check_roots
from tests.pipeline.harness import Tool, ToolHere


@pytest.fixture
def tool(tool_here: ToolHere) -> Tool:
    return tool_here


def _scan(tool: Tool, *arguments: str | Path) -> dict[str, Any]:
    done = tool.run("scan", *arguments, "--json", "--exit-zero")
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def _adds_up(summary: dict[str, Any]) -> bool:
    known = summary["screened"] + summary["unchanged"]
    return bool(
        summary["crawled"] == known + sum(summary["skipped"].values()) + sum(summary["failed"].values())
    )


def test_gives_every_file_one_outcome(share: Path) -> None:
    tool = Tool(share.parent / "home")  # the installed program, in a process of its own
    summary = _scan(tool, share)
    assert summary["crawled"] == 60
    assert summary["screened"] == 60
    assert summary["referred"] == 6
    assert summary["screened_positive"] >= 6
    assert summary["bytes"] == sum(p.stat().st_size for p in share.rglob("*.txt"))
    assert _adds_up(summary)


def test_reads_an_unchanged_file_only_once(tool: Tool, share: Path) -> None:
    first = _scan(tool, share)
    second = _scan(tool, share)
    assert (second["screened"], second["unchanged"], second["bytes"]) == (0, 60, 0)
    assert second["referred"] == first["referred"]
    assert _adds_up(second)


def test_reads_a_changed_file_again(tool: Tool, share: Path) -> None:
    _scan(tool, share)
    path = share / "0/file0000.txt"
    before = path.stat()
    path.write_text(path.read_text().replace("diabetes", "diabetez"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # only the change time tells
    summary = _scan(tool, share)
    assert (summary["screened"], summary["unchanged"]) == (1, 59)


def test_reads_everything_again_when_asked(tool: Tool, share: Path) -> None:
    _scan(tool, share)
    assert _scan(tool, share, "--full")["screened"] == 60


@pytest.mark.slow
def test_reads_everything_again_when_a_rule_changed(tool: Tool, share: Path) -> None:
    _scan(tool, share)
    site = tool.home.parent / "site.toml"
    site.write_text(
        '[[rule]]\nid = "site.mrn.1"\nentity_type = "MRN"\nsummary = "our record numbers"\n'
        "pattern = '''\\bLKC-\\d{6}\\b'''\nscore = 0.9\nsource = \"our registry\"\n"
        'examples = ["LKC-123456"]\ncounterexamples = ["LKC-12"]\n'
    )
    config = tool.home.parent / "phiscan.toml"
    config.write_text(f'extra_patterns = ["{site}"]\n')
    done = tool.run("--config", config, "scan", share, "--json", "--exit-zero")
    assert json.loads(done.stdout)["screened"] == 60, done.stderr


def test_forgets_a_deleted_file_but_not_its_history(tool: Tool, share: Path) -> None:
    _scan(tool, share)
    (share / "0/file0000.txt").unlink()
    summary = _scan(tool, share)
    assert (summary["crawled"], summary["unchanged"], summary["referred"]) == (59, 59, 5)


def test_names_what_could_not_be_read_and_tries_again_only_when_asked(tool: Tool, share: Path) -> None:
    (share / "broken.docx").write_bytes(b"PK\x03\x04" + b"\0" * 200)
    first = tool.run("scan", share, "--json")
    assert first.returncode == 3
    assert json.loads(first.stdout)["failed"] == {"corrupt": 1}
    second = _scan(tool, share)
    assert second["failed"] == {"corrupt": 1}
    assert second["unchanged"] == 60
    assert _adds_up(second)
    third = _scan(tool, share, "--retry-failed")
    assert third["failed"] == {"corrupt": 1}
    with sqlite3.connect(tool.database) as connection:
        (looks,) = connection.execute(
            "SELECT count(*) FROM examination JOIN file ON file.id = examination.file_id"
            " WHERE file.display = 'broken.docx'"
        ).fetchone()
    assert looks == 2  # the first scan's and the retry's; the second scan did not open it


def test_skips_by_rule_and_says_so(tool: Tool, share: Path) -> None:
    (share / "empty").touch()
    (share / "link").symlink_to("file")
    (tool.home.parent / ".phiscanignore").write_text("/0/\n")
    summary = _scan(tool, share)
    assert summary["skipped"] == {"empty": 1, "ignored": 1, "symlink": 1}
    assert _adds_up(summary)


def test_counts_without_opening(tool: Tool, share: Path) -> None:
    done = tool.run("scan", share, "--dry-run", "--json")
    assert json.loads(done.stdout)["files"] == 60
    assert not tool.home.exists()


def test_leaves_the_share_as_it_was(tool: Tool, share: Path) -> None:
    def state() -> dict[Path, tuple[int, int, int]]:
        found = {}
        for path in sorted(share.rglob("*")):
            info = path.stat()
            found[path] = (info.st_mtime_ns, info.st_ctime_ns, info.st_size)
        return found

    before = state()
    _scan(tool, share)
    assert state() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan", "nowhere"], "nowhere: expected a folder"),
        (["scan"], "Missing argument"),
        (["scan", ".", "--workers", "0"], "workers"),
        (["scan", ".", "--format", "xml"], "format"),
        (["--config", "no.toml", "scan", "."], "no.toml: no such file"),
    ],
)
def test_says_in_one_line_what_is_wrong(tool: Tool, arguments: list[str], message: str) -> None:
    done = tool.run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.slow
def test_writes_a_row_per_file_as_csv_and_sarif(tool: Tool, share: Path) -> None:
    (share / "=cmd.txt").write_text("nothing to see")
    done = tool.run("scan", share, "--format", "csv", "--exit-zero")
    lines = done.stdout.splitlines()
    assert len(lines) == 62
    assert any(line.startswith("'=cmd.txt,") for line in lines)
    sarif = json.loads(tool.run("scan", share, "--format", "sarif", "--exit-zero").stdout)
    assert sarif["version"] == "2.1.0"
    assert len(sarif["runs"][0]["results"]) == 6


def test_exit_status_tells_what_happened(tool: Tool, share: Path) -> None:
    assert tool.run("scan", share).returncode == 1
    clean = tool.home.parent / "clean"
    clean.mkdir()
    (clean / "a.txt").write_text("The gate on level 3 is to be repaired by spring.\n")
    assert tool.run("scan", clean).returncode == 0


@pytest.mark.slow
def test_refuses_a_second_scan_of_the_same_share_at_the_same_time(tool: Tool, share: Path) -> None:
    with lock_roots(tool.home, check_roots([share])):
        done = tool.run("scan", share)
    assert done.returncode == 2
    assert "is being scanned already" in done.stderr
    assert tool.run("scan", share).returncode == 1
