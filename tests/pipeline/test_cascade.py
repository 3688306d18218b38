"""The cascade leaves out what cannot change whether a file is referred; the audit sample sees everything."""

from dataclasses import replace
from functools import cache

import pytest

from phiscan.model import Document, EntityType, Referral, Search, Segment
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine, in_audit_sample
from tests.decision.test_decide import engine
from tests.pipeline.harness import LETTER, MINUTES

LINE = "Staff on call: Torvald Karrowick, Quenna Vandelune. Dear Mr. Bristil Ostriba, see you on Monday.\n"
STAFF = LINE * 8  # short texts are searched whatever they say


@cache
def full() -> Engine:
    """Return an engine that searches everything."""
    return replace(engine(), key=b"k" * 32)


@cache
def cut() -> Engine:
    """Return one that searches names only where something says health."""
    return replace(full(), audit_share=0.0)


def document(text: str, number: int = 0) -> Document:
    return Document(text, (Segment("", 0, len(text)),), "text/plain", content_hash=f"{number:064x}")


@pytest.mark.parametrize("number", range(3))
def test_a_referral_is_never_lost(number: int) -> None:
    text = LETTER.format(first="Zantho", last="Prathewin", born="3 May 1961")
    filler = MINUTES.format(n=1) * number
    whole, part = (examine(document(filler + text), one) for one in (full(), cut()))
    assert whole == replace(part, search=Search.EVERYTHING)
    assert part.search is Search.NEEDED
    assert whole.referral is Referral.REFERRED


def test_names_are_not_searched_where_nothing_says_health_and_the_case_says_so() -> None:
    assert examine(document(STAFF), full()).referral is Referral.PII_ONLY
    part = examine(document(STAFF), cut())
    assert part.referral is Referral.CLEAR
    assert part.case == "names_not_searched"
    assert part.search is Search.LEFT_OUT
    assert dict(part.detectors) == {"patterns": False}


def test_all_three_detectors_run_on_the_audit_sample() -> None:
    some = replace(full(), audit_share=0.3)
    documents = [document(STAFF, number) for number in range(400)]
    sampled = [one for one in documents if in_audit_sample(one, some)]
    assert 80 < len(sampled) < 160
    audited = examine(sampled[0], some)
    assert set(dict(audited.detectors)) == {"patterns", "names", "text"}
    assert audited.search is Search.AUDIT  # it would have been left out
    other = replace(some, key=b"o" * 32)
    assert sampled != [one for one in documents if in_audit_sample(one, other)]


def test_strong_identifiers_are_found_where_nothing_says_health_and_weak_ones_are_not() -> None:
    contact = "4 May 2021, office@example.org, (613) 555-0142\n"
    text = f"{STAFF}\nSIN: 130-692-544\nDate of birth: 3 May 1961\n{contact * 9}"
    part = examine(document(text), cut())
    assert part.search is Search.LEFT_OUT
    assert part.referral is Referral.PII_ONLY
    assert {one.entity_type for one in part.screening.findings} == {EntityType.SIN, EntityType.DATE_OF_BIRTH}
    whole = {one.entity_type for one in examine(document(text), full()).screening.findings}
    assert {EntityType.EMAIL, EntityType.PHONE, EntityType.DATE} <= whole
