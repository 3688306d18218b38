"""What an operator's mishaps do to a scan: said in one line, with the right status, nothing lost unsaid."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from phiscan.config import load_config
from phiscan.crawl import check_roots, load_ignore, local
from phiscan.pipeline.scan import scan as run_scan
from phiscan.review.store import Store
from tests.pipeline.harness import Tool, ToolHere
from tests.waiting import wait_until

RULE = """[[rule]]
id = "site.mrn.1"
entity_type = "MRN"
summary = "our record numbers"
pattern = '''{pattern}'''
score = 0.9
source = "our registry"
examples = ["LKC-123456"]
counterexamples = ["LKC-12"]
"""


def _is_progress(line: str) -> bool:
    """Tell whether a line is one of those that a slow machine sees every fifteen seconds."""
    return "files/s" in line or line == "loading models"


def _one_line(done: subprocess.CompletedProcess[str], status: int, *words: str) -> bool:
    lines = [line for line in done.stderr.splitlines() if not _is_progress(line)]
    return (
        done.returncode == status
        and len(lines) == 1
        and "internal error" not in lines[0]
        and all(word in lines[0] for word in words)
    )


@pytest.mark.parametrize("pattern", ["(", r"LKC-\d+"])
def test_refuses_a_bad_rule_of_the_site_before_any_file_is_opened(
    tool_here: ToolHere, share: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tool_here.home.parent / "site.toml"
    rules.write_text(RULE.format(pattern=pattern))
    monkeypatch.setenv("PHISCAN_EXTRA_PATTERNS", str(rules))
    done = tool_here.run("scan", share)
    assert _one_line(done, 2, str(rules), "site.mrn.1"), done.stderr


@pytest.mark.slow
def test_makes_no_new_key_for_an_old_database(tool_here: ToolHere, share: Path) -> None:
    tool_here.run("scan", share)
    key = tool_here.home / "key"
    held = key.read_bytes()
    key.unlink()
    assert _one_line(tool_here.run("scan", share), 2, "the key is gone")
    key.write_bytes(held)
    key.chmod(0o600)
    assert '"unchanged": 20' in tool_here.run("scan", share, "--json").stdout


@pytest.mark.slow
def test_does_not_take_an_unmounted_share_for_a_clean_one(tool_here: ToolHere, share: Path) -> None:
    tool_here.run("scan", share)
    share.rename(share.with_name("elsewhere"))
    share.mkdir()  # the mount point without its share
    done = tool_here.run("scan", share, "--json")
    summary = json.loads(done.stdout)
    assert done.returncode == 3
    assert (summary["crawled"], summary["unchanged"], summary["failed"]) == (21, 20, {"io_error": 1})
    assert summary["referred"] == 2
    emptied = json.loads(tool_here.run("scan", share, "--full", "--json").stdout)
    assert (emptied["crawled"], emptied["referred"]) == (0, 0)
    share.rmdir()
    share.with_name("elsewhere").rename(share)
    assert json.loads(tool_here.run("scan", share, "--json").stdout)["crawled"] == 20


@pytest.mark.slow
def test_keeps_the_results_of_a_folder_that_cannot_be_listed(
    tool_here: ToolHere, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool_here.run("scan", share)
    real = os.open

    def refuse(path: bytes, flags: int) -> int:
        if path == bytes(share / "0"):
            raise PermissionError(13, "Permission denied")
        return real(path, flags)

    config = load_config(None, {**os.environ, "PHISCAN_HOME": str(tool_here.home)})
    monkeypatch.setattr(local.os, "open", refuse)  # root may list everything, so the refusal is made here
    with Store.open(config.database_url) as store:
        summary = run_scan(config, check_roots([share]), store, ignore=load_ignore(config, [])).summary
    assert summary.failed == {"no_permission": 1}
    assert summary.unchanged == 20
    assert summary.crawled == 21


@pytest.mark.slow
def test_refuses_another_key_before_it_opens_a_file(tool_here: ToolHere, share: Path) -> None:
    tool_here.run("scan", share)
    key = tool_here.home / "key"
    key.write_text("ab" * 32 + "\n")
    done = tool_here.run("scan", share, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`phiscan db rotate-key`" in done.stderr


@pytest.mark.slow
def test_stops_when_the_database_is_deleted_under_it(
    tool: Tool, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_WORKERS", "1")
    process = tool.start("scan", share)
    wait_until(lambda: _has_scan(tool) or process.poll() is not None, "the scan has begun")
    for path in tool.home.glob("phiscan.db*"):
        path.unlink()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "was deleted or replaced" in said


def _has_scan(tool: Tool) -> bool:
    """Tell whether the scan has begun: its locks are taken before its first row is written."""
    return any((tool.home / "locks").glob("*"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_says_when_its_output_cannot_be_written(tool: Tool, share: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            tool.command("scan", share, "--json"),
            env=tool.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert _one_line(done, 4, "standard output", "No space left"), done.stderr


@pytest.mark.slow
def test_prints_any_name_under_any_locale(tool: Tool, share: Path) -> None:
    (Path(os.fsdecode(bytes(share) + b"/caf\xc3\xa9\x1b[31m\xe2\x80\xae\n.txt"))).write_text("x")
    environment = {**tool.environment(), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        tool.command("scan", share, "--format", "csv", "--exit-zero"),
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "café\\x1b[31m\\u202e\\x0a.txt".encode() in done.stdout
