"""Tests of single_names: single names by what stands beside them, and their initials."""

from __future__ import annotations

import pytest

from phiscan.lexicon.capitalized_words import FIRST_ONLY, name_finding
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.person.single_names import single_names, with_initials


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Verna (wife) same / Troy (son) cell", ["Verna", "Troy"]),
        ("Faith (daughter) 555-0171", ["Faith"]),
        ("Deepak (pt's dad) asked", ["Deepak"]),
        ("amox bid?\nMerci, Rhéal\nPharmacie", ["Rhéal"]),
        ("Will do. Thanks, Shonda", ["Shonda"]),
        ("with the Chaudhry sisters", ["Chaudhry"]),
        ("always, the Pietrangelo & DaCosta families", ["Pietrangelo", "DaCosta"]),
        ("Yours,\nL.M. Strong (Mrs.)\n", ["L.M. Strong"]),
        ("seen by P. Grant, then", ["P. Grant"]),
        ("la famille Gagnon est avisée", ["Gagnon"]),
    ],
)
def test_finds_single_names(text: str, names: list[str]) -> None:
    assert [finding.span.of(text) for finding in single_names(text, load_gazetteer())] == names


@pytest.mark.parametrize(
    "text",
    [
        "Diabetes (mother), Lupus (sister)",
        "the Health family, the Kinase family of genes",
        "the Boston family",
        "Thanks, Everyone",
        "Merci, Lundi",
        "la famille Santé",
        "A. Green\nB. Brown\nC. Black",
        "in the U.S. Church, E.R. Hall",
    ],
)
def test_leaves_what_is_nobody(text: str) -> None:
    assert not list(single_names(text, load_gazetteer()))


@pytest.mark.parametrize(
    ("text", "name", "whole"),
    [
        ("Agent Devin R.: Thanks", "Devin", "Devin R."),
        ("405B LeFebvre G  iso", "LeFebvre", "LeFebvre G"),
        ("96744,M Okumura,MO66", "Okumura", "M Okumura"),
        ("per J.-P. Roy today", "Roy", "J.-P. Roy"),
        ("M. Roy est avisé", "Roy", "Roy"),
        ("A BABCOCK WAS USED", "BABCOCK", "BABCOCK"),
        ("Roy A lit", "Roy", "Roy"),
        ("spoke w garry prince, ok", "garry", "garry prince"),
        ("told maria back, then", "maria", "maria"),
    ],
)
def test_takes_the_initial_beside_a_name(text: str, name: str, whole: str) -> None:
    start = text.index(name)
    found = name_finding(
        start, start + len(name), health=False, bits=FIRST_ONLY, source="a", score=0.7, reason=("a", "b")
    )
    assert [finding.span.of(text) for finding in with_initials(text, [found], load_gazetteer())] == [whole]
