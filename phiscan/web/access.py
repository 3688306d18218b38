"""Access control: permissions, the roles that have them, and routes that each require one.

Everything is denied unless a line here allows it. A route without a permission cannot be declared.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from phiscan.review.accounts.users import Role, Scope, Token, User

PERMISSION = "x-permission"  # key of the required permission in a route and the OpenAPI document


class Permission(StrEnum):
    """What a route requires. PUBLIC and SIGNED_IN are not rights of a role."""

    PUBLIC = "public"  # sign-in, static files, health check: no data of the store
    SIGNED_IN = "signed_in"  # the user's own account
    SEE_QUEUE = "see_queue"  # the list and masked items
    SEE_SCANS = "see_scans"  # the scans, and the files that could not be read
    DECIDE = "decide"  # verdicts, undo, notes, second reviews, the user's own saved views
    CORRECT = "correct"  # spans: correct, wrong, missed
    PROPOSE_SUPPRESSION = "propose_suppression"  # narrow ones take effect, broad ones need approval; lift any
    REVEAL = "reveal"  # the real text of one item
    FIND_PERSON = "find_person"  # search for the files of a person
    ASSIGN = "assign"
    ADJUDICATE = "adjudicate"  # settle a disagreement of two reviewers
    APPROVE_SUPPRESSION = "approve_suppression"  # broad ones
    EXPORT = "export"  # the queue as a file
    READ_REPORT = "read_report"  # the audit pack
    READ_INCIDENT = "read_incident"  # incidents, their forms and register
    EDIT_INCIDENT = "edit_incident"  # group files, write the texts, write to owners
    DECIDE_INCIDENT = "decide_incident"  # its state, with the reason
    OWN_FILES = "own_files"  # the confirmed files that one owns on a share
    READ_LOG = "read_log"  # the audit log and its verification
    SIGN_LOG = "sign_log"  # "I have reviewed this log"
    UNLOCK = "unlock"  # accounts that are locked after failed sign-ins
    MANAGE_USERS = "manage_users"


_READER = frozenset({Permission.SEE_QUEUE, Permission.SEE_SCANS})
_REVIEWER = _READER | {
    Permission.DECIDE,
    Permission.CORRECT,
    Permission.PROPOSE_SUPPRESSION,
    Permission.REVEAL,
    Permission.FIND_PERSON,
    Permission.EXPORT,
    Permission.READ_INCIDENT,
    Permission.EDIT_INCIDENT,
}
_LEAD = _REVIEWER | {
    Permission.ASSIGN,
    Permission.ADJUDICATE,
    Permission.APPROVE_SUPPRESSION,
    Permission.READ_REPORT,
    Permission.DECIDE_INCIDENT,
    Permission.UNLOCK,
}

RIGHTS: Mapping[Role, frozenset[Permission]] = {
    Role.READER: _READER,
    Role.REVIEWER: _REVIEWER,
    Role.LEAD: _LEAD,
    Role.AUDITOR: frozenset(
        {
            *(Permission.READ_LOG, Permission.SIGN_LOG, Permission.READ_REPORT),
            *(Permission.SEE_SCANS, Permission.READ_INCIDENT),
        }
    ),
    Role.ADMIN: frozenset({Permission.MANAGE_USERS, Permission.UNLOCK}),
    Role.OWNER: frozenset({Permission.OWN_FILES}),
}


def may(user: User | None, permission: Permission) -> bool:
    """Return whether a user (None = not signed in) has a permission."""
    if permission is Permission.PUBLIC:
        return True
    if user is None:
        return False
    return permission is Permission.SIGNED_IN or permission in RIGHTS[user.role]


_BY_SCOPE: Mapping[Scope, frozenset[Permission]] = {
    Scope.READ: _READER | {Permission.READ_REPORT, Permission.READ_LOG, Permission.READ_INCIDENT},
    Scope.EXPORT: frozenset({Permission.EXPORT, Permission.REVEAL}),
    Scope.ADMIN: RIGHTS[Role.ADMIN],
}
SCOPES: Mapping[Permission, Scope] = {
    **dict.fromkeys(set(Permission) - {Permission.PUBLIC, Permission.SIGNED_IN}, Scope.DECIDE),
    **{permission: scope for scope, permissions in _BY_SCOPE.items() for permission in permissions},
}
"""The scope that a token needs for a permission, in addition to the role of its user."""


def token_may(token: Token, permission: Permission) -> bool:
    """Return whether the scope of a token includes a permission."""
    return permission not in SCOPES or SCOPES[permission] in token.scopes


Admit = Callable[[Request, Permission], Coroutine[Any, Any, None]]


class GuardedRoute(APIRoute):
    """A route that checks the user before it reads anything of the request.

    Raises:
        ValueError: it has no permission.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        openapi_extra: dict[str, Any] | None = None,
        **rest: Any,
    ) -> None:
        self.permission = Permission(str((openapi_extra or {}).get(PERMISSION)))
        super().__init__(path, endpoint, openapi_extra=openapi_extra, **rest)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, preceded by the permission check."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            admit: Admit = request.app.state.admit
            await admit(request, self.permission)
            return await handle(request)

        return guarded


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of one module, in matching order.

    ``page`` declares HTML routes, which are not in the OpenAPI document; ``api`` those that are.
    """

    declared: list[GuardedRoute] = field(default_factory=list)

    def page(
        self, method: str, path: str, *, needs: Permission
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a page, or the target of a form."""
        return self._declare(method, path, needs, include_in_schema=False, response_model=None)

    def api(
        self, method: str, path: str, needs: Permission, answer: type | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a route of the REST API; options as FastAPI's ``add_api_route`` takes them.

        ``answer``: the model that the returned object is written as, else the endpoint's return type.
        ``extra``: further fields of the operation's OpenAPI object.
        """
        model: dict[str, Any] = {} if answer is None else {"response_model": answer}
        return self._declare(method, "/api/v1" + path, needs, **model, **options)

    def _declare(
        self, method: str, path: str, needs: Permission, *, extra: Mapping[str, Any] = {}, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def declare(endpoint: Callable[..., Any]) -> Callable[..., Any]:
            shown = {**extra, PERMISSION: needs.value}
            self.declared.append(
                GuardedRoute(path, endpoint, methods=[method], openapi_extra=shown, **options)
            )
            return endpoint

        return declare
