import pytest

from tests.screen.whole import found

PERSON, DOCTOR = "PERSON", "HEALTH_PROFESSIONAL"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bed 3 getting IV Zofran now, RN is Joaquim Teixeira", "Joaquim Teixeira"),
        ("eleven days after a CABG by Prakash Iyer", "Prakash Iyer"),
        ("6/12  14:15  vu avec Marc-Olivier Sioui, podiatre. Culture envoyée.", "Marc-Olivier Sioui"),
        ("Follow up with Kimo Ferreira, DPT on Monday", "Kimo Ferreira"),
        ("Siobhan Kelly, OT Reg. (PEI)\nRehab", "Siobhan Kelly"),
        ("Collected by J. Tran", "J. Tran"),
        ("Assessed by OT Jean Roy.", "Jean Roy"),
        ("- Family MD Sunita Rao-Pelletier informed", "Sunita Rao-Pelletier"),
        ("SURGEON: D. MACALLISTER     ANAES: KOWALCHUK", "KOWALCHUK"),
        ('<prescripteur permis="12655">\n  <nom>Tremblay, Marie</nom>', "Tremblay, Marie"),
        ("the surgeon was Gurleen Brar that day", "Gurleen Brar"),
        ("Avisé Dre Pascale Ngo-Bouchard par télécopieur", "Pascale Ngo-Bouchard"),
        ("dental hygienist Maria Lopez cleaned the graft", "Maria Lopez"),
        ("APPUYÉE PAR L'INFIRMIÈRE LUCETTE DOUCET", "LUCETTE DOUCET"),
        ("Split at 0140, titrated by Mr. Blevins.", "Blevins"),
        ("Thank you\nBecky Stoltzfus\nRN, Renal Unit", "Becky Stoltzfus"),
        ("S. Nazari   CPSO 90417", "S. Nazari"),
        ("Walked on 7 North with OT (Thaddeus Cole).", "Thaddeus Cole"),
        ("CHARGE NURSE OF ED TO COUNTERSIGN: ____B. KOWALCZYK____", "B. KOWALCZYK"),
        ("on call tonight: Dr Patel / Nguyen, then Dr Roy", "Nguyen"),
        ('"preleve": "5 fév. 2024", "par": "N. Petit"', "N. Petit"),
        ("MSW TERESA SOUND CALLED THE SON", "TERESA SOUND"),
        ("please call my nurse, Hope Villanueva.", "Hope Villanueva"),
        ('<MRP msp="24418">MacLeod-Fujita, Ewan</MRP>', "MacLeod-Fujita, Ewan"),
        ('{"requester": {"reference": "Practitioner/1", "display": "Mele Tuipulotu"}}', "Mele Tuipulotu"),
        ("ReferringPhysicianName: Salma Najjar", "Salma Najjar"),
        ("(0008,1050) PN [LONG^PETER^J]   # 12, 1 PerformingPhysicianName", "LONG^PETER^J"),
    ],
)
def test_a_role_or_a_degree_makes_a_name_that_of_a_professional(text: str, name: str) -> None:
    assert (DOCTOR, name) in found(text)


def test_other_mentions_of_a_professional_are_the_same_person() -> None:
    text = "From: Siobhan Kelly\nTo: Ward\n\nSiobhan is off today.\n--\nSiobhan Kelly, RN\nRehab"
    assert {name for kind, name in found(text) if kind == DOCTOR} == {"Siobhan Kelly", "Siobhan"}


@pytest.mark.parametrize(
    "text",
    [
        "Patient: Siobhan Kelly\nReviewed by Paul Kelly, MD. Kelly went home.",  # one surname
        "His wife Maria Lopez, nurse, called.",
        "Mrs Maria Lopez, nurse, was admitted.",
        "The doctor spoke to his daughter Maria Lopez.",
        "Seen by his mother Maria Lopez.",
        "HE LIVES WITH MARIA LOPEZ IN TORONTO. CALL PAUL ROY.",
        "Pt: Maria Lopez",
        "Patient: Maria Lopez\nEmployer: none\nMaria Lopez, nurse, fell at work.",
        "a retired nurse Maria Lopez came in",
        "Maria Lopez, 54 y, seen by the nurse.",
        "Pt\tNurse\nMaria Lopez\tJoy Chan\n",
        "Reviewed with Mrs Maria Lopez.",
        "Patient name\nMaria Lopez\nPhysician\nJoy Chan\n",
        "referred by the nurse. Maria Lopez was admitted.",
    ],
)
def test_a_patient_or_a_relative_is_never_a_professional(text: str) -> None:
    found_there = found(text)
    assert not {name for kind, name in found_there if kind == DOCTOR} & {
        "Maria Lopez", "Siobhan Kelly", "Kelly"
    }  # fmt: skip
    assert any(kind == PERSON for kind, _ in found_there)
