"""Tests of phiscan.screen.recognizers.person.compound_surnames: family names of two words of the language."""

from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.person.compound_surnames import compound_names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("seen with Lyle Running Rabbit today", "Lyle Running Rabbit"),
        ("Two Bulls, Leonard 58M", "Two Bulls, Leonard"),
        ("Standing Bear, J. rm 4", "Standing Bear, J."),
        ("Mrs. Big Head called", "Big Head"),
        ("ED 7 Iron Cloud (STEMI to cath)", "Iron Cloud"),
        ("White Bear d/c home", "White Bear"),
    ],
)
def test_finds_names_of_two_words(text: str, name: str) -> None:
    assert [finding.span.of(text) for finding in compound_names(text, load_gazetteer())] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "at White Eagle Nursing Home",
        "Red Eye  x 3 days",
        "Black Eye after fall",
        "the Big Dog sat",
        "Star Lodge 4",
        "Good Day to all",
        "running bear, two bulls",
    ],
)
def test_leaves_words_of_the_language(text: str) -> None:
    assert not list(compound_names(text, load_gazetteer()))
