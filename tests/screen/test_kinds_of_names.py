"""Names in introductions, lists of medicines that name nobody, years of birth in columns, cards of Quebec."""

import pytest

from tests.screen.whole import found, values

PEOPLE = ("PERSON", "HEALTH_PROFESSIONAL")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hi my name is rose and i have lupus", "rose"),
        ("my name is joy, i was diagnosed with ms", "joy"),
        ("hello, i'm hope. my crohn's is back", "hope"),
        ("my name is will and i had a stroke", "will"),
        ("My name is Rain and I have asthma", "Rain"),
        ("my name is april, i have ms", "april"),
        ("my name is sage, and my son has epilepsy", "sage"),
        ("the name's chase, i'm bipolar", "chase"),
        ("they call me sunny, im on methadone", "sunny"),
        ("call me summer. i have psoriasis", "summer"),
        ("you can call me pearl", "pearl"),
        ("MY NAME IS FAITH AND I HAVE HIV", "FAITH"),
        ("hey its ruby, i got my biopsy back", "ruby"),
        ("moi c'est olive, j'ai le diabete", "olive"),
        ("Moi, c'est Prune. J'ai un cancer du sein", "Prune"),
        ("je m'appelle violette et j'ai la sclerose en plaques", "violette"),
        ("mon nom est fleur, j'ai une hepatite", "fleur"),
        ("je m'appelle Anémone et j'ai le lupus", "Anémone"),
        ("salut, moi c'est lilas, je suis séropositive", "lilas"),
        ("bonjour, je suis iris et j'ai un zona", "iris"),
        ("MOI C'EST FLORE ET J'AI LA GRIPPE", "FLORE"),
    ],
)
def test_people_who_introduce_themselves_are_named(text: str, name: str) -> None:
    assert values(text, *PEOPLE) == [name]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Attending today: Camila, Heather and Julie", ["Camila", "Heather", "Julie"]),
        ("Patients on pills: Heather, Laura", ["Heather, Laura"]),
        ("Insulin pump nurses: Laura, Heather", ["Laura, Heather"]),
        ("Ventilators: Lena Okafor, Marc Delisle", ["Lena Okafor", "Marc Delisle"]),
        ("Heather takes Camila 0.35 mg", ["Heather"]),
        ("Résidents sous insuline : Laura, Julie", ["Laura, Julie"]),
        ("Medications reviewed with: Laura, Heather", ["Laura, Heather"]),
        ("Oral contraceptives: Camila, Heather", []),
        ("Current contraceptives on formulary: Camila, Heather, Errin, Jolivette, Nora-BE", []),
        ("Contraceptives: Alesse, Yasmin, Diane-35, Marvelon", []),
        ("Birth control: Apri, Kariva, Natalia, Jasmiel, Loryna, Nikki, Gianvi", []),
        ("Pilules : Diane-35, Yasmin, Mélodia, Jasmine, Jasminelle, Minerva", []),
        ("DIU : Mirena, Kyleena, Jaydess, Flexi-T, Mona Lisa", []),
        ("Meds: Juliet, Tess, Lily, Mya, Dienille", []),
        ("Devices: Alexa, Rosa robot, Elsa monitor, Nora sleep device", []),
        ("Ventilators: Bella, Astral, Vivo, Elisa 500, Savina 300", []),
        ("Mattresses: Clara, Theresa, Auto Logic", []),
        ("Robots : Rosa, Mako, Elsa et Pepper", []),
        ("Brand names:\nCamila\nHeather\nErrin\n", []),
        ("Marques :\n- Camila\n- Julie\n- Laura\n", []),
        ("brand,generic\nCamila,norethindrone\nHeather,norethindrone\nErrin,norethindrone\n", []),
        ("Camila (norethindrone) 0.35 mg; Heather (norethindrone) 0.35 mg", []),
        ("pills: camila, heather", []),
        ("my name is on the list for a colonoscopy", []),
        ("my name is wrong, i called twice", []),
        ("my name is private and i want it removed", []),
        ("my name is spelled wrong on the prescription", []),
        ("the name is lisinopril, i take it daily", []),
        ("I am Canadian and I have asthma", []),
        ("hi i'm good, my asthma is fine", []),
        ("hello, i'm sick and my kid too", []),
        ("it's Friday, my infusion is late", []),
        ("call me Monday. I have chemo", []),
        ("call me later, my phone is off", []),
        ("moi c'est pareil, j'ai le diabete", []),
        ("moi c'est mon genou", []),
        ("bonjour, je suis enceinte, mon médecin est absent", []),
        ("c'est grave, mon asthme", []),
        ("mon nom est sur la liste", []),
        ("Tremblay 5 mg", ["Tremblay"]),
        ("Meds due: Tremblay", ["Tremblay"]),
        ("Medications given: Okafor", ["Okafor"]),
        ("Médicaments donnés : Okafor", ["Okafor"]),
        ("Médicaments oubliés : Tremblay", ["Tremblay"]),
        ("Medications: Camila", []),
        ("Diane-35", []),
        ("Okafor, 10 mg", ["Okafor"]),
        ("Missed meds: Tremblay, Okafor", ["Tremblay, Okafor"]),
        ("Meds refused: Tremblay", ["Tremblay"]),
        ("Médicaments refusés : Tremblay", ["Tremblay"]),
        ("Camila 0.35 mg", []),
        ("Médicaments : Camila", []),
        (
            "First name\tLast name\tRoom\nAnna\tKowalczyk\t12\nZorb\tQuill\t14\n",
            ["Anna", "Kowalczyk", "Zorb", "Quill"],
        ),
        # Words of every day in a text of one case.
        ("LE TEST SE FAIT À LA MAISON, AVEC UN PETIT APPAREIL", []),
        ("ON A MANQUÉ SON RENDEZ-VOUS, C'EST DOMMAGE POUR LE FILS", []),
        ("TREATMENT OF TRACHEOBRONCHOPATHIA OSTEOPLASTICA IS HARD TO COME BY", []),
        ("le test se fait à la maison. on vous remet un petit appareil, et le fils vient le chercher", []),
        ("NOM: MAISON\nPRÉNOM: WILL\nDDN: 1990-01-02", ["MAISON", "WILL"]),
        # What stands at the ends of a name and is none of it.
        ("Friend Zoraida brought soup", ["Zoraida"]),
        ("Bonjour William, ca va", ["William"]),
        ("Pt Omar Falk reports pain", ["Omar Falk"]),
        ("Well, Vincent, I am writing", ["Vincent"]),
        ("by Fintan Donca, M.D.\nplan", ["Fintan Donca"]),
        ("Smith, John M. seen", ["Smith, John M."]),
        ("Mary Ann Young 34", ["Mary Ann Young"]),
        ("Desmond Best", ["Desmond Best"]),
        # Labels and abbreviations, and names that are labels elsewhere.
        ("Abd. souple", []),
        ("Labo : Hb stable", []),
        ("DDN : 14 juin 1986      NAM : DESW 8606 1417", []),
        ("NPI 1811627599  DEA FS6462953", []),
        ("Plan;DDN;NAM;Adresse", []),
        ("2012-03-29  Td (adult) preservative free", []),
        ('"ddn": "2021-04-17", "nam": "BOIA21541719"', []),
        ("Chart at the NICU desk", []),
        ("No réclamation,Matricule,NAS,Service", []),
        ("MBI 6M33-HY9-VT63", []),
        ("Nom : Désir, Wilner\nDDN : 14 juin 1986\nReflexes: Babinski negative.", ["Désir, Wilner"]),
        ("Abd came back", ["Abd"]),
        ("seen by Abd. She left", ["Abd"]),
        ("His wife Dea called at noon.", ["Dea"]),
        ("NAM\tSOO-JIN\t2104471", ["SOO-JIN"]),
        ("fille Line 418 555-0139", ["Line"]),
        ("Nam Soo-jin", ["Nam Soo-jin"]),
        ("Regarding his arthritis, Mr. Walker reports pain, reaction, and chills", ["Walker"]),
        # What somebody does stands behind the comma and is no name; nor is an answer.
        ("Patient: Marguerite Blackjack, Manager IPAC", ["Marguerite Blackjack"]),
        ("Patient: Ngozi Okwuosa, Orthopaedics", ["Ngozi Okwuosa"]),
        ("Patient: Matthias Egwu, PGY-2", ["Matthias Egwu"]),
        ("Patient: Jane Wu, Billing Clerk", ["Jane Wu"]),
        ("Patient: Garcia Lopez, Hope", ["Garcia Lopez, Hope"]),
        ("Patient: Roy, Ann J.", ["Roy, Ann J."]),
        ("Patient: Stone, Will", ["Stone, Will"]),
        ("Patient: ok with that.\nSeen by: OK\n", []),
        (
            "Bay\tPatient\nA\tAnn Roy\nB\tLuc Roy\n\nPatient\tAge\nA\t12\nLuc Roy\t51\n",
            ["Ann Roy"] + ["Luc Roy"] * 2,
        ),
    ],
)
def test_people_are_told_from_other_words(text: str, people: list[str]) -> None:
    assert values(text, *PEOPLE) == people


