"""The frozen types: spans, vectors, documents that do not show their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.model import ALL_PII_BITS, Document, PiiVector, Segment, SourceFile, Span

BITS = st.frozensets(st.sampled_from(ALL_PII_BITS)).map(PiiVector)


@given(text=st.text(min_size=1, max_size=30), data=st.data())
def test_span_counts_code_points_in_any_script(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    span = Span(start, end)
    assert text[:start] + span.of(text) + text[end:] == text
    assert len(span.of(text)) == span.n_chars


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2)])
def test_span_refuses_empty_and_backward_ranges(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="0 <= start < end"):
        Span(start, end)


def test_span_overlap_is_half_open() -> None:
    assert not Span(0, 3).overlaps(Span(3, 5))
    assert Span(0, 4).overlaps(Span(3, 5))
    assert Span(0, 4).contains(Span(1, 4))
    assert not Span(1, 4).contains(Span(0, 4))


@given(BITS)
def test_vector_survives_packing(vector: PiiVector) -> None:
    assert PiiVector.from_int(vector.to_int()) == vector
    assert set(vector.names) == {bit.value for bit in vector.bits}


@given(BITS, BITS, BITS)
def test_hamming_is_a_metric(a: PiiVector, b: PiiVector, c: PiiVector) -> None:
    assert a.hamming(b) == b.hamming(a) == (a.to_int() ^ b.to_int()).bit_count()
    assert (a.hamming(b) == 0) == (a == b)
    assert a.hamming(c) <= a.hamming(b) + b.hamming(c)


def test_bit_order_is_what_databases_hold() -> None:
    # Stored in every database: append only, never reorder.
    assert [bit.value for bit in ALL_PII_BITS[:11]] == [
        "FirstName", "LastName", "SIN", "HealthCardN", "PassportN", "DriverLicenseN",
        "OrganizationName", "StreetAddress", "HealthProfessionalName", "PhoneNumber", "Email",
    ]  # fmt: skip


def test_document_locates_offsets_and_hides_its_text() -> None:
    document = Document("canary text", (Segment("a.txt", 0, 6), Segment("b.txt#p2", 7, 11)), "text/plain")
    assert document.locate(0) == "a.txt"
    assert document.locate(5) == "a.txt"
    assert document.locate(7) == "b.txt#p2"
    assert document.locate(99) == ""
    assert "canary" not in repr(document)


def test_source_file_joins_raw_paths() -> None:
    source = SourceFile(b"/srv/", b"a\xff", 1, 1, 1, 1, 1)
    assert source.absolute == b"/srv/a\xff"
    assert source.display == r"a\xff"
