from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.health.terms import Hits, JointMatcher, Term, TermMatcher
from phiscan.text.word_tokens import CHUNK_CHARS

TERMS = (
    Term("heart failure", "dx:heart-failure"),
    Term("congestive heart failure", "dx:chf"),
    Term("failure to thrive", "dx:ftt"),
    Term("asthma", "dx:asthma"),
    Term("AIDS", "dx:aids", case=True, word=True),
    Term("cold", "dx:cold", context=True),
    Term("q.d.", "abbr:qd"),
)


def match(text: str, terms: Sequence[Term] = TERMS) -> Hits:
    return JointMatcher.of((TermMatcher().fit(terms),)).match(text)[0]


def found(text: str) -> list[tuple[str, str]]:
    hits = match(text)
    return [
        (text[start:end], TERMS[index].concept)
        for start, end, index in zip(
            hits.starts.tolist(), hits.ends.tolist(), hits.terms.tolist(), strict=True
        )
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Congestive heart failure to thrive.", [("Congestive heart failure", "dx:chf")]),
        ("asthmatic, panasthma, asthmas", [("asthmas", "dx:asthma")]),
        ("AIDS", [("AIDS", "dx:aids")]),
        ("hearing aids", []),
        ("HER HEARING AIDS WERE LOST\n", []),  # a word as well, in a line in capitals
        ("HER HEARING\nAIDS\nWERE LOST", [("AIDS", "dx:aids")]),
        ("He has AIDS AND TB, the note says", [("AIDS", "dx:aids")]),
        ("take q.d. with food", [("q.d", "abbr:qd")]),
        ("Heart. Failure is no option", []),
        ("word " * (CHUNK_CHARS // 4) + "heart failure", [("heart failure", "dx:heart-failure")]),
        ("a cold day", []),  # counts only near a sure one
        ("a cold and asthma", [("cold", "dx:cold"), ("asthma", "dx:asthma")]),
        ("cold " + "x " * 200 + "asthma", [("asthma", "dx:asthma")]),
    ],
    ids=range(13),
)
def test_takes_whole_words_the_longest_term_and_each_as_it_is_written(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text) == expected


def test_an_abbreviation_counts_in_a_line_in_small_letters_if_it_is_no_word() -> None:
    terms = (Term("COPD", "dx:copd", case=True, small=True), Term("SOB", "sx:sob", case=True))
    assert len(match("pt has copd and is sob", terms).starts) == 1
    assert len(match("See copd.example for more", terms).starts) == 0


def test_a_code_counts_in_small_letters_by_its_dot() -> None:
    codes = (Term("F33.1", "icd:f33", case=True), Term("V10.2", "icd:v10", case=True))
    assert len(match("dx f33.1 and F33.1", codes).starts) == 2
    assert len(match("firmware v10.2", codes).starts) == 0


def test_of_two_forms_with_the_same_words_the_first_is_used() -> None:
    terms = [Term("allergy", "one"), Term("allergies", "two")]
    assert terms[int(match("allergies", terms).terms[0])].concept == "one"


def test_an_empty_list_and_an_empty_text_match_nothing() -> None:
    assert len(match("asthma", []).starts) == 0
    assert len(match("").starts) == 0


@given(
    st.lists(st.sampled_from(["heart", "failure", "asthma", "to", "thrive", "congestive", "."]), max_size=30)
)
@settings(max_examples=200, deadline=None)
def test_agrees_with_a_word_by_word_search(words: list[str]) -> None:
    text = " ".join(words)
    phrases = sorted(
        (tuple(term.text.split()), term.concept)
        for term in TERMS
        if not (term.case or term.context or "." in term.text)
    )
    expected: list[str] = []
    at = 0
    while at < len(words):
        fitting = [item for item in phrases if tuple(words[at : at + len(item[0])]) == item[0]]
        if not fitting:
            at += 1
            continue
        longest = max(fitting, key=lambda item: len(item[0]))
        expected.append(longest[1])
        at += len(longest[0])
    assert [concept for _, concept in found(text)] == expected


@given(st.text(alphabet="abc AIDS.-\n", max_size=80))
@settings(max_examples=100, deadline=None)
def test_lists_matched_together_find_what_each_finds_alone(text: str) -> None:
    lists = [
        TermMatcher().fit([Term("a", "x:1"), Term("a b", "x:2"), Term("AIDS", "x:3", case=True)]),
        TermMatcher().fit([Term("b", "y:1", context=True), Term("a", "y:2"), Term("b c a", "y:3")]),
        TermMatcher().fit([]),
    ]
    together = JointMatcher.of(lists).match(text)

    def rows(hits: Hits) -> list[list[int]]:
        return [hits.starts.tolist(), hits.ends.tolist(), hits.terms.tolist()]

    assert [rows(hits) for hits in together] == [
        rows(JointMatcher.of((each,)).match(text)[0]) for each in lists
    ]
