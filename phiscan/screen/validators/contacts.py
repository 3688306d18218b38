"""Checks of phones, addresses of the internet and of streets, organizations and employers."""

from __future__ import annotations

import importlib
import ipaddress
import re
from functools import lru_cache
from typing import Any

from phiscan.lexicon.months import MONTHS
from phiscan.screen.validators.verdicts import Verdict, plausible

_NANP = re.compile(
    r"\(?([2-9]\d{2})\)?[-. ]{0,2}([2-9]\d{2})[-. ]?\d{4}"
)  # a plain one: expensive to parse again
_SAME_PLACE = (
    16  # values: several rules check the same number, and the numbering plans of a continent are expensive
)


@lru_cache(maxsize=_SAME_PLACE)
def _phone_number(value: str) -> Any:
    """Return a number as phonenumbers reads it, None where it reads none."""
    phonenumbers = importlib.import_module("phonenumbers")
    try:
        return phonenumbers.parse(value, "CA")
    except phonenumbers.NumberParseException:
        return None


@lru_cache(maxsize=_SAME_PLACE)
def phone(value: str) -> Verdict:
    """Confirm a North American or international number that could be in service; never veto.

    Numbers such as 555-0199 are not in service but are in texts as phone numbers all the same.
    """
    nanp = _NANP.fullmatch(value)
    if nanp:
        confirmed = _exchange_in_service(nanp[1] + nanp[2])
    else:
        number = _phone_number(value)
        confirmed = number is not None and importlib.import_module("phonenumbers").is_valid_number(number)
    return Verdict.CONFIRM if confirmed else Verdict.PLAUSIBLE


@lru_cache(maxsize=4096)
def _exchange_in_service(exchange: str) -> bool:
    """Tell whether an area code and exchange could be in service: the last four digits never decide it."""
    phonenumbers = importlib.import_module("phonenumbers")
    number = phonenumbers.PhoneNumber(country_code=1, national_number=int(f"{exchange}2345"))
    return bool(phonenumbers.is_valid_number(number))


def possible_phone(value: str) -> Verdict:
    """Veto an international number of impossible length for its country code."""
    number = _phone_number(value)
    return plausible(
        number is not None and importlib.import_module("phonenumbers").is_possible_number(number)
    )


# Addresses of standards, code systems and schemas, which identify no person.
_OF_STANDARDS = re.compile(
    r"(?:https?://)?(?:[\w-]{1,60}\.){0,4}(?:hl7\.org|w3\.org|loinc\.org|snomed\.info|unitsofmeasure\.org|nucc\.org"
    r"|dicom\.nema\.org|ihe\.net|xmlsoap\.org|openxmlformats\.org|schemas\.microsoft\.com|json-schema\.org"
    r"|rxnorm|nlm\.nih\.gov/research/umls/rxnorm|ama-assn\.org/go/cpt|simplifier\.net|springframework\.org"
    r"|maven\.apache\.org|xmlns\.jcp\.org)(?![\w.-])|(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])(?![\w.])",
    re.IGNORECASE,
)
_NAMES_SYSTEM = re.compile(
    r"/(?:NamingSystem|StructureDefinition|CodeSystem|ValueSet|ConceptMap|SearchParameter|CapabilityStatement)(?:/|$)"
)
_PORT = re.compile(r"(?P<end>\.\d{1,3}):\d{2,5}$")


def web_address(value: str) -> Verdict:
    """Veto what names a standard, a system of codes, a schema or the machine itself."""
    return plausible(not (_OF_STANDARDS.match(value) or _NAMES_SYSTEM.search(value)))


def ip_address(value: str) -> Verdict:
    """Veto what is no address of internet protocol 4 or 6, and the loopback and unspecified ones."""
    try:
        address = ipaddress.ip_address(_PORT.sub(r"\g<end>", value.strip("[]").partition("%")[0]))
    except ValueError:
        return Verdict.VETO
    return plausible(not (address.is_loopback or address.is_unspecified))


# Words between the label of an address and its number.
_TO_ADDRESS = frozenset("on file is was at now new old rue apt unit box lot the au est".split())  # noqa: SIM905 (a list of words)


def address(value: str) -> Verdict:
    """Veto the rest of a line that cannot be an address: without a digit, or without a word.

    Words in small letters before its first number are none either: "try side door code 4471".

    >>> address("44 the old mill").value, address("the issue").value, address("2019-01-02").value
    ('plausible', 'veto', 'veto')
    """
    before = re.findall(r"[^\W\d_]{2,}", re.split(r"\d", value, maxsplit=1)[0])
    if len(before) > 1 and all(word.islower() and word not in _TO_ADDRESS for word in before):
        return Verdict.VETO
    words = re.findall(r"[^\W\d_]{2,}", value)
    if not words or not any(c.isdecimal() for c in value[:25]):
        return Verdict.VETO
    return Verdict.PLAUSIBLE


# A year and whose doing, a day and a time of day, or a day and a month, and then a doctor's title.
_TITLE_AFTER_DATE = re.compile(
    r"(?:(?:18|19|20)\d{2} (?:under|by|with|per|via|from|to|and|par|avec|du|et)|\d{1,2} \d{4}|\d{1,2} (?:"
    + "|".join(sorted(MONTHS, key=len, reverse=True))
    + r"))\b.{0,40}\bdr\b\.?",
    re.IGNORECASE,
)


