"""Of whom an article tells: who wrote and who is cited is none of its patients, whoever it tells of is."""

import pytest

from phiscan.config import Config
from phiscan.model import Document, EntityType, Screening
from phiscan.screen import build_screener, screen
from phiscan.screen.learned_texts import is_learned, is_told_of

SCREENER = build_screener(Config())
REFERENCES = """
References
1. Beaupre LA, Binder EF. Recovery after hip fracture in seniors. Best Pract. 2013;27(6):771-88.
2. Sobolev B, Guy P. Mortality effects of waiting for surgery. CMAJ 2018;190:923-32.
"""
BODY = "Delirium, pneumonia and pain follow a hip fracture. {} Warfarin was held and morphine given.\n"


def _screened(told: str, behind: str = REFERENCES) -> tuple[str, Screening]:
    text = BODY.format(told) + behind
    return text, screen(Document(text, (), "text/plain"), SCREENER)


def _counting(told: str, behind: str = REFERENCES) -> list[str]:
    text, screening = _screened(told, behind)
    people = [one for one in screening.findings if one.entity_type is EntityType.PERSON and one.bits]
    return [one.span.of(text) for one in people]


@pytest.mark.parametrize(
    "said",
    [
        "Ingrid Halloran saw in walking the last remedy of the poor.",
        "Later Margaret Thompson and Daniel Kowalski found the same in two wards.",
        "Contact: Sunniva Ekeland, Evidence Office, 905-555-0143.",
        "Notre comité, que présidait Corisande Bellefeuille, a revu la méthode.",
    ],
)
def test_nobody_counts_whom_a_learned_text_only_names(said: str) -> None:
    assert _counting(said) == []
    assert _counting(said, "") != []


@pytest.mark.parametrize(
    "said",
    [
        "Delphine Arsenault, 78, fell at home.",
        "Our patient, Delphine Arsenault, walked on day 1.",
        "Ms. Delphine Arsenault walked on day 1.",
        "Delphine Arsenault fell at home.",
        "Delphine Arsenault came by ambulance; she was confused.",
        "Her daughter, Delphine Arsenault, was called.",
        "ARSENAULT^DELPHINE F 078Y was burned into the image.",
        "Delphine Arsenault, née en 1944, a été opérée.",
    ],
)
def test_whoever_it_tells_of_counts(said: str) -> None:
    assert _counting(said)


def test_with_a_number_that_only_patients_have_nobody_is_set_aside() -> None:
    said = "Delphine Arsenault walked on day 1. MRN 00482913."
    assert _counting(said) == ["Delphine Arsenault"]


def test_every_mention_counts_of_a_name_that_is_once_told_of() -> None:
    said = "Ms. Delphine Arsenault, 78, fell. Arsenault walked. Ingrid Halloran saw forty."
    assert _counting(said) == ["Delphine Arsenault", "Arsenault"]


@pytest.mark.parametrize(("text", "learned"), [(REFERENCES, True), (REFERENCES[:115], False), ("", False)])
def test_two_references_make_a_text_learned(text: str, learned: bool) -> None:
    assert is_learned(text) is learned


@pytest.mark.parametrize("text", ["Mrs. A. fell at home.", 'Case 1: "Mr. Yellow", 65, came in.'])
def test_an_initial_and_a_name_in_quotes_tell_of_nobody(text: str) -> None:
    start = text.index("A.") if "A." in text else text.index("Yellow")
    assert not is_told_of(text, start, start + 2 if "A." in text else start + 6)
