"""Every route asks for a permission, and gives each role what the table says: from the routes themselves."""

import re
from collections.abc import Callable

import pytest
from fastapi import FastAPI

from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.access import RIGHTS, GuardedRoute, Permission, Routes, may
from phiscan.web.app import ROUTES
from tests.web.conftest import Browser, Visit

P = Permission
EXPECTED: dict[Role, set[Permission]] = {
    Role.READER: {P.SEE_QUEUE, P.SEE_SCANS},
    Role.REVIEWER: {
        P.SEE_QUEUE, P.SEE_SCANS, P.DECIDE, P.CORRECT, P.PROPOSE_SUPPRESSION, P.REVEAL, P.FIND_PERSON,
        P.EXPORT, P.READ_INCIDENT, P.EDIT_INCIDENT,
    },
    Role.LEAD: {
        P.SEE_QUEUE, P.SEE_SCANS, P.DECIDE, P.CORRECT, P.PROPOSE_SUPPRESSION, P.REVEAL, P.FIND_PERSON,
        P.EXPORT, P.READ_INCIDENT, P.EDIT_INCIDENT, P.DECIDE_INCIDENT,
        P.READ_REPORT, P.ASSIGN, P.ADJUDICATE, P.APPROVE_SUPPRESSION, P.UNLOCK,
    },
    Role.AUDITOR: {P.READ_LOG, P.SIGN_LOG, P.READ_REPORT, P.SEE_SCANS, P.READ_INCIDENT},
    Role.ADMIN: {P.MANAGE_USERS, P.UNLOCK},
    Role.OWNER: {P.OWN_FILES},
}  # fmt: skip

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/static/{digest}/{name}"),
    ("POST", "/language"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("GET", "/sign-in/code"),
    ("POST", "/sign-in/code"),
    ("GET", "/sign-in/provider"),
    ("GET", "/sign-in/provider/callback"),
}
ENDS_SESSION = {"/sign-out", "/account/sessions/end", "/account/sessions/{session_id}/end"}
ALL = [
    (method, route.path, route.permission)
    for module in ROUTES
    for route in module.declared
    for method in route.methods
]


def test_the_table_of_rights_is_the_one_that_was_agreed() -> None:
    assert {role: set(rights) for role, rights in RIGHTS.items()} == EXPECTED
    assert not any(P.REVEAL in RIGHTS[role] for role in (Role.READER, Role.AUDITOR, Role.ADMIN, Role.OWNER))
    assert not may(None, P.SIGNED_IN)


def test_only_these_routes_are_public() -> None:
    assert {(method, path) for method, path, needs in ALL if needs is P.PUBLIC} == PUBLIC


def test_every_route_of_the_application_is_a_declared_one_behind_its_permission(app: FastAPI) -> None:
    found = {
        (method, route.path, route.permission)
        for route in app.routes
        if isinstance(route, GuardedRoute)
        for method in route.methods
    }
    assert found == set(ALL)
    assert len(app.routes) == len(ALL) == len({(method, path) for method, path, _needs in ALL}) > 20


def _filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


@pytest.mark.usefixtures("report_here")
@pytest.mark.parametrize("role", [None, *Role], ids=lambda role: role.value if role else "nobody")
def test_every_route_lets_in_whom_its_permission_says_and_nobody_else(
    role: Role | None, browser: Visit, store: Store
) -> None:
    """With an empty body: whoever is let in gets any other answer than 401, 403 or the sign-in page."""
    wrong = []
    visitor = browser(role.value if role else "")
    for method, path, needs in ALL:
        if (method, path) in PUBLIC:
            continue
        answer = visitor.request(method, _filled(path))
        refused = answer.status_code in {401, 403} or answer.headers.get("location", "").startswith(
            "/sign-in?"
        )
        if not role and answer.headers.get("location") == "/sign-in":
            refused = True
        if role and path in ENDS_SESSION and answer.status_code == 303:
            visitor, refused = browser(role.value), False
        allowed = role is not None and (needs is P.SIGNED_IN or needs in EXPECTED[role])
        if refused == allowed:
            wrong.append((method, path, role, answer.status_code))
    assert wrong == []
    assert store.verify_audit().ok


@pytest.mark.parametrize("role", [Role.READER, Role.LEAD, Role.ADMIN], ids=lambda role: role.value)
def test_a_token_carries_the_rights_of_its_person_in_the_api_and_none_elsewhere(
    role: Role, app: FastAPI, store: Store, clock: Callable[[], object]
) -> None:
    user = store.users.named(role.value)
    token = store.users.make_token(user.id, label="test", days=1, by="test", now=clock())  # type: ignore[arg-type]
    visitor = Browser(app)
    wrong = []
    for method, path, needs in ALL:
        if (method, path) in PUBLIC:
            continue
        answer = visitor.request(method, _filled(path), headers={"authorization": f"Bearer {token}"})
        refused = answer.status_code in {401, 403, 303}
        allowed = path.startswith("/api/") and (needs is P.SIGNED_IN or needs in EXPECTED[role])
        if refused == allowed:
            wrong.append((method, path, answer.status_code))
    assert wrong == []


def test_a_route_without_a_permission_cannot_be_made() -> None:
    with pytest.raises(AttributeError):
        Routes().page("GET", "/secret", needs=None)(lambda: None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="None"):
        GuardedRoute("/secret", lambda: None)


def test_an_unknown_address_says_nothing(browser: Visit) -> None:
    for visitor in (browser(""), browser("lead")):
        for path in ("/nothing", "/api/v1/nothing", "/docs", "/redoc", "/openapi.json", "/static/../app.py"):
            assert visitor.get(path).status_code == 404, path
