"""Blind items without a risk, and adjudication with the differences of the two verdicts marked."""

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from phiscan.model import Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.views.second_review import differing_words
from tests.review.results import NOW
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Browser

Visit = Callable[[str], Browser]


def test_a_blind_item_has_no_risk(browser: Visit, store: Store) -> None:
    store.desk.draw_sample(n_queued=2, n_unreferred=2, by="lead", now=NOW)
    client = browser("lead").client
    items = client.get("/api/v1/queue").json()["items"]
    assert {item["blind"] for item in items} >= {True}
    assert all((item["risk"] is None) is item["blind"] for item in items)
    page = client.get("/queue").text
    risks = re.findall(r'data-label="Risk">(.*?)</td>', page)
    assert risks.count("\N{EN DASH}") == sum(item["blind"] for item in items)


def test_adjudication_marks_what_differs(browser: Visit, store: Store, clock: Clock) -> None:
    store.users.add(name="third", role=Role.LEAD, password=PASSWORD, by="test", now=NOW)
    desk = store.desk
    desk.set_policy(second_review=1.0, hide_limit=20, by="lead", now=clock())
    desk.decide(1, Verdict.PHI, reviewer="lead", now=clock(), note="a letter with a <name>")
    desk.decide(1, Verdict.NOT_PHI, reviewer="reviewer", now=clock(), note="a letter without names")
    page = browser("third").client.get("/adjudication").text
    marked = re.findall(r"<mark>(.*?)</mark>", page)
    assert marked == ["with a &lt;name&gt;", "without names"]
    assert page.count("Reason: none") == 2


@given(st.text(), st.text())
def test_no_word_of_a_note_is_lost(own: str, other: str) -> None:
    runs = differing_words(own, other)
    assert " ".join(run.text for run in runs).split() == own.split()
    assert not any(run.differs for run in differing_words(own, own))
