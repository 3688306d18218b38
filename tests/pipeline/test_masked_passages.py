"""Masked prose: the allow list shows ordinary and medical words, and never a value."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.model import Document, EntityType, Segment
from phiscan.pipeline.rereading.allow_list import load_allow_list
from phiscan.pipeline.rereading.masked_passages import (
    MASK,
    MAX_PASSAGE_CHARS,
    N_PASSAGES,
    Found,
    Kind,
    MaskedPassage,
    masked_prose,
)

PROSE = (
    "Dear {0}, thank you for seeing this patient with hypertension. The chest pain began {0} and the patient "
    "takes metformin; contact: {0}. Signed {0}"
)
CANARIES = (
    "Quillfeather",  # on no list
    "Zxqvy",
    "Ann",
    "Rose",
    "Hope Young",  # names that are ordinary words
    "Larry Page",
    "Mr. Day",
    "Brown",
    "hope young",
    "Kowalski-Grant",
    "O\u2019Rourke",
    "Reading",  # places that are ordinary words
    "London",
    "613-555-0142",
    "1948-03-07",
    "March 7",
    "3085-222-580-TU",
    "72",
    "six one three five five five",
    "hope.mark@example.org",
    "HOPE_MARK.pdf",
    "G\u00f3mez",
    "\u5c71\u7530\u592a\u90ce",
    "Иванов",
)


def test_tables_are_said_in_counts_and_one_passage_alone_says_none() -> None:
    rows = [f"Birth date: 195{n}-03-12 | Postal code: K7L 3N{n} | Sex: F" for n in range(6)]
    segments, at = [], 0
    for number, row in enumerate(rows, 1):
        segments.append(Segment(f"#row{number}", at, at + len(row)))
        at += len(row) + 1
    document = Document("\n".join(rows), tuple(segments), "text/csv")
    (table,) = masked_prose(document, []).tables
    assert table.sentence == "6 rows, 100% unique on birth date + postal code + sex (k = 1)"
    assert masked_prose(document, [], beginning=100).tables == ()


def words_of(passage: MaskedPassage) -> str:
    return "".join(piece.text for piece in passage.pieces)


def shown(text: str, found: list[Found] | None = None) -> str:
    prose = masked_prose(Document(text, (), "text/plain"), found or [])
    return "\n".join(words_of(passage) for passage in prose.passages)


@pytest.mark.parametrize("canary", CANARIES)
def test_what_is_not_on_the_allow_list_is_masked(canary: str) -> None:
    seen = shown(PROSE.format(canary))
    for part in canary.replace("-", " ").split():
        if part != "Mr.":
            assert part not in seen, seen
    assert "thank you for seeing this patient with hypertension" in seen
    assert "metformin" in seen
    assert MASK in seen


letters = st.text("bcdfghjklmnpqrstvwxz", min_size=5, max_size=9).filter(
    lambda word: not load_allow_list().is_allowed(word)
)
digits = st.text("0123456789", min_size=1, max_size=12)
values = st.one_of(
    letters,
    letters.map(str.title),
    digits,
    st.tuples(digits, st.sampled_from("-/.: "), digits).map("".join),
    st.tuples(letters, st.sampled_from("@._-"), letters).map("".join),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(values, min_size=1, max_size=6), st.sampled_from([" ", ", ", "\n", "\t", " | ", "; "]))
def test_no_value_of_any_form_is_shown(canaries: list[str], between: str) -> None:
    seen = shown(f"The patient takes metformin {between.join(canaries)} for diabetes")
    for part in itertools.chain.from_iterable(
        one.replace(":", " ").replace("/", " ").split() for one in canaries
    ):
        assert part not in seen


def place(text: str, value: str, kind: EntityType, *, role: bool = False) -> Found:
    start = text.index(value)
    return (start, start + len(value), kind, role)


def test_a_finding_is_its_type_whatever_its_words_are() -> None:
    text = "The patient, hope may chest, has asthma. Card: one two"
    found = [place(text, "hope may chest", EntityType.PERSON), place(text, "one two", EntityType.HEALTH_CARD)]
    (passage,) = masked_prose(Document(text, (), "text/plain"), found).passages
    pills = [(piece.entity_type, piece.position) for piece in passage.pieces if piece.kind is Kind.FINDING]
    assert pills == [(EntityType.PERSON, 0), (EntityType.HEALTH_CARD, 1)]
    assert [piece.text for piece in passage.pieces if piece.kind is Kind.TERM] == ["asthma"]
    assert words_of(passage) == "The patient, , has asthma. Card: "
    assert not {"hope", "chest", "one"} & set(repr(passage).split())


def test_the_passage_with_a_person_beside_health_comes_first() -> None:
    filler = "".join(f"The committee met again about parking and the gate number {n}.\n" for n in range(60))
    patient = "Torvald Karrowick has diabetes and takes metformin for it.\n"
    author = "Written by Quenna Ostriba of the committee.\n"
    text = author + filler + patient + filler
    found = [
        place(text, "Quenna Ostriba", EntityType.PERSON, role=True),
        place(text, "Torvald Karrowick", EntityType.PERSON),
    ]
    segments = (
        Segment("#p1", 0, len(author)),
        Segment("#p2", len(author), len(text)),
    )
    passages = masked_prose(Document(text, segments, "text/plain"), found).passages
    assert 1 < len(passages) <= N_PASSAGES
    start = text.index(patient)
    assert passages[0].start <= start < passages[0].end
    assert passages[0].locator == "#p2"
    for one in passages:
        assert one.end - one.start <= MAX_PASSAGE_CHARS
    ordered = sorted((one.start, one.end) for one in passages)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ordered))


def test_a_text_without_evidence_shows_its_beginning() -> None:
    assert shown("The gate is to be repaired by spring.").startswith("The gate is to be repaired")
    assert masked_prose(Document("", (), "text/plain"), []).passages == ()
    assert masked_prose(Document(" \n ", (), "text/plain"), []).passages == ()


def test_a_name_that_is_a_health_term_as_well_is_masked_alone() -> None:
    seen = shown("Seen: Parkinson. The patient has Parkinson's disease and Crohn disease.")
    assert "Parkinson's disease" in seen
    assert "Parkinson." not in seen


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_pieces_cover_the_text(text: str) -> None:
    assert "".join(piece for piece, _ in load_allow_list().pieces(text)) == text
