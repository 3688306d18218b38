"""French at the desk: how it is chosen, that it is whole, and that programs get English."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from fastapi import FastAPI

from phiscan.config import Config
from phiscan.language import LANGUAGES, Lazy, lazy_gettext, using
from phiscan.model import Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.reveals import PURPOSES
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.store import Store
from phiscan.web.app import ROUTES, create_app
from tests import pseudo
from tests.review.results import NOW, SHARE
from tests.web.conftest import OWN, PASSWORD, Browser

FRENCH = {"accept-language": "fr-CA,fr;q=0.9,en;q=0.5"}
# Pages that answer with something else than a page of ours.
NO_PAGE = {
    *("/", "/healthz", "/static/{digest}/{name}", "/api/v1/openapi.json", "/queue/next"),
    *("/items/{file_id}/next", "/items/{file_id}/previous", "/items/{file_id}/reveal", "/reports/{name}"),
    *("/tasks.csv", "/sign-in/provider", "/sign-in/provider/callback"),
}
PAGES = sorted(
    {
        route.path
        for module in ROUTES
        for route in module.declared
        if route.method == "GET" and not route.path.startswith("/api/") and route.path not in NO_PAGE
    }
)
# What the store of these tests holds.
DATA = (
    *(result.source.path.decode() for result in SHARE),
    *("/share a b c", "Ann Ex Xxx Xx", "testserver localhost testclient", "us phone rw", "names patterns text"),
    *(role.value for role in Role),
    *("a clinic's own number", "a note"),
)


@pytest.fixture
def filled(app: FastAPI, store: Store, clock: Callable[[], datetime]) -> Store:
    """Leave something on every page: decisions, a disagreement, a suppression, a blind item, a log review."""
    now = NOW + timedelta(hours=1)
    desk = store.desk
    desk.set_policy(second_review=1.0, hide_limit=0, by="lead", now=now)
    items = desk.items(viewer="reviewer", now=now, limit=60).items
    found = desk.detail(items[1].file_id, viewer="reviewer", now=now).findings[0]
    scope = SuppressionScope(kind=SuppressionKind.VALUE, target=found.identity, preview=found.preview)
    desk.suppress(scope, reason="a clinic's own number", until=now + timedelta(days=9), by="reviewer", now=now)
    desk.decide(items[0].file_id, Verdict.PHI, reviewer="reviewer", now=now, note="a note")
    desk.decide(items[0].file_id, Verdict.NOT_PHI, reviewer="lead", now=now)
    desk.draw_sample(n_queued=1, n_unreferred=1, by="lead", now=now)
    return store


def _filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_text_that_is_not_marked(
    path: str, filled: Store, browser: Callable[[str], Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    pseudo.use(monkeypatch)
    seen = 0
    for role in ("lead", "auditor", "admin", "reviewer", ""):
        answer = browser(role).client.get(_filled(path), headers=FRENCH)
        if answer.status_code == 200 and "text/html" in answer.headers["content-type"]:
            seen += 1
            assert pseudo.unmarked(answer.text, DATA) == set(), role
    assert seen or path in {"/groups/{group_id}", "/sign-in/code"}
