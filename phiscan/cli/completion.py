"""``phiscan completion``: shell completion of commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from phiscan.errors import InputError

SHELLS = ("bash", "zsh", "fish")


@click.command(epilog="Example: phiscan completion bash > ~/.local/share/bash-completion/completions/phiscan")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete phiscan's commands and options."""
    from phiscan.cli import app  # noqa: PLC0415 (it imports this module when the command is run)

    kind = get_completion_class(shell)
    if kind is None:
        raise InputError(shell, f"expected one of {', '.join(SHELLS)}")
    click.echo(kind(app, {}, "phiscan", "_PHISCAN_COMPLETE").source())
