"""Organizations without a word that says so: by their short names, by what stands before, by column."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # names that are nothing else, in any letters
        ("then on to Sunnybrook overnight", "Sunnybrook"),
        ("TRANSFERRED TO SUNNYBROOK TODAY", "SUNNYBROOK"),
        ("dîner avec le rep de pfizer", "pfizer"),
        ("Destination : CHUM, soins intermédiaires", "CHUM"),
        ("Rx faxed to Walgreens #4471 today", "Walgreens #4471"),
        # names of families, places and words, where an organization is due
        ("was treated at Grady with", "Grady"),
        ("flown to Mayo, where they", "Mayo"),
        ("off since she works nights at amazon in", "amazon"),
        ("suivi au Douglas le 3", "Douglas"),
        # unknown names behind what says that one follows
        ("transferred to Kettleby last night", "Kettleby"),
        ("retired from Tenaquip in", "Tenaquip"),
        ("a claim with Definity, no.", "Definity"),
        ("awaiting a bed at St. Cyril for", "St. Cyril"),
        ("transférée à Marie-Clarac mardi", "Marie-Clarac"),
        ("prothèse reçue de chez Orthèses Zigby, le", "Orthèses Zigby"),
    ],
)
def test_a_name_that_says_nothing_is_found(
    organization_names: Callable[[str], list[str]], text: str, name: str
) -> None:
    assert organization_names(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "Sensation: Intact to light touch",
        "signs and symptoms: Progressive weakness",
        "seen by Douglas",
        "Mrs. Grady is well",
        "a Bell's palsy",
        "IgA was low",
        "12 Trillium Way",
        "the cvs repository",
        "a letter from Julie",
        "She came from John Smith's house",
        "moved to Florida",
        "transferred to Cardiology",
        "transferred to ICU",
        "discharged on Tuesday",
        "referred to Dr. Roy",
        "envoyée à Julie",
        "admis à Montréal",
        "operated at L4",
    ],
)
def test_a_word_a_place_and_a_person_are_none(
    organization_names: Callable[[str], list[str]], text: str
) -> None:
    assert organization_names(text) == []


def test_every_name_is_told_one_way_or_the_other() -> None:
    rows = load_dictionary(data_dir("dictionaries") / "organization_names.txt").rows
    assert {kind for _, kind in rows} == {"sure", "due"}
    assert all(name == name.lower() for name, _ in rows)
