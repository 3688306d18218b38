"""Which documents match a patient: strong keys, pairs within a passage or row, in any writing."""

import numpy as np
import pytest

from phiscan.model import EntityType, PatientCheck, PatientMatch, Span
from phiscan.patients import build as patients_build
from phiscan.patients import chance
from phiscan.patients.chance import DENSE, number_density
from phiscan.patients.lifecycle import build
from phiscan.patients.matching import Matcher, combinations_of, load_matcher, log_odds_of, merged
from phiscan.patients.names import forms_of, listed_pairs
from phiscan.patients.normalise import card_form
from phiscan.patients.records import Kind, PatientRecord
from phiscan.patients.settings import PatientSettings
from tests.patients.conftest import Check, made
from tests.patients.population import Person, population

E = EntityType
A = 7  # the person looked for; patient number 8


NAME = (E.PERSON, "{0.given} {0.family}")
MISREAD = str.maketrans("0185", "OlBS")


@pytest.mark.parametrize(
    ("between", "values", "kind"),
    [
        *((" ", [(E.HEALTH_CARD, "{1" + form + "{2" + form + "{3}")], "card") for form in ("}", "} ", "}-")),
        (" ", [(E.HEALTH_CARD, "{1}-{2}-{3} XK")], "card"),
        (" ", [(E.MRN, "{4}")], "record"),
        ("\n", [NAME, (E.PHONE, "+1 ({0.phone})")], "name_phone"),
        ("\n", [NAME, (E.EMAIL, "{0.email}")], "name_email"),
        ("\n", [NAME, (E.STREET_ADDRESS, "Apt 4, {0.street}, Kingston")], "name_street"),
        (" ", [(E.DATE_OF_BIRTH, "{0.born}"), (E.POSTAL_CODE, "{5}")], "birth_postal"),
        (",", [(E.PERSON, "{0.family}"), (E.PERSON, "{0.given}"), (E.DATE, "{0.born}")], "name_birth"),
    ],
)
def test_a_number_alone_or_two_attributes_side_by_side_match(
    people: list[Person], check: Check, between: str, values: list[tuple[EntityType, str]], kind: str
) -> None:
    one = people[A]
    parts = (one.card[:4], one.card[4:7], one.card[7:], one.mrn.translate(MISREAD), one.postal.lower())
    written = [(part, form.format(one, *parts)) for part, form in values]
    assert check(between.join(value for _, value in written), *written) == [(A + 1, kind)]


@pytest.mark.parametrize(
    "form",
    [
        "{given} {family}",
        "{family}, {given}",
        "{FAMILY} {GIVEN}",
        "Mrs. {given} Quinn {family}",
        "{given} {family}-Roy",
    ],
)
@pytest.mark.parametrize("born", ["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%m/%d/%Y", "%d.%m.%y"])
def test_a_name_matches_with_the_birth_date_beside_it(
    people: list[Person], check: Check, form: str, born: str
) -> None:
    one = people[A]
    name = form.format(given=one.given, family=one.family, GIVEN=one.given.upper(), FAMILY=one.family.upper())
    date = one.born.strftime(born)
    assert check(f"Re: {name}, born {date}", (E.PERSON, name), (E.DATE_OF_BIRTH, date)) == [
        (A + 1, "name_birth")
    ]


def test_no_name_matches_alone_in_a_small_list(people: list[Person], check: Check) -> None:
    name = f"{people[A].given} {people[A].family}"
    assert check(f"Dear {name},", (E.PERSON, name)) == []
    assert check(f"{people[A].born}", (E.DATE_OF_BIRTH, f"{people[A].born}")) == []


def test_the_birth_date_of_another_row_is_no_match(people: list[Person], check: Check) -> None:
    one, other = people[A], people[A + 1]
    name, another = f"{one.given} {one.family}", f"{other.given} {other.family}"
    rows = f"{name} | {other.born} | x\n{another} | {one.born} | x\n"
    values = ((E.PERSON, name), (E.DATE, f"{other.born}"), (E.PERSON, another), (E.DATE, f"{one.born}"))
    assert check(rows, *values) == []
    far = f"{name}\n{'word ' * 200}\n{one.born}"
    assert check(far, (E.PERSON, name), (E.DATE, f"{one.born}")) == []


