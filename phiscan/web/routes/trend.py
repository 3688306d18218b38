"""The trend of confirmed files over scans, burn-down, departments, pace of review, the board's page."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Literal

from starlette.responses import Response

from phiscan.config import Config
from phiscan.errors import ConfigError
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.report.incidents import record_pdf
from phiscan.report.pack import table_csv
from phiscan.report.rendering.tables import Column, columns, table_of
from phiscan.report.words import count, moment
from phiscan.review.decisions.incidents import Task, TaskState
from phiscan.review.records.scans import ScanHead
from phiscan.review.store import Store
from phiscan.review.worklist.model import Exposure, WorkState
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.queue import midnight

WINDOW = timedelta(days=28)  # in which remedies are counted
PAUSE = timedelta(minutes=10)  # a longer one between two decisions is no work
MIN_STEPS = 5  # decisions with another before them, from which a pace is known
N_DAYS = 90  # of the burn-down
N_SCANS, ALL_SCANS = 60, 10_000  # on the page, and in the file
_WIDTH, _HEIGHT = 900.0, 180.0

routes = Routes()


@dataclass(frozen=True, slots=True)
class TrendRow:
    """The files confirmed as PHI when a scan began, and what it could not read."""

    scan: int
    began: datetime
    phi: int  # confirmed so far
    new: int  # since the scan before
    remedied: int  # proved by this scan
    open: int
    unread: int


COLUMNS = (
    Column("scan", lazy_gettext("Scan"), "id"),
    Column("began", lazy_gettext("Began"), "time"),
    *columns("count", phi=lazy_gettext("PHI"), new=lazy_gettext("New"), remedied=lazy_gettext("Remedied")),
    *columns("count", open=lazy_gettext("Open"), unread=lazy_gettext("Not read")),
)


def trend_rows(tasks: Sequence[Task], scans: Sequence[ScanHead], unread: Mapping[int, int]) -> list[TrendRow]:
    """Return a row for each scan, the oldest first; what was confirmed after a scan counts with the next."""
    rows: list[TrendRow] = []
    for at, scan in enumerate(scans):
        until = (
            scans[at + 1].started if at + 1 < len(scans) else datetime.max.replace(tzinfo=scan.started.tzinfo)
        )
        phi = sum(one.confirmed < until for one in tasks)
        remedied = sum(one.proof_scan == scan.id for one in tasks)
        closed = sum(one.proof_scan is not None and one.proof_scan <= scan.id for one in tasks)
        new = phi - (rows[-1].phi if rows else 0)
        rows.append(TrendRow(scan.id, scan.started, phi, new, remedied, phi - closed, unread.get(scan.id, 0)))
    return rows


@dataclass(frozen=True, slots=True)
class BurnDown:
    """Open files day by day, and how many days are left at the present rate, with a 95% interval."""

    days: tuple[tuple[date, int], ...]
    closed: int  # within ``WINDOW``
    left: float | None  # days; None = nothing was closed
    low: float | None
    high: float | None  # None = no end can be told

    @property
    def line(self) -> str:
        """The points of the line, as SVG takes them."""
        top = max([1, *(n for _day, n in self.days)])
        step = _WIDTH / max(1, len(self.days) - 1)
        return " ".join(
            f"{at * step:.1f},{_HEIGHT - _HEIGHT * n / top:.1f}" for at, (_day, n) in enumerate(self.days)
        )


def burn_down(tasks: Sequence[Task], now: datetime) -> BurnDown:
    """Return the burn-down of confirmed files; the interval is that of a Poisson count, exact."""
    from scipy import special  # noqa: PLC0415 (slow to import)

    days = []
    for back in range(N_DAYS, -1, -1):
        end = now - timedelta(days=back)
        is_open = (one.confirmed <= end and (one.proved is None or one.proved > end) for one in tasks)
        days.append((end.date(), sum(is_open)))
    first = next((at for at, (_day, n) in enumerate(days) if n), 0)
    closed = sum(one.proved is not None and now - WINDOW < one.proved <= now for one in tasks)
    n_open = days[-1][1]

    def left(rate: float) -> float | None:
        return n_open * WINDOW.days / rate if rate > 0 else None

    low = float(special.gammaincinv(closed, 0.025)) if closed else 0.0
    high = float(special.gammaincinv(closed + 1, 0.975))
    return BurnDown(tuple(days[first:]), closed, left(closed), left(high), left(low))


def read_departments(config: Config) -> dict[str, str]:
    """Read the CSV file of [organization] departments_file: folder (with its share) -> department.

    Raises:
        ConfigError: names the file and the line, and what was expected.
    """
    name = config.organization.departments_file
    if not name:
        return {}
    path = Path(config.source).parent / name
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines(), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(
            path, f"organization.departments_file: expected a CSV file in UTF-8 ({type(error).__name__})"
        ) from None
    for number, row in enumerate(rows, 1):
        if len(row) != 2 or not all(cell.strip() for cell in row):  # noqa: PLR2004 (folder and department)
            raise ConfigError(path, f"line {number}: expected two columns, folder and department")
    return {folder.strip().rstrip("/"): department.strip() for folder, department in rows[1:]}


def departments(tasks: Iterable[Task], folders: Mapping[str, str]) -> list[tuple[str, Counter[str]]]:
    """Count the open files by department, that of the deepest folder, and exposure, and their people."""
    counted: dict[str, Counter[str]] = {}
    for one in tasks:
        if one.is_open:
            parts = f"{one.root}/{one.path}".split("/")[:-1]
            above = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
            name = next((folders[place] for place in above if place in folders), "")
            exposure = (one.exposure_now or one.exposure).value
            counted.setdefault(name, Counter()).update({exposure: 1, "files": 1, "people": one.n_people})
    return sorted(counted.items(), key=lambda one: (-one[1]["everyone"], -one[1]["files"], one[0]))


def seconds_per_item(decided: Iterable[Sequence[datetime]]) -> float | None:
    """Return the mean time between two decisions of one reviewer without a pause; None = too few.

    >>> from datetime import UTC
    >>> day = [datetime(2026, 1, 1, 9, minute, tzinfo=UTC) for minute in (0, 1, 2, 3, 4, 5, 40)]
    >>> seconds_per_item([day]), seconds_per_item([day[:3]])
    (60.0, None)
    """
    steps = [step for one in decided for step in map(lambda a, b: b - a, one, one[1:]) if step <= PAUSE]
    return sum(steps, timedelta()).total_seconds() / len(steps) if len(steps) >= MIN_STEPS else None


def hours_left(store: Store, *, viewer: str, now: datetime) -> tuple[float | None, bool]:
    """Return the hours that the open items of the queue take, and whether the pace is today's."""
    n_open = store.desk.counts(viewer=viewer, now=now).by_state[WorkState.UNDECIDED]
    for since, is_today in ((midnight(now), True), (now - timedelta(days=7), False)):
        pace = seconds_per_item(store.desk.decision_times(since=since).values())
        if pace is not None:
            return n_open * pace / 3600, is_today
    return None, True


