import pytest

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import load_gazetteer, terms
from phiscan.model import Document, PiiBit
from phiscan.screen.recognizers.person.recognizer import RuleNameRecognizer
from tests.screen.whole import found, screened

PERSON, DOCTOR = "PERSON", "HEALTH_PROFESSIONAL"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Patient: Marie-Ève Tremblay", (PERSON, "Marie-Ève Tremblay")),
        ("PATIENT NAME: SMITH, JOHN A", (PERSON, "SMITH, JOHN A")),
        ("patient name: john smith", (PERSON, "john smith")),
        ("Patient: Randdor So", (PERSON, "Randdor So")),  # out of vocabulary (uzuner-2007)
        ("Nom du patient : Ettrent Can", (PERSON, "Ettrent Can")),  # a name that is a word (uzuner-2007)
        ("Patient: Mary Huntington", (PERSON, "Mary Huntington")),
        ("Mr. Parkinson has Crohn disease.", (PERSON, "Parkinson")),
        ("seen by Dr. Fa Knottippsfyfe Fairm of the clinic", (DOCTOR, "Fa Knottippsfyfe Fairm")),
        ("Signed, Jane Wong, MD", (DOCTOR, "Jane Wong")),
        ("Médecin traitant : Luc Gagnon", (DOCTOR, "Luc Gagnon")),
        ("Dear Patricia,\nthank you", (PERSON, "Patricia")),
        ("Sincerely,\n\nPaul O'Brien", (PERSON, "Paul O'Brien")),
        ("We saw Jonas Nielsen today.", (PERSON, "Jonas Nielsen")),
        ("Pt Joseph Kroenckhart refused it.", (PERSON, "Joseph Kroenckhart")),
        ("follow up with patricia desrosiers soon", (PERSON, "patricia desrosiers")),
        ("They are Hannah, Anthony, Derek and Anna.", (PERSON, "Derek")),
        ("His name is Zorblatt.", (PERSON, "Zorblatt")),
        ("12  VANDERMOOL, JOOST    M 77", (PERSON, "VANDERMOOL, JOOST")),
        ("Peux-tu rappeler monsieur Haddad?", (PERSON, "Haddad")),
        ("I asked dr Petrossian to look at it.", (DOCTOR, "Petrossian")),
        ('"family": "Kowalczyk"', (PERSON, "Kowalczyk")),
        ('your employee Marcus "Duke" Washington-Bell called', (PERSON, 'Marcus "Duke" Washington-Bell')),
        (" 5. Rosalie « Lili » Fontaine ... rappel", (PERSON, "Rosalie « Lili » Fontaine")),
        ('58830;XIONG^MAI SEE^"SUE";F', (PERSON, 'XIONG^MAI SEE^"SUE"')),
        ("GOES BY:\tROSE", (PERSON, "ROSE")),
        ("pt: mark leung phn 9055 671 329", (PERSON, "mark leung")),
        ("Témoin :   Pham Quoc Bao (frère)      8", (PERSON, "Pham Quoc Bao")),
        ("Objet : Suivi de Lise Gagnon", (PERSON, "Lise Gagnon")),
        ("Nom\tPrénom\tDDN\nBoivin\tLajoie\t1938-06-17\nD'Amours\tRenée\t1940-01-02\n", (PERSON, "Lajoie")),
        ("nom,prenom,ddn\nBoivin,Lajoie,1938-06-17\nD'Amours,Renee,1940-01-02\n", (PERSON, "D'Amours")),
        ("Grandmother: HOPE YOUNG", (PERSON, "HOPE YOUNG")),
        ("her partner will stephens to cut the cord", (PERSON, "will stephens")),
        ("mom = Navpreet, callback 780 555-0142", (PERSON, "Navpreet")),
        ("WHEELCHAIR PUSHER IS GRANDSON MARK, KEY CARD 4", (PERSON, "MARK")),
        ("his son Ajay 416 555-0199", (PERSON, "Ajay")),
        ("Emergency contact Prince Abernathy (grandson)", (PERSON, "Prince Abernathy")),
        ("M. Petit (dit « Ti-Rol »), ch. 7", (PERSON, "Ti-Rol")),
        ("RELEASED TO ____CHANCE PETTY____  RELATION son", (PERSON, "CHANCE PETTY")),
        ("FATHER ___ Procopio Garza ___", (PERSON, "Procopio Garza")),
        ("NEEDS INTERP, SISTER LIGAYA 403 555 0117", (PERSON, "LIGAYA")),
        ("FILLE: WIDELENE 514-555-0181", (PERSON, "WIDELENE")),
        ("nom=SAVOIE;prenom=PRUDENT;ddn=19981102", (PERSON, "PRUDENT")),
        ('{"last":"Popoff-Smith","first":"Will"}', (PERSON, "Will")),
        ("when dr grant came in the morning", (DOCTOR, "grant")),
        ("the lady there is ms hope at school", (PERSON, "hope")),
        ("en passant mme zorblière, au 412", (PERSON, "zorblière")),
        ("MR. PRINCE IS A 58-YEAR-OLD", (PERSON, "PRINCE")),
        ("LE NODULE DECRIT PAR LE DR PETIT EN MAI 2023", (DOCTOR, "PETIT")),
        ("EMERGENCY CONTACT:\tYAZZIE, LORETTA (AUNT)", (PERSON, "YAZZIE, LORETTA")),
        ("Signature\nx Olumide Fashola", (PERSON, "Olumide Fashola")),
        ("raj 07:02 — morning\nraj 07:03 — escort\nmel 07:05 — who", (PERSON, "mel")),
        ("user=rvaldivia role=CODER action=OPEN", (PERSON, "rvaldivia")),
        ("user=mthornberry role=RN action=OPEN", (DOCTOR, "mthornberry")),
        # Without a label, as the tagger finds them.
        ("Martha Collins is a 50-year-old female with hypertension.", (PERSON, "Martha Collins")),
        ("Yesterday I met Quenby Draskovin at the station.", (PERSON, "Quenby Draskovin")),
        ("The wound was seen by Dr. Okonkwo on the ward.", (DOCTOR, "Okonkwo")),
        ("La patiente Ghislaine Thibodeau est suivie pour asthme.", (PERSON, "Ghislaine Thibodeau")),
        ("Rooms: Abigail Thorne, NB and Walter Kowalchuk, AB PHN", (PERSON, "Abigail Thorne")),
        ("referred by dr. chowdhury.", (DOCTOR, "chowdhury")),
        ("8 h 30 Lamontagne Yves", (PERSON, "Lamontagne Yves")),
        ("Horaire\n8h15 LAMONTAGNE Yves\n9h30 Holland Erin", (PERSON, "LAMONTAGNE Yves")),
        ("Lamontagne slept well. Afebrile.", (PERSON, "Lamontagne")),
        ("Reviewed with Lindgren. Overdoses were rare.", (PERSON, "Lindgren")),
        ("emergency contact: mark macaraeg, husband, 587 555 0108", (PERSON, "mark macaraeg")),
        ("Patient: Monsieur Gilles Paquin", (PERSON, "Gilles Paquin")),
        ("Patient: Tran, Son", (PERSON, "Tran, Son")),
        ("Room,Last,First,DOB,By\nA,Miller,Chance,9/1/18,Okafor\nB,Roy,Will,9/2/18,Iwu\n", (DOCTOR, "Iwu")),
    ],
)
def test_finds_names(text: str, expected: tuple[str, str]) -> None:
    assert expected in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Lit\tNom\tDx\n203B\tlibre\t\n",
        "Huntington disease, Crohn disease and Down syndrome were ruled out.",
        "The Miller Fisher test and the Romberg sign were negative.",
        "Patient: stable and comfortable",
        "Name of the drug: unknown",
        "MS. In this form there are no remissions.",
        "Mary Smith Hospital",
        "The rose garden opens in May. Will power grows.",
        "The patient was given Tylenol and Advil after Surgery.",
        "his mother will call, her son may have asthma and a friend can come",
        "ms contin was stopped, mr angiography was normal, dr visit on monday",
        "seen by mother | GCS 11 | tele",
        "He came from Hong Kong in 2019.",
        "The course is held in San Marino.",
        "Sainte Courvoisier\nGreece 22221",
        'the "best" practice of the "Royal" kind',
    ],
)
def test_leaves_terms_words_and_organizations_alone(text: str) -> None:
    assert {value for kind, value in found(text) if kind in {PERSON, DOCTOR}} == set()


