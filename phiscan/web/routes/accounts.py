"""Accounts: signing in and out, one's own account and second factor, and the accounts of the desk."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote, urlsplit

import segno
import structlog
from fastapi import Form, Query, Request
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match

from phiscan.errors import InputError
from phiscan.language import LANGUAGES, lazy_gettext
from phiscan.language import gettext as _
from phiscan.review.accounts.sign_in import CHALLENGE_LIFE, FLOW_LIFE, KNOWN_FOR, Challenge
from phiscan.review.accounts.users import Proposal, Refusal, Role, Scope, SecondFactors
from phiscan.review.accounts.users import SignedIn as Begun
from phiscan.web.access import RIGHTS, Permission, Routes, may
from phiscan.web.protection import COOKIE, inside
from phiscan.web.provider import CALLBACK, Provider, ProviderError
from phiscan.web.request_context import Desk, DeskNow, RowNumber
from phiscan.web.session import (
    SECOND_FACTOR,
    BrowserSession,
    SignedIn,
    address_of,
    browser_cookie_name,
    clear_cookie,
    code_cookie_name,
    cookie_name,
    may_lack_second_factor,
    set_cookie,
)

routes = Routes()
Password = Annotated[str, Form(max_length=1000)]
Code = Annotated[str, Form(max_length=100)]
WRONG_PASSWORD = lazy_gettext("The present password was not right.")
WRONG_CODE = lazy_gettext("The code was not right, or it was used already. Wait for the next one.")


@routes.page("GET", "/sign-in", needs=Permission.PUBLIC)
def form(request: Request, desk: DeskNow, next: str = "/") -> Response:  # noqa: A002 (the field's name)
    """Show the form."""
    return desk.pages.render(request, "sign_in.html", next=inside(next), problem="", **_ways(desk))


@routes.page("POST", "/sign-in", needs=Permission.PUBLIC)
def sign_in(
    request: Request,
    desk: DeskNow,
    name: Annotated[str, Form(max_length=200)],
    password: Password,
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002 (the field's name)
) -> Response:
    """Begin a session under a new cookie; the previous session of the browser is ended."""
    known = request.cookies.get(browser_cookie_name(desk), "")
    found = desk.store.users.sign_in(
        name, password, address=address_of(request), now=desk.now(), browser=known
    )
    if isinstance(found, Challenge):
        response = RedirectResponse(f"/sign-in/code?next={quote(inside(next), safe='')}", 303)
        set_cookie(response, desk, found.secret, name=code_cookie_name(desk), lasts=CHALLENGE_LIFE)
        return response
    if isinstance(found, Refusal):
        return _refused(request, desk, "sign_in.html", found, next)
    return _begun(request, desk, found, next)


@routes.page("GET", "/sign-in/code", needs=Permission.PUBLIC)
def code_form(request: Request, desk: DeskNow, next: str = "/") -> Response:  # noqa: A002 (the field's name)
    """Ask for the code of the second factor."""
    if not request.cookies.get(code_cookie_name(desk)):
        return RedirectResponse("/sign-in", 303)
    return desk.pages.render(request, "sign_in_code.html", next=inside(next), problem="")


@routes.page("POST", "/sign-in/code", needs=Permission.PUBLIC)
def sign_in_with_code(
    request: Request,
    desk: DeskNow,
    code: Annotated[str, Form(max_length=100)],
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002 (the field's name)
) -> Response:
    """Begin the session of a sign-in whose password was correct."""
    challenge = request.cookies.get(code_cookie_name(desk), "")
    found = SecondFactors.of(desk.store.users).finish_sign_in(
        challenge,
        code,
        address=address_of(request),
        now=desk.now(),
        browser=request.cookies.get(browser_cookie_name(desk), ""),
    )
    if found is Refusal.EXPIRED:
        response: Response = RedirectResponse("/sign-in", 303)
        clear_cookie(response, desk, code_cookie_name(desk))
        return response
    if isinstance(found, Refusal):
        return _refused(request, desk, "sign_in_code.html", found, next)
    response = _begun(request, desk, found, next)
    clear_cookie(response, desk, code_cookie_name(desk))
    return response


def _refused(request: Request, desk: Desk, template: str, why: Refusal, place: str) -> Response:
    """Show the form again, and after too many attempts say when the next one may be made."""
    status, shown = 429 if why is Refusal.TOO_MANY else 401, inside(place)
    page = desk.pages.render(
        request, template, status_code=status, next=shown, problem=why.name, **_ways(desk)
    )
    if why is Refusal.TOO_MANY:
        page.headers["Retry-After"] = str(int(desk.store.users.limits.longest_wait.total_seconds()))
    return page


def _begun(request: Request, desk: Desk, found: Begun, place: str) -> Response:
    """End the previous session of the browser, and set the cookies of the new one."""
    before = request.cookies.get(cookie_name(desk))
    session = desk.store.users.session(before, now=desk.now()) if before else None
    if session is not None:
        desk.store.users.sign_out(session, now=desk.now())
    response = RedirectResponse(inside(place), 303)
    set_cookie(response, desk, found.secret)
    set_cookie(response, desk, found.browser, name=browser_cookie_name(desk), lasts=KNOWN_FOR)
    return response


@routes.page("POST", "/sign-out", needs=Permission.SIGNED_IN)
def sign_out(session: BrowserSession, desk: DeskNow) -> Response:
    """End the session on the server, clear the masked passages in memory, and delete the cookie."""
    desk.store.users.sign_out(session, now=desk.now())
    desk.forget()
    response = RedirectResponse("/sign-in", 303)
    clear_cookie(response, desk)
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response


def _ways(desk: Desk) -> dict[str, Any]:
    """Return how one signs in here: the link of the provider, and whether the first account is to be made."""
    return {
        "provider": desk.provider.table.label if desk.provider else "",
        "is_new": not desk.store.users.everybody(),
    }


log = structlog.get_logger("phiscan.web")


@routes.page("GET", "/sign-in/provider", needs=Permission.PUBLIC)
def begin_at_provider(desk: DeskNow) -> Response:
    """Redirect the browser to the provider, with a cookie that ties the response to this browser."""
    provider = _provider(desk)
    flow = desk.store.users.start_flow(now=desk.now())
    try:
        response = RedirectResponse(provider.authorization_url(flow), 303)
    except ProviderError as error:
        log.error("sign-in through the provider", problem=str(error))  # noqa: TRY400 (our own words are enough)
        raise HTTPException(503, "The identity provider does not answer.") from None
    # Lax, not Strict: the browser returns from another site.
    response.set_cookie(
        _flow_cookie(desk),
        flow.browser,
        max_age=int(FLOW_LIFE.total_seconds()),
        path="/",
        secure=desk.settings.is_https,
        httponly=True,
        samesite="lax",
    )
    return response


@routes.page("GET", CALLBACK, needs=Permission.PUBLIC)
def finish_at_provider(
    request: Request,
    desk: DeskNow,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Begin a session for the user whom the identity provider has authenticated."""
    provider = _provider(desk)
    users = desk.store.users
    flow = users.take_flow(state=state, browser=request.cookies.get(_flow_cookie(desk), ""), now=desk.now())
    if flow is None or not code:
        raise HTTPException(403, "This sign-in was not begun in this browser, or took too long. Begin again.")
    try:
        identity = provider.identity(flow, code)
    except ProviderError as error:
        log.error("sign-in through the provider", problem=str(error))  # noqa: TRY400 (our own words are enough)
        raise HTTPException(403, "The identity provider's answer was not good. Begin again.") from None
    signed_in = users.sign_in_as(identity, address=address_of(request), now=desk.now())
    if signed_in is None:
        raise HTTPException(403, "You have no account here, or it is disabled. Ask an administrator.")
    # A page, not a redirect: a browser that comes from another site would not send a Strict cookie with it.
    response = desk.pages.render(request, "signed_in.html")
    response.delete_cookie(_flow_cookie(desk), path="/", secure=desk.settings.is_https, httponly=True)
    set_cookie(response, desk, signed_in.secret)
    return response


