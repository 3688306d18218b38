"""Accounts: signing in and out, one's own account and second factor, and the accounts of the desk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote, urlsplit

import segno
import structlog
from fastapi import Form, Query
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match

from phiscan.errors import InputError
from phiscan.language import LANGUAGES, lazy_gettext
from phiscan.language import gettext as _
from phiscan.review.accounts.sign_in import CHALLENGE_LIFE, FLOW_LIFE, KNOWN_FOR, Challenge
from phiscan.review.accounts.users import Proposal, Refusal, Role, Scope
from phiscan.review.accounts.users import SignedIn as Begun
from phiscan.web.access import RIGHTS, Permission, Routes
from phiscan.web.protection import inside
from phiscan.web.provider import CALLBACK, Provider, ProviderError
from phiscan.web.request_context import SECOND_FACTOR, Context, Ctx, RowNumber, may_lack_second_factor

routes = Routes()
log = structlog.get_logger("phiscan.web")
Password = Annotated[str, Form(max_length=1000)]
Code = Annotated[str, Form(max_length=100)]
Next = Annotated[str, Form(alias="next", max_length=2000)]
WRONG_PASSWORD = lazy_gettext("The present password was not right.")
WRONG_CODE = lazy_gettext("The code was not right, or it was used already. Wait for the next one.")


@routes.page("GET", "/sign-in", needs=Permission.PUBLIC)
def form(ctx: Ctx, place: Annotated[str, Query(alias="next")] = "/") -> Response:
    """Show the form."""
    return ctx.page("sign_in.html", next=inside(place), problem="", **_ways(ctx))


@routes.page("POST", "/sign-in", needs=Permission.PUBLIC)
def sign_in(
    ctx: Ctx, name: Annotated[str, Form(max_length=200)], password: Password, place: Next = "/"
) -> Response:
    """Begin a session under a new cookie; the previous session of the browser is ended."""
    known = ctx.cookie("browser")
    found = ctx.users.sign_in(name, password, address=ctx.address, now=ctx.now, browser=known)
    return _answered(ctx, "sign_in.html", found, place)


@routes.page("GET", "/sign-in/code", needs=Permission.PUBLIC)
def code_form(ctx: Ctx, place: Annotated[str, Query(alias="next")] = "/") -> Response:
    """Ask for the code of the second factor."""
    if not ctx.cookie("code"):
        return RedirectResponse("/sign-in", 303)
    return ctx.page("sign_in_code.html", next=inside(place), problem="")


@routes.page("POST", "/sign-in/code", needs=Permission.PUBLIC)
def sign_in_with_code(ctx: Ctx, code: Code, place: Next = "/") -> Response:
    """Begin the session of a sign-in whose password was correct."""
    found = ctx.users.finish_sign_in(
        ctx.cookie("code"), code, address=ctx.address, now=ctx.now, browser=ctx.cookie("browser")
    )
    is_expired = found is Refusal.EXPIRED
    response = (
        RedirectResponse("/sign-in", 303) if is_expired else _answered(ctx, "sign_in_code.html", found, place)
    )
    if is_expired or isinstance(found, Begun):
        ctx.clear_cookie(response, "code")
    return response


def _answered(ctx: Context, template: str, found: Begun | Challenge | Refusal, place: str) -> Response:
    """Begin a session, ask for the second factor, or show the form again with the reason.

    After too many attempts the response says when the next one may be made.
    """
    place = inside(place)
    if isinstance(found, Refusal):
        status = 429 if found is Refusal.TOO_MANY else 401
        page = ctx.page(template, status_code=status, next=place, problem=found.name, **_ways(ctx))
        if found is Refusal.TOO_MANY:
            page.headers["Retry-After"] = str(int(ctx.users.limits.longest_wait.total_seconds()))
        return page
    if isinstance(found, Challenge):
        response = RedirectResponse(f"/sign-in/code?next={quote(place, safe='')}", 303)
        ctx.set_cookie(response, found.secret, "code", lasts=CHALLENGE_LIFE)
        return response
    before = ctx.cookie()
    session = ctx.users.session(before, now=ctx.now) if before else None
    if session is not None:
        ctx.users.sign_out(session, now=ctx.now)
    response = RedirectResponse(place, 303)
    ctx.set_cookie(response, found.secret)
    ctx.set_cookie(response, found.browser, "browser", lasts=KNOWN_FOR)
    return response


@routes.page("POST", "/sign-out", needs=Permission.SIGNED_IN)
def sign_out(ctx: Ctx) -> Response:
    """End the session on the server, clear the masked passages in memory, and delete the cookie."""
    ctx.users.sign_out(ctx.session, now=ctx.now)
    ctx.desk.forget()
    response = RedirectResponse("/sign-in", 303)
    ctx.clear_cookie(response)
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response


def _ways(ctx: Context) -> dict[str, Any]:
    """Return how one signs in here: the link of the provider, and whether the first account is to be made."""
    provider = ctx.desk.provider
    return {"provider": provider.table.label if provider else "", "is_new": not ctx.users.everybody()}


@routes.page("GET", "/sign-in/provider", needs=Permission.PUBLIC)
def begin_at_provider(ctx: Ctx) -> Response:
    """Redirect the browser to the provider, with a cookie that ties the response to this browser."""
    provider, flow = _provider(ctx), ctx.users.start_flow(now=ctx.now)
    with _provider_errors(503, "The identity provider does not answer."):
        response = RedirectResponse(provider.authorization_url(flow), 303)
    # Lax, not Strict: the browser returns from another site.
    ctx.set_cookie(response, flow.browser, "flow", lasts=FLOW_LIFE, samesite="lax")
    return response


@routes.page("GET", CALLBACK, needs=Permission.PUBLIC)
def finish_at_provider(
    ctx: Ctx,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Begin a session for the user whom the identity provider has authenticated."""
    provider = _provider(ctx)
    flow = ctx.users.take_flow(state=state, browser=ctx.cookie("flow"), now=ctx.now)
    if flow is None or not code:
        raise HTTPException(403, "This sign-in was not begun in this browser, or took too long. Begin again.")
    with _provider_errors(403, "The identity provider's answer was not good. Begin again."):
        identity = provider.identity(flow, code)
    signed_in = ctx.users.sign_in_as(identity, address=ctx.address, now=ctx.now)
    if signed_in is None:
        raise HTTPException(403, "You have no account here, or it is disabled. Ask an administrator.")
    # A page, not a redirect: a browser that comes from another site would not send a Strict cookie with it.
    response = ctx.page("signed_in.html")
    ctx.clear_cookie(response, "flow")
    ctx.set_cookie(response, signed_in.secret)
    return response


