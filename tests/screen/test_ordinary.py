"""Which words are of the language or of medicine."""

import pytest

from phiscan.lexicon.ordinary_words import load_ordinary


@pytest.mark.parametrize("word", ["the", "FEVER", "Maison", "petits", "reçu", "hyperkeratosis", "NPO"])
def test_words_are_known_in_any_case(word: str) -> None:
    assert load_ordinary().is_one(word)


@pytest.mark.parametrize("word", ["Xiomara", "TREMBLAY", "okafor", "zorgon", "JANE", "Louise", "denis"])
def test_names_are_no_words(word: str) -> None:
    assert not load_ordinary().is_one(word)
