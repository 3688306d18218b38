"""The accounts of the desk, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.accounts.users import Role
from phiscan.web.access import RIGHTS, Permission, Routes, may
from phiscan.web.request_context import Desk, DeskNow, RowNumber
from phiscan.web.session import SignedIn

routes = Routes()


@routes.page("GET", "/users", needs=Permission.MANAGE_USERS)
def users(request: Request, desk: DeskNow) -> Response:
    """List the accounts."""
    return _page(request, desk)


@routes.page("POST", "/users", needs=Permission.MANAGE_USERS)
def add(
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    name: Annotated[str, Form(max_length=200)],
    role: Annotated[Role, Form()],
    password: Annotated[str, Form(max_length=1000)] = "",
    subject: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Create an account."""
    subject = " ".join(subject.split())
    if not password and not subject:
        problem = _("password: expected one, or who this is at the identity provider")
        return _page(request, desk, status_code=400, problem=problem)
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
        return _page(request, desk, status_code=400, problem=str(error))
    return RedirectResponse("/users", 303)


@routes.page("POST", "/users/{user_id}/role", needs=Permission.MANAGE_USERS)
def set_role(user_id: RowNumber, user: SignedIn, desk: DeskNow, role: Annotated[Role, Form()]) -> Response:
    """Change the role of an account."""
    not_oneself(user, user_id)
    desk.store.users.set_role(user_id, role, by=user.name, now=desk.now())
    return RedirectResponse("/users", 303)


@routes.page("POST", "/users/{user_id}/password", needs=Permission.MANAGE_USERS)
def set_password(
    user_id: RowNumber, user: SignedIn, desk: DeskNow, password: Annotated[str, Form(max_length=1000)]
) -> Response:
    """Set a new password for another user, and end the sessions of the account."""
    not_oneself(user, user_id)
    desk.store.users.set_password(user_id, password, by=user.name, now=desk.now())
    return RedirectResponse("/users", 303)


@routes.page("POST", "/users/{user_id}/disable", needs=Permission.MANAGE_USERS)
def disable(user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
    """Disable an account."""
    not_oneself(user, user_id)
    desk.store.users.disable(user_id, by=user.name, now=desk.now())
    return RedirectResponse("/users", 303)


@routes.page("POST", "/users/{user_id}/enable", needs=Permission.MANAGE_USERS)
def enable(user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
    """Enable a disabled account."""
    desk.store.users.enable(user_id, by=user.name, now=desk.now())
    return RedirectResponse("/users", 303)


@routes.page("GET", "/locked", needs=Permission.UNLOCK)
def locked(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the locked accounts and those whose second factor can be reset, for leads."""
    everybody = desk.store.users.everybody()
    accounts = [account for account in everybody if account.locked is not None]
    with_factor = [account for account in everybody if account.has_second_factor and account.id != user.id]
    return desk.pages.render(request, "locked.html", accounts=accounts, with_factor=with_factor)


@routes.page("POST", "/users/{user_id}/unlock", needs=Permission.UNLOCK)
def unlock(user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
    """Reset the count of failed sign-ins of an account."""
    desk.store.users.unlock(user_id, by=user.name, now=desk.now())
    return RedirectResponse("/users" if may(user, Permission.MANAGE_USERS) else "/locked", 303)


@routes.page("POST", "/users/{user_id}/sessions/end", needs=Permission.MANAGE_USERS)
def end_sessions(user_id: RowNumber, user: SignedIn, desk: DeskNow) -> Response:
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


def _page(request: Request, desk: Desk, *, status_code: int = 200, problem: str = "") -> Response:
    return desk.pages.render(
        request,
        "users.html",
        status_code=status_code,
        problem=problem,
        accounts=desk.store.users.everybody(),
        roles=list(Role),
        rights=RIGHTS,
        has_provider=desk.provider is not None,
    )
