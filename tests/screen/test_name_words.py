import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Document
from phiscan.screen.recognizers.person.cues import CueRecognizer, read_words


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


def test_the_letter_of_a_row_is_nobody() -> None:
    text = "Bay\tPatient\nA\tAnn Roy\nB\tLuc Roy\n\nPatient\tAge\nA\t12\nAnn Roy\t40\nLuc Roy\t51\n"
    document = Document(text, (), "text/plain")
    found = [f.span.of(text) for f in CueRecognizer(load_gazetteer()).recognize(document)]
    assert set(found) == {"Ann Roy", "Luc Roy"}


def test_an_answer_is_nobody() -> None:
    text = "Patient: ok with that.\nSeen by: OK\n"
    assert not list(CueRecognizer(load_gazetteer()).recognize(Document(text, (), "text/plain")))
