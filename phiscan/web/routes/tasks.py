"""Tasks after the verdict: remediation of confirmed files, as a page and as a CSV hand-off list."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from fastapi import Request
from starlette.responses import Response

from phiscan.language import lazy_gettext
from phiscan.report.sections.time_limits import HIPAA_DAYS
from phiscan.review.decisions.remedies import Task, TaskState, open_tasks
from phiscan.visible import safe_cell, visible
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import DeskNow
from phiscan.web.session import SignedIn, address_of
from phiscan.web.work_query import ListQuery

STATES: Mapping[TaskState, tuple[str, str]] = {
    TaskState.OPEN: ("warn", lazy_gettext("open")),
    TaskState.OVERDUE: ("phi", lazy_gettext("overdue")),
    TaskState.GONE: ("ok", lazy_gettext("done: the file is gone")),
    TaskState.RESTRICTED: ("ok", lazy_gettext("done: access is restricted")),
    TaskState.CHANGED: ("info", lazy_gettext("content changed: review it again")),
}
COLUMNS = (
    "share",
    "path",
    "owner",
    "readable_by",
    "people_estimate",
    "confirmed",
    "due",
    "remedy",
    "state",
    "proof_scan",
    "proved",
)

routes = Routes()


@routes.page("GET", "/tasks", needs=Permission.EXPORT)
def tasks(request: Request, desk: DeskNow) -> Response:
    """List the tasks, open tasks first."""
    found = desk.store.desk.tasks(due_days=HIPAA_DAYS, now=desk.now())
    return desk.pages.render(
        request,
        "tasks.html",
        tasks=found,
        n_open=open_tasks(found),
        states=STATES,
        due_days=HIPAA_DAYS,
        written=desk.store.desk.owner_mails(),
        notice=notice(request.query_params.get("said", "")),
        query=ListQuery(),
    )


@routes.page("GET", "/tasks.csv", needs=Permission.EXPORT)
def hand_off(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Send the tasks as CSV, without values of identifiers; the download is logged first."""
    found = desk.store.desk.tasks(due_days=HIPAA_DAYS, now=desk.now())
    desk.store.users.log_export(what="tasks", by=user, address=address_of(request), now=desk.now())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([safe_cell(cell) for cell in _cells(task)] for task in found)
    return Response(
        text.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="tasks.csv"'},
    )


def _cells(task: Task) -> list[str]:
    return [
        visible(task.root),
        visible(task.path),
        visible(task.owner),
        task.exposure.value,
        str(task.n_people),
        task.confirmed.date().isoformat(),
        task.due.date().isoformat(),
        task.remedy,
        STATES[task.state][1],
        "" if task.proof_scan is None else str(task.proof_scan),
        "" if task.proved is None else task.proved.date().isoformat(),
    ]
