import pytest

from phiscan.screen.gazetteer import load_gazetteer
from phiscan.screen.name_words import read_words


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("Marguerite Blackjack, Manager IPAC", "Marguerite Blackjack"),
        ("Ngozi Okwuosa, Orthopaedics", "Ngozi Okwuosa"),  # a first name that no list has
        ("Matthias Egwu, PGY-2", "Matthias Egwu"),
        ("Jane Wu, Billing Clerk", "Jane Wu"),
        ("Garcia Lopez, Hope", "Garcia Lopez, Hope"),
        ("VAN DYKE, WILL", "VAN DYKE, WILL"),
        ("Roy, Ann J.", "Roy, Ann J"),
        ("Stone, Will", "Stone, Will"),
    ],
)
def test_what_somebody_does_stands_behind_the_comma_and_is_no_name(value: str, name: str) -> None:
    words = read_words(load_gazetteer(), value, 0, len(value))
    assert value[words[0][0] : words[-1][1]] == name
