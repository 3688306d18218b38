"""Who wrote a text, answers the telephone or gives the treatment is not the one whom it is about."""

import pytest

from phiscan.model import EntityType, Finding, PiiBit, Screening
from phiscan.screen.attributes.named_roles import MADE_UP, REASON, has_role
from tests.screen.whole import screened

ABSTRACT = "Asthma in school children: a cohort\n{}\nMethods: we enrolled 412 children with asthma.\n"
PAID = "Margaret Thompson was paid for talks on croup. Daniel Kowalski declares none.\n"


NAMED = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}


def _people(screening: Screening) -> list[Finding]:
    return [one for one in screening.findings if one.entity_type in NAMED]


@pytest.mark.parametrize(
    "text",
    [
        "Falls policy. Prepared by: Margaret Thompson, March 2024. Assess dizziness and stroke risk.\n",
        "Révisé par : Margaret Thompson. Prévention des chutes et des plaies de pression.\n",
        "Knee and shoulder pain, $90. Therapists: Margaret Thompson PT, Daniel Kowalski RMT.\n",
        "Diabetes class, Tuesdays. Speakers: Margaret Thompson, Daniel Kowalski and Emily Tremblay.\n",
        "Infusion pump manual. For service ask for Margaret Thompson; 613-555-0142.\n",
        "Guide du dossier. Soutien : 1 877 555-0148, demandez Margaret Thompson ou Daniel Kowalski.\n",
        "Restraint policy. Questions: Margaret Thompson, ext. 4417.\n",
        "Politique sur la contention (Mme Margaret Thompson, poste 3312).\n",
        "Heparin shortage.\nPresent: Margaret Thompson (Finance), Daniel Kowalski\n",
        "Heparin shortage.\nRecorded by E. Tremblay\n",
        "Insulin pens, stock. Counted by: M. Thompson and D. Kowalski\n",
        "Apnea masks. Team lead Margaret Thompson or Daniel Kowalski will help you.\n",
        "Notre équipe : Margaret Thompson, inh., Daniel Kowalski, réception\n",
        "Heparin pump, manual. Updated 2024-01 by Margaret Thompson\n",
        "Label printer jams, oncology.\nAssigned: Desktop Support / Margaret Thompson\n",
        "Heparin assay.\nrev 3  2019  tube maker changed (Margaret Thompson)\nv2 Jun 2014 D. Kowalski\n",
        "Cours sur la dépression. Semaine 2, deuil - invitée : Margaret Thompson\n",
        ABSTRACT.format("Thompson M, Kowalski D, Tremblay E."),
        ABSTRACT.format("1. Thompson MJ, Kowalski D, et al. Croup. CMAJ 2019;191:E10."),
        "Croup\n\nMargaret Thompson 1, Daniel Kowalski 1,2\n1 Department of Medicine, Lakeview\n\n" + PAID,
        "Croup\nMargaret Thompson 1 and Daniel Kowalski 2\n1. School of Nursing, Westport\n2. Lakeview\n"
        + PAID,
    ],
)
def test_people_named_for_a_role_are_found_and_set_no_characteristic(text: str) -> None:
    screening = screened(text)
    people = [one for one in _people(screening) if not one.is_doubtful]
    assert people
    for one in people:
        assert one.reasons[-1].detail == REASON, one
        assert has_role(one)
    assert not screening.vector.bits & {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}
    assert screening.n_people == 0


@pytest.mark.parametrize(
    "text",
    [
        "Call Margaret Thompson about her biopsy; 613-555-0142.\n",
        "Contact: Margaret Thompson, 613-555-0142, sister.\n",
        "Referred by Dr. Kowalski. Margaret Thompson has asthma.\n",
        "The pharmacist will ask for Margaret Thompson at the desk; she takes warfarin.\n",
        "Staff found Margaret Thompson on the floor.\n",
        "Written by Margaret Thompson: I have had diabetes for ten years.\n",
        "Seen today:\nThompson M, Kowalski D, Tremblay E\nAll stable on insulin.\n",
        "Margaret Thompson OD, found unresponsive.\n",
        "last name;first name;department;diagnosis\nThompson;Margaret;Oncology;asthma\n",
        "last name;first name;position;department;absence\nThompson;Margaret;Clerk;Oncology;asthma\n",
        "Dr. Thompson was called. Mrs. Thompson has asthma.\n",
        "Patient: Daniel Thompson\nPhysician: Dr. Margaret Thompson\nThompson has asthma.\n",
        "Patient: Charles Doe, asthma.\n",
        "Patient: John Dowd, asthma.\n",
        "Patient: Jane Roe, asthma.\n",
    ],
)
def test_patients_are_not_taken_for_it_nor_for_nobody(text: str) -> None:
    assert PiiBit.LAST_NAME in screened(text).vector.bits


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        # Numbers after names make no authors without affiliations.
        ("Beds with croup\nMargaret Thompson 1, Daniel Kowalski 2\n1 has croup since Monday\n", [False] * 2),
        # The last name alone further down is the same person.
        ("Prepared by: Margaret Kowalski\nAsk Kowalski before you change the dose.\n", [True, True]),
        # A patient beside the reviewer counts.
        ("Prepared by: Margaret Kowalski\nPatient: Daniel Tremblay, asthma.\n", [True, False]),
    ],
)
def test_a_role_is_told_for_each_person(text: str, roles: list[bool]) -> None:
    screening = screened(text)
    assert [has_role(one) for one in _people(screening)] == roles
    assert [bool(one.bits) for one in _people(screening)] == [not role for role in roles]
    assert screening.n_people == roles.count(False)


def test_a_surname_that_the_patient_bears_too_counts() -> None:
    text = "Patient: Luc Kowalski\nPhysician: Dr. Ann Kowalski\nKowalski went home.\n"
    assert all(one.bits for one in _people(screened(text)) if one.entity_type is EntityType.PERSON)


@pytest.mark.parametrize(
    "text",
    [
        "6. M. Tremblay (nom fictif) refuse son insuline.\n",
        "Margaret Thompson (not her real name) has diabetes.\n",
        "Asthma: Margaret Thompson, a pseudonym, told us.\n",
    ],
)
def test_names_said_to_be_made_up_set_no_characteristic(text: str) -> None:
    screening = screened(text)
    assert any(one.reasons[-1].detail == MADE_UP for one in _people(screening))
    assert not screening.vector.bits & {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}
    assert screening.n_people == 0


@pytest.mark.parametrize(
    "text",
    [
        "Patient: John Doe, asthma since 2009.\n",
        "Patient: DOE, JANE\nDiagnosis: asthma\n",
        "Jane Doe has diabetes and takes metformin.\n",
        'Patient.create(first_name="John", last_name="Doe", condition="asthma")\n',
        "first_name,last_name,condition\nJohn,Doe,asthma\nJane,Doe,gout\n",
        "Name: Baby Doe\nBorn at 36 weeks, jaundice.\n",
    ],
)
def test_names_of_nobody_set_no_characteristic(text: str) -> None:
    screening = screened(text)
    assert not screening.vector.bits & {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}
    assert screening.n_people == 0


@pytest.mark.parametrize(("number", "expected"), [("000000", False), ("1111111", False), ("0000001", True)])
def test_one_digit_over_and_over_numbers_no_record(number: str, expected: bool) -> None:
    assert (PiiBit.MRN in screened(f"MRN: {number}, asthma.\n").vector.bits) is expected
