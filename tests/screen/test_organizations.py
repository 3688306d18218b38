from __future__ import annotations

from collections.abc import Callable

import pytest

from phiscan.model import Document, EntityType
from phiscan.screen.recognizers.organization.recognizer import OrganizationRecognizer
from phiscan.screen.rules.recognizer import MAX_HITS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # a capital is evidence enough
        ("seen at Good Health Hospital", "Good Health Hospital"),
        ("EMS to Pasqua South Hosp., Regina", "Pasqua South Hosp"),
        ("University of Ottawa Heart Institute", "University of Ottawa Heart Institute"),
        ("Transferred to St. Mary's Hospital at noon", "St. Mary's Hospital"),
        ("Plan sponsor: Peace River School Division No. 10", "Peace River School Division No. 10"),
        ("copy to Elgin-East FHT", "Elgin-East FHT"),
        ("Sonoran Behavioral Health Center", "Sonoran Behavioral Health Center"),
        ("Okefenokee Kidney Care of Waycross   TAX ID", "Okefenokee Kidney Care of Waycross"),
        # firms, with commas
        ("PRUITT, OYELARAN & STACK, LLP", "PRUITT, OYELARAN & STACK, LLP"),
        ("Roy, Nguyen et Tremblay s.e.n.c.r.l.", "Roy, Nguyen et Tremblay s.e.n.c.r.l"),
        ("ou chez Meubles Chaleur ltée le jour", "Meubles Chaleur ltée"),
        ("Tri-Lakes Freight & Storage, Inc.", "Tri-Lakes Freight & Storage, Inc"),
        ("Claim AZC-4418-22 Sonoran Fields Co-op", "Sonoran Fields Co-op"),  # a code is no word of a name
        ("OLD NOTES. Lethbridge Regional has them", "Lethbridge Regional"),  # a town is due nothing else
        # where a place is due
        ("presented to Ocmulgee Regional on Monday", "Ocmulgee Regional"),
        ("the pacer clinic at Rideau Valley Heart on Monday", "Rideau Valley Heart"),
        ('"display": "Cumberland Gap Rural Health"', "Cumberland Gap Rural Health"),
        ("She was admitted to Akron Children's in June", "Akron Children's"),
        ("died at the Thorsby Centre at 96", "Thorsby Centre"),
        ("Practice: _Bluewater Midwives_", "Bluewater Midwives"),
        ("   Lund, DO (Chesapeake Bone & Joint)", "Chesapeake Bone & Joint"),
        ("knew her from Our Lady of the Light parish", "Our Lady of the Light"),
        # all in capitals: a word that is no ordinary one, or a line or cell that it fills
        ("TO: BED COORDINATION, WHITEHORSE GENERAL HOSPITAL   E-MAIL", "WHITEHORSE GENERAL HOSPITAL"),
        ("*** ST. CASIMIR HOSPITAL *** BED BOARD", "ST. CASIMIR HOSPITAL"),
        ("WAS SEEN AT KANAWHA HILLS CLINIC", "KANAWHA HILLS CLINIC"),
        ("EMPLOYER:\tLITTLE COLORADO UNIFIED SCHOOL DISTRICT\n", "LITTLE COLORADO UNIFIED SCHOOL DISTRICT"),
        # in small letters
        ("rx to Walgrove pharmacy", "Walgrove pharmacy"),
        ("wife says hes in summerlin hospice", "summerlin hospice"),
        ("student at langara college, plan", "langara college"),
        # French
        ("vue à l'Hôpital Sainte-Justine", "Hôpital Sainte-Justine"),
        ("perdu à l'hôpital de La Pocatière, rapport", "hôpital de La Pocatière"),
        ("au HÔP. MGR-LÉTOURNEAU\n", "HÔP. MGR-LÉTOURNEAU"),
        ("le Centre de brûlologie de l'Est prend", "Centre de brûlologie de l'Est"),
        ("popote du Club de l'âge d'or de Saint-André.", "Club de l'âge d'or de Saint-André"),
        ("Institut cardiovasculaire du Haut-Richelieu", "Institut cardiovasculaire du Haut-Richelieu"),
        ("AMENE PAR AMBULANCE DE SAINT-FELIX-D'OTIS APRES", "AMBULANCE DE SAINT-FELIX-D'OTIS"),
        ("site: Mount Olivet Heart & Lung\n", "Mount Olivet Heart & Lung"),
        ("Hôpital Dr-Georges-L.-Dumont (Moncton)", "Hôpital Dr-Georges-L.-Dumont"),
        (
            "Centre intégré de cancérologie de la Haute-Yamaska\n",
            "Centre intégré de cancérologie de la Haute-Yamaska",
        ),
        ("<Employeur>Coop des pêcheurs du Cap</Employeur>", "Coop des pêcheurs du Cap"),
        ("URGENCE - HOPITAL DE LA BAIE-DES-HA-HA\n", "HOPITAL DE LA BAIE-DES-HA-HA"),
        ("Suivie à l\u2019École Sainte-Marguerite.", "École Sainte-Marguerite"),
        ("c'est la pharmacie bellefleur, fax", "pharmacie bellefleur"),
        # an offset behind what takes more bytes than code points
        ("😀 éé: Lakeview Clinic", "Lakeview Clinic"),
    ],
)
def test_finds_the_name_of_an_organization(
    organization_names: Callable[[str], list[str]], text: str, name: str
) -> None:
    assert name in organization_names(text)


@pytest.mark.parametrize(
    "text",
    [
        "the Hospital",
        "The Company",
        "Regional Medical Center",
        "Hospital Course: uneventful",
        "Referring Clinic Phone:",
        "Medical Services",
        "ANESTHESIA\nPAIN CLINIC\n",
        "SHE WENT TO THE HOSPITAL",
        "WAS SEEN AT THE LOCAL PAIN CLINIC",
        "HOSPITAL: X",
        "a new family clinic",
        "after a long hospital stay",
        "in General, the Attorney General",
        "seen by Sarah House today",
        "Ocmulgee Regional Affairs",
        "the Mental Health of children",
        "Josiane Côté, erg.",
        "Billet INC-2025-338104",
        "write to clinic@x.example",
        "à l'hôpital, une clinique externe",
        "CLINIQUE EXTERNE",
        "DEVICE CLINIC",
        "INFUSED DRUGS",
        "hanche G. Diagnostics secondaires",
        "Centre Street is long",
        "a Club Sandwich",
        "l'hôpital de jour",
        "hospital for them",
        "seen by Dr. Amy Roy at the clinic",
    ],
)
def test_takes_no_general_words_for_a_name(organization_names: Callable[[str], list[str]], text: str) -> None:
    assert organization_names(text) == []


def test_says_which_word_it_went_by(organizations: OrganizationRecognizer) -> None:
    (finding,) = organizations.recognize(Document("at Lakeview Clinic", (), ""))
    assert finding.entity_type is EntityType.ORGANIZATION
    assert [(reason.kind, reason.detail) for reason in finding.reasons] == [("head", "clinic")]


def test_samples_a_dense_table_and_says_so(organizations: OrganizationRecognizer) -> None:
    found = list(organizations.recognize(Document("Zorblat Clinic\n" * (MAX_HITS + 1), (), "")))
    assert len(found) == MAX_HITS // 2 + 1
    assert found[0].reasons[-1].detail == f"1 of 2 of {MAX_HITS + 1} places examined"
