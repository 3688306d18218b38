"""The commands: one file per group, imported when called, so that each starts fast."""

from __future__ import annotations

import io
import os
import sys
import traceback

import click

from phiscan import __version__
from phiscan.cli.lazy_group import LazyGroup
from phiscan.cli.output import print_message, set_log_format
from phiscan.errors import PhiscanError, origin
from phiscan.sandbox.scratch_folder import remove_stale_folders
from phiscan.stopping import EXIT_STOPPED, EXIT_USAGE, as_interrupt, mark_reported
from phiscan.threads import use_one_thread

# The commands in the order of the pipeline, each with its one-line description.
_SUMMARIES = {
    "init": "Write phiscan.toml, the secret key and an empty database into DIR (default: here).",
    "scan": "Scan ROOTS, folders or URLs, and put files with probable PHI into the review queue.",
    "cluster": (
        "Read a share with many machines: one scheduler, workers on each machine, `phiscan scan --cluster`."
    ),
    "watch": "Note changes of the local folders ROOTS, so that a rescan lists only what changed.",
    "schedule": "Run named scans with cron times and windows, in the foreground or by systemd.",
    "extract": "Print the text of FILES, read in confined worker processes.",
    "screen": "Screen texts given as JSON lines.",
    "rules": "List the patterns and prove that they work.",
    "queue": "Review what was referred: list it, see why, decide, assign, export.",
    "access": "Count the people who can read what may be PHI: files, folders, accounts that have left.",
    "accesslog": "Read access logs as evidence of whether a file was opened.",
    "patients": "Match files with the organization's own patients, by keyed hashes of their list.",
    "audit": "Check the log of every decision and assignment.",
    "db": "Maintain the review database: migrate, back up, restore, purge, rotate its key.",
    "push": "Send events and tickets that wait to the receivers of [[push]] in phiscan.toml.",
    "serve": "Serve the review pages and the REST API, until stopped with Ctrl-C.",
    "users": "Create and change the accounts of the desk's users.",
    "report": "Write the audit pack of a scan: report.html, the same as PDF, report.json, CSV tables, plots.",
    "learn": "Learn a new version from reviewed decisions.",
    "estimate": "Estimate the accuracy of the screen and the PHI that it missed.",
    "score": "Score spans, rankings and hierarchies against a gold standard.",
    "train": "Make the shipped models anew; for those who change phiscan, never needed to scan.",
    "benchmark": "Repeat the experiments of the source papers; for auditors, never needed to scan.",
    "doctor": (
        "Try every reader on a generated sample, and report what cannot be read without the missing ones."
    ),
    "completion": "Print the script that lets SHELL complete phiscan's commands and options.",
}
_ELSEWHERE = {
    "scan": "phiscan.cli.scan.command:scan",
    "queue": "phiscan.cli.queue.command:queue",
    "train": "training.command:train",
    "benchmark": "papers.commands.benchmark:benchmark",
}
COMMANDS: dict[str, tuple[str, str]] = {
    name: (_ELSEWHERE.get(name, f"phiscan.cli.{name}:{name}"), summary)
    for name, summary in _SUMMARIES.items()
}
"""The module of each command, and its description."""


def group_of(name: str) -> click.Group:
    """Return an empty group of commands under its name, with its description in ``COMMANDS``."""
    return click.Group(name, help=COMMANDS[name][1])


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phiscan")
@click.option(
    "--config",
    "config_path",
    type=click.Path(),
    help="Configuration file; else PHISCAN_CONFIG, else ./phiscan.toml.",
)
@click.option(
    "--log-format",
    type=click.Choice(["console", "json"]),
    envvar="PHISCAN_LOG_FORMAT",
    default="console",
    show_default=True,
    expose_value=False,
    callback=lambda _ctx, _option, form: set_log_format(form),  # before a command is imported
    help="How messages on standard error are written; else PHISCAN_LOG_FORMAT.",
)
@click.pass_context
def app(ctx: click.Context, config_path: str | None) -> None:
    """Find personal health information on file shares, and estimate how much was missed."""
    remove_stale_folders()  # left by a scan that was killed
    ctx.obj = config_path


def main() -> None:
    """Run the program; every expected error becomes one line on standard error.

    Exit status: 0 complete, nothing referred; 1 something was referred; 2 wrong usage, configuration or
    input; 3 some files could not be read; 4 stopped before its end.
    """
    use_one_thread()
    for stream in (sys.stdout, sys.stderr):
        # File names contain arbitrary characters, and JSON is UTF-8 in any locale.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output closed the pipe (`phiscan queue list | head`): nothing to report.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = EXIT_STOPPED
    except OSError as error:
        place = os.fsdecode(error.filename) if error.filename else "standard output"
        _complain(f"{place}: {error.strerror or type(error).__name__}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = EXIT_STOPPED
    sys.exit(status)


def _usage_message(error: click.ClickException) -> str:
    """Return the message in one line: that of a missing choice has several; and where commands are listed."""
    message = " ".join(error.format_message().split())
    is_unknown = message.startswith("No such command") and message.endswith("'.")  # without a suggestion
    context = getattr(error, "ctx", None)
    return f"{message} `{context.command_path} --help` lists them." if is_unknown and context else message


def _run() -> int:
    try:
        with as_interrupt():
            status = app.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        mark_reported()  # a further signal is not reported again
        _complain("stopped")
        return EXIT_STOPPED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)  # the help, not an error
        return EXIT_USAGE
    except click.ClickException as error:
        _complain(_usage_message(error))
        return EXIT_USAGE
    except PhiscanError as error:
        _complain(str(error))
        return EXIT_USAGE
    except OSError:
        raise  # reported by main
    except Exception as error:  # noqa: BLE001 (a message that we did not write may quote a document)
        if os.environ.get("PHISCAN_TRACEBACK"):
            traceback.print_exc()
        _complain(f"internal error: {origin(error)}; PHISCAN_TRACEBACK=1 shows more")
        return EXIT_STOPPED
    return status if isinstance(status, int) else 0


def _complain(message: str) -> None:
    """Print one line on standard error, with control characters of file names escaped."""
    if sys.stderr is not None:
        print_message(f"phiscan: {message}", level="error")