def _provider(desk: Desk) -> Provider:
    if desk.provider is None:
        raise HTTPException(404, "No identity provider is set up.")
    return desk.provider


def _flow_cookie(desk: Desk) -> str:
    return cookie_name(desk) + "-flow"


@routes.page("GET", "/account", needs=Permission.SIGNED_IN)
def account(request: Request, session: BrowserSession, desk: DeskNow) -> Response:
    """Show the account of the signed-in user."""
    return _account_page(request, session, desk)


@routes.page("POST", "/account/password", needs=Permission.SIGNED_IN)
def change_password(
    request: Request,
    session: BrowserSession,
    desk: DeskNow,
    password: Password,
    chosen: Password,
    again: Password,
) -> Response:
    """Set a new password, end every session of the user, and begin a new one in this browser."""
    users, user, address = desk.store.users, session.user, address_of(request)
    if chosen != again:
        return _account_page(request, session, desk, problem=_("The two new passwords differ."))
    if not users.knows_password(user, password, address=address, now=desk.now()):
        return _account_page(request, session, desk, problem=WRONG_PASSWORD)
    try:
        users.set_password(user.id, chosen, by=user.name, now=desk.now())
    except InputError as error:
        return _account_page(request, session, desk, problem=str(error))
    response = RedirectResponse("/account", 303)
    begun = users.sign_in(user.name, chosen, address=address, now=desk.now())
    if isinstance(begun, Begun):
        set_cookie(response, desk, begun.secret)
    if isinstance(begun, Challenge):  # the new session needs the second factor as well
        response = RedirectResponse("/sign-in/code?next=/account", 303)
        set_cookie(response, desk, begun.secret, name=code_cookie_name(desk), lasts=CHALLENGE_LIFE)
    return response


