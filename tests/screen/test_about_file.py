"""The author of a file is not the person whom it is about."""

import pytest

from phiscan.model import Document, EntityType, PiiBit, Segment
from phiscan.screen import screen
from phiscan.screen.attributes.named_roles import FILE_REASON
from tests.screen.whole import shipped

BODY = "Take your tablets with water. High blood pressure has no symptoms.\n"


def _document(properties: str, body: str = BODY, place: str = "#properties") -> Document:
    text = body + properties
    segments = (Segment("#body", 0, len(body)), Segment(place, len(body), len(text)))
    return Document(text=text, segments=segments, media_type="x")


@pytest.mark.parametrize(
    "line",
    ["creator: Margaret Thompson\n", "lastModifiedBy: Margaret Thompson\n", "Author: Margaret Thompson\n"],
)
def test_an_author_is_found_and_sets_no_characteristic(line: str) -> None:
    screening = screen(_document(line), shipped())
    (finding,) = [one for one in screening.findings if one.entity_type == EntityType.PERSON]
    assert finding.reasons[-1].detail == FILE_REASON
    assert finding.bits == frozenset()
    assert not screening.vector.bits & {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}
    assert screening.n_people == 0


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("title: Margaret Thompson\n", "#properties"),
        ("subject: Margaret Thompson, born 1950-03-04\n", "#properties"),
        ("Author: Margaret Thompson\n", "#body2"),
    ],
)
def test_a_title_may_name_a_patient_and_an_author_in_a_body_counts(line: str, place: str) -> None:
    assert PiiBit.LAST_NAME in screen(_document(line, place=place), shipped()).vector.bits


def test_an_author_who_is_named_in_the_body_counts_there() -> None:
    body = "Dear Margaret Thompson, your blood pressure was high.\n"
    screening = screen(_document("creator: Margaret Thompson\n", body), shipped())
    assert PiiBit.LAST_NAME in screening.vector.bits
    assert screening.n_people == 1
