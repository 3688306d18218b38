"""Write build/docs/commands.md from the help of every command (`make docs`)."""

from collections.abc import Iterator
from pathlib import Path

import click

from phiscan.cli import app

PAGE = Path(__file__).resolve().parents[1] / "build" / "docs" / "commands.md"
HEAD = """# Every command

This page lists the help of every command, as `phiscan COMMAND --help` prints it. Results go to standard
output, progress and messages to standard error. Made by `docs/make_commands.py`; do not edit.
"""


def commands(group: click.Group, ctx: click.Context) -> Iterator[tuple[click.Context, click.Command]]:
    """Yield every command below a group with its context; ``command_path`` of the context invokes it."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None:
            continue
        # Settings come from the parent; a command invoked without one has cached a help option without -h.
        command._help_option = None  # noqa: SLF001 (click has no other way to reset it)
        below = click.Context(command, info_name=name, parent=ctx, terminal_width=96, max_content_width=96)
        yield below, command
        if isinstance(command, click.Group):
            yield from commands(command, below)


def all_commands() -> Iterator[tuple[click.Context, click.Command]]:
    """Yield every command of the program."""
    top = click.Context(app, info_name="phiscan", help_option_names=["-h", "--help"])
    yield from commands(app, top)


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for ctx, command in all_commands():
        text = "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())
        parts.append(f"## {ctx.command_path}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
