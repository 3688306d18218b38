"""Static files, the health check, and the OpenAPI document."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from phiscan.web.access import Permission, Routes, may
from phiscan.web.request_context import DeskNow
from phiscan.web.session import SignedIn

routes = Routes()


@routes.page("GET", "/healthz", needs=Permission.PUBLIC)
def health(desk: DeskNow) -> Response:
    """Report that the server runs and reaches its database; without counts or version."""
    with desk.store.users.database.read():
        return PlainTextResponse("ok\n")


@routes.page("GET", "/static/{digest}/{name}", needs=Permission.PUBLIC)
def static(digest: str, name: str, request: Request, desk: DeskNow) -> Response:
    """Send a static file; its address contains the hash of its content."""
    found = desk.pages.static.files.get(name)
    if found is None or found.digest != digest:
        return PlainTextResponse("no such file\n", 404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'"{found.digest}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)


@routes.page("GET", "/", needs=Permission.SIGNED_IN)
def start(user: SignedIn) -> Response:
    """Redirect to the start page of the user's role."""
    return RedirectResponse(start_page(user), 303)


def start_page(user: SignedIn) -> str:
    """Return the address of the start page of the user's role."""
    places = (
        (Permission.SEE_QUEUE, "/queue"),
        (Permission.READ_LOG, "/log"),
        (Permission.MANAGE_USERS, "/users"),
        (Permission.OWN_FILES, "/mine"),
    )
    return next((place for permission, place in places if may(user, permission)), "/account")


@routes.page("GET", "/api/v1/openapi.json", needs=Permission.SIGNED_IN)
def openapi(request: Request) -> Response:
    """Describe the REST API."""
    return JSONResponse(request.app.openapi())
