"""The report as a page, and audit packs: building, list and download."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response

from phiscan.language import current
from phiscan.language import gettext as _
from phiscan.report.rendering.html import PARTS
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.report_builds import ReportRequest
from phiscan.web.request_context import DeskNow
from phiscan.web.session import SignedIn, address_of
from phiscan.web.work_query import ListQuery

routes = Routes()


@routes.page("GET", "/reports", needs=Permission.READ_REPORT)
def reports(request: Request, desk: DeskNow) -> Response:
    """List the packs, and offer to build one."""
    notice_name = request.query_params.get("said", "")
    return desk.pages.render(
        request,
        "reports.html",
        packs=desk.packs.listed(),
        is_making=desk.packs.is_making,
        problem=desk.packs.problem,
        scans=tuple(reversed(desk.store.scans())),
        notice=notice(notice_name) if notice_name != "making" or desk.packs.is_making else None,
        query=ListQuery(),
    )


@routes.page("POST", "/reports", needs=Permission.READ_REPORT)
def make(
    desk: DeskNow,
    scan: Annotated[int, Form()],
    numbers: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """Start building the pack of a scan."""
    if scan not in {one.id for one in desk.store.scans()}:
        raise HTTPException(404, _("scan {scan}: there is no such scan", scan=scan))
    begun = desk.packs.begin(
        desk.config.database_url, scan, hide_paths=bool(numbers), now=desk.now(), language=current()
    )
    return RedirectResponse(f"/reports?said={'making' if begun else 'busy'}", 303)


@routes.page("GET", "/reports/scan/{scan_id}", needs=Permission.READ_REPORT)
def report(scan_id: int, request: Request, desk: DeskNow) -> Response:
    """Show the report of a scan on one page."""
    head = next((one for one in desk.store.scans() if one.id == scan_id), None)
    if head is None:
        raise HTTPException(404, _("scan {scan}: there is no such scan", scan=scan_id))
    made = desk.reports.get(ReportRequest(desk.config.database_url, scan_id, desk.now(), current()))
    return desk.pages.render(request, "report.html", head=head, report=made, parts=PARTS)


@routes.page("GET", "/reports/{name}", needs=Permission.READ_REPORT)
def download(name: str, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Send a pack; the download is logged first."""
    path = desk.packs.path(name)
    if path is None:
        raise HTTPException(404, _("there is no such pack"))
    desk.store.users.log_export(what=name, by=user, address=address_of(request), now=desk.now())
    return FileResponse(path, media_type="application/zip", filename=name)
