"""The page of the papers: ``make papers`` runs its commands, and its tables are what they write."""

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from papers.commands.benchmark import benchmark
from papers.i2b2 import ranking
from papers.needs import code_digest, library_versions
from papers.page import TABLES, table_of, with_table
from phiscan.cli import COMMANDS, app
from phiscan.cli.estimate import estimate
from phiscan.cli.score import score
from phiscan.errors import InputError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "papers.md").read_text(encoding="utf-8")
SCRIPT = (ROOT / "scripts" / "papers.sh").read_text(encoding="utf-8")
TEXTS = ROOT.parent / "shared" / "data" / "text"
# One system of each family and each kind of training; they take a quarter of the time of all.
TRAINED_ANEW = {"Wellner 1", "Wellner 2", "Szarvas 3", "Hara 3", "Guo 1", "Guillen 1", "phiscan"}
GROUPS: dict[str, click.Group] = {"benchmark": benchmark, "estimate": estimate, "score": score}


def _result(folder: Path, name: str) -> list[str]:
    """Run the command of a table as ``make papers`` does; return the lines of the table."""
    line = next(
        line
        for line in _commands()
        if line.startswith(f"benchmark {name.split(maxsplit=1)[0]} ")
        and ("--texts" in line) == ("--texts" in name)
    )
    words = [str(TEXTS / Path(word).name) if word.endswith(".jsonl") else word for word in line.split()]
    if "--out" in words:
        words[words.index("--out") + 1] = str(folder)
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return TABLES[name][1](json.loads((folder / "results.json").read_text(encoding="utf-8")))


def _commands() -> list[str]:
    """Return the commands of the script, one a line, without what depends on its variables."""
    joined = re.sub(r"\\\n\s*", " ", SCRIPT).replace('"', "")
    found = re.findall(r"\$run ([^;>\n]+)", joined)
    return [re.sub(r"\$\{\w+:\+[^}]*\}", "", line) + " " for line in found]


