"""The installed commands run in the test's own process, errors and exit status as ``main`` makes them."""

import json
import sys

from click.testing import CliRunner, Result

from phiscan import cli


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


def lines(text: str) -> list[dict[str, object]]:
    """Read JSON lines."""
    return [json.loads(line) for line in text.splitlines()]
