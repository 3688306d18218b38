"""Suppressions at the desk: several values at once, never for nothing; approvals say what they hide."""

from dataclasses import replace
from datetime import timedelta

import pytest

from phiscan.pipeline.signature import signature
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from tests.review.results import NOW, referred, scan
from tests.review.test_suppressions import NAME, SWITCHBOARD
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Visit

BOTH = ["value-0", "value-1"]


@pytest.fixture
def letter(store: Store) -> int:
    """Return one of two letters that are referred for two values each."""
    both = (SWITCHBOARD, NAME)
    names = ("forms/one.txt", "forms/two.txt")
    scan(store, [replace(referred(name), findings=both) for name in names], root=b"/forms", minutes=3)
    return store.find("forms/one.txt")


def test_several_values_hide_what_neither_hides_alone(browser: Visit, store: Store, letter: int) -> None:
    client = browser("lead")
    page = client.get(f"/items/{letter}/suppress").text
    assert page.count('type="checkbox" name="what"') >= len(BOTH)
    alone = client.get(f"/items/{letter}/suppress", params={"what": "value-0"}).text
    assert "It would hide 0 items" in alone
    assert "There is nothing to hide" in alone
    assert 'class="primary">Hide' not in alone
    together = client.get(f"/items/{letter}/suppress", params={"what": BOTH}).text
    assert "Hide 2 items</button>" in together
    form = {"what": BOTH, "where": "folder", "reason": "a template", "until": "2027-01-01"}
    done = client.post(f"/items/{letter}/suppress", data=form, follow_redirects=False)
    assert done.headers["location"] == "/suppressions?said=suppressed"
    made = store.desk.suppressions(now=NOW + timedelta(minutes=9))
    assert [one.n_hidden for one in made] == [2, 0]  # the newest first: the second value hid them
    assert {one.status for one in made} == {"active"}


def test_a_wording_is_offered_where_it_is_known(browser: Visit, store: Store, letter: int) -> None:
    client = browser("lead")
    assert 'value="wording"' not in client.get(f"/items/{letter}/suppress").text
    form = signature("We are sorry that the clinic is closed on the day of your appointment " * 9, b"k" * 32)
    results = [replace(referred(name), findings=(NAME,), signature=form) for name in ("a/1.txt", "a/2.txt")]
    scan(store, results, root=b"/a", minutes=4)
    page = client.get(f"/items/{store.find('a/1.txt')}/suppress", params={"what": "wording"}).text
    assert "Hide 2 items</button>" in page
    chosen = {"what": "wording", "where": "share", "reason": "closed days", "until": "2027-01-01"}
    client.post(f"/items/{store.find('a/1.txt')}/suppress", data=chosen)
    assert "<code>a wording</code>" in client.get("/suppressions").text


def test_refuses_to_hide_nothing(browser: Visit, store: Store, letter: int) -> None:
    client = browser("lead")
    form = {"what": "value-0", "where": "folder", "reason": "r", "until": "2027-01-01"}
    answer = client.post(f"/items/{letter}/suppress", data=form)
    assert answer.status_code == 400
    assert "it would hide no item" in answer.text
    unknown = client.post(f"/items/{letter}/suppress", data={**form, "what": [*BOTH, "value-9"]})
    assert unknown.status_code == 400
    assert store.desk.suppressions(now=NOW) == ()


def test_an_approval_says_what_it_approves(browser: Visit, store: Store, letter: int, clock: Clock) -> None:
    store.users.add(name="third", role=Role.LEAD, password=PASSWORD, by="test", now=NOW)
    store.desk.set_policy(second_review=0.0, hide_limit=1, by="lead", now=clock())
    client = browser("lead")
    form = {"what": BOTH, "where": "folder", "reason": "a template", "until": "2027-01-01"}
    client.post(f"/items/{letter}/suppress", data=form)
    made = store.desk.suppressions(now=NOW + timedelta(minutes=9))
    assert {one.status for one in made} == {"waiting"}  # together they hide more than the limit
    other = browser("third")
    page = other.get("/suppressions").text
    assert f"<code>value {SWITCHBOARD.preview}</code>" in page
    assert 'class="small">phone' in page.lower()
    assert "would hide 0 of 2 with it" in page
    assert '<td class="path small" data-label="Where">' in page
    assert "forms" in page.partition('data-label="Where">')[2][:40]
    other.post(f"/suppressions/{made[0].id}/approve")
    after = other.get("/suppressions").text
    assert "Approve hiding 2<span" in after