def test_a_gazetteer_word_alone_is_no_finding_of_the_rules() -> None:
    document = Document("Jennifer", (), "text/plain")
    assert not list(RuleNameRecognizer(load_gazetteer()).recognize(document))


def test_repeats_a_name_found_under_a_label() -> None:
    text = "Patient: Anna Kowalczyk\n\nKowalczyk tolerated it well. The Kowalczyk sign was absent."
    assert found(text) == {(PERSON, "Anna Kowalczyk"), (PERSON, "Kowalczyk")}


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("Patient: Anna Kowalczyk", {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}),
        ("Last name: Kowalczyk", {PiiBit.LAST_NAME}),
        ("Prénom : Anna", {PiiBit.FIRST_NAME}),
        ("Mrs. Kowalczyk", {PiiBit.LAST_NAME}),
        ("Dr. Kowalczyk", {PiiBit.HEALTH_PROFESSIONAL}),
    ],
)
def test_a_name_shows_the_bits_of_its_parts(text: str, bits: set[PiiBit]) -> None:
    assert screened(text).vector.bits == bits


@pytest.mark.parametrize(
    "name",
    [
        "first_names", "last_names", "first_names_world", "last_names_world", "ordinary_words",
        "ordinary_words_fr", "places", "name_cues", "nations",
    ],
)  # fmt: skip
def test_every_name_dictionary_has_its_header(name: str) -> None:
    dictionary = load_dictionary(data_dir("dictionaries") / f"{name}.txt")
    assert len(dictionary.rows) > (500 if name == "nations" else 900)
    if name != "name_cues":
        assert frozenset(dictionary.terms) == terms(data_dir("dictionaries") / f"{name}.txt")


def test_the_dictionaries_stay_small() -> None:
    names = ("first_names", "last_names", "ordinary_words", "ordinary_words_fr", "places", "name_cues")
    assert sum((data_dir("dictionaries") / f"{name}.txt").stat().st_size for name in names) < 2_000_000


def test_a_word_is_looked_up_without_case_and_accents() -> None:
    gazetteer = load_gazetteer()
    assert gazetteer.of("HÉLÈNE") == gazetteer.of("helene") != 0


def test_a_method_called_after_somebody_is_at_most_doubtful() -> None:
    findings = screened('<analyse code="VS" nom="Westergren" valeur="41"/>').findings
    assert all(one.is_doubtful for one in findings if one.entity_type in {PERSON, DOCTOR})