@pytest.mark.parametrize(("right", "misread"), [("rn", "m"), ("cl", "d"), ("i", "l"), ("e", "c"), ("o", "0")])
def test_one_misread_letter_does_not_hide_a_patient(
    settings: PatientSettings, right: str, misread: str
) -> None:
    family = f"Ban{right}twski"
    record = PatientRecord(1, names=(("Torvald", family),), births=("19560312",))
    build(settings, [record], n_workers=1)
    matcher = load_matcher(settings)
    assert matcher is not None
    name = f"Torvald {family.replace(right, misread)}"
    document, findings = made(f"{name} 1956-03-12", (E.PERSON, name), (E.DATE_OF_BIRTH, "1956-03-12"))
    assert [match.patient for match in matcher.check(document, findings).matches] == [1]


def test_each_patient_of_a_table_counts_once(people: list[Person], matcher: Matcher) -> None:
    rows = [f"{one.given} {one.family} | {one.born} | {one.mrn} | {one.card}" for one in people[:50]]
    values = [
        value
        for one in people[:50]
        for value in (
            (E.PERSON, f"{one.given} {one.family}"),
            (E.DATE, f"{one.born}"),
            (E.MRN, one.mrn),
            (E.HEALTH_CARD, one.card),
        )
    ]
    found = matcher.check(*made("\n".join([*rows, *rows]), *values))
    assert found.n_patients == len(found.matches) == 50
    assert {match.patient for match in found.matches} == set(range(1, 51))
    assert found.expected_by_chance < 1e-1


def test_a_dense_record_number_counts_only_with_another_key(settings: PatientSettings) -> None:
    records = [
        PatientRecord(n, names=((f"Given{'abcdefghij'[n % 10]}", "Fairweather"),), records=(f"{n + 1000}",))
        for n in range(2000)
    ]
    build(settings, records, n_workers=1)
    matcher = load_matcher(settings)
    assert matcher is not None
    assert number_density(matcher.index, Kind.RECORD, "1500") > DENSE
    assert not matcher.check(*made("MRN 1500", (E.MRN, "1500"))).matches
    confirmed = matcher.check(*made("Fairweather 1500", (E.PERSON, "Fairweather"), (E.MRN, "1500")))
    assert [match.kind for match in confirmed.matches] == ["name_record"]


