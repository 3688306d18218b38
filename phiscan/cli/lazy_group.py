"""A command group whose commands are imported only when they are run or described in full."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from phiscan.stopping import importing

# Packages of a checkout that are not installed with phiscan.
CHECKOUT_ONLY = ("papers", "training")


class LazyGroup(click.Group):
    """A group of commands given as name -> (module:attribute, one-line summary), in the order of their help.

    The summary is repeated there because ``--help`` would otherwise import every command with all libraries.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the command names in their order."""
        return [*self.commands, *self.lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command.

        Raises:
            click.UsageError: it belongs to a package that only a checkout has.
        """
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        with importing():
            try:
                command: click.Command = getattr(importlib.import_module(module), attribute)
            except ModuleNotFoundError as error:
                if error.name not in CHECKOUT_ONLY:
                    raise
                message = (
                    f"`{ctx.command_path} {cmd_name}` needs a checkout of phiscan's source: its folder"
                    f" {error.name}/ is not installed"
                )
                raise click.UsageError(message) from None
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; only the program reports an interrupt, because click would print an empty line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Abort from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write one line for each command."""
        own = [(name, command.get_short_help_str(200)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*own, *((name, summary) for name, (_, summary) in self.lazy.items())])
