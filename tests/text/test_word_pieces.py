"""Word pieces are the likeliest division of each word, every digit being 0."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from phiscan.decision.encoder import vocabulary
from phiscan.text.word_pieces import BEGINS_WORD, SPECIAL, UNKNOWN, WordPieces

WORDS = vocabulary()
PIECES = (BEGINS_WORD, "a", "b", "ab", "ba", "aba", f"{BEGINS_WORD}a", f"{BEGINS_WORD}ba", "bb")


@given(st.text("abc", min_size=1, max_size=7), st.lists(st.floats(-20, -1), min_size=9, max_size=9))
def test_no_other_division_is_likelier(word: str, values: list[float]) -> None:
    value = dict(zip(PIECES, values, strict=True))
    words = WordPieces.of([*((name, 0.0) for name in SPECIAL), *value.items()])
    least = min(values) - 10
    marked = BEGINS_WORD + word

    def likelihood(cuts: tuple[int, ...]) -> float:
        parts = [marked[low:high] for low, high in zip((0, *cuts), (*cuts, len(marked)), strict=True)]
        return sum(value.get(part, least if len(part) == 1 else -1e9) for part in parts)

    inner = range(1, len(marked))
    best = max(likelihood(cuts) for n in range(len(marked)) for cuts in combinations(inner, n))
    names = {number: name for name, (number, _) in words.pieces.items()}
    found = [names.get(number) for number in words.encode(word, 99)]
    assert abs(sum(least if name is None else value[name] for name in found) - best) < 1e-6


def test_words_of_both_languages_have_few_pieces() -> None:
    for text, most in (("The knee replacement is on Monday.", 10), ("Je sors de dialyse à dix heures.", 10)):
        found = WORDS.encode(text, 99)
        assert WORDS.special[UNKNOWN] not in found
        assert len(found) <= most


def test_no_number_is_read_and_the_length_is_limited() -> None:
    assert WORDS.encode("seen at 10:45 in 2026", 100) == WORDS.encode("seen at 98:76 in 5432", 100)
    assert WORDS.encode("½ ١٢٣", 100) == WORDS.encode("½ 123", 100)
    assert len(WORDS.encode("word " * 500, 80)) == 80
    assert WORDS.encode("x" * 101, 100) == [WORDS.special[UNKNOWN]]


def test_the_signs_of_the_vocabulary_itself_are_no_pieces_of_a_text() -> None:
    assert not {WORDS.special[name] for name in SPECIAL[1:]} & set(WORDS.encode("<s> a </s> <unk>", 100))