@pytest.mark.parametrize(
    "head",
    [
        "year_of_birth", "birth_yr", "né en", "yr birth", "birthyear", "Naissance (année)", "annee_naissance",
        "AnnéeNaissance", "YOB", "Birth Year", "birth_year_approx", "Year born", "Yr of birth", "an_naiss",
        "anneenais", "birth year (yyyy)", "dob_year",
    ],
)  # fmt: skip
@pytest.mark.parametrize("sign", [",", "\t", ";", " | "])
def test_a_column_of_birth_years_gives_ages_over_89(head: str, sign: str) -> None:
    rows = [("id", head, "sex"), ("1", "1927", "F"), ("2", "1986", "M"), ("3", "1931", "F")]
    ages = {value for kind, value in found("\n".join(map(sign.join, rows)) + "\n") if kind == "AGE_OVER_89"}
    assert ages == {"1927", "1931"}


@pytest.mark.parametrize("head", ["year", "published", "built", "birth_count", "année", "année fiscale"])
def test_other_columns_of_years_are_no_ages(head: str) -> None:
    assert not {kind for kind, _ in found(f"id,{head}\n1,1927\n2,1986\n")} & {"AGE_OVER_89"}


@pytest.mark.parametrize("number", ["BÉLM 8355 1412", "TREM 6502 0312", "CÔTÉ 6502 0312"])
@pytest.mark.parametrize("label", ["Objet : ", "Dossier : ", "Re: ", "RAMQ ", "", "Nom : "])
def test_a_card_of_quebec_is_a_card_whatever_label_is_before_it(label: str, number: str) -> None:
    assert ("HEALTH_CARD", number) in found(f"{label}{number}\n")