def _rows(ctx: Context, tasks: Sequence[Task], n_last: int = N_SCANS) -> list[TrendRow]:
    scans = sorted(ctx.desk.store.scans(), key=lambda one: one.id)
    unread = {one.id: sum(ctx.desk.store.summary(one.id).failed.values()) for one in scans[-n_last:]}
    return trend_rows(tasks, scans, unread)[-n_last:]


@routes.page("GET", "/trend", needs=Permission.READ_INCIDENT)
def trend(ctx: Ctx) -> Response:
    """Show every scan's confirmed files, the burn-down, departments, and to leads the pace of reviewers."""
    now, store = ctx.now, ctx.desk.store
    tasks = store.desk.tasks(now=now)
    decided = store.desk.decision_times(since=now - WINDOW) if ctx.may(Permission.ASSIGN) else {}
    hours, is_today = hours_left(store, viewer=ctx.name, now=now)
    burn = burn_down(tasks, now)
    return ctx.page(
        "trend.html",
        heads=[one.label for one in COLUMNS],
        rows=_rows(ctx, tasks)[::-1],
        burn=burn,
        burn_words=left_words(burn),
        window=WINDOW.days,
        departments=departments(tasks, read_departments(ctx.desk.config)),
        has_map=bool(ctx.desk.config.organization.departments_file),
        hours=hours,
        is_today=is_today,
        reviewers=[
            (name, len(times), len({one.date() for one in times}), seconds_per_item([times]))
            for name, times in decided.items()
        ],
    )