def test_a_table_is_what_its_command_writes(tmp_path: Path) -> None:
    assert _result(tmp_path, "false-negatives") == table_of(PAGE, "false-negatives")
    assert {path.name for path in tmp_path.iterdir()} == {"figure-2.svg", "results.json", "results.md"}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_table_of_the_challenge_is_what_its_command_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Train the other systems too where the code or a library is not that which the page was made with."""
    block = PAGE.partition("papers.page: i2b2 -->")[2].partition("<!-- end -->")[0]
    made_with = {**library_versions("python-crfsuite"), "experiment": code_digest(ROOT / "papers" / "i2b2")}
    names = {system.name for _, system in ranking.recognizers()}
    if all(f" {name} {version}," in block for name, version in made_with.items()):
        names = TRAINED_ANEW
        chosen = [pair for pair in ranking.recognizers() if pair[1].name in names]
        monkeypatch.setattr(ranking, "recognizers", lambda *, short: chosen if not short else [])
    head = {"system", "---"}
    expected = [
        line
        for line in table_of(PAGE, "i2b2")
        if not line.startswith("| ") or line.split(" | ")[0].removeprefix("| ") in names | head
    ]
    found = _result(tmp_path, "i2b2")
    assert found[:-1] == expected[:-1]
    assert found == expected or names == TRAINED_ANEW  # the last line compares all of them


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["thresholdless", "screened-positives", "screened-positives --texts"])
def test_a_long_table_is_what_its_command_writes(name: str, tmp_path: Path) -> None:
    if "--texts" in name and not TEXTS.is_dir():
        pytest.skip("the texts that the page names are not on this machine")
    assert _result(tmp_path, name) == table_of(PAGE, name)


@pytest.mark.slow
def test_the_table_of_the_simulations_is_what_the_command_writes() -> None:
    words = next(line for line in _commands() if "--json" in line).split()
    del words[words.index("--plot") : words.index("--plot") + 2]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert TABLES["simulate"][1](json.loads(done.stdout)) == table_of(PAGE, "simulate")


def test_every_table_says_what_made_it() -> None:
    for name in TABLES:
        block = PAGE.partition(f"papers.page: {name} -->")[2].partition("<!-- end -->")[0]
        assert re.search(r"^Made with numpy \d", block, re.MULTILINE), name
    digests = re.findall(r"`(\w+\.jsonl)` [0-9a-f]{16}", PAGE)
    assert len(digests) == 10
    assert all(f"/{name}" in SCRIPT for name in digests)


def test_a_table_of_another_run_is_written_into_the_page() -> None:
    pairs = [
        {
            "first": "A",
            "second": "B",
            "mean_feature_nats": 0.5,
            "estimated": None,
            "actually_missed": 7,
            "paper": {"estimated": 4, "actual": 31},
        }
    ]
    shape = {
        "versions": {"numpy": "0"},
        "data": {"source": "s", "sha256": "a" * 64},
        "pairs": pairs,
    }
    written = with_table(PAGE, "false-negatives", shape)
    assert "| A and B | 0.5000 | - | 7 | 4, 31 |" in table_of(written, "false-negatives")
    assert "Made with numpy 0. Files, first digits of SHA-256: `file` aaaaaaaaaaaaaaaa." in written
    assert table_of(written, "thresholdless") == table_of(PAGE, "thresholdless")
    with pytest.raises(InputError, match="expected the comments of the table i2b2"):
        with_table("no table", "i2b2", shape)


@pytest.mark.parametrize("name", list(benchmark.commands))
def test_every_experiment_is_on_the_page(name: str) -> None:
    assert f"`phiscan benchmark {name}" in PAGE


def test_every_command_of_the_page_exists_with_its_options_and_is_run_by_make_papers() -> None:
    found = re.findall(r"`phiscan (\w+) ([\w-]+)([^`]*)`", PAGE)
    assert len(found) >= 10
    for group, name, rest in found:
        assert group in COMMANDS
        context = click.Context(GROUPS[group], info_name=group)
        command = GROUPS[group].get_command(context, name)
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        options = set(re.findall(r"--[\w-]+", rest))
        assert options <= known, (group, name)
        runs = [
            line for line in re.sub(r"\\\n\s*", " ", SCRIPT).splitlines() if f"$run {group} {name} " in line
        ]
        assert options <= set(re.findall(r"--[\w-]+", " ".join(runs))), (group, name)
        assert runs, (group, name)


def _section(name: str) -> str:
    return PAGE.partition(f"\n## {name}")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("section", "rows"),
    [
        ("Uzuner", [f"Figure {n}" for n in (1, 2, 3, 7, 8)]),
        (
            "Uzuner",
            ["Figures 4 to 6", "Table 1,", "Table 2", "Table 3", "Tables 4 and 5", "Table 6", "Table 8"],
        ),
        ("Uzuner", ["Tables 9 to 11", "Tables 12 to 14", "Table 15", "Table 16"]),
        ("Mane", ["Tables 1 and 2", "Table 3", "Table 4", "Figure 1", "Figure 2"]),
        ("Sokolova", [f"Table {n}" for n in (1, 2, 3, 4)]),
    ],
)
def test_every_figure_and_table_of_the_papers_has_a_row(section: str, rows: list[str]) -> None:
    assert [name for name in rows if name not in _section(section)] == []


def test_every_row_says_whether_it_is_reproduced() -> None:
    for row in re.findall(r"^\| [^|]*(?:Table|Figure)[^|]* \| ([^|]+) \|", PAGE, re.MULTILINE):
        assert re.match(r"reproduced|on simulated data|repeated|not re|no numbers", row), row
    figures = ["lift", "bias by", "coverage, width and location", "by skew", "unachievable"]
    for figure in (*figures, "smooth sensitivity", "RMSE"):
        row = rf"^\| [^|]*{figure}[^|]* \| (?:reproduced|on sim)"
        assert re.search(row, _section("Boyd"), re.MULTILINE), figure
