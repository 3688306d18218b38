"""Numbers that were spoken are read as digits, typed by their labels, and shown where they were said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.normalize.spoken_numbers import HINT, spoken_numbers
from phiscan.text.automata import automaton, matches
from tests.screen.whole import screened

DIGITS = "zero one two three four five six seven eight nine".split()  # noqa: SIM905 (a list of words)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("five one nine, five five five, oh one four four", "519-555-0144"),
        ("four one six five five five twelve thirty", "416-555-1230"),
        ("one eight hundred, five five five, oh one two three", "1-800-555-0123"),
        ("six one three, triple five, nine eight hundred", "613-555-9800"),
        ("six-one-three, five-five-five, oh-one-nine-nine", "613-555-0199"),
        ("five five five dash twelve dash three four five six", "555-12-3456"),
        ("quatre un huit, cinq cinq cinq, zéro un quatre quatre", "418-555-0144"),
        ("cinq cent quatorze, neuf cent trente-deux, vingt-deux quarante-quatre", "514-932-2244"),
        ("cinq un quatre, neuf trois deux, soixante et onze quatre-vingt-dix-sept", "514-932-7197"),
        ("huit un neuf cinq cinq cinq quatre-vingts soixante-dix", "819-555-8070"),
        ("Four Four One Two", "4412"),
        ("alpha bravo four four one seven two nine", "AB441729"),
        ("T R E M cinq deux zéro trois un quatre un huit", "TREM 5203 1418"),
        ("zero zero four four eight one seven", "0044817"),
        ("nine one seven two, four four eight, eight two zero", "9172-448-820"),
    ],
)
def test_digits_in_the_groups_in_which_they_were_said(said: str, meant: str) -> None:
    text = f"it is {said} ok"
    assert matches(automaton(HINT), text.encode())
    assert list(spoken_numbers(text)) == [(6, 6 + len(said), meant)]


@pytest.mark.parametrize(
    "text",
    [
        "one two three", "she counted one two three four five six", "five four three two one", "two or three",
        "aged twenty, thirty, forty", "at seven thirty", "scores were four, five, six, seven, nine, two",
        "born nineteen sixty two", "un deux trois quatre cinq", "one hundred and twenty over eighty",
        "six mois, sept jours", "someone tone fourth",
    ],
)  # fmt: skip
def test_counts_years_and_amounts_are_left_as_they_are(text: str) -> None:
    assert list(spoken_numbers(text)) == []


@pytest.mark.parametrize(
    ("before", "said", "kind"),
    [
        ("call me at", "five one nine, five five five, oh one four four", "PHONE"),
        ("please call back at", "five five five oh one four four", "PHONE"),
        ("extension", "four four one two", "PHONE"),
        ("le poste", "quatre quatre un deux", "PHONE"),
        ("her MRN is", "oh oh four four eight one seven", "MRN"),
        ("NPI", "one eight one one six two seven five nine nine", "LICENSE"),
        ("date of birth", "oh three fourteen nineteen sixty two", "DATE_OF_BIRTH"),
        ("Health card:", "nine one seven two, four four eight, eight two zero", "HEALTH_CARD"),
        ("cell is", "six\nfour seven, two two oh, nineteen ninety", "PHONE"),
    ],
)
def test_what_is_said_has_the_type_of_its_label_and_stands_where_it_was_said(
    before: str, said: str, kind: str
) -> None:
    text = f"{before} {said}, merci"
    found = screened(text).findings
    assert (said, kind) in [(f.span.of(text), f.entity_type.value) for f in found]


def test_a_number_that_a_label_tells_is_not_shown_twice() -> None:
    text = "her MRN is oh oh four four eight one seven, call six one three, five five five, oh one nine nine"
    found = screened(text).findings
    assert [f.entity_type.value for f in found] == ["MRN", "PHONE"]


@given(st.lists(st.sampled_from(DIGITS), min_size=5, max_size=30), st.text(max_size=20))
def test_every_digit_that_was_said_is_written_once(said: list[str], around: str) -> None:
    text = f"{around}\n. file {' '.join(said)} .\n{around}"
    edits = [edit for edit in spoken_numbers(text) if text[edit[0] : edit[1]] == " ".join(said)]
    assert ["".join(filter(str.isdigit, meant)) for _, _, meant in edits] == [
        "".join(str(DIGITS.index(word)) for word in said)
    ]
