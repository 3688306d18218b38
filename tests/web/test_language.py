"""French at the desk: how it is chosen, that it is whole, and that programs get English."""

import re
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from phiscan.config import Config
from phiscan.language import using
from phiscan.model import Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.store import Store
from phiscan.web.app import ROUTES, create_app
from phiscan.web.pages import NOTICES
from phiscan.web.routes.person import PURPOSES as PERSON_PURPOSES
from tests import pseudo
from tests.review.results import NOW, SHARE
from tests.web.conftest import PASSWORD, Visit

FRENCH = {"accept-language": "fr-CA,fr;q=0.9,en;q=0.5"}
# Pages that answer with something else than a page of ours.
NO_PAGE = {
    *("/", "/healthz", "/static/{digest}/{name}", "/api/v1/openapi.json", "/queue/next"),
    *("/items/{file_id}/next", "/items/{file_id}/previous", "/items/{file_id}/reveal", "/reports/{name}"),
    *("/sign-in/provider", "/sign-in/provider/callback", "/incidents/register/{kind}"),
    "/incidents/{number}/forms/{form_id}/{kind}",
    "/trend/{kind}",
}
PAGES = sorted(
    {
        route.path
        for module in ROUTES
        for route in module.declared
        if route.methods == {"GET"} and not route.path.startswith("/api/") and route.path not in NO_PAGE
    }
)
# What the store of these tests holds.
DATA = (
    *(result.source.path.decode() for result in SHARE),
    *("/share a b c", "Ann Ex Xxx Xx", "testserver localhost testclient", "us phone rw", "test"),
    *(role.value for role in Role),
    *("a clinic's own number", "a note", "asthma", "zip scan pdf", "Identifying identifying and health"),
    *("no health nothing", "zip: no end record"),
)
# The details of an entry of the log are stored codes and numbers.
_DETAILS = re.compile(r'<td class="small" data-label="[^"]*">.*?</td>', re.DOTALL)


@pytest.fixture
def filled(store: Store) -> Store:
    """Leave something on every page: decisions, a disagreement, a suppression, a blind item."""
    now = NOW + timedelta(hours=1)
    desk = store.desk
    desk.set_policy(second_review=1.0, hide_limit=0, by="lead", now=now)
    items = desk.items(viewer="reviewer", now=now, limit=60).items
    found = desk.detail(items[1].file_id, viewer="reviewer", now=now).findings[0]
    scope = SuppressionScope(kind=SuppressionKind.VALUE, target=found.identity, preview=found.preview)
    desk.suppress(
        [scope], reason="a clinic's own number", until=now + timedelta(days=9), by="reviewer", now=now
    )
    desk.decide(items[0].file_id, Verdict.PHI, reviewer="reviewer", now=now, note="a note")
    desk.decide(items[0].file_id, Verdict.NOT_PHI, reviewer="lead", now=now)
    desk.write_incident(None, {"title": "a note"}, add=[one.file_id for one in items[:2]], by="lead", now=now)
    desk.draw_sample(n_queued=1, n_unreferred=1, by="lead", now=now, seed="s")
    return store


# What a page needs in its address to show something.
ASKED = {"/folders": "?root=1", "/folders/decide": "?root=1&folder=a", "/queue": "?state=any"}


def _filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path) + ASKED.get(path, "")


