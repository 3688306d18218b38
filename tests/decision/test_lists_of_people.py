"""Lists of people with a status about health, in words of offices, camps and schools, and their twins."""

from dataclasses import replace

from phiscan.model import Referral
from tests.decision.test_decide import engine, judged

LEAST_FOUND = 0.75

OF_HEALTH = {
    "fit for duty": (
        "Fitness for duty, week 12\n"
        "Amara Okonkwo - fit for light duty only\n"
        "Liam Gallagher - unfit until review\n"
        "Sofia Petrova - fit, no restriction\n"
    ),
    "quarantine": (
        "Name,Cabin,Status\n"
        "Amara Okonkwo,4,quarantine day 3\n"
        "Liam Gallagher,5,isolating with symptoms\n"
        "Sofia Petrova,7,released from quarantine\n"
    ),
    "vaccination": (
        "Name | Dose 1 | Dose 2 | Status\n"
        "Amara Okonkwo | 3 March | 1 April | vaccinated\n"
        "Liam Gallagher | 4 March | | second dose due\n"
        "Sofia Petrova | refused | | not vaccinated\n"
    ),
    "swab": (
        "Swabs sent Monday\n"
        "Amara Okonkwo positive\n"
        "Liam Gallagher negative\n"
        "Sofia Petrova pending, has a fever\n"
    ),
    "modified duties": (
        "employee;duties;until\n"
        "Amara Okonkwo;modified duties, back;17 June\n"
        "Liam Gallagher;no lifting above 5 kg;1 July\n"
        "Sofia Petrova;gradual return to work;12 May\n"
    ),
    "sick leave": (
        "Off sick this week:\n"
        "- Amara Okonkwo (since Monday, flu)\n"
        "- Liam Gallagher (surgery, back in June)\n"
        "- Sofia Petrova (doctor's note until Friday)\n"
    ),
    "allergies": (
        "Camp kitchen\n"
        "Amara Okonkwo: nut allergy, EpiPen in the office\n"
        "Liam Gallagher: coeliac, own bread\n"
        "Sofia Petrova: diabetic, snack at 10\n"
    ),
    "hearing": (
        "Audiometry 2024\n"
        "Okonkwo, Amara   hearing loss both ears, refer\n"
        "Gallagher, Liam  normal\n"
        "Petrova, Sofia   shift at 4 kHz, retest\n"
    ),
    "apte": (
        "Nom;Avis\n"
        "Jean-Marc Tremblay;apte avec restriction, pas de port de charges\n"
        "Solange Bélanger;inapte temporaire\n"
        "Karim Haddad;apte\n"
    ),
    "arrêt": (
        "Absences de l'équipe\n"
        "Jean-Marc Tremblay : arrêt maladie jusqu'au 12\n"
        "Solange Bélanger : mi-temps thérapeutique\n"
        "Karim Haddad : hospitalisé depuis lundi\n"
    ),
    "dispense": (
        "Dispenses de sport, 5e B\n"
        "Théo Marchand : asthme, PAI\n"
        "Inès Benali : plâtre au bras, six semaines\n"
        "Louis Perrot : dispensé après opération\n"
    ),
    "cas contact": (
        "Cas contacts\n"
        "Jean-Marc Tremblay, test positif, isolé\n"
        "Solange Bélanger, test négatif\n"
        "Karim Haddad, fièvre, à tester\n"
    ),
}
OF_OTHERS = {
    "roles": (
        "Duties, week 12\n"
        "Amara Okonkwo - front desk only\n"
        "Liam Gallagher - off until Thursday\n"
        "Sofia Petrova - kitchen, no early shift\n"
    ),
    "training": (
        "Name,Room,Status\n"
        "Amara Okonkwo,4,training day 3\n"
        "Liam Gallagher,5,waiting for badge\n"
        "Sofia Petrova,7,released from probation\n"
    ),
    "licence": (
        "Name | Part 1 | Part 2 | Status\n"
        "Amara Okonkwo | 3 March | 1 April | licensed\n"
        "Liam Gallagher | 4 March | | second test due\n"
        "Sofia Petrova | refused | | not licensed\n"
    ),
    "feedback": (
        "Feedback sent Monday\n"
        "Amara Okonkwo positive\n"
        "Liam Gallagher negative\n"
        "Sofia Petrova pending, has a question\n"
    ),
    "shifts": (
        "employee;shifts;until\n"
        "Amara Okonkwo;late shifts, stores;17 June\n"
        "Liam Gallagher;no orders above 5 k;1 July\n"
        "Sofia Petrova;gradual change of team;12 May\n"
    ),
    "leave": (
        "Away this week:\n"
        "- Amara Okonkwo (since Monday, Lisbon)\n"
        "- Liam Gallagher (wedding, back in June)\n"
        "- Sofia Petrova (jury until Friday)\n"
    ),
    "meals": (
        "Camp kitchen\n"
        "Amara Okonkwo: vegetarian, own plate\n"
        "Liam Gallagher: late on Tuesday\n"
        "Sofia Petrova: washes up, snack at 10\n"
    ),
    "payment": (
        "Nom;Avis\nJean-Marc Tremblay;payé avec retard\nSolange Bélanger;en attente\nKarim Haddad;payé\n"
    ),
    "congés": (
        "Absences de l'équipe\n"
        "Jean-Marc Tremblay : congé jusqu'au 12\n"
        "Solange Bélanger : mi-temps annualisé\n"
        "Karim Haddad : en déplacement depuis lundi\n"
    ),
    "sport": (
        "Équipes de sport, 5e B\n"
        "Théo Marchand : gardien\n"
        "Inès Benali : capitaine, six matchs\n"
        "Louis Perrot : remplaçant après Noël\n"
    ),
    "permis": (
        "Candidats au permis\n"
        "Jean-Marc Tremblay, code réussi\n"
        "Solange Bélanger, code raté\n"
        "Karim Haddad, conduite, à refaire\n"
    ),
    "seating": (
        "Seating plan\nTable 1: Amara Okonkwo, Liam Gallagher\nTable 2: Sofia Petrova, Karim Haddad\n"
    ),
}


def referred(texts: dict[str, str]) -> set[str]:
    cut = replace(engine(), audit_share=0.0)
    return {name for name, text in texts.items() if judged(text, by=cut).referral is Referral.REFERRED}


def test_most_lists_of_people_with_a_status_about_health_are_referred() -> None:
    found = referred(OF_HEALTH)
    print(f"{len(found)} of {len(OF_HEALTH)}; missed:", sorted(OF_HEALTH.keys() - found))
    assert len(found) >= LEAST_FOUND * len(OF_HEALTH)


def test_the_same_lists_with_another_status_are_not() -> None:
    assert referred(OF_OTHERS) == set()