def _provider(ctx: Context) -> Provider:
    if ctx.desk.provider is None:
        raise HTTPException(404, "No identity provider is set up.")
    return ctx.desk.provider


@contextmanager
def _provider_errors(status: int, words: str) -> Iterator[None]:
    """Log an error of the identity provider, and raise it as a response."""
    try:
        yield
    except ProviderError as error:
        log.error("sign-in through the provider", problem=str(error))  # noqa: TRY400 (our own words are enough)
        raise HTTPException(status, words) from None


@routes.page("GET", "/account", needs=Permission.SIGNED_IN)
def account(ctx: Ctx) -> Response:
    """Show the account of the signed-in user."""
    return _account_page(ctx)


@routes.page("POST", "/account/password", needs=Permission.SIGNED_IN)
def change_password(ctx: Ctx, password: Password, chosen: Password, again: Password) -> Response:
    """Set a new password, end every session of the user, and begin a new one in this browser."""
    users, user = ctx.users, ctx.user
    if chosen != again:
        return _account_page(ctx, problem=_("The two new passwords differ."))
    if not users.knows_password(user, password, address=ctx.address, now=ctx.now):
        return _account_page(ctx, problem=WRONG_PASSWORD)
    try:
        users.set_password(user.id, chosen, by=user.name, now=ctx.now)
    except InputError as error:
        return _account_page(ctx, problem=str(error))
    begun = users.sign_in(user.name, chosen, address=ctx.address, now=ctx.now)
    return _answered(ctx, "sign_in.html", begun, "/account")