@pytest.mark.usefixtures("filled", "report_here")
def test_no_page_has_text_that_is_not_marked(browser: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo.use(monkeypatch)
    unseen = set(PAGES)
    for role in ("lead", "auditor", "admin", "reviewer", "owner", ""):
        visitor = browser(role)
        for path in PAGES:
            answer = visitor.get(_filled(path), headers=FRENCH)
            if answer.status_code == 200 and "text/html" in answer.headers["content-type"]:
                unseen.discard(path)
                assert pseudo.unmarked(_DETAILS.sub("", answer.text), DATA) == set(), (role, path)
    assert unseen <= {"/groups/{group_id}", "/sign-in/code"}


FORMS: list[tuple[str, str, dict[str, str]]] = [
    ("", "/sign-in", {"name": "lead", "password": "wrong"}),
    ("lead", "/items/1/spans", {"mark": "missed", "start": "9", "end": "1", "entity_type": "PERSON"}),
    ("lead", "/items/6/reveal", {"purpose": "because"}),
    ("lead", "/person", {"name": "Ann Ex", "birth_date": "1950-01-02", "purpose": PERSON_PURPOSES[0]}),
    ("lead", "/person", {"name": "Ann Ex", "purpose": "because"}),
    ("lead", "/left/draw", {"n_queued": "-1", "n_unreferred": "0"}),
    ("lead", "/left/policy", {"second_review": "200", "hide_limit": "1"}),
    ("lead", "/account/tokens", {"label": "a note", "scope": "read", "password": PASSWORD}),
    ("lead", "/account/tokens", {"label": "a note", "scope": "read", "password": "wrong"}),
    ("lead", "/account/password", {"password": "a", "chosen": "b", "again": "c"}),
    ("lead", "/account/second-factor/begin", {"password": PASSWORD}),
    ("admin", "/users", {"name": "lead", "role": "reader", "password": PASSWORD}),
    ("admin", "/users", {"name": "x", "role": "reader", "password": "short"}),
    ("lead", "/queue/views", {"name": "", "list": ""}),
    ("lead", "/suppressions/999/lift", {}),
    ("lead", "/language", {"language": "xx"}),
]


@pytest.mark.usefixtures("filled")
def test_no_answer_to_a_form_and_no_notice_has_text_that_is_not_marked(
    browser: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitors = {role: browser(role) for role in ("", "admin", "lead")}
    pseudo.use(monkeypatch)
    for role, path, form in FORMS:
        answer = visitors[role].post(path, data=form, headers=FRENCH)
        assert "text/html" in answer.headers.get("content-type", ""), (path, answer.status_code)
        assert pseudo.unmarked(answer.text, DATA) == set(), (path, form)
    visitor = visitors["lead"]
    for said in NOTICES:
        page = visitor.get(f"/left?said={said}", headers=FRENCH).text
        assert pseudo.unmarked(page, DATA) == set(), said


def test_the_main_pages_are_french_to_their_lang_attribute(browser: Visit) -> None:
    assert "Ouvrir une session" in browser("").get("/sign-in", headers=FRENCH).text
    lead = browser("lead")
    for path, heading in (
        ("/queue", "File d\u2019attente"),
        ("/items/1", "S\u2019agit-il de RPS?"),
        ("/suppressions", "Exclusions"),
    ):
        answer = lead.get(path, headers=FRENCH)
        assert answer.status_code == 200
        assert heading in answer.text, path
        assert '<html lang="fr">' in answer.text
        assert answer.headers["content-language"] == "fr"


def test_numbers_and_moments_of_a_page_have_the_form_of_the_language(browser: Visit) -> None:
    lead = browser("lead")
    assert "0.80, above the threshold of 0.50" in lead.get("/items/1").text
    assert "0,80, au-dessus du seuil de 0,50" in lead.get("/items/1", headers=FRENCH).text
    assert "2026-11-20 à 8 h 30 UTC" in lead.get("/scans", headers=FRENCH).text


def test_the_switch_is_kept_in_a_cookie_and_comes_before_the_wish_of_the_browser(browser: Visit) -> None:
    lead = browser("lead")
    came = {"referer": "http://localhost/queue?state=any&text=a"}
    answer = lead.post("/language", data={"language": "fr"}, headers=came)
    assert (answer.status_code, answer.headers["location"]) == (303, "/queue?state=any&text=a")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    page = lead.get("/queue", headers={"accept-language": "en"}).text
    assert '<html lang="fr">' in page
    assert re.search(r'value="fr" lang="fr"[^>]*aria-pressed="true"', page)
    lead.post("/language", data={"language": "en"})
    assert '<html lang="en">' in lead.get("/queue", headers=FRENCH).text


def test_the_switch_leads_back_to_pages_of_ours_only(browser: Visit) -> None:
    visitor = browser("")
    for referer, expected in (
        ("", "/"),
        ("http://evil.example/queue", "/"),
        ("http://localhost/items/1/spans", "/"),  # a form's answer: it has no page of its own
        ("http://localhost/no/such/page", "/"),
        ("http://localhost//evil.example/", "/"),
        ("http://localhost/log", "/log"),
    ):
        headers = {"referer": referer}
        answer = visitor.post("/language", data={"language": "fr"}, headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, expected), referer


def test_the_language_of_the_configuration_is_that_of_a_browser_without_a_wish(store: Store) -> None:
    with TestClient(create_app(store, Config(language="fr")), base_url="http://localhost") as client:
        client.headers.pop("accept-language", None)
        assert '<html lang="fr">' in client.get("/sign-in").text
        assert '<html lang="fr">' in client.get("/sign-in", headers={"accept-language": "de"}).text
        assert '<html lang="en">' in client.get("/sign-in", headers={"accept-language": "en-CA"}).text


@pytest.mark.usefixtures("filled")
def test_programs_get_english_whatever_they_accept(browser: Visit) -> None:
    lead = browser("lead")
    english = {
        path: lead.get(path).json() for path in ("/api/v1/queue", "/api/v1/items/1", "/api/v1/items/999")
    }
    assert len(english["/api/v1/queue"]["items"]) > 0
    lead.cookies.set("phiscan-language", "fr")
    for path, answer in english.items():
        assert lead.get(path, headers=FRENCH).json() == answer, path


@pytest.mark.usefixtures("filled")
def test_the_register_as_csv_is_the_same_in_every_language(browser: Visit) -> None:
    lead = browser("lead")
    french, english = (lead.get("/incidents/register/csv", headers=one).text for one in (FRENCH, {}))
    assert french == english
    assert "1,a note,open," in english


def test_forms_send_english_which_the_store_keeps(browser: Visit) -> None:
    page = browser("lead").get("/items/6", headers=FRENCH).text
    with using("fr"):
        shown = str(PURPOSES[0])
    assert shown == "Pour décider s\u2019il s\u2019agit de RPS"
    assert f'<option value="{PURPOSES[0]}">{shown}</option>' in page


def test_scripts_get_their_messages_with_a_page_that_is_not_english(browser: Visit) -> None:
    lead = browser("lead")
    assert 'id="messages"' not in lead.get("/queue").text
    page = lead.get("/queue", headers=FRENCH).text
    assert re.search(r'<script type="application/json" id="messages" nonce="[^"]+">\{"', page)
