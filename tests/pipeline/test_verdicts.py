"""A verdict is an example for the next scan: it acts on files about the same, and can be taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipeline.harness import ToolHere

# A report on machines in words of illness, as it is written every week, is referred by mistake.
WEEKLY = """Weekly plant health, Line {line} - {author}

Palletiser: healthy. Filler: sick since {day}, temperature creeping up after two hours, noisy bearing, we hear
it wheeze. Diagnosed as starved lubrication; treatment: new pump ordered. Capper: arthritic as ever, limps
through, retire in spring? Conveyor {belt} had a stroke length problem, cured. Overall health score {score}.
Monitoring agent dead on node 4, heartbeat lost 02:14, {second} will resuscitate it.
"""
PEOPLE = ("J. Sigurdsson", "Marcela", "Tom Whitfield", "Aisha", "Peter Novak", "Lucy", "Igor Petrov", "Grace")
REFERRED = 1  # exit status of a scan that refers something
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
LETTER = """Re: Odalys Brannigan, born 4 May 1961, health card 1234 567 897

Thank you for seeing this patient, who has had type 2 diabetes since 2009 and takes metformin.
"""


def write_reports(share: Path, first: int, last: int) -> None:
    share.mkdir(exist_ok=True)
    for number in range(first, last):
        text = WEEKLY.format(
            line=3 + number,
            author=PEOPLE[2 * number % len(PEOPLE)],
            day=DAYS[number % len(DAYS)],
            belt=12 + number,
            score=71 + number,
            second=PEOPLE[(2 * number + 1) % len(PEOPLE)],
        )
        (share / f"week{number}.txt").write_text(text)


def referred(tool: ToolHere) -> dict[str, float]:
    """Return P(PHI) of the files in the queue, by their names."""
    listed = json.loads(tool.run("queue", "list", "--json").stdout)
    return {item["path"].rpartition("/")[2]: item["probability"] for item in listed["items"]}


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    write_reports(folder, 0, 4)
    (folder / "letter.txt").write_text(LETTER)
    return folder


def configure(tool: ToolHere, line: str = "") -> None:
    """Have the reports referred, whatever model is shipped: their P(PHI) is low."""
    (tool.home.parent / "phiscan.toml").write_text(f"missed_file_cost = 120\n{line}\n")


@pytest.mark.slow
def test_verdicts_act_on_files_about_the_same_from_the_next_scan_on(share: Path, tool_here: ToolHere) -> None:
    configure(tool_here)
    assert tool_here.run("scan", share).returncode == REFERRED
    before = referred(tool_here)
    assert set(before) == {"letter.txt", *(f"week{number}.txt" for number in range(4))}
    reports = [share / f"week{number}.txt" for number in range(3)]
    decided = ("queue", "decide", *reports, "--verdict", "not_phi", "--reviewer", "A. Officer")
    assert tool_here.run(*decided).returncode == 0
    write_reports(share, 4, 6)
    again = tool_here.run("scan", share, "--json")
    assert again.returncode == REFERRED, again.stderr
    # Neither the letter is read again, about which no verdict says anything, nor what is decided.
    assert json.loads(again.stdout)["unchanged"] == 4
    assert set(referred(tool_here)) == {"letter.txt", *(file.name for file in reports)}
    shown = tool_here.run("queue", "show", share / "week3.txt").stdout
    assert "about the same as files that were decided not to be PHI" in shown

    undone = tool_here.run("queue", "undo", *reports, "--reviewer", "A. Officer")
    assert undone.returncode == 0, undone.stderr
    assert tool_here.run("scan", share).returncode == REFERRED
    assert set(referred(tool_here)) == {"letter.txt", *(f"week{number}.txt" for number in range(6))}


def test_a_list_of_no_verdicts_switches_it_off(share: Path, tool_here: ToolHere) -> None:
    configure(tool_here, "decided_examples = 0")
    assert tool_here.run("scan", share).returncode == REFERRED
    everything = [share / f"week{number}.txt" for number in range(3)]
    tool_here.run("queue", "decide", *everything, "--verdict", "not_phi", "--reviewer", "A. Officer")
    again = tool_here.run("scan", share, "--json")
    assert json.loads(again.stdout)["unchanged"] == 5
    assert "week3.txt" in referred(tool_here)
