"""The second list: files under the threshold of referral that a detector marked. Its pages only show."""

from __future__ import annotations

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.report.words import DETECTORS
from phiscan.review.decisions.corrections import ItemCorrections
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import place_words
from phiscan.web.views.item import item_view
from phiscan.web.work_query import ListQuery

routes = Routes()

N_ROWS = 200  # files on the page; `phiscan queue list --second-look` lists all


@routes.page("GET", "/second-list", needs=Permission.SEE_QUEUE)
def second_list(request: Request, desk: DeskNow) -> Response:
    """Show the first files of the second list, those with the highest probability first."""
    items = desk.store.queue(second_look=True, conceal=True, by_probability=True, limit=N_ROWS)
    return desk.pages.render(
        request, "second_list.html", rows=items, most=N_ROWS, place=place_words, known=DETECTORS
    )


def second_list_page(file_id: int, request: Request, desk: Desk) -> Response:
    """Return the read-only page of a file of the second list.

    Raises:
        HTTPException: 404; the file is in neither list, or there is no such file.
    """
    try:
        record = desk.store.item(file_id, conceal=True)
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if record.blind or not record.second_look:
        raise HTTPException(404, _("file {file_id}: not in the review list (any more)", file_id=file_id))
    view = item_view(
        record,
        query=ListQuery(),
        corrections=ItemCorrections((), complete=False, completed_by="", topics=None),
        history=(),
        group=(),
        token="",
        position=None,
        all_places=False,
    )
    return desk.pages.render(request, "second_list_item.html", v=view, known=DETECTORS)
