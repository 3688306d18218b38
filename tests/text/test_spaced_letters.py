"""Letters that are set one by one are joined to words; lists of letters stay."""

import pytest

from phiscan.text.spaced_letters import join_letters


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L e n a   O k a f o r", "Lena Okafor"),
        ("H é l è n e   C ô t é", "Hélène Côté"),
        ("T R E M B L A Y   J E A N", "TREMBLAY JEAN"),
        ("N o m L é a", "Nom Léa"),
        ("see: D i a g n o s i s : asthma", "see: Diagnosis : asthma"),
        ("\u2009".join("Lena") + "\u2009\u2003\u2009" + "\u2009".join("Okafor"), "Lena Okafor"),
        ("\u00a0".join("insuline"), "insuline"),
        ("c o n g e s t i v e  h e a r t  f a i l u r e.", "congestive heart failure."),
        ("a\nP a t i e n t\nb", "a\nPatient\nb"),
        ("(g r i p p e)", "(grippe)"),
        ("l u p u s, a s t h m e", "lupus, asthme"),
    ],
)
def test_letters_are_joined(text: str, expected: str) -> None:
    assert join_letters(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a b c d e f",
        "M F M F M F M",
        "A C E G T",
        "1 2 3 4 5",
        "I am a man",
        "N o m",
        "x 5 y 6 z 7",
        "T T T T T",
    ],
)
def test_lists_of_letters_stay(text: str) -> None:
    assert join_letters(text) == text
