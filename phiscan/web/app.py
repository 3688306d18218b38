"""The web application: its routes in one explicit list, each with a permission.

How to add a page. Write ``web/routes/<subject>.py`` (a place in the menu: ``templates/base.html``; its texts:
``make messages``; its visit in a browser: ``tests/browser/test_every_page.py``):

    routes = Routes()

    @routes.page("GET", "/queue", needs=Permission.SEE_QUEUE)
    def queue(ctx: Ctx) -> Response:
        return ctx.page("queue.html", items=ctx.desk.store.queue(limit=50))

    @routes.api("POST", "/items/{file_id}/decision", Permission.DECIDE)
    def decide(file_id: int, body: DecisionBody, ctx: Ctx) -> DecisionAnswer: ...

then name its ``routes`` in ``ROUTES`` below. Endpoints are plain ``def`` (they run in a thread, the store
blocks); forms are read by ``Annotated[str, Form()]``; raise ``InputError`` for invalid input (400).
A form posts to its own address and redirects with 303. Time is ``ctx.now``.

Templates extend ``base.html`` (blocks: title, content, script). Everything is escaped; filter every name
from a share with ``|visible``. No inline script or style, unless with ``nonce="{{ nonce }}"``; no
``style=`` attributes. ``static("desk.css")`` is the address of a file, ``can("decide")`` checks a permission.
Cross-site requests are refused before a route sees them, so forms need no hidden token.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from threading import Thread

import structlog
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from phiscan import __version__
from phiscan.config import Config
from phiscan.errors import origin
from phiscan.patients.settings import load_settings
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.report.regulators import read_organization
from phiscan.review.store import Store
from phiscan.web import api
from phiscan.web.access import Permission, Routes
from phiscan.web.pages import Pages, Static
from phiscan.web.protection import Protection, add_error_handlers
from phiscan.web.provider import load_provider
from phiscan.web.report_builds import Packs
from phiscan.web.request_context import Ctx, Desk, Settings, admit, cookie_name, utc_now
from phiscan.web.routes import (
    accounts,
    discussion,
    folders,
    incidents,
    item,
    person,
    quality,
    queue,
    remedies,
    reveal,
    scans,
    several,
    suppressions,
    trend,
)

own = Routes()


@own.page("GET", "/healthz", needs=Permission.PUBLIC)
def health(ctx: Ctx) -> Response:
    """Report that the server runs and reaches its database; without counts or version."""
    with ctx.users.database.read():
        return PlainTextResponse("ok\n")


@own.page("GET", "/static/{digest}/{name}", needs=Permission.PUBLIC)
def static(digest: str, name: str, ctx: Ctx) -> Response:
    """Send a static file; its address contains the hash of its content."""
    found = ctx.desk.pages.static.files.get(name)
    if found is None or found.digest != digest:
        return PlainTextResponse("no such file\n", 404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'"{found.digest}"'}
    if ctx.request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)


@own.page("GET", "/", needs=Permission.SIGNED_IN)
def start(ctx: Ctx) -> Response:
    """Redirect to the start page of the user's role."""
    places = (
        (Permission.SEE_QUEUE, "/queue"),
        (Permission.READ_LOG, "/log"),
        (Permission.MANAGE_USERS, "/users"),
        (Permission.OWN_FILES, "/mine"),
    )
    place = next((place for permission, place in places if ctx.may(permission)), "/account")
    return RedirectResponse(place, 303)


@own.page("GET", "/api/v1/openapi.json", needs=Permission.SIGNED_IN)
def openapi(ctx: Ctx) -> Response:
    """Describe the REST API."""
    return JSONResponse(ctx.request.app.openapi())


ROUTES: tuple[Routes, ...] = (
    own,
    *(module.routes for module in (accounts, scans, api, queue, folders, item, several, reveal)),
    *(module.routes for module in (quality, person, suppressions, incidents, remedies, trend, discussion)),
)

log = structlog.get_logger("phiscan.web")

MIN_FIELD_BYTES = 8  # "&file=12": a form of many files is limited by its size alone

_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,  # ignore the environment: addresses of pages contain file names
}


def create_app(
    store: Store,
    config: Config,
    settings: Settings | None = None,
    *,
    routes: tuple[Routes, ...] = ROUTES,
    now: Callable[[], datetime] = utc_now,
) -> FastAPI:
    """Return the application over an open store."""
    settings = settings or Settings()
    app = FastAPI(
        title="phiscan",
        version=__version__,
        openapi_url=None,  # served above, to signed-in users only
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        max_body_size=settings.max_body_bytes,
        form_limits={"max_fields": settings.max_body_bytes // MIN_FIELD_BYTES},
        lifespan=_life,
    )
    app.state.desk = Desk(
        store=store,
        config=config,
        settings=settings,
        pages=Pages(Static.load()),
        packs=Packs(config.home / "reports", load_settings(config).folder),
        rereader=Rereader(config),
        provider=load_provider(config, settings.own_url),
        organization=read_organization(config),
        now=now,
    )
    app.state.admit = admit
    app.router.routes.extend(route for module in routes for route in module.declared)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    app.add_middleware(Protection, settings=settings, language=config.language)
    add_error_handlers(app)
    return app


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    """Serve, then end the process that reads files again and clear the caches of file contents."""
    desk: Desk = app.state.desk
    preparing = Thread(target=_prepare, args=(desk,), name="prepare")
    if desk.settings.prepares:
        preparing.start()
        # Objects that live as long as the server are frozen: a full collection took 90 ms of a request.
        gc.collect()
        gc.freeze()
    yield
    desk = app.state.desk
    if preparing.ident is not None:
        preparing.join()
    desk.rereader.close()
    desk.forget()


def _prepare(desk: Desk) -> None:
    """Start the process that reads files again; a failure is logged, and shown by the page that needs it."""
    try:
        desk.rereader.prepare()
    except Exception as error:  # noqa: BLE001 (a thread of its own: nothing may end the server)
        log.warning("reading files again is not ready", origin=origin(error))


def _openapi(app: FastAPI) -> dict[str, object]:
    """Return the OpenAPI document: the routes below /api, with two ways of authentication."""
    if app.openapi_schema is None:
        routes = [route for route in app.routes if isinstance(route, APIRoute) and route.include_in_schema]
        made = get_openapi(title=app.title, version=app.version, routes=routes)
        made.setdefault("components", {})["securitySchemes"] = {
            "session": {"type": "apiKey", "in": "cookie", "name": cookie_name(app.state.desk)},
            "token": {"type": "http", "scheme": "bearer"},
        }
        made["security"] = [{"session": []}, {"token": []}]
        app.openapi_schema = made
    return app.openapi_schema
