"""How sure the tagger must be, by the words of a name."""

import pytest

from phiscan.lexicon.gazetteer import Word, load_gazetteer
from phiscan.screen.ner.name_confidence import (
    ABBREVIATION,
    COUNTS,
    COUNTS_UNKNOWN,
    NEVER,
    ONE_UNKNOWN_WORD,
    ONE_WORD,
    ORDINARY_WORD,
    SHOWN,
    SHOWN_UNKNOWN,
    least,
    least_in_place,
)
from phiscan.screen.ner.tagger import load_kinds

KINDS = load_kinds(load_gazetteer())


def _least(words: str) -> tuple[float, float]:
    return least(words.split(), lambda word: KINDS.of(word).flags)


@pytest.mark.parametrize(
    "words",
    [
        *("ScaleCrop", "LinksUpToDate", "SharedDoc", "PowerPoint", "DrugLibrary"),  # joined as programs do
        *("lorazépam", "metformine", "exacerbations", "Prenez", "Surveiller sel", "Remplissez"),
    ],
)
def test_words_of_programs_of_french_and_of_medicine_are_never_shown(words: str) -> None:
    assert _least(words) == (NEVER, NEVER)


@pytest.mark.parametrize(
    "word",
    ["McDonald", "MacLeod", "LeBlanc", "DeVries", "VanDyke", "FitzGerald", "JaneDoe", "Slepička", "O'Neill"],
)
def test_names_of_several_capitals_are_names(word: str) -> None:
    assert max(_least(word)) < NEVER


def test_a_word_alone_needs_more_than_a_whole_name() -> None:
    assert _least("Margaret Kowalski") == (SHOWN, COUNTS)
    assert _least("Quxby Zzorvat") == (SHOWN_UNKNOWN, COUNTS_UNKNOWN)
    assert _least("Kowalski") == (SHOWN, ONE_WORD)
    assert _least("Quxby")[1] == ONE_UNKNOWN_WORD
    assert _least("quxby")[1] == NEVER
    assert _least("ASA")[1] == ABBREVIATION


@pytest.mark.parametrize(
    ("name", "line", "counts"),
    [
        ("Maren Kowalski", "Seen by  today.", 0.0),
        ("Anna Hall", "Seen by  today.", 0.0),  # a street, and a family
        ("Smith Ltd", "The address of  is new.", NEVER),
        ("Hôpital Davis", "Transferred to ", NEVER),
        ("Rua do Paseo", "Please return to ", NEVER),
        ("Roy, Ann Page", "Seen by  today.", 0.0),
        ("gb42rank0445", "My account is ", NEVER),
        ("kowalski", "seen  today", 0.0),
        ("kowalski", "They were  in the Senate.", ORDINARY_WORD),
        ("Kowalski", "They were  in the Senate.", 0.0),
    ],
)
def test_a_name_counts_by_its_numbers_its_ends_and_its_line(name: str, line: str, counts: float) -> None:
    words = name.replace(",", "").split()
    assert least_in_place(words, name, line, lambda word: KINDS.of(word).flags) == counts


@pytest.mark.parametrize("word", ["Prenez", "Mesurez", "attendez", "comprimés", "Évaluer", "marchent"])
def test_french_words_are_known_in_their_forms(word: str) -> None:
    assert load_gazetteer().of(word) & Word.ORDINARY


@pytest.mark.parametrize("word", ["Poissonnier", "Cendrillon", "Lapalme", "Gomez", "Okonkwo", "Draskovin"])
def test_families_may_be_named_after_french_things(word: str) -> None:
    assert not load_gazetteer().of(word) & Word.ORDINARY