@routes.page("GET", "/trend/{kind}", needs=Permission.READ_INCIDENT)
def export(kind: Literal["csv", "pdf"], ctx: Ctx) -> Response:
    """Send the trend as CSV, or the board's page as PDF; the download is logged first."""
    now = ctx.now
    tasks = ctx.work.tasks(now=now)
    rows = _rows(ctx, tasks, ALL_SCANS if kind == "csv" else 1)
    if kind == "csv":
        return ctx.file("trend.csv", table_csv(table_of("trend", "", rows)(*COLUMNS)))
    found = departments(tasks, read_departments(ctx.desk.config))
    numbers = [(by["everyone"], by["files"] - by["everyone"], by["people"]) for _name, by in found]
    content = record_pdf(
        _("Personal health information on file shares"),
        [ctx.desk.organization.name, moment(now)],
        now,
        parts=board_parts(rows, tasks, burn_down(tasks, now)),
        heads=(_("Department"), _("Readable by everyone"), _("Other open files"), _("People")),
        rows=[
            (visible(name) or _("no department"), *map(count, row))
            for (name, _by), row in zip(found, numbers, strict=True)
        ],
    )
    return ctx.file("board.pdf", content)


def board_parts(rows: Sequence[TrendRow], tasks: Sequence[Task], burn: BurnDown) -> list[tuple[str, str]]:
    """Return headings and sentences of the board's page."""
    waiting = [one for one in tasks if one.is_open]
    everyone = sum((one.exposure_now or one.exposure) is Exposure.EVERYONE for one in waiting)
    late = sum(one.state is TaskState.OVERDUE for one in waiting)
    stand = (
        ngettext(
            "{n} file is confirmed to hold health information of people.",
            "{n} files are confirmed to hold health information of people.",
            len(tasks),
        ),
        ngettext("{n} of them is still to be seen to.", "{n} of them are still to be seen to.", len(waiting)),
        ngettext("{n} is readable by everyone.", "{n} are readable by everyone.", everyone),
        ngettext("{n} is past its day.", "{n} are past their day.", late),
    )
    parts = [(_("Where we stand"), "\n".join(stand)), (_("How fast it is put right"), left_words(burn))]
    for last in rows[-1:]:
        unread = ngettext(
            "The last scan could not read {n} file; what is in it is not known.",
            "The last scan could not read {n} files; what is in them is not known.",
            last.unread,
        )
        new = ngettext(
            "Since the scan before, {n} file is new.", "Since the scan before, {n} files are new.", last.new
        )
        parts.append((_("What the last scan adds"), f"{new}\n{unread}"))
    return parts


def left_words(burn: BurnDown) -> str:
    """Return how long the open files take at the present rate, in plain words."""
    closed = ngettext(
        "In the last {days} days {n} file was put right, proved by a scan.",
        "In the last {days} days {n} files were put right, proved by a scan.",
        burn.closed,
        days=WINDOW.days,
    )
    if not burn.days or not burn.days[-1][1]:
        return f"{closed} {_('None is open.')}"
    if burn.left is None or burn.low is None:
        return f"{closed} {_('So nothing can be said about the end.')}"
    end = _(
        "Nothing new provided, the open ones take about {n} days at this rate", n=decimal(f"{burn.left:.0f}")
    )
    if burn.high is None:
        return f"{closed} {end}."
    range_ = _("from {low} to {high}, by chance alone", low=f"{burn.low:.0f}", high=f"{burn.high:.0f}")
    return f"{closed} {end} ({range_})."
