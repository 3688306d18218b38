"""``phiscan report``: the audit pack of a scan."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from phiscan.cli.output import config_of, print_message, unblind_option
from phiscan.language import LANGUAGES, decimal, using
from phiscan.language import gettext as _
from phiscan.report.words import count, share

if TYPE_CHECKING:
    from phiscan.config import Config
    from phiscan.report.gather import ReportData
    from phiscan.report.summary import Answer, Headline


@click.command(epilog="Example: phiscan report --out report && xdg-open report/report.html")
@click.option(
    "--scan", "scan_id", type=click.IntRange(1, 2**63 - 1), help="Number of the scan; default: the latest."
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the pack.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json on standard output.")
@click.option("--hide-paths", is_flag=True, help="Name files by number: a path may name a person.")
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    help="Language of pages, PDF and plots; default: that of phiscan.toml. JSON and CSV are English.",
)
@unblind_option
@click.option(
    "--private-epsilon",
    type=float,
    help="Only performance figures, with differential privacy at this privacy loss; for a public pack.",
)
@click.option(
    "--private-delta",
    type=float,
    help="With --private-epsilon: allows Laplace noise for the order's figures, e.g. 1e-6.",
)
@click.pass_context
def report(
    ctx: click.Context,
    scan_id: int | None,
    out: Path | None,
    as_json: bool,
    hide_paths: bool,
    language: str | None,
    unblind: str | None,
    private_epsilon: float | None,
    private_delta: float | None,
) -> None:
    """Write the audit pack of a scan: report.html, the same as PDF, report.json, CSV tables, plots.

    The page says what was covered, what was found and confirmed, how good the screen is (TDP, FRP, PPV with
    exact intervals), how much it may have missed, and what it cannot say. It holds no value of any
    identifier. It shows one state of the database; people may decide and scans may run meanwhile.
    With --private-epsilon the pack holds noisy performance figures and nothing else of the scan; each
    release is charged to a ledger under PHISCAN_HOME, and refused once the budget of the folders is spent.
    Files that await a blind second verdict are undecided in it; --unblind NAME shows their first verdicts.
    """
    if out is None and not as_json:
        message = "expected --out DIR, --json, or both"
        raise click.UsageError(message)
    if private_delta is not None and private_epsilon is None:
        message = "--private-delta: expected --private-epsilon with it"
        raise click.UsageError(message)
    if private_epsilon is not None and unblind is not None:
        message = "--unblind: expected without --private-epsilon, which shows no file"
        raise click.UsageError(message)
    # scipy and sqlalchemy take most of a second to load: not for every --help.
    from phiscan.patients.settings import load_settings  # noqa: PLC0415
    from phiscan.report.gather import gather  # noqa: PLC0415
    from phiscan.report.pack import report_json, write_pack  # noqa: PLC0415
    from phiscan.review.accounts.users import Users  # noqa: PLC0415
    from phiscan.store.database import open_database  # noqa: PLC0415

    config = config_of(ctx.obj)
    if private_epsilon is not None:
        config = replace(config, language=language or config.language)
        _private(config, scan_id, out, as_json=as_json, epsilon=private_epsilon, delta=private_delta or 0.0)
        return
    with closing(open_database(config.database_url, create=False)) as database:
        now = datetime.now(UTC)
        if unblind is not None:
            Users(database).log_unblinding(what="report", by=unblind, now=now)
        made = gather(
            database,
            scan_id,
            now=now,
            hide_paths=hide_paths,
            conceal=unblind is None,
            home=config.home,
            patient_index=load_settings(config).folder,
        )
    if out is not None:
        write_pack(made, out, language=language or config.language)
        with using(language or config.language):
            _print_summary(made.data, out)
    if as_json:
        click.echo(report_json(made.data), nl=False)


def _print_summary(data: ReportData, out: Path) -> None:
    """Print the answers of the first page and the figures, in the language of the context."""
    lines = [*map(_answer, data.summary.answers), *map(_line, data.headlines[:-1])]
    if data.scope.status != "complete":
        lines.append(_("This scan has not reached its end. The report covers what it has recorded so far."))
    for line in (*lines, _("report of scan {scan}: {page}", scan=data.scope.scan, page=out / "report.html")):
        print_message(_in_line(line))


def _private(
    config: Config, scan_id: int | None, out: Path | None, *, as_json: bool, epsilon: float, delta: float
) -> None:
    """Release figures with differential privacy; the exact ones are neither written nor printed."""
    from phiscan.report.pack import report_json  # noqa: PLC0415 (as above)
    from phiscan.report.private import release  # noqa: PLC0415
    from phiscan.store.database import open_database  # noqa: PLC0415

    if out is not None:
        release.check_folder(out)
    with closing(open_database(config.database_url, create=False)) as database:
        made = release.private_report(
            database, scan_id, home=config.home, epsilon=epsilon, delta=delta, now=datetime.now(UTC)
        )
    if out is not None:
        release.write_private_pack(made, out, language=config.language)
        with using(config.language):
            for figure in made.figures:
                value = (
                    _("not known: {reason}", reason=figure.reason)
                    if figure.value is None
                    else _("{value}, with noise", value=decimal(f"{figure.value:.3f}"))
                )
                print_message(_in_line(_("{name}: {figure}", name=figure.label, figure=value)))
            spent = _(
                "spent epsilon {epsilon} and delta {delta}; in all {spent_epsilon} and {spent_delta}: {page}",
                epsilon=decimal(f"{epsilon:g}"),
                delta=decimal(f"{delta:g}"),
                spent_epsilon=decimal(f"{made.spent_epsilon:g}"),
                spent_delta=decimal(f"{made.spent_delta:g}"),
                page=out / "report.html",
            )
            print_message(_in_line(spent))
    if as_json:
        click.echo(report_json(made), nl=False)


def _answer(answer: Answer) -> str:
    """Format one answer of the first page for a terminal, in the language of the context."""
    given = _("not known: {reason}", reason=answer.reason) if answer.n is None else count(answer.n)
    caution = f" {answer.caution}" if answer.caution else ""
    return f"{answer.question} {given}. {answer.sentence}{caution}"


def _line(headline: Headline) -> str:
    """Format a figure of the statistics for a terminal, in the language of the context."""
    if headline.value is None:
        unknown = _("not known: {reason}", reason=headline.reason)
        return _("{name}: {figure}", name=headline.name, figure=unknown)
    if headline.ci95 is None:
        figure = _("{n} (95% limit)", n=count(int(headline.value)))
    else:
        low, high = (share(one) for one in headline.ci95)
        figure = _("{value} (95% {low} to {high})", value=share(headline.value), low=low, high=high)
    named = _("{name}: {figure}", name=headline.name, figure=figure)
    return f"{named}. {headline.sentence}"


def _in_line(text: str) -> str:
    """Return a sentence with plain spaces: a terminal shows those of the page as escapes."""
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")