def test_a_rare_name_is_a_weak_match_of_its_own(
    settings: PatientSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside names that thousands share, one that nobody else has; in a list that is called large enough."""
    for module in (chance, patients_build):
        monkeypatch.setattr(module, "RARE_HOLDERS", 0.1)
    common = [PatientRecord(n, names=(("Ann", "Common"),)) for n in range(150)]
    build(settings, [*common, PatientRecord(0, names=(("Quizzical", "Zanthoby"),))], n_workers=1)
    matcher = load_matcher(settings)
    assert matcher is not None
    found = matcher.check(*made("Quizzical Zanthoby", (E.PERSON, "Quizzical Zanthoby")))
    assert [(match.patient, match.kind) for match in found.matches] == [(151, "rare_name")]
    assert (found.n_patients, found.n_rare_names) == (0, 1)
    assert not matcher.check(*made("Ann Common", (E.PERSON, "Ann Common"))).matches
    assert 0 < log_odds_of(found) < log_odds_of(PatientCheck("", n_patients=1))


def test_windows_of_one_document_count_a_patient_once_by_the_strongest_key() -> None:
    weak = PatientMatch(5, Kind.RARE_NAME, Span(0, 3))
    strong = PatientMatch(5, Kind.CARD, Span(9, 12))
    joined = merged(
        [
            PatientCheck("i", (weak,), n_rare_names=1, n_lookups=2, expected_by_chance=0.5),
            PatientCheck("i", (strong,), n_patients=1, n_lookups=3, expected_by_chance=0.25),
        ]
    )
    assert joined == PatientCheck("i", (strong,), n_patients=1, n_lookups=5, expected_by_chance=0.75)
    assert merged([]) is None


@pytest.mark.slow
def test_strangers_match_as_rarely_as_is_said(settings: PatientSettings) -> None:
    """Other people of the same distribution of names: about as many matches as the lookups expect."""
    listed = [
        PatientRecord(n, names=((one.given, one.family),), births=(f"{one.born:%Y%m%d}",))
        for n, one in enumerate(population(20_000))
    ]
    build(settings, listed, n_workers=1)
    matcher = load_matcher(settings)
    assert matcher is not None
    n_found, expected = 0, 0.0
    for one in population(20_000, seed=99):
        name, born = f"{one.given} {one.family}", f"{one.born}"
        found = matcher.check(*made(f"{name} {born}", (E.PERSON, name), (E.DATE_OF_BIRTH, born)))
        n_found += found.n_patients
        expected += found.expected_by_chance
    assert 0 < expected < 100
    spread = 4 * np.sqrt(expected) + 4  # of a Poisson count
    assert abs(n_found - expected) < spread, (n_found, expected)


SURNAMES = """
Zoé | Gagné-Côté: Zoé Gagné-Côté; ZOE GAGNE COTE; Zoe Gagnecote; GAGNÉ-CÔTÉ, Zoé; Côté-Gagné Zoé; Gagne, Zoe
Ngozi | Okafor Lind: Ngozi Okafor-Lind; NGOZI OKAFORLIND; Okafor-Lind, Ngozi; OkaforLind Ngozi
Jean-Pierre | St-Onge: Jean-Pierre St-Onge; Jean Pierre Saint-Onge; JEAN-PIERRE ST ONGE
Jean-Pierre | St-Onge: Jeanpierre Saintonge; Jean-Pierre Stonge; Saint Onge, Jean-Pierre
Siobhán | O'Malley: Siobhan OMalley; O Malley, Siobhan; Siobhán O\u2019Malley; OMALLEY SIOBHAN
Marie | MacDonald: Marie Mac Donald; Macdonald, Marie; Marie McDonald; MARIE MC DONALD
Anna | van der Berg: Anna Vanderberg; van der Berg, Anna; Anna Van-der-Berg; VANDERBERG, ANNA
Anneke | DeVries: Anneke de Vries; DEVRIES, Anneke; Anneke De Vries
Renée | L'Heureux: Renee LHeureux; RENEE L HEUREUX; Lheureux, Renée
Marc | Saint-Pierre: Marc St-Pierre; MARC ST PIERRE; Marc Saintpierre; Marc Stpierre; Marc St. Pierre
Luc | Lévesque: Luc Levesque; LEVESQUE LUC; Luc Le\u0301vesque
"""  # of a list, and in documents
WRITTEN = [
    (*listed.split(" | "), one)
    for listed, _, written in (line.partition(": ") for line in SURNAMES.strip().split("\n"))
    for one in written.split("; ")
]


@pytest.mark.parametrize(("given", "family", "written"), WRITTEN)
def test_a_surname_is_matched_however_it_is_written(given: str, family: str, written: str) -> None:
    assert set(listed_pairs(given, family)) & set(combinations_of(forms_of(written)))


@pytest.mark.parametrize("other", ["Zoé Roy", "Marc Pierce", "Anna Bergen", "Marie Donaldson", "Luc Leveque"])
def test_another_surname_is_not(other: str) -> None:
    found = set(combinations_of(forms_of(other)))
    assert not any(set(listed_pairs(given, family)) & found for given, family, _ in WRITTEN)


@pytest.mark.parametrize(
    "card", ["BÉLM 6153 0318", "bélm61530318", "belm-6153-0318", "Bélm 6153  0318", "BELM.6153.0318"]
)
def test_a_health_card_is_equal_however_it_is_written(card: str) -> None:
    assert card_form(card) == card_form("BELM61530318")