def street(value: str) -> Verdict:
    """Veto a number and words, of which the last is a doctor's title, not Drive.

    >>> street("2022 UNDER DR.").value, street("16 Oct. Dr").value, street("2022 Ocean Dr").value
    ('veto', 'veto', 'plausible')
    """
    return plausible(_TITLE_AFTER_DATE.fullmatch(value) is None)


# Numbers of births, the stage of a tumour and the parts of a coma score look like postal codes.
_NO_POSTAL_CODE = re.compile(r"G\dP\dA\d|T\dN\dM\d|E[1-4]V[1-5]M[1-6]")


def postal_code(value: str) -> Verdict:
    """Veto what a note writes in one word for pregnancies or the stage of a tumour: "G2P1A0", "T2N1M0".

    >>> postal_code("G2P1A0").value, postal_code("G2P 1A0").value
    ('veto', 'plausible')
    """
    return plausible(_NO_POSTAL_CODE.fullmatch(value) is None)


_BARE_ORGANIZATION = frozenset(
    "the a an this that our your his her their my any each every some no which what local general"  # noqa: SIM905 (a list of words reads best as a text)
    " public private"
    " one united state national federal if in at for and all to as of by when whether with is".split()
)


def organization(value: str) -> Verdict:
    """Veto a name that is nothing but articles and the word for an organization: "The Company".

    >>> organization("The Company").value, organization("Acme Widgets Inc.").value
    ('veto', 'plausible')
    """
    words = [word.strip(".,").lower() for word in value.split()]
    named = [word for word in words[:-1] if word not in _BARE_ORGANIZATION]
    return plausible(bool(named) or (len(words) == 1 and words[0] not in _BARE_ORGANIZATION))


_NO_EMPLOYER = frozenset(
    "retired unemployed self self-employed none unknown n/a na same other homemaker student disabled"  # noqa: SIM905 (a list of words reads best as a text)
    " disability full part full-time part-time yes no not patient retraité retraitée retraite aucun"
    " aucune inconnu invalide étudiant étudiante chômage medicare medicaid home self-pay private cash"
    " per pending tbd tbc refused refuses declined discussed closed open faxed called accepted"
    " awaiting absent absente présent avisé avisée refusé refuse à voir monday tuesday wednesday"
    " thursday friday saturday sunday lundi mardi mercredi jeudi vendredi samedi dimanche today"
    " tomorrow tonight daily weekly".split()
)
# What is after the label of a home, a shelter or a supplier and is no name: a state, a measure.
_NO_NAME = frozenset(
    "application applied applying waitlist waitlisted wait list started family patient pt client"  # noqa: SIM905 (a list of words reads best as a text)
    " grade gr room air litres liters via nasal prn at in on to with for bed beds consult referral"
    " referred ref needs need may will has have not if see ok stable full manual power electric"
    " transport active passive good poor fair nil some any daily contact phone tel fax call name date"
    " dr mr mrs ms mme m rn md np sw ot pt slp ccac paramedics arrived dispatched en left right both"
    " new old first second third medical surgical inpatient outpatient goals goal plan planning"
    " potential candidate appropriate yes y n breast liver lung colon prostate brain type class status"
    " number no mbi id no phn hcn policy group grp plan hic day nonunion malunion healed aggressive"
    " intensive slow stream short long term completed complete continue continued continues snf ltc"
    " icu ccu tele telemetry obs observation admit admitted discharge discharged floor ward stepdown"
    " hospice home rehab unclear unknown undetermined awaiting anticipated likely benign malignant"
    " negative positive normal abnormal adenocarcinoma carcinoma invasive chronic acute fragments skin"
    " tissue final prelim preliminary results reviewed skilled assisted independent back return"
    " returned transfer transferred hd pd ihd tts mwf lines line access ok'd going waiting when once"
    " after before same other d/c dc er ed or pacu supportive private public regular special online"
    " virtual in-person remote grades k jk sk joint group desk preschool kindergarten iep suspended"
    " expelled".split()
)


_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday"  # noqa: SIM905 (a list of words reads best as a text)
    " lundi mardi mercredi jeudi vendredi samedi dimanche am pm".split()
)
_PARTICIPLE = re.compile(r"[a-z]{2,}(?:ed|ing|ly|able|ible)")
_MAX_SHORT = 2  # letters of a first word that makes more of them no name: "PT and OT"


def named_organization(value: str) -> Verdict:
    """Veto what follows the label of a home or supplier and is no name: "Refused", "Room".

    >>> named_organization("Room").value, named_organization("Golden Living").value
    ('veto', 'plausible')
    """
    words = [word.strip(".,").lower() for word in value.split() if not word.strip("#").isdecimal()]
    if not words or (len(words) == 1 and _PARTICIPLE.fullmatch(words[0])):
        return Verdict.VETO
    # With a capital each, several words are a name whatever the first is: "Family Health Team".
    says_little = len(words) == 1 or len(words[0]) <= _MAX_SHORT or value.islower() or value.isupper()
    if says_little and words[0] in _NO_NAME:
        return Verdict.VETO
    return Verdict.VETO if any(word in _DAYS for word in words) else employer(value)


def employer(value: str) -> Verdict:
    """Veto what is in the place of an employer or payer and is none: "Retired", "Self-pay".

    >>> employer("Retired").value, employer("Self Pay").value, employer("Acme Widgets").value
    ('veto', 'veto', 'plausible')
    """
    first = value.split(maxsplit=1)[0].strip(".,").lower()
    return Verdict.VETO if first in _NO_EMPLOYER else organization(value)
