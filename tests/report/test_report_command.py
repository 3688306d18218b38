import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from phiscan.cli.report import report
from tests.report.synthetic import Fill, Made


def run(made: Made, *arguments: str, catch: bool = False):  # noqa: ANN201 (click's result)
    environment = {"PHISCAN_DATABASE": made.database.url.render_as_string(hide_password=False)}
    return CliRunner().invoke(report, arguments, env=environment, catch_exceptions=catch)


def test_writes_the_pack_and_prints_the_json(large: Made, tmp_path: Path) -> None:
    result = run(large, "--out", str(tmp_path / "out"), "--json")
    assert json.loads(result.stdout)["coverage"]["crawled"] == 400
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "report.html").is_file()
    assert str(tmp_path / "out" / "report.html") in result.stderr
    assert "Files referred and confirmed as PHI, of all files read: " in result.stderr
    assert "How many files hold PHI? " in result.stderr
    assert "How many were missed, at most?" in result.stderr


def test_needs_something_to_do(filled: Fill) -> None:
    result = run(filled([]))
    assert result.exit_code == 2
    assert "--out" in result.stderr


def test_refuses_an_unknown_scan(filled: Fill) -> None:
    result = run(filled([]), "--json", "--scan", "99", catch=True)
    assert "99" in str(result.exception)


def test_shows_its_help_without_loading_scipy() -> None:
    code = "import sys, phiscan.cli.report; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
