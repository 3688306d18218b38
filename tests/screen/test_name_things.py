from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import EntityType, Finding, Span
from phiscan.screen.filters.named_objects import without_things


def left(name: str, text: str, source: str = "names.tagger") -> bool:
    start = text.index(name)
    finding = Finding(Span(start, start + len(name)), EntityType.PERSON, source, 0.9, frozenset(), ())
    return bool(list(without_things(text, [finding], load_gazetteer())))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Braden Scale", "Braden Scale\nStable overnight."),
        ("PENROSE DRAIN", "😀 PENROSE DRAIN: OUT"),
        ("Barrett Esophagus", "- Barrett Esophagus"),
        ("Échelle de Braden", "Échelle de Braden : 16"),
        ("Bair Hugger", "warmed with a Bair Hugger"),
        ("Geri", "sat in a Geri Chair"),
        ("Maman", "Maman a appelé"),
        ("Elle", "Nuit calme. Elle veut un enfant."),
    ],
)
def test_takes_things_for_nobody(name: str, text: str) -> None:
    assert not left(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Walter Block", "Walter Block was seen"),
        ("Hackman, Gene", "Hackman, Gene"),
        ("Sara Roy", "Sara Roy, chair of the board"),
        ("Geri", "Geri sat in a chair"),
        ("Allen", "Allen test"),  # one word: said of it elsewhere
    ],
)
def test_leaves_people(name: str, text: str) -> None:
    assert left(name, text)


def test_leaves_what_a_label_says() -> None:
    assert left("Braden Scale", "Patient: Braden Scale", source="names.label")
