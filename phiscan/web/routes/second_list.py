"""The second list: files under the threshold of referral that a detector marked. Its pages only show."""

from __future__ import annotations

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.views.second_list import N_ROWS, rows_view, second_list_item

routes = Routes()


@routes.page("GET", "/second-list", needs=Permission.SEE_QUEUE)
def second_list(request: Request, desk: DeskNow) -> Response:
    """Show the first files of the second list, those with the highest probability first."""
    items = desk.store.queue(second_look=True, conceal=True, by_probability=True, limit=N_ROWS)
    return desk.pages.render(request, "second_list.html", rows=rows_view(items), most=N_ROWS)


def second_list_page(file_id: int, request: Request, desk: Desk) -> Response:
    """Return the read-only page of a file of the second list.

    Raises:
        HTTPException: 404; the file is in neither list, or there is no such file.
    """
    try:
        detail = desk.store.item(file_id, conceal=True)
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if detail.blind or not detail.item.second_look:
        raise HTTPException(404, _("file {file_id}: not in the review list (any more)", file_id=file_id))
    return desk.pages.render(request, "second_list_item.html", v=second_list_item(detail))
