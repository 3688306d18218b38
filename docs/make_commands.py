"""Write docs/reference/commands.md from the help of every command.

    .venv/bin/python docs/make_commands.py

The tests fail when the page is not what this script would write.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from phiscan.cli import app

PAGE = Path(__file__).parent / "reference" / "commands.md"
HEAD = """# Every command

Results go to standard output, progress and messages to standard error. `phiscan COMMAND --help` prints what
stands here. Made by `docs/make_commands.py`; do not edit.
"""


def commands(group: click.Group, ctx: click.Context, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below a group with the words that call it."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None:
            continue
        words = f"{prefix} {name}"
        yield words, command
        if isinstance(command, click.Group):
            yield from commands(command, click.Context(command, info_name=words), words)


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for words, command in commands(app, click.Context(app, info_name="phiscan"), "phiscan"):
        ctx = click.Context(command, info_name=words, terminal_width=96, max_content_width=96)
        text = "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())
        parts.append(f"## {words}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