@routes.page("POST", "/account/sessions/end", needs=Permission.SIGNED_IN)
def end_sessions(session: BrowserSession, desk: DeskNow) -> Response:
    """End every session of the user, including this one."""
    desk.store.users.end_sessions(session.user.id, by=session.user.name, now=desk.now())
    return RedirectResponse("/sign-in", 303)


@routes.page("POST", "/account/sessions/{session_id}/end", needs=Permission.SIGNED_IN)
def end_session(session_id: RowNumber, session: BrowserSession, desk: DeskNow) -> Response:
    """End one session of the user."""
    desk.store.users.end_sessions(session.user.id, session_id, by=session.user.name, now=desk.now())
    return RedirectResponse("/account", 303)


@routes.page("POST", "/account/tokens", needs=Permission.SIGNED_IN)
def make_token(
    request: Request,
    session: BrowserSession,
    desk: DeskNow,
    label: Annotated[str, Form(max_length=200)],
    days: Annotated[int, Form()] = 90,
    scope: Annotated[list[Scope] | None, Form()] = None,
    password: Password = "",
) -> Response:
    """Create an API token and show it once; an account with a password must confirm the password first."""
    users, user, now = desk.store.users, session.user, desk.now()
    if user.has_password and not users.knows_password(user, password, address=address_of(request), now=now):
        return _account_page(request, session, desk, problem=WRONG_PASSWORD)
    made = users.make_token(user.id, label=label, days=days, scopes=scope or (), by=user.name, now=now)
    return _account_page(request, session, desk, token=made)


@routes.page("POST", "/account/tokens/{token_id}/revoke", needs=Permission.SIGNED_IN)
def revoke_token(token_id: RowNumber, session: BrowserSession, desk: DeskNow) -> Response:
    """Revoke one of the user's own tokens."""
    user = session.user
    desk.store.users.revoke_token(token_id, user_id=user.id, by=user.name, now=desk.now())
    return RedirectResponse("/account", 303)


