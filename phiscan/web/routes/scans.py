"""The scans and the files that could not be read."""

from __future__ import annotations

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phiscan.language import gettext as _
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.views.scans import N_UNREAD, Unread, scan_view, unread_of

routes = Routes()


@routes.page("GET", "/scans", needs=Permission.SEE_SCANS)
def latest(request: Request, desk: DeskNow) -> Response:
    """Show the latest scan, and list all."""
    if not desk.store.scans():
        return desk.pages.render(request, "scans.html", v=None)
    return _page(request, desk, None)


@routes.page("GET", "/scans/{scan_id}", needs=Permission.SEE_SCANS)
def scan(scan_id: int, request: Request, desk: DeskNow) -> Response:
    """Show one scan: its coverage, and every file that could not be read."""
    if scan_id not in {head.id for head in desk.store.scans()}:
        raise HTTPException(404, _("scan {scan}: there is no such scan", scan=scan_id))
    return _page(request, desk, scan_id)


def _page(request: Request, desk: Desk, scan_id: int | None) -> Response:
    summary = desk.store.summary(scan_id)
    unread: list[Unread] = []
    n_unread = 0
    if summary.failed or summary.n_unread_parts:
        for row in desk.store.rows(summary.scan):
            found = unread_of(row)
            n_unread += len(found)
            if len(unread) < N_UNREAD:
                unread.extend(found)
    view = scan_view(summary, desk.store.scans(), unread[:N_UNREAD], n_unread=n_unread)
    return desk.pages.render(request, "scans.html", v=view)
