"""The page of the papers and ``make papers`` name every experiment, and the page's commands exist."""

import re
from pathlib import Path

import click
import pytest

from phiscan.cli import COMMANDS
from phiscan.cli.benchmark import benchmark
from phiscan.cli.estimate.command import estimate
from phiscan.cli.score.command import score

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "papers.md").read_text(encoding="utf-8")
SCRIPT = (ROOT / "scripts" / "papers.sh").read_text(encoding="utf-8")
GROUPS: dict[str, click.Group] = {"benchmark": benchmark, "estimate": estimate, "score": score}


@pytest.mark.parametrize("name", list(benchmark.commands))
def test_every_experiment_is_on_the_page_and_in_make_papers(name: str) -> None:
    assert f"`phiscan benchmark {name}" in PAGE
    assert f"benchmark {name} " in SCRIPT


def test_every_command_of_the_page_exists_with_its_options() -> None:
    found = re.findall(r"`phiscan (\w+) ([\w-]+)([^`]*)`", PAGE)
    assert len(found) >= 10
    for group, name, rest in found:
        assert group in COMMANDS
        command = GROUPS[group].commands[name]
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known, (group, name)


def test_every_figure_and_table_of_the_papers_has_a_row() -> None:
    uzuner = PAGE[PAGE.index("## Uzuner") : PAGE.index("## Mane")]
    for name in (
        *(f"Figure {n}" for n in (1, 2, 3, 7, 8)),
        "Figures 4 to 6",
        "Table 1,",
        "Table 2",
        "Table 3",
    ):
        assert name in uzuner, name
    for name in (
        "Tables 4 and 5",
        "Table 6",
        "Tables 9 to 11",
        "Tables 12 to 14",
        "Table 15",
        "Table 8",
        "Table 16",
    ):
        assert name in uzuner, name
    mane = PAGE[PAGE.index("## Mane") : PAGE.index("## Sokolova")]
    assert all(name in mane for name in ("Tables 1 and 2", "Table 3", "Table 4", "Figure 1", "Figure 2"))
    sokolova = PAGE[PAGE.index("## Sokolova") : PAGE.index("## Boyd")]
    assert all(f"Table {n}" in sokolova for n in (1, 2, 3, 4))
    for row in re.findall(r"^\| [^|]*(?:Table|Figure)[^|]* \| ([^|]+) \|", PAGE, re.MULTILINE):
        assert re.match(r"reproduced|on simulated data|repeated|not re|no numbers", row), row
