"""The scans and what they could not read, the reports of them and audit packs, and the audit log."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Form, Query
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response

from phiscan.language import current, lazy_gettext
from phiscan.language import gettext as _
from phiscan.model import NOT_COVERED, FailReason, Outcome
from phiscan.report.rendering.html import PARTS
from phiscan.report.words import waiting_for_ocr
from phiscan.review.records.scans import ScanHead
from phiscan.review.worklist.model import FileRecord
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.pages import notice
from phiscan.web.plain_words import locator_words
from phiscan.web.report_builds import ReportRequest
from phiscan.web.request_context import MAX_NUMBER, Context, Ctx
from phiscan.web.routes.queue import Tick

routes = Routes()
N_UNREAD = 500  # files listed on the page; files.csv of the pack lists all

# Remedies for files that could not be read.
REMEDIES: Mapping[str, str] = {
    FailReason.ENCRYPTED: lazy_gettext("Add its password to passwords_file, then retry."),
    FailReason.CORRUPT: lazy_gettext("Ask its owner for a good copy, or look at it by hand."),
    FailReason.TOO_LARGE: lazy_gettext(
        "Raise limits.file_bytes, limits.text_chars or limits.screen_chars, then retry."
    ),
    FailReason.TIMED_OUT: lazy_gettext("Raise limits.time_s, then retry."),
    FailReason.OUT_OF_MEMORY: lazy_gettext("Raise limits.memory_bytes, then retry."),
    FailReason.CRASHED: lazy_gettext("Look at it by hand; report the format."),
    FailReason.NO_PERMISSION: lazy_gettext("Let phiscan's account read it, then retry."),
    FailReason.CHANGED: lazy_gettext("Retry when nobody writes to it."),
    FailReason.UNSUPPORTED: lazy_gettext("Look at it by hand."),
    FailReason.NEEDS_OCR: lazy_gettext(
        "Scan again; where OCR is missing, phiscan doctor says how to install it."
    ),
    FailReason.IO_ERROR: lazy_gettext("Check the storage, then retry."),
    FailReason.SAMPLED: lazy_gettext("Nothing: the file is referred."),
    FailReason.NESTED_TOO_DEEP: lazy_gettext("Raise limits.depth, then retry."),
    NOT_COVERED: lazy_gettext("Have it looked at by somebody who reads this language."),
}


def unread_of(row: FileRecord) -> list[tuple[FileRecord, str, str]]:
    """Return the unread parts of a file with their reasons, "" = all of it; none of one that is skipped."""
    places = [("", row.reason)] if row.outcome is Outcome.FAILED else []
    places += [("", NOT_COVERED)] if not row.covered else []
    places += [(locator_words(part.locator), part.reason.value) for part in row.unread if not part.is_sampled]
    return [(row, part, reason) for part, reason in places]


def _counted(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(reasons.items(), key=lambda one: (-one[1], one[0]))


@routes.page("GET", "/scans", needs=Permission.SEE_SCANS)
def latest(ctx: Ctx) -> Response:
    """Show the latest scan, and list all."""
    if not ctx.desk.store.scans():
        return ctx.page("scans.html", s=None)
    return _page(ctx, None)


@routes.page("GET", "/scans/{scan_id}", needs=Permission.SEE_SCANS)
def scan(scan_id: int, ctx: Ctx) -> Response:
    """Show one scan: its coverage, and every file that could not be read."""
    return _page(ctx, _known(ctx, scan_id).id)


def _known(ctx: Context, scan_id: int) -> ScanHead:
    found = next((one for one in ctx.desk.store.scans() if one.id == scan_id), None)
    if found is None:
        raise HTTPException(404, _("scan {scan}: there is no such scan", scan=scan_id))
    return found


def _page(ctx: Context, scan_id: int | None) -> Response:
    summary = ctx.desk.store.summary(scan_id)
    unread: list[tuple[FileRecord, str, str]] = []
    n_unread = 0
    if summary.has_unread:
        for row in ctx.desk.store.rows(summary.scan):
            found = unread_of(row)
            n_unread += len(found)
            if len(unread) < N_UNREAD:
                unread.extend(found)
    n_failed, scans = sum(summary.failed.values()), tuple(reversed(ctx.desk.store.scans()))
    return ctx.page(
        "scans.html",
        s=summary,
        started=datetime.fromisoformat(summary.started),
        ended=datetime.fromisoformat(summary.ended) if summary.ended else None,
        roots=[visible(root) for root in summary.roots],
        retry=visible(shlex.join(["phiscan", "scan", *summary.roots, "--retry-failed"])),
        parts=(
            ("full", summary.screened),
            ("same", summary.unchanged),
            ("none", sum(summary.skipped.values())),
            ("phi", n_failed),
        ),
        skipped=_counted(summary.skipped),
        failed=_counted(summary.failed),
        n_failed=n_failed,
        unread=unread[:N_UNREAD],
        remedies=REMEDIES,
        n_unread=n_unread,
        waiting=waiting_for_ocr(summary.n_ocr_files, summary.n_ocr_parts) if summary.n_ocr_files else "",
        scans=scans,
        reading=next((visible(one.reading) for one in scans if one.id == summary.scan), ""),
    )


@routes.page("GET", "/reports", needs=Permission.READ_REPORT)
def reports(ctx: Ctx) -> Response:
    """List the packs, and offer to build one."""
    packs = ctx.desk.packs
    return ctx.page(
        "reports.html",
        packs=packs.listed(),
        is_making=packs.is_making,
        problem=packs.problem,
        scans=tuple(reversed(ctx.desk.store.scans())),
        notice=notice(ctx.notice_name) if ctx.notice_name != "making" or packs.is_making else None,
    )


@routes.page("POST", "/reports", needs=Permission.READ_REPORT)
def make(ctx: Ctx, scan: Annotated[int, Form()], numbers: Tick = "") -> Response:
    """Start building the pack of a scan."""
    wanted = ReportRequest(ctx.desk.config.database_url, _known(ctx, scan).id, ctx.now, current())
    begun = ctx.desk.packs.begin(replace(wanted, hide_paths=bool(numbers)))
    return RedirectResponse(f"/reports?said={'making' if begun else 'busy'}", 303)


@routes.page("GET", "/reports/scan/{scan_id}", needs=Permission.READ_REPORT)
def report(scan_id: int, ctx: Ctx) -> Response:
    """Show the report of a scan on one page."""
    head = _known(ctx, scan_id)
    made = ctx.desk.reports.get(ReportRequest(ctx.desk.config.database_url, scan_id, ctx.now, current()))
    return ctx.page("report.html", head=head, report=made, parts=PARTS)


@routes.page("GET", "/reports/{name}", needs=Permission.READ_REPORT)
def download(name: str, ctx: Ctx) -> Response:
    """Send a pack; the download is logged first."""
    path = ctx.desk.packs.path(name)
    if path is None:
        raise HTTPException(404, _("there is no such pack"))
    ctx.users.log_export(what=name, by=ctx.user, address=ctx.address, now=ctx.now)
    return FileResponse(path, media_type="application/zip", filename=name)


@routes.page("GET", "/log", needs=Permission.READ_LOG)
def log(
    ctx: Ctx,
    before: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    action: Annotated[str, Query(max_length=50)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    day: Annotated[date | Literal[""], Query()] = "",
) -> Response:
    """Show entries, newest first."""
    page = ctx.users.log(before=before, action=action, actor=actor, day=day or None)
    actions, actors = ctx.users.log_choices()
    chosen = {"before": before, "action": action, "actor": actor, "day": day and day.isoformat()}
    older = {**chosen, "before": page.older}
    return ctx.page(
        "log.html",
        page=page,
        actions=actions,
        actors=actors,
        chosen=chosen,
        older_url=f"/log?{urlencode({k: v for k, v in older.items() if v})}" if page.older else "",
        reviews=ctx.users.log_reviews()[:5],
    )


@routes.page("GET", "/log/verification", needs=Permission.READ_LOG)
def verification(ctx: Ctx) -> Response:
    """Verify the whole log now, and offer to sign the result if it is intact."""
    check = ctx.desk.store.verify_audit()
    return ctx.page("log_verification.html", check=check, reviews=ctx.users.log_reviews())


@routes.page("POST", "/log/reviews", needs=Permission.SIGN_LOG)
def sign(
    ctx: Ctx,
    head: Annotated[str, Form(pattern="^[0-9a-f]{64}$")],
    note: Annotated[str, Form(max_length=4000)] = "",
) -> Response:
    """Record "I have reviewed this log", up to the entry that was shown."""
    ctx.users.sign_log(head=head, note=note, reviewer=ctx.name, now=ctx.now)
    return RedirectResponse("/log", 303)