@routes.page("POST", "/account/sessions/end", needs=Permission.SIGNED_IN)
def end_sessions(ctx: Ctx) -> Response:
    """End every session of the user, including this one."""
    ctx.users.end_sessions(ctx.user.id, by=ctx.name, now=ctx.now)
    return RedirectResponse("/sign-in", 303)


@routes.page("POST", "/account/sessions/{session_id}/end", needs=Permission.SIGNED_IN)
def end_session(session_id: RowNumber, ctx: Ctx) -> Response:
    """End one session of the user."""
    ctx.users.end_sessions(ctx.user.id, session_id, by=ctx.name, now=ctx.now)
    return RedirectResponse("/account", 303)


@routes.page("POST", "/account/tokens", needs=Permission.SIGNED_IN)
def make_token(
    ctx: Ctx,
    label: Annotated[str, Form(max_length=200)],
    days: Annotated[int, Form()] = 90,
    scope: Annotated[list[Scope] | None, Form()] = None,
    password: Password = "",
) -> Response:
    """Create an API token and show it once; an account with a password must confirm the password first."""
    users, user, now = ctx.users, ctx.user, ctx.now
    if user.has_password and not users.knows_password(user, password, address=ctx.address, now=now):
        return _account_page(ctx, problem=WRONG_PASSWORD)
    made = users.make_token(user.id, label=label, days=days, scopes=scope or (), by=user.name, now=now)
    return _account_page(ctx, token=made)


@routes.page("POST", "/account/tokens/{token_id}/revoke", needs=Permission.SIGNED_IN)
def revoke_token(token_id: RowNumber, ctx: Ctx) -> Response:
    """Revoke one of the user's own tokens."""
    ctx.users.revoke_token(token_id, user_id=ctx.user.id, by=ctx.name, now=ctx.now)
    return RedirectResponse("/account", 303)


def _account_page(ctx: Context, *, problem: str = "", token: str = "") -> Response:
    now = ctx.now
    return ctx.page(
        "account.html",
        status_code=400 if problem else 200,
        problem=problem,
        token=token,
        this=ctx.session,
        scopes=tuple(Scope),
        sessions=ctx.users.sessions(ctx.user.id, now=now),
        tokens=[one for one in ctx.users.tokens(ctx.user.id) if one.is_good(now)],
    )


COOKIE_AGE: Final = timedelta(days=365)


@routes.page("POST", "/language", needs=Permission.PUBLIC)
def choose_language(ctx: Ctx, language: Annotated[str, Form(max_length=8)]) -> Response:
    """Store the chosen language in a cookie of this browser, and redirect to the page of the form."""
    if language not in LANGUAGES:
        raise InputError(_("language: expected one of {codes}", codes=", ".join(LANGUAGES)))
    response = RedirectResponse(_back(ctx), 303)
    ctx.set_cookie(response, language, "language", lasts=COOKIE_AGE)
    return response


def _back(ctx: Context) -> str:
    """Return the page of the form from the Referer header; the start page if there is none."""
    came = urlsplit(ctx.request.headers.get("referer", ""))
    if came.netloc != ctx.request.url.netloc:
        return "/"
    scope = {**ctx.request.scope, "method": "GET", "path": came.path, "root_path": ""}
    if not any(route.matches(scope)[0] is Match.FULL for route in ctx.request.app.routes):
        return "/"
    return inside(came.path + (f"?{came.query}" if came.query else ""))


