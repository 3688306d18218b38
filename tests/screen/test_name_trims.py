"""What is no part of a name: kin and titles before it, the sentence behind it, what nurses write in short."""

from __future__ import annotations

import pytest

from phiscan.lexicon.capitalized_words import FULL_NAME, name_finding
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import EntityType, Span
from phiscan.screen.filters.name_stop_list import load_vetoes
from phiscan.screen.filters.name_trimming import trimmed


def cut(text: str, name: str, source: str = "names.tagger") -> list[str]:
    start = text.index(name)
    found = name_finding(
        start, start + len(name), health=False, bits=FULL_NAME, source=source, score=0.7, reason=("a", "b")
    )
    return [finding.span.of(text) for finding in trimmed(text, found, load_gazetteer())]


@pytest.mark.parametrize(
    ("text", "name", "left"),
    [
        ("oui, maman suit sur son tél", "maman", []),
        ("par son fils Réjean qui", "fils Réjean", ["Réjean"]),
        ("Ask Pastor Whitlock can he", "Pastor Whitlock", ["Whitlock"]),
        ("with Puan Zaleha and", "Puan Zaleha", ["Zaleha"]),
        ("Marie Tremblay TREM 1234 5678", "Marie Tremblay TREM", ["Marie Tremblay"]),
        ("DDN 1958 NAM ROYM 5861 0316", "NAM ROYM", []),
        ("ROY ROYM 5861 0316", "ROY ROYM", ["ROY"]),
        ("Marie Roy LISE 1234", "Marie Roy LISE", ["Marie Roy LISE"]),
        ("notes de Mylène", "de Mylène", ["Mylène"]),
        ("lequel? voir chantal", "voir chantal", ["chantal"]),
        ("pas nous. cest tremblay qui", "cest tremblay", ["tremblay"]),
        ("mais réjean en oublie", "réjean en", ["réjean"]),
        ("simva pour jean-marc ou aurèle", "jean-marc ou aurèle", ["jean-marc", "aurèle"]),
        ("- grégoire de chez olymel, papier", "grégoire de chez olymel", ["grégoire", "olymel"]),
        # a particle behind a title, and what is a name
        ("Mme de Repentigny", "de Repentigny", ["de Repentigny"]),
        ("carte NAM ROYM 5861 0316", "NAM ROYM", []),
        ("Joyeuses Pâques à toute", "Joyeuses Pâques", []),
        ("Merry Christmas Everyone", "Merry Christmas Everyone", []),
        ("Merry Christmas, Mary Tremblay", "Merry Christmas, Mary Tremblay", ["Mary Tremblay"]),
        ("Noël Tremblay", "Noël Tremblay", ["Noël Tremblay"]),
        ("by dtr Birgit on", "dtr Birgit", ["Birgit"]),
        ("and her son yuri", "her son yuri", ["yuri"]),
        ("Elder, John", "Elder, John", ["Elder, John"]),
        ("Maria da Silva", "Maria da Silva", ["Maria da Silva"]),
    ],
)
def test_a_name_is_cut_to_itself(text: str, name: str, left: list[str]) -> None:
    assert cut(text, name) == left


def test_a_label_knows_better() -> None:
    assert cut("Name: Elder Smith", "Elder Smith", "names.label") == ["Elder Smith"]
    assert cut("Roy, Lise ROYL 1234 5678", "Roy, Lise ROYL", "names.last_first") == ["Roy, Lise"]


@pytest.mark.parametrize("word", ["fna", "PNA", "ciwa", "prélèv"])
def test_shorthand_is_nobody(word: str) -> None:
    assert load_vetoes(load_gazetteer()).is_label(f"had {word} today", 4, 4 + len(word))


def test_only_names_are_cut() -> None:
    text = "fils Réjean"
    found = name_finding(
        0, len(text), health=False, bits=FULL_NAME, source="names.tagger", score=0.7, reason=("a", "b")
    )
    place = found.__class__(
        Span(0, len(text)), EntityType.LOCATION, "names.tagger", 0.7, found.bits, found.reasons
    )
    assert [finding.span for finding in trimmed(text, place, load_gazetteer())] == [place.span]
