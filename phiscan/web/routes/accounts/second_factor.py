"""The user's own second factor: adding it, new recovery codes, removing it; and the reset by a lead."""

from __future__ import annotations

from typing import Annotated

import segno
from fastapi import Form, Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.review.accounts.second_factors import Proposal, SecondFactors
from phiscan.web.access import Permission, Routes, may
from phiscan.web.request_context import Desk, DeskNow, RowNumber
from phiscan.web.routes.accounts.users import not_oneself
from phiscan.web.session import SECOND_FACTOR, BrowserSession, SignedIn, address_of, may_lack_second_factor

routes = Routes()
Password = Annotated[str, Form(max_length=1000)]
Code = Annotated[str, Form(max_length=100)]
WRONG_PASSWORD = lazy_gettext("The present password was not right.")
WRONG_CODE = lazy_gettext("The code was not right, or it was used already. Wait for the next one.")


@routes.page("GET", SECOND_FACTOR, needs=Permission.SIGNED_IN)
def second_factor(request: Request, session: BrowserSession, desk: DeskNow) -> Response:
    """Show whether the account has a second factor."""
    return _page(request, session, desk)


@routes.page("POST", SECOND_FACTOR + "/begin", needs=Permission.SIGNED_IN)
def begin(request: Request, session: BrowserSession, desk: DeskNow, password: Password) -> Response:
    """Show a new secret after the password was confirmed."""
    if problem := _refusal(request, session, desk, password):
        return _page(request, session, desk, status_code=400, problem=problem)
    if session.user.has_second_factor:
        return _page(request, session, desk, status_code=400, problem=_("There is a second factor already."))
    proposal = SecondFactors.of(desk.store.users).propose(session, now=desk.now())
    return _page(request, session, desk, proposal=proposal)


@routes.page("POST", SECOND_FACTOR + "/confirm", needs=Permission.SIGNED_IN)
def confirm(
    request: Request,
    session: BrowserSession,
    desk: DeskNow,
    sealed: Annotated[str, Form(max_length=1000)],
    code: Code,
) -> Response:
    """Store the secret when its first code is correct, and show the recovery codes once."""
    factors, now = SecondFactors.of(desk.store.users), desk.now()
    plain = "".join(code.split())
    codes = factors.turn_on(session, sealed, plain, address=address_of(request), now=now)
    if codes is None:
        proposal = factors.proposed(session, sealed, now=now)
        problem = WRONG_CODE if proposal else _("That took more than ten minutes: begin again.")
        return _page(request, session, desk, status_code=400, problem=problem, proposal=proposal)
    return _page(request, session, desk, codes=codes, has_factor=True)


@routes.page("POST", SECOND_FACTOR + "/codes", needs=Permission.SIGNED_IN)
def new_codes(
    request: Request, session: BrowserSession, desk: DeskNow, password: Password, code: Code
) -> Response:
    """Show new recovery codes after password and code were confirmed; the old codes become invalid."""
    if problem := _refusal(request, session, desk, password, code):
        return _page(request, session, desk, status_code=400, problem=problem)
    factors = SecondFactors.of(desk.store.users)
    codes = factors.new_recovery_codes(session.user, address=address_of(request), now=desk.now())
    return _page(request, session, desk, codes=codes)


@routes.page("POST", SECOND_FACTOR + "/remove", needs=Permission.SIGNED_IN)
def remove(
    request: Request, session: BrowserSession, desk: DeskNow, password: Password, code: Code
) -> Response:
    """Remove the user's second factor after password and code were confirmed."""
    if problem := _refusal(request, session, desk, password, code):
        return _page(request, session, desk, status_code=400, problem=problem)
    factors = SecondFactors.of(desk.store.users)
    factors.turn_off(session.user, address=address_of(request), now=desk.now())
    return RedirectResponse(SECOND_FACTOR, 303)


@routes.page("POST", "/users/{user_id}/second-factor/reset", needs=Permission.UNLOCK)
def reset(request: Request, user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
    """Remove the second factor of another user, who has lost it."""
    not_oneself(user, user_id)
    factors = SecondFactors.of(desk.store.users)
    factors.reset(user_id, by=user.name, address=address_of(request), now=desk.now())
    return RedirectResponse("/users" if may(user, Permission.MANAGE_USERS) else "/locked", 303)


def _refusal(
    request: Request, session: BrowserSession, desk: Desk, password: str, code: str | None = None
) -> str:
    """Check password and code, and return the error message; "" = both are correct."""
    users, address, now = desk.store.users, address_of(request), desk.now()
    if not session.user.has_password:
        message = _(
            "expected an account with a password: the identity provider asks for its own second factor"
        )
        raise InputError(message)
    if code is not None:
        factors = SecondFactors.of(users)
        if not session.user.has_second_factor or not factors.proves_code(
            session.user, code, address=address, now=now
        ):
            return WRONG_CODE
    return "" if users.knows_password(session.user, password, address=address, now=now) else WRONG_PASSWORD


def _page(
    request: Request,
    session: BrowserSession,
    desk: Desk,
    *,
    status_code: int = 200,
    problem: str = "",
    proposal: Proposal | None = None,
    codes: list[str] | None = None,
    has_factor: bool = False,
) -> Response:
    has_factor = has_factor or session.user.has_second_factor
    return desk.pages.render(
        request,
        "second_factor.html",
        status_code=status_code,
        problem=problem,
        proposal=proposal,
        picture=_picture(proposal.address) if proposal else "",
        codes=codes or (),
        has_factor=has_factor,
        is_required=not may_lack_second_factor(session.user, desk.settings),
        n_left=SecondFactors.of(desk.store.users).n_recovery_codes(session.user) if has_factor else 0,
    )


def _picture(address: str) -> Markup:
    """Return a QR code as SVG: black on white in dark mode as well, because scanners expect that."""
    drawn = segno.make(address, micro=False).svg_inline(
        scale=5, border=4, dark="#000", light="#fff", svgclass=None, lineclass=None, omitsize=False
    )
    label = str(Markup(' role="img" aria-label="{}"').format(_("QR code of the secret below")))
    return Markup(drawn.replace("<svg", "<svg" + label, 1))  # noqa: S704 (segno writes numbers alone)
