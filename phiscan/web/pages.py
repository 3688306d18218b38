"""Rendering of pages: escaping, visible file names, one nonce per response."""

from __future__ import annotations

import re
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from phiscan.language import LANGUAGES, current, gettext, install, source
from phiscan.model import EntityType
from phiscan.report import words
from phiscan.review.accounts.users import User
from phiscan.visible import visible
from phiscan.web.access import Permission, may
from phiscan.web.static import Static
from phiscan.web.status_line import StatusLine, status_line
from phiscan.web.views import plain_words

FRAGMENTS = "passage"  # prefix of templates that are parts of a page, without its status line


_COMMAND = re.compile(r"`([^`]{1,200})`")


def _commands(text: str) -> Markup:
    """Return a sentence as HTML, with what is between backticks as code; no option is broken."""
    parts = _COMMAND.split(str(text))
    return Markup("").join(_code(part) if number % 2 else part for number, part in enumerate(parts))


def _code(command: str) -> Markup:
    words_of_it = (Markup('<span class="nowrap">{}</span>').format(word) for word in command.split())
    return Markup("<code>{}</code>").format(Markup(" ").join(words_of_it))


class Pages:
    """The templates and their environment.

    In every template: ``user`` (None before sign-in), ``can("decide")``, ``static("desk.css")``, ``nonce``,
    ``path`` (of the request); filters ``visible`` (for every name that came from a share), ``moment``, and
    ``count``, ``size``, ``share``, ``number``, ``duration`` and ``plain`` as in the report, ``decimal``
    (a number of English form), ``source`` (a message as the value of a form), ``known`` (a message
    that was stored); ``{% trans %}`` and ``_("...")`` for every text.
    """

    def __init__(self, static: Static) -> None:
        self.static = static
        self._environment = Environment(
            loader=PackageLoader("phiscan.web", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        install(self._environment)
        self._environment.filters["visible"] = visible
        self._environment.filters["commands"] = _commands
        self._environment.filters.update(
            count=words.count,
            moment=words.moment,
            type_name=_type_name,
            source=source,
            known=_stored_message,
            size=words.size,
            share=words.share,
            number=words.number,
            duration=words.duration,
            plain=words.plain,
        )
        self._environment.globals.update(
            static=static.url, digits=plain_words.digit_kinds(), short_kinds=plain_words.other_kinds()
        )

    def render(
        self, request: Request, name: str, /, *, status_code: int = 200, **context: Any
    ) -> HTMLResponse:
        """Return a page; ``name`` is a template's file name."""
        user = getattr(request.state, "user", None)
        text = self._environment.get_template(name).render(
            user=user,
            can=lambda permission: may(user, Permission(permission)),
            nonce=request.state.nonce,
            language=current(),
            languages=LANGUAGES,
            script_messages=self.static.messages(),
            path=request.url.path,
            status=None if name.startswith(FRAGMENTS) else _status(request, user),
            **context,
        )
        return HTMLResponse(text, status_code=status_code, headers={"Content-Language": current()})


def _status(request: Request, user: User | None) -> StatusLine | None:
    if user is None or not may(user, Permission.SEE_QUEUE):
        return None
    return status_line(request.app.state.desk, user.name)


def _type_name(kind: EntityType) -> str:
    return words.ENTITY_TYPES[kind]


def _stored_message(text: str) -> str:
    """Return a stored message, such as a purpose, in the language of the page."""
    return gettext(text) if text else text
