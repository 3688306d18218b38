"""Search for the files of a person, by name and birth date or a number; logged, never cached."""

from __future__ import annotations

from starlette.responses import Response

from phiscan.errors import ConfigError, InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.patients.events import Actor
from phiscan.patients.find import FoundFile, Person, find
from phiscan.patients.matching import load_matcher
from phiscan.patients.settings import load_settings
from phiscan.store.identity import load_key
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.queue import Line

PURPOSES = (
    lazy_gettext("To answer a request for access"),
    lazy_gettext("To answer a request for erasure"),
    lazy_gettext("To find the scope of a breach"),
    lazy_gettext("To find out who is affected"),
    lazy_gettext("To check the screening"),
)
routes = Routes()


@routes.page("GET", "/person", needs=Permission.FIND_PERSON)
def question(ctx: Ctx) -> Response:
    """Show the form; the name is never part of an address."""
    return _page(ctx, None, "")


@routes.page("POST", "/person", needs=Permission.FIND_PERSON)
def answer(ctx: Ctx, purpose: Line, name: Line = "", birth_date: Line = "", number: Line = "") -> Response:
    """Record user and purpose in the log, then show the files; the submitted values are not shown again.

    The purpose is chosen from a list, so that no patient's name is entered there.
    """
    if purpose not in PURPOSES:
        raise InputError(_("purpose: expected one of the list"))
    try:
        key = load_key(ctx.desk.config.key_file)
        matcher = load_matcher(load_settings(ctx.desk.config))
    except ConfigError:
        raise InputError(
            _("the keys of the hashes are not on this server, so that nobody can be searched for here")
        ) from None
    person, actor = Person(name.strip(), birth_date.strip(), number.strip()), Actor(ctx.name, ctx.now)
    database = ctx.desk.store.database
    return _page(ctx, find(database, person, key=key, matcher=matcher, purpose=purpose, actor=actor), purpose)


def _page(ctx: Context, found: list[FoundFile] | None, purpose: str) -> Response:
    page = ctx.page("person.html", found=found, purpose=purpose, purposes=PURPOSES)
    page.headers["Cache-Control"] = "no-store"
    return page
