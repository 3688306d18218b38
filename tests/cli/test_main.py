"""The program itself: its commands, its one-line errors, its exit status."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from phiscan import cli
from phiscan.cli import COMMANDS, app
from phiscan.cli.output import print_json
from tests.cli.program import invoke, refused, run
from tests.pipeline.harness import ToolHere


def test_lists_every_command_with_its_help() -> None:
    shown = run("--help")
    for name, (_, summary) in COMMANDS.items():
        assert f"\n  {name} " in shown, name
        command = app.get_command(click.Context(app), name)
        assert command is not None
        assert command.get_short_help_str(limit=1000) == summary, name


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such"],
        ["--no-such"],
        ["queue", "no-such"],
        ["estimate", "screening"],
        # A choice left out, and a value or a document name with a line end in it.
        ["score", "spans", "--gold", "a", "--system", "b"],
        ["estimate", "missed", "no\nsuch.csv"],
        ["estimate", "verified", "--positive", "1\n2", "--negative", "1,2,3"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str]) -> None:
    assert refused(*arguments)


def test_wrong_usage_ends_the_installed_program_with_status_2() -> None:
    command = [sys.executable, "-m", "phiscan", "queue", "no-such"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1


def test_prints_version_and_the_help_when_nothing_is_asked() -> None:
    assert invoke("--version").stdout.startswith("phiscan, version ")
    result = invoke()
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ")
    assert "\n  scan " in result.stderr


# Commands of one process, and what they need not load.
LIGHT: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("",), ("spacy", "sklearn", "matplotlib", "sqlalchemy", "numpy")),
    # A scan that finds nothing to read needs no readers, rules, workers or screens.
    (
        ("scan",),
        (
            *("numpy", "pebble", "rich", "prometheus_client", "smtplib", "pwdlib"),
            *("phiscan.pipeline.engine", "phiscan.extract.reading"),
        ),
    ),
    (("queue", "users", "audit"), ("numpy", "scipy", "phiscan.screen", "phiscan.health.classifier")),
    (("patients",), ("scipy", "phiscan.screen", "phiscan.pipeline.engine")),
)


@pytest.mark.parametrize(("commands", "heavy"), LIGHT)
def test_starts_without_loading_what_a_command_does_not_need(
    commands: tuple[str, ...], heavy: tuple[str, ...]
) -> None:
    code = (
        "import sys, phiscan.cli\n"
        f"for command in {commands}:\n"
        "    phiscan.cli.app.main([*command.split(), '--help'], standalone_mode=False)\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.usefixtures("warm")
def test_neither_a_rescan_nor_the_queue_loads_recognizers_or_models(tmp_path: Path) -> None:
    share, tool = tmp_path / "share", ToolHere(tmp_path / "home")
    share.mkdir()
    (share / "minutes.txt").write_text("The gate on level 3 is to be repaired by spring.\n")
    assert tool.run("scan", share).returncode == 0
    heavy = ("numpy", "scipy", "phiscan.screen", "phiscan.health.classifier", "phiscan.extract.reading")
    for arguments in (["scan", str(share)], ["queue", "list"]):
        code = (
            f"import sys, phiscan.cli; phiscan.cli.app.main({arguments}, standalone_mode=False);"
            f"print([m for m in {heavy} if m in sys.modules])"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=tool.environment())
        assert done.stdout.splitlines()[-1] == "[]"


def test_refuses_to_print_a_number_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"value": float("nan")})


def test_shows_type_and_place_of_an_unexpected_error_but_not_its_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def explode(**_options: object) -> None:
        message = "canary value"
        raise ValueError(message)

    monkeypatch.setattr(app, "main", explode)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 4
    shown = capsys.readouterr()
    assert "internal error: ValueError at __init__.py:" in shown.err
    assert "canary" not in shown.out + shown.err
