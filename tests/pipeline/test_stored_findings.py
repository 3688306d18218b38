"""Findings are stored where somebody may look at them; of the other files, their number by type."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from phiscan.cli.scan.output import cascade_lines
from tests.pipeline.harness import LETTER, Tool

CONTACTS = (
    "Board of the chess club, call {n}55-555-01{n}2 or write to player{n}@example.org before May 3, 2021.\n"
)


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    folder.mkdir()
    letter = LETTER.format(first="Zantho", last="Prathewin", born="3 May 1961")
    (folder / "letter.txt").write_text(letter)
    for number in range(4):
        (folder / f"club{number}.txt").write_text(CONTACTS.format(n=number + 2) * 3)
    return folder


def rows(tool: Tool) -> dict[str, tuple[str, dict[str, int], int, int]]:
    query = (
        "SELECT file.display, search, finding_counts, n_findings, (SELECT count(*) FROM finding WHERE"
        " examination_id = examination.id) FROM examination JOIN file ON file.id = examination.file_id"
        " ORDER BY examination.id"
    )
    with sqlite3.connect(tool.database) as connection:
        return {
            name: (search, json.loads(counts), n_findings, n_rows)
            for name, search, counts, n_findings, n_rows in connection.execute(query)
        }


@pytest.mark.slow
def test_what_is_not_referred_is_kept_as_counts(tool_here: Tool, share: Path) -> None:
    (tool_here.home.parent / "phiscan.toml").write_text("audit_share = 0.0\n")
    summary = tool_here.scan(share)
    found = rows(tool_here)
    search, counts, n_findings, n_rows = found["letter.txt"]
    assert search == "needed"
    assert n_rows == n_findings == sum(counts.values()) > 3
    search, counts, n_findings, n_rows = found["club0.txt"]
    assert (search, n_rows) == ("left_out", 0)
    assert counts == {}  # contact data is looked for only where it could matter
    assert n_findings == sum(counts.values())
    cascade = summary["cascade"]
    assert (cascade["left_out"], cascade["audit"]) == (4, 0)
    assert cascade["missed_referrals"] == {"estimate": None, "low": None, "high": None}
    assert cascade["reason"]


@pytest.mark.slow
def test_everything_is_searched_and_stored_when_asked(tool_here: Tool, share: Path) -> None:
    summary = tool_here.scan(share, "--everything")
    found = rows(tool_here)
    assert {search for search, *_ in found.values()} == {"everything"}
    assert all(n_rows == n_findings for _, _, n_findings, n_rows in found.values())
    cascade = summary["cascade"]
    assert (cascade["left_out"], cascade["missed_referrals"]["high"]) == (0, 0)


def test_the_summary_says_what_the_cascade_may_have_missed() -> None:
    drawn = {"n_audit": 9, "n_audit_referred": 1, "n_audit_identified": 2}
    assert cascade_lines({}) == []
    text = "\n".join(cascade_lines({"n_left_out": 40, "n_left_out_identified": 3, **drawn}))
    assert "missed referrals" in text
    assert "1 referred, 2 with identifiers" in text
