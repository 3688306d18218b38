"""Whom a text cites is found, and has not what the text is about."""

import pytest

from phiscan.model import EntityType, PiiBit
from phiscan.screen.attributes.citations import cited, references
from phiscan.screen.attributes.named_roles import has_role
from tests.screen.whole import screened

STYLES = [
    "1. Beaupre LA, Binder EF. Recovery after hip fracture in seniors. Best Pract. 2013;27(6):771-88.",
    "12 Sobolev B, Guy P, et al. Mortality effects of waiting for surgery. CMAJ 2018;190:E923",
    "Oldmeadow, L. B., & Bailey, M. J. (2006). No rest for the wounded. ANZ J Surg, 76(7), 607-611.",
    "Siu, Albert L., and Kenneth Koval. “Early walking after fracture.” Archives 166, no. 7 (2006): 766-771.",
    '[3] J. K. Whitcombe and R. Tanabe, "Sensors for falls," Sensors, vol. 3, no. 2, pp. 12-34, 2015.',
    "4. Marchetti L. The history of nursing in the prairies. Toronto: Riverbend Press; 2004.",
    "Pelletier M-J, Gagnon R. La chute chez les personnes âgées. Rev Med Suisse 2012 ; 8 : 123-7.",
    "2. Okonkwo P, Leduc C. Delirium on medical wards,\n   a cohort of older adults. doi: 10.1000/xyz.2019",
]


@pytest.mark.parametrize("reference", STYLES)
def test_a_reference_is_known_in_every_style_of_writing_it(reference: str) -> None:
    text = f"Falls are common in hospital.\n\n{reference}\n"
    places = references(text)
    assert len(places) == 1
    start, end = places[0]
    assert text.startswith(reference[:10], start)
    assert end > text.index(reference) + 20


@pytest.mark.parametrize(
    "text",
    [
        "Roy J;1985;14:30\nTremblay M;1990;12:05\n",  # a table of births and times
        "1. Marie Roy had her left knee replaced (2006).\n2. Diabetes since 1999.\n",
        "Seen by Roy J. today. Next visit 2019; 12 pills were given, and he will walk.\n",
        "Mrs Roy read pp. 12-14 of the leaflet on falls and pills with her son.\n",
    ],
)
def test_what_only_resembles_a_reference_is_none(text: str) -> None:
    assert references(text) == []


def test_authors_of_references_set_no_characteristic_and_the_patient_does() -> None:
    body = "Ms. Delphine Arsenault, 78, fell at home and broke her hip; she takes warfarin."
    listed = "\n".join(STYLES)
    text = f"{body}\nEarly walking helps (Beaupre et al., 2013).\n\nReferences\n{listed}\n"
    screening = screened(text)
    people = [one for one in screening.findings if one.entity_type is EntityType.PERSON and one.bits]
    assert [one.span.of(text) for one in people] == ["Delphine Arsenault"]
    assert screening.n_people == 1
    alone = screened(text.replace(body, "Hip fractures are common."))
    assert not alone.vector.bits & {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}
    assert any(has_role(one) for one in alone.findings)


def test_a_surname_before_et_al_is_cited_wherever_it_stands() -> None:
    text = "Walking helps (Kristensen MT et al.).\n"
    assert [text[start:end] for start, end in cited(text)] == ["Kristensen MT et al."]


def test_what_stands_between_references_below_their_heading_is_one_as_well() -> None:
    odd = "Guidelines of the Prairie Society, chaired by Linda Marchetti, third version of 2019."
    text = f"References\n{STYLES[0]}\n{odd}\n{STYLES[1]}\n"
    start = text.index(odd)
    assert any(low <= start and start + len(odd) <= high for low, high in cited(text))
    without = text.replace("References\n", "")
    start = without.index(odd)
    assert not any(low <= start and start + len(odd) <= high for low, high in cited(without))


def test_names_of_many_readings_are_read_in_one() -> None:
    text = "so " + ("Ab A B C, " * 14 + "x et al. ") * 40
    assert list(cited(text)) == []
    text = "as Roy A.B., Le Blanc J et al. say"
    assert [text[start:end] for start, end in cited(text)] == ["Roy A.B., Le Blanc J et al."]