def _account_page(
    request: Request,
    session: BrowserSession,
    desk: Desk,
    *,
    problem: str = "",
    token: str = "",
) -> Response:
    now = desk.now()
    return desk.pages.render(
        request,
        "account.html",
        status_code=400 if problem else 200,
        problem=problem,
        token=token,
        this=session,
        scopes=tuple(Scope),
        sessions=desk.store.users.sessions(session.user.id, now=now),
        tokens=[one for one in desk.store.users.tokens(session.user.id) if one.is_good(now)],
    )


COOKIE_AGE: Final = timedelta(days=365)


@routes.page("POST", "/language", needs=Permission.PUBLIC)
def choose_language(
    desk: DeskNow,
    request: Request,
    language: Annotated[str, Form(max_length=8)],
) -> Response:
    """Store the chosen language in a cookie of this browser, and redirect to the page of the form."""
    if language not in LANGUAGES:
        message = _("language: expected one of {codes}", codes=", ".join(LANGUAGES))
        raise InputError(message)
    response = RedirectResponse(_back(request), 303)
    response.set_cookie(
        COOKIE,
        language,
        max_age=int(COOKIE_AGE.total_seconds()),
        path="/",
        secure=desk.settings.is_https,
        httponly=True,
        samesite="strict",
    )
    return response


def _back(request: Request) -> str:
    """Return the page of the form from the Referer header; the start page if there is none."""
    came = urlsplit(request.headers.get("referer", ""))
    if came.netloc != request.url.netloc:
        return "/"
    scope = {**request.scope, "method": "GET", "path": came.path, "root_path": ""}
    if not any(route.matches(scope)[0] is Match.FULL for route in request.app.routes):
        return "/"
    return inside(came.path + (f"?{came.query}" if came.query else ""))


@routes.page("GET", SECOND_FACTOR, needs=Permission.SIGNED_IN)
def second_factor(request: Request, session: BrowserSession, desk: DeskNow) -> Response:
    """Show whether the account has a second factor."""
    return _factor_page(request, session, desk)


@routes.page("POST", SECOND_FACTOR + "/begin", needs=Permission.SIGNED_IN)
def begin(request: Request, session: BrowserSession, desk: DeskNow, password: Password) -> Response:
    """Show a new secret after the password was confirmed."""
    if problem := _refusal(request, session, desk, password):
        return _factor_page(request, session, desk, problem=problem)
    if session.user.has_second_factor:
        return _factor_page(request, session, desk, problem=_("There is a second factor already."))
    proposal = SecondFactors.of(desk.store.users).propose(session, now=desk.now())
    return _factor_page(request, session, desk, proposal=proposal)


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
        return _factor_page(request, session, desk, problem=problem, proposal=proposal)
    return _factor_page(request, session, desk, codes=codes, has_factor=True)


@routes.page("POST", SECOND_FACTOR + "/codes", needs=Permission.SIGNED_IN)
def new_codes(
    request: Request, session: BrowserSession, desk: DeskNow, password: Password, code: Code
) -> Response:
    """Show new recovery codes after password and code were confirmed; the old codes become invalid."""
    if problem := _refusal(request, session, desk, password, code):
        return _factor_page(request, session, desk, problem=problem)
    factors = SecondFactors.of(desk.store.users)
    codes = factors.new_recovery_codes(session.user, address=address_of(request), now=desk.now())
    return _factor_page(request, session, desk, codes=codes)


@routes.page("POST", SECOND_FACTOR + "/remove", needs=Permission.SIGNED_IN)
def remove(
    request: Request, session: BrowserSession, desk: DeskNow, password: Password, code: Code
) -> Response:
    """Remove the user's second factor after password and code were confirmed."""
    if problem := _refusal(request, session, desk, password, code):
        return _factor_page(request, session, desk, problem=problem)
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


