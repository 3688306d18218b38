"""Word pieces are those of the ``tokenizers`` library (0.23.3) for this vocabulary, every digit being 0."""

import pytest

from phiscan.decision.encoder import VOCABULARY_FILE, vocabulary

WORDS = vocabulary()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mme Élodie's otitis, 38.9 °C — 2/day",
            [
                3461,
                2063,
                3449,
                7716,
                2666,
                1005,
                1055,
                27178,
                13706,
                1010,
                4002,
                1012,
                1014,
                6362,
                1517,
                1014,
                1013,
                2154,
            ],
        ),
        ("日本語 text", [1864, 1876, 1950, 3793]),
        ("½ x² ١٢٣ e\u0301 “q”", [1092, 1060, 10701, 2199, 1041, 1523, 1053, 1524]),
        ("\u200bz\ufeff a\x07b\x0cc", [1062, 5925]),
        ("ẞ İstanbul ß Œuvre", [1096, 9960, 1096, 1107, 2226, 12229]),
        ("x" * 101, [100]),
        ("immunohistochemistry", [10047, 23041, 11631, 20483, 24229, 2854]),
    ],
)
def test_pieces_are_those_of_the_library(text: str, expected: list[int]) -> None:
    assert WORDS.encode(text, 100) == expected


def test_no_number_is_read_and_the_length_is_limited() -> None:
    assert WORDS.encode("seen at 10:45 in 2026", 100) == WORDS.encode("seen at 98:76 in 5432", 100)
    assert len(WORDS.encode("word " * 500, 80)) == 80


def test_the_vocabulary_is_complete() -> None:
    assert len(WORDS.numbers) == 30_522, VOCABULARY_FILE
