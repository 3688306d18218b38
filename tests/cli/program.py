"""The installed commands run in the test's own process, errors and exit status as ``main`` makes them."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
from click.testing import CliRunner, Result

from phiscan import cli

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"


class _Main:
    """Lets the test runner call ``main``, which turns errors into one line and a status."""

    name = "phiscan"

    def main(self, args: list[str], **_: object) -> None:
        before, sys.argv = sys.argv, ["phiscan", *args]
        try:
            cli.main()
        finally:
            sys.argv = before


def invoke(*arguments: str, stdin: str = "") -> Result:
    """Run the program and return everything about it."""
    return CliRunner().invoke(_Main(), arguments, input=stdin)  # type: ignore[arg-type]


def run(*arguments: str, status: int = 0, stdin: str = "") -> str:
    """Return standard output, or standard error when another status than 0 is expected."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == status, result.output
    return result.stderr if status else result.stdout


def refused(*arguments: str, stdin: str = "") -> str:
    """Run a command that is refused: return its one line of standard error, as nothing else is printed."""
    result = invoke(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    (line,) = result.stderr.splitlines()
    return line


def as_published(schema: str, text: str) -> Any:
    """Read the JSON that a command printed; it must be what its published schema says."""
    found = json.loads(text)
    shape = json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, shape, cls=jsonschema.Draft202012Validator)
    return found


def answer(schema: str, *arguments: str) -> Any:
    """Run a command with ``--json`` and return what it answers, checked against its published schema."""
    return as_published(schema, run(*arguments, "--json"))


def lines(text: str) -> list[dict[str, object]]:
    """Read JSON lines."""
    return [json.loads(line) for line in text.splitlines()]