@routes.page("GET", SECOND_FACTOR, needs=Permission.SIGNED_IN)
def second_factor(ctx: Ctx) -> Response:
    """Show whether the account has a second factor."""
    return _factor_page(ctx)


@routes.page("POST", SECOND_FACTOR + "/confirm", needs=Permission.SIGNED_IN)
def confirm(ctx: Ctx, sealed: Annotated[str, Form(max_length=1000)], code: Code) -> Response:
    """Store the secret when its first code is correct, and show the recovery codes once."""
    factors, now = ctx.users, ctx.now
    plain = "".join(code.split())
    codes = factors.turn_on_second_factor(ctx.session, sealed, plain, address=ctx.address, now=now)
    if codes is None:
        proposal = factors.proposed_second_factor(ctx.session, sealed, now=now)
        problem = WRONG_CODE if proposal else _("That took more than ten minutes: begin again.")
        return _factor_page(ctx, problem=problem, proposal=proposal)
    return _factor_page(ctx, codes=codes, has_factor=True)


@routes.page("POST", SECOND_FACTOR + "/{act}", needs=Permission.SIGNED_IN)
def change_factor(
    ctx: Ctx, act: Literal["begin", "codes", "remove"], password: Password, code: Code = ""
) -> Response:
    """After password and code were confirmed, show a new secret or recovery codes, or remove the factor."""
    if problem := _refusal(ctx, password, None if act == "begin" else code):
        return _factor_page(ctx, problem=problem)
    factors = ctx.users
    if act == "begin" and ctx.user.has_second_factor:
        return _factor_page(ctx, problem=_("There is a second factor already."))
    if act == "begin":
        return _factor_page(ctx, proposal=factors.propose_second_factor(ctx.session, now=ctx.now))
    if act == "codes":
        codes = factors.new_recovery_codes(ctx.user, address=ctx.address, now=ctx.now)
        return _factor_page(ctx, codes=codes)
    factors.turn_off_second_factor(ctx.user, address=ctx.address, now=ctx.now)
    return RedirectResponse(SECOND_FACTOR, 303)


@routes.page("POST", "/users/{user_id}/second-factor/reset", needs=Permission.UNLOCK)
def reset(ctx: Ctx, user_id: RowNumber) -> Response:
    """Remove the second factor of another user, who has lost it."""
    not_oneself(ctx, user_id)
    ctx.users.reset_second_factor(user_id, by=ctx.name, address=ctx.address, now=ctx.now)
    return RedirectResponse("/users" if ctx.may(Permission.MANAGE_USERS) else "/locked", 303)


def _refusal(ctx: Context, password: str, code: str | None = None) -> str:
    """Check password and code, and return the error message; "" = both are correct."""
    proof: Any = {"address": ctx.address, "now": ctx.now}
    if not ctx.user.has_password:
        raise InputError(
            _("expected an account with a password: the identity provider asks for its own second factor")
        )
    if code is not None and not (
        ctx.user.has_second_factor and ctx.users.proves_code(ctx.user, code, **proof)
    ):
        return WRONG_CODE
    return "" if ctx.users.knows_password(ctx.user, password, **proof) else WRONG_PASSWORD


def _factor_page(
    ctx: Context,
    *,
    problem: str = "",
    proposal: Proposal | None = None,
    codes: list[str] | None = None,
    has_factor: bool = False,
) -> Response:
    has_factor = has_factor or ctx.user.has_second_factor
    return ctx.page(
        "second_factor.html",
        status_code=400 if problem else 200,
        problem=problem,
        proposal=proposal,
        picture=_picture(proposal.address) if proposal else "",
        codes=codes or (),
        has_factor=has_factor,
        is_required=not may_lack_second_factor(ctx.user, ctx.desk.settings),
        n_left=ctx.users.n_recovery_codes(ctx.user) if has_factor else 0,
    )


