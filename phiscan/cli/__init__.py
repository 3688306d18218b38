"""The commands: one file per group, loaded when called, so that each starts fast."""

from __future__ import annotations

import importlib
import os
import sys

import click

from phiscan import __version__
from phiscan.cli.visible import visible
from phiscan.errors import PhiscanError, origin

EXIT_USAGE = 2
EXIT_STOPPED = 4

# The explicit list of commands and where each one lives.
COMMANDS: dict[str, str] = {
    "init": "phiscan.cli.init:init",
    "scan": "phiscan.cli.scan:scan",
    "extract": "phiscan.cli.extract:extract",
    "screen": "phiscan.cli.screen:screen",
    "rules": "phiscan.cli.rules:rules",
    "queue": "phiscan.cli.queue:queue",
    "audit": "phiscan.cli.audit:audit",
    "report": "phiscan.cli.report:report",
    "estimate": "phiscan.cli.estimate:estimate",
    "score": "phiscan.cli.score:score",
    "doctor": "phiscan.cli.doctor:doctor",
}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are run or described."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the command names in the order of the pipeline."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phiscan")
@click.option(
    "--config",
    "config_path",
    type=click.Path(),
    help="Configuration file; else PHISCAN_CONFIG, else ./phiscan.toml.",
)
@click.pass_context
def app(ctx: click.Context, config_path: str | None) -> None:
    """Find personal health information on file shares, and say how much was missed."""
    ctx.obj = config_path


def main() -> None:
    """Run the program; every expected error becomes one line on standard error.

    Exit status: 0 complete, nothing referred; 1 something was referred; 2 wrong usage, configuration or
    input; 3 some files could not be read; 4 stopped before its end.
    """
    try:
        status = app.main(standalone_mode=False)
    except click.exceptions.Abort:
        status = EXIT_STOPPED
    except click.ClickException as error:
        # A missing choice is told over several lines, and a value may hold line ends of its own.
        click.echo(f"phiscan: {visible(' '.join(error.format_message().split()))}", err=True)
        status = EXIT_USAGE
    except PhiscanError as error:
        click.echo(f"phiscan: {visible(str(error))}", err=True)
        status = EXIT_USAGE
    except BrokenPipeError:
        # The reader of our output went away (`phiscan queue list | head`): not an error of ours.
        sys.stderr.close()
        status = 0
    except Exception as error:
        # A message that we did not write may quote a document: only its type and place are shown.
        if os.environ.get("PHISCAN_TRACEBACK"):
            raise
        click.echo(f"phiscan: internal error: {origin(error)}; PHISCAN_TRACEBACK=1 shows more", err=True)
        status = EXIT_STOPPED
    sys.exit(status if isinstance(status, int) else 0)
