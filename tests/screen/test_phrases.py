"""The tree of phrases finds what the phrases side by side find."""

import re

import re2
from hypothesis import given
from hypothesis import strategies as st

from phiscan.text.phrase_patterns import NOTHING, any_label, any_of

_PHRASES = st.lists(st.text(alphabet="abé #", min_size=1, max_size=5), min_size=1, max_size=12)


@given(_PHRASES, st.text(alphabet="abé #", max_size=12))
def test_a_tree_is_the_longest_of_its_phrases(phrases: list[str], text: str) -> None:
    longest = sorted(set(phrases), key=len, reverse=True)
    expected = re.match("|".join(map(re.escape, longest)), text)
    found = re2.compile(any_of([[re.escape(char) for char in phrase] for phrase in phrases])).match(text)
    assert (found and found.span()) == (expected and expected.span())


@given(st.lists(st.from_regex(r"[abé]([ '/-]?[abé#]){0,3}", fullmatch=True), min_size=1, max_size=12))
def test_every_label_is_found_whole_in_its_written_forms(labels: list[str]) -> None:
    pattern = re2.compile(any_label(labels))
    for label in labels:
        for written in (label, label.upper(), label.replace("é", "e"), label.replace(" ", "_")):
            found = pattern.match(written)
            assert (found.end() if found else None) == len(written)


def test_a_short_label_is_taken_where_the_longer_one_does_not_end() -> None:
    pattern = re2.compile(any_label(["dob", "date", "date of birth", "employé", "employer"]))
    ends = {"date of birt": 4, "Date-of-Birth:": 13, "employer": 8, "employe ": 7, "dobs": None}
    found = {text: pattern.match(text) for text in ends}
    assert {text: match and match.end() for text, match in found.items()} == ends


def test_a_letter_with_accent_at_an_end_is_a_word_of_its_own_without_it() -> None:
    pattern = re2.compile(any_label(["à", "né", "né le", "état", "santé", "santé publique"]))
    found = [
        match.group()
        for match in pattern.finditer("A la banane: etat, petat, ne, none; né le; sante publique à")
    ]
    assert found == ["A", "etat", "ne", "né le", "sante publique", "à"]


def test_no_phrases_are_found_nowhere() -> None:
    assert any_of([]) == f"(?i:{NOTHING})"
    assert re2.compile(any_of([])).search("anything") is None
