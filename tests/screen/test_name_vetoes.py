import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.filters.false_names import Vetoes, load_vetoes
from tests.screen.whole import found

PEOPLE = {"PERSON", "HEALTH_PROFESSIONAL"}


@pytest.fixture(scope="module")
def vetoes() -> Vetoes:
    return load_vetoes(load_gazetteer())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Abd. souple", "Abd"),
        ("Labo : Hb stable", "Labo"),
        ("DDN : 14 juin 1986      NAM : DESW 8606 1417", "NAM"),
        ("NPI 1811627599  DEA FS6462953", "DEA"),
        ("Plan;DDN;NAM;Adresse", "NAM"),
        ("Last name | First name | Born | MRN", "Born"),
        ("2012-03-29  Td (adult) preservative free", "Td"),
        ('"ddn": "2021-04-17", "nam": "BOIA21541719"', "nam"),
        ("Chart at the NICU desk", "NICU"),
        ("No réclamation,Matricule,NAS,Service", "Matricule,NAS"),
        ("MBI 6M33-HY9-VT63", "MBI"),
    ],
)
def test_a_label_or_an_abbreviation_is_no_name(vetoes: Vetoes, text: str, word: str) -> None:
    start = text.index(word)
    assert vetoes.is_label(text, start, start + len(word))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Abd came back", "Abd"),
        ("seen by Abd. She left", "Abd"),
        ("His wife Dea called at noon.", "Dea"),
        ("NAM\tSOO-JIN\t2104471", "NAM"),
        ("fille Line 418 555-0139", "Line"),
        ("Nam Soo-jin", "Nam Soo-jin"),
        ("LONG HOPE", "LONG HOPE"),
        ("Regarding his arthritis, Mr. Walker reports pain, reaction, and chills", "Walker"),
    ],
)
def test_a_name_that_is_a_label_elsewhere_stays_a_name(vetoes: Vetoes, text: str, word: str) -> None:
    start = text.index(word)
    assert not vetoes.is_label(text, start, start + len(word))


def test_no_label_is_found_as_a_person() -> None:
    text = "Nom : Désir, Wilner\nDDN : 14 juin 1986      NAM : DESW 8606 1417\nReflexes: Babinski negative."
    assert {name for kind, name in found(text) if kind in PEOPLE} == {"Désir, Wilner"}
