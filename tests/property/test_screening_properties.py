"""Properties of spans and of the concept that hold for every text and every vector."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.config import Config
from phiscan.model import ALL_PII_BITS, Document, PiiVector
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.prototypes import ID, PERSON_NAME, VENUE, lacking

BITS = st.frozensets(st.sampled_from(ALL_PII_BITS)).map(PiiVector)
PIECES = st.sampled_from(
    ["Patient: ", "Anna Kowalczyk", "Dr. Roy", " DOB: ", "1962-03-14", "613-555-0199", "a@b.example", "😀", "é", "𝒳",  # noqa: E501, RUF001 (one expression or one row of data)
     "\n", "\t", ", ", "401 Smyth Rd", "MRN 123456", "K1H 8L1", "العربية", "漢字", "|", "\u200b", "e\u0301", "\r\n"]  # noqa: E501 (one expression or one row of data)
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=25).map("".join)


def is_identifying(vector: PiiVector) -> bool:
    """Tell whether a vector satisfies equation 4 as printed: PersonName AND (ID OR Venue)."""
    return vector.bits.issuperset(PERSON_NAME) and not vector.bits.isdisjoint(ID + VENUE)


@pytest.fixture(scope="module")
def screener() -> Screener:
    return build_screener(Config())


@given(vector=BITS)
def test_nothing_is_lacking_exactly_when_equation_4_holds(vector: PiiVector) -> None:
    assert (not lacking(vector)) == is_identifying(vector)


@given(vector=BITS)
def test_what_is_lacking_makes_equation_4_hold_and_nothing_less_does(vector: PiiVector) -> None:
    missing = lacking(vector)
    assert is_identifying(PiiVector(vector.bits | set(missing)))
    assert not any(is_identifying(PiiVector(vector.bits | (set(missing) - {bit}))) for bit in missing)


@given(vector=BITS, more=BITS)
def test_one_more_identifier_never_makes_a_file_less_identifying(vector: PiiVector, more: PiiVector) -> None:
    assert len(lacking(PiiVector(vector.bits | more.bits))) <= len(lacking(vector))


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_findings_are_ordered_inside_the_text_and_do_not_overlap(screener: Screener, text: str) -> None:
    findings = screen(Document(text, (), ""), screener).findings
    ends = [0, *(finding.span.end for finding in findings)]
    for finding, before in zip(findings, ends, strict=False):
        assert before <= finding.span.start < finding.span.end <= len(text)
        assert finding.span.of(text).strip()
        assert finding.reasons
        assert 0 <= finding.score <= 1


@settings(max_examples=40, deadline=None)
@given(prefix=st.text(alphabet="é😀漢 \n𝒳", max_size=40))  # noqa: RUF001 (names are written with it)
def test_what_stands_before_only_shifts_the_spans(screener: Screener, prefix: str) -> None:
    text = "\n\nPatient: Anna Kowalczyk, 613-555-0199, a@b.example"
    alone = screen(Document(text, (), ""), screener).findings
    shifted = screen(Document(prefix + text, (), ""), screener).findings
    # The prefix may hold a finding of its own: two letters of another script can look like a place.
    assert [(f.span.start - len(prefix), f.entity_type) for f in shifted if f.span.start >= len(prefix)] == [
        (f.span.start, f.entity_type) for f in alone
    ]