def _factor_page(
    request: Request,
    session: BrowserSession,
    desk: Desk,
    *,
    problem: str = "",
    proposal: Proposal | None = None,
    codes: list[str] | None = None,
    has_factor: bool = False,
) -> Response:
    has_factor = has_factor or session.user.has_second_factor
    return desk.pages.render(
        request,
        "second_factor.html",
        status_code=400 if problem else 200,
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


@routes.page("GET", "/users", needs=Permission.MANAGE_USERS)
def users(request: Request, desk: DeskNow) -> Response:
    """List the accounts."""
    return _users_page(request, desk)


@routes.page("POST", "/users", needs=Permission.MANAGE_USERS)
def add(
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    name: Annotated[str, Form(max_length=200)],
    role: Annotated[Role, Form()],
    password: Password = "",
    subject: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Create an account."""
    subject = " ".join(subject.split())
    if not password and not subject:
        problem = _("password: expected one, or who this is at the identity provider")
        return _users_page(request, desk, problem=problem)
    try:
        desk.store.users.add(
            name=name,
            role=role,
            password=password or None,
            subject=subject or None,
            by=user.name,
            now=desk.now(),
        )
    except InputError as error:
        return _users_page(request, desk, problem=str(error))
    return RedirectResponse("/users", 303)


@routes.page("POST", "/users/{user_id}/unlock", needs=Permission.UNLOCK)
def unlock(user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
    """Reset the count of failed sign-ins of an account."""
    desk.store.users.unlock(user_id, by=user.name, now=desk.now())
    return RedirectResponse("/users" if may(user, Permission.MANAGE_USERS) else "/locked", 303)


@routes.page("POST", "/users/{user_id}/{change}", needs=Permission.MANAGE_USERS)
def change_account(
    user_id: RowNumber,
    change: Literal["role", "password", "disable", "enable"],
    user: SignedIn,
    desk: DeskNow,
    role: Annotated[Role | None, Form()] = None,
    password: Password = "",
) -> Response:
    """Change the role or password of another user, or disable or enable the account."""
    not_oneself(user, user_id)
    users = desk.store.users
    by: dict[str, Any] = {"by": user.name, "now": desk.now()}
    if change == "password":
        users.set_password(user_id, password, **by)
    elif change == "role" and role is not None:
        users.set_role(user_id, role, **by)
    elif change != "role":
        {"disable": users.disable, "enable": users.enable}[change](user_id, **by)
    return RedirectResponse("/users", 303)


@routes.page("GET", "/locked", needs=Permission.UNLOCK)
def locked(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the locked accounts and those whose second factor can be reset, for leads."""
    everybody = desk.store.users.everybody()
    accounts = [account for account in everybody if account.locked is not None]
    with_factor = [account for account in everybody if account.has_second_factor and account.id != user.id]
    return desk.pages.render(request, "locked.html", accounts=accounts, with_factor=with_factor)


@routes.page("POST", "/users/{user_id}/sessions/end", needs=Permission.MANAGE_USERS)
def end_sessions_of(user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
    """End every session of a user."""
    desk.store.users.get(user_id)
    desk.store.users.end_sessions(user_id, by=user.name, now=desk.now())
    return RedirectResponse("/users", 303)


def not_oneself(user: SignedIn, user_id: int) -> None:
    """Refuse a change of the administrator's own account, which could raise a role or lock everyone out."""
    if user.id == user_id:
        message = _(
            "expected the account of somebody else; your own password is changed on your account page"
        )
        raise InputError(message)


def _users_page(request: Request, desk: Desk, *, problem: str = "") -> Response:
    return desk.pages.render(
        request,
        "users.html",
        status_code=400 if problem else 200,
        problem=problem,
        accounts=desk.store.users.everybody(),
        roles=list(Role),
        rights=RIGHTS,
        has_provider=desk.provider is not None,
    )
