"""The page that says which files hold a person."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi import FastAPI

from phiscan.config import Config
from phiscan.model import EntityType
from phiscan.review.store import Store
from phiscan.store.identity import create_key, load_key
from phiscan.store.tables.desk import audit_log
from phiscan.store.tables.scans import patient_event
from phiscan.web.routes.person import PURPOSES
from tests.review.results import finding, referred, scan
from tests.web.conftest import Browser, Visit

CARD = "9876543217"


@pytest.fixture
def desk(app: FastAPI, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    """Return what signs somebody in at a desk whose store holds a letter about somebody."""
    config = Config(home=tmp_path / "home")
    create_key(config.key_file)
    monkeypatch.setattr("tests.review.results.KEY", load_key(config.key_file))
    before = app.state.desk
    app.state.desk = replace(before, config=config)
    letter = replace(
        referred("d/known.txt"),
        findings=(
            finding("Ann Roy", kind=EntityType.PERSON),
            finding("12 March 1956", start=20, kind=EntityType.DATE_OF_BIRTH),
            finding("9876 543 217", start=50, kind=EntityType.HEALTH_CARD),
        ),
    )
    scan(store, [letter], minutes=60)
    yield lambda name: Browser(app).sign_in(name)
    app.state.desk = before


def _ask(browser: Browser, **fields: str) -> str:
    answer = browser.post("/person", data={"purpose": PURPOSES[0], **fields})
    assert answer.headers["cache-control"] == "no-store"
    assert answer.status_code == 200
    return answer.text


def test_a_person_is_found_by_name_and_birth_date_or_by_a_number(desk: Visit) -> None:
    browser = desk("reviewer")
    for fields in ({"name": "Roy, Ann", "birth_date": "1956-03-12"}, {"number": CARD}):
        page = _ask(browser, **fields)
        assert "d/known.txt" in page
        assert not any(value in page for value in ("Roy", '1956-03-12" value', CARD))
    for fields in ({"name": "Roy, Ann", "birth_date": "1957-03-12"}, {"number": "1234567897"}):
        page = _ask(browser, **fields)
        assert "No file of the last scans" in page
        assert "d/known.txt" not in page


def test_every_search_is_in_the_log_and_no_value_is(desk: Visit, store: Store) -> None:
    _ask(desk("lead"), name="Ann Roy", birth_date="1956-03-12")
    with store.database.read() as connection:
        (event,) = connection.execute(sa.select(patient_event)).all()
        entries = connection.execute(sa.select(audit_log).where(audit_log.c.action == "patients")).all()
    assert (event.event, event.purpose, event.done_by) == ("find", PURPOSES[0], "lead")
    assert event.details == {"fields": ["name", "birth_date"]}
    assert [entry.subject_id for entry in entries] == [event.id]
    assert "Roy" not in str(entries)
    assert store.verify_audit().ok


def test_a_question_without_a_purpose_of_the_list_is_refused(desk: Visit, store: Store) -> None:
    browser = desk("reviewer")
    for data in ({"purpose": "curiosity", "number": CARD}, {"purpose": PURPOSES[0], "name": "Ann Roy"}):
        answer = browser.post("/person", data=data)
        assert answer.status_code == 400
        assert CARD not in answer.text
        assert "Roy" not in answer.text
    with store.database.read() as connection:
        assert connection.execute(sa.select(patient_event)).all() == []


def test_the_form_needs_no_script_and_holds_no_name(desk: Visit) -> None:
    answer = desk("reviewer").get("/person")
    assert answer.status_code == 200
    assert '<form method="post" action="/person"' in answer.text
    assert all(purpose in answer.text for purpose in PURPOSES)


def test_without_the_key_nobody_can_be_searched_for(browser: Visit) -> None:
    answer = browser("reviewer").post("/person", data={"purpose": PURPOSES[0], "number": CARD})
    assert answer.status_code == 400
    assert "keys of the hashes are not on this server" in answer.text
