"""The scans, their coverage, and the files that could not be read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.model import NOT_COVERED, FailReason, Outcome
from phiscan.report.words import FORMATS, waiting_for_ocr
from phiscan.report.words import REASONS as OUTCOME_REASONS
from phiscan.review.worklist.model import FileRecord
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.plain_words import locator_words
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import place_words

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
def latest(request: Request, desk: DeskNow) -> Response:
    """Show the latest scan, and list all."""
    if not desk.store.scans():
        return desk.pages.render(request, "scans.html", s=None)
    return _page(request, desk, None)


@routes.page("GET", "/scans/{scan_id}", needs=Permission.SEE_SCANS)
def scan(scan_id: int, request: Request, desk: DeskNow) -> Response:
    """Show one scan: its coverage, and every file that could not be read."""
    if scan_id not in {head.id for head in desk.store.scans()}:
        raise HTTPException(404, _("scan {scan}: there is no such scan", scan=scan_id))
    return _page(request, desk, scan_id)


def _page(request: Request, desk: Desk, scan_id: int | None) -> Response:
    summary = desk.store.summary(scan_id)
    unread: list[tuple[FileRecord, str, str]] = []
    n_unread = 0
    if summary.has_unread:
        for row in desk.store.rows(summary.scan):
            found = unread_of(row)
            n_unread += len(found)
            if len(unread) < N_UNREAD:
                unread.extend(found)
    n_failed = sum(summary.failed.values())
    return desk.pages.render(
        request,
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
        unread=[
            (row, place_words(row.root, row.path.rpartition("/")[0]), part, reason)
            for row, part, reason in unread[:N_UNREAD]
        ],
        formats=FORMATS,
        meanings=OUTCOME_REASONS,
        remedies=REMEDIES,
        n_unread=n_unread,
        waiting=waiting_for_ocr(summary.n_ocr_files, summary.n_ocr_parts) if summary.n_ocr_files else "",
        scans=tuple(reversed(desk.store.scans())),
    )
