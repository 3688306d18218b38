"""Diseases, instruments and languages are doubtful names where the tagger alone takes them for people."""

import pytest

from phiscan.model import EntityType
from phiscan.screen.filters.eponyms import load_eponyms
from tests.screen.whole import screened


def _counted(text: str) -> set[str]:
    findings = screened(text).findings
    return {f.span.of(text) for f in findings if f.entity_type is EntityType.PERSON and not f.is_doubtful}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Seen today: Scott Parkinson, with his wife.", "Scott Parkinson"),
        ("Parkinson, Scott  12/03/1950", "Parkinson, Scott"),
        ("I saw Mr. Parkinson today.", "Parkinson"),
        ("Murphy called back about her pills.", "Murphy"),
    ],
)
def test_a_name_stays_one(text: str, name: str) -> None:
    assert name in _counted(text)


def test_every_word_is_a_thing_or_as_often_a_name() -> None:
    assert set(load_eponyms().values()) == {"thing", "name"}
    assert {"wilms", "kocher", "barre"} <= set(load_eponyms())


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("- Name the signs: McBurney, Rovsing, Murphy, Psoas, Cullen\n", False),
        ("6. Match: Osler, Janeway, Roth, Virchow, Trousseau\n", False),
        ("Admitted: Tremblay, Gagnon, Roth, Murphy, Adams\n", True),
        ("? Wilms f/u renal US", False),
        ("PMH: Parkinson, Crohn, Graves, Hashimoto, Hodgkin 2010.", False),
        ("Used a Kocher and a Babcock; Foley placed, Hoyer lift.", False),
        ("speaks Dari, Kaska and Karen at home", False),
        ("Cheyne-Stokes, Kussmaul noted", False),
        ("Braden 16, Epworth 12", False),
    ],
)
def test_a_thing_called_after_somebody_counts_for_nobody(text: str, counts: bool) -> None:
    assert bool(_counted(text)) is counts