def _picture(address: str) -> Markup:
    """Return a QR code as SVG: black on white in dark mode as well, because scanners expect that."""
    drawn = segno.make(address, micro=False).svg_inline(
        scale=5, border=4, dark="#000", light="#fff", svgclass=None, lineclass=None, omitsize=False
    )
    label = str(Markup(' role="img" aria-label="{}"').format(_("QR code of the secret below")))
    return Markup(drawn.replace("<svg", "<svg" + label, 1))  # noqa: S704 (segno writes numbers alone)


@routes.page("GET", "/users", needs=Permission.MANAGE_USERS)
def users(ctx: Ctx) -> Response:
    """List the accounts."""
    return _users_page(ctx)


@routes.page("POST", "/users", needs=Permission.MANAGE_USERS)
def add(
    ctx: Ctx,
    name: Annotated[str, Form(max_length=200)],
    role: Annotated[Role, Form()],
    password: Password = "",
    subject: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Create an account."""
    subject = " ".join(subject.split())
    if not password and not subject:
        problem = _("password: expected one, or who this is at the identity provider")
        return _users_page(ctx, problem=problem)
    try:
        given = {"password": password or None, "subject": subject or None}
        ctx.users.add(name=name, role=role, **given, by=ctx.name, now=ctx.now)
    except InputError as error:
        return _users_page(ctx, problem=str(error))
    return RedirectResponse("/users", 303)


@routes.page("POST", "/users/{user_id}/unlock", needs=Permission.UNLOCK)
def unlock(user_id: RowNumber, ctx: Ctx) -> Response:
    """Reset the count of failed sign-ins of an account."""
    ctx.users.unlock(user_id, by=ctx.name, now=ctx.now)
    return RedirectResponse("/users" if ctx.may(Permission.MANAGE_USERS) else "/locked", 303)


@routes.page("POST", "/users/{user_id}/{change}", needs=Permission.MANAGE_USERS)
def change_account(
    user_id: RowNumber,
    change: Literal["role", "password", "disable", "enable"],
    ctx: Ctx,
    role: Annotated[Role | None, Form()] = None,
    password: Password = "",
) -> Response:
    """Change the role or password of another user, or disable or enable the account."""
    not_oneself(ctx, user_id)
    users = ctx.users
    by: dict[str, Any] = {"by": ctx.name, "now": ctx.now}
    if change == "password":
        users.set_password(user_id, password, **by)
    elif change == "role" and role is not None:
        users.set_role(user_id, role, **by)
    elif change != "role":
        (users.disable if change == "disable" else users.enable)(user_id, **by)
    return RedirectResponse("/users", 303)


@routes.page("GET", "/locked", needs=Permission.UNLOCK)
def locked(ctx: Ctx) -> Response:
    """List the locked accounts and those whose second factor can be reset, for leads."""
    everybody = ctx.users.everybody()
    return ctx.page(
        "locked.html",
        accounts=[one for one in everybody if one.locked is not None],
        with_factor=[one for one in everybody if one.has_second_factor and one.id != ctx.user.id],
    )


@routes.page("POST", "/users/{user_id}/sessions/end", needs=Permission.MANAGE_USERS)
def end_sessions_of(user_id: RowNumber, ctx: Ctx) -> Response:
    """End every session of a user."""
    ctx.users.get(user_id)
    ctx.users.end_sessions(user_id, by=ctx.name, now=ctx.now)
    return RedirectResponse("/users", 303)


def not_oneself(ctx: Context, user_id: int) -> None:
    """Refuse a change of the administrator's own account, which could raise a role or lock everyone out."""
    if ctx.user.id == user_id:
        raise InputError(
            _("expected the account of somebody else; your own password is changed on your account page")
        )


def _users_page(ctx: Context, *, problem: str = "") -> Response:
    return ctx.page(
        "users.html",
        status_code=400 if problem else 200,
        problem=problem,
        accounts=ctx.users.everybody(),
        roles=list(Role),
        rights=RIGHTS,
        has_provider=ctx.desk.provider is not None,
    )
