"""The words of an organization's name: which may stand in one, which name it, which end it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold

_MAX_WORDS = 7
_LEFT_CHARS = 140  # how far before its head a name is looked for
_MIN_UNUSUAL = 4  # letters: shorter words that are on no list are mostly abbreviations
_MAX_DIGITS = 3  # of a word within a name
_MAX_ABBREVIATED = 3  # letters: a longer word with a dot ends a sentence
JOINS = frozenset(("of", "the", "and", "&", "de", "la", "du", "des", "le", "les", "et"))
# What no name goes across: the end of a line or cell, brackets, signs.
BARRIER = r"[\n\r\t|;:\"“”()<>\[\]{}=*•→@^/\\_!?]|[ ]{2}|[ ][—–-][ ]"  # noqa: RUF001 (texts are written with it)
_BARRIER = re.compile(rf"{BARRIER}|,")
_BARRIER_OF_FIRM = re.compile(BARRIER)  # "Pruitt, Oyelaran & Stack, LLP"
_ELIDED = re.compile(r"^[dl]['’](?=.{3})")  # noqa: RUF001 (names are written with it)
# Words in front of a name, never of it; in capitals they look like one.
STOPS = frozenset(
    "the to at from by in on with was is are for or and not no patient pt dr mr mrs ms miss md rn np"  # noqa: SIM905 (a list of words reads best as a text)
    " calling asked asks"
    " seen admitted transferred discharged referred sent has had have his her their my our your went a"
    " an as of via if au aux en pour par sur est avec chez employer phone fax address tel re cc subject"
    " date name insurance facility attn attention dear call called calls contact see per c/o w/ this"
    " that these those which any each every some other another all both near local he she they we you i"
    " it who whose when where then than but also only although visited visit attends attended attending"
    " joined followed follow works worked working lives lived goes going gone took take brought"
    " presented transported accepted arrived returned employee resident member chief head director dean"
    " professor minister vice-president president chair manager coordinator mme m une un le la les des"
    " du de et ou à dans sans son sa ses notre votre leur ce cette site hôpital clinique under after"
    " before during since until upon into onto over through thru within without about against federal"
    " constitution attorney surgeon secretary postmaster governor inspector auditor consul major brigadier"
    " lieutenant ins ins1 ins2 pri sec prim payer payor supp mfr vendor rep".split()
)
# What any hospital, clinic or school may be called: words that name none by themselves.
GENERIC = frozenset(
    "medical med center centre ctr centers centres health healthcare system systems network services"  # noqa: SIM905 (a list of words reads best as a text)
    " service authority unit group associates assoc practice family long term rehabilitation rehab"
    " surgery surgical imaging radiology diagnostics diagnostic dental secondary high middle elementary"
    " district division board insurance assurance plan plans program programs benefit benefits"
    " community regional general memorial national provincial state county city municipal local central"
    " main own public private primary acute critical intensive urgent emergency walk-in walk after"
    " hours internal women's men's children's child adult maternal mental behavioral behavioural"
    " physical occupational oral eye vision heart vascular cardiac cancer renal pain sleep wound travel"
    " vaccine flu covid teaching tertiary academic inpatient outpatient ambulatory day same new old"
    " past present current previous patients medicine cardiology oncology neurology urology pediatric"
    " pediatrics paediatric paediatrics dermatology orthopedic orthopedics orthopaedic endoscopy"
    " physiotherapy physio chiropractic therapy counselling counseling treatment department dept office"
    " team life trust mutual company corporation hosp number nursing retirement care home homes clinic"
    " hospital pharmacy school college university north south east west northern southern eastern"
    " western first second third human resources social staff student students quality risk patient"
    " safety infection control information technology legal finance medication medicines drug crisis"
    " blood bone joint kidney dialysis hospice palliative veterans transplant fertility prenatal"
    " postnatal birth birthing speech hearing audiology nutrition diabetes asthma stroke trauma"
    " fracture cast pre-op preoperative post-op follow-up specialty specialties special laboratory lab"
    " labs in-house mobile hospitalier sante medicale generale regionale universitaire communautaire"
    " externe jour urgence urgences familiale familial primaire secondaire prive privee publique"
    " device devices implant implants pacemaker infusion infused injectable prescription oral controlled"
    " remote failure anticoagulation foot hand allergy memory movement feeding swallowing lactation"
    " pre-admission admission admissions discharge triage minor injury sexual hepatitis spine hip knee"
    " rapport examen certificat formulaire dossier sommaire demande bilan avis suivi soins traitement"
    " conge questionnaire requete ordonnance consultation evaluation expertise transport"
    " brulure brulures main pied genou hanche coeur poumon rein reins yeux peau plaies plaie"
    " complex continuing pelvic anticoag transitional restorative grievance grievances appeals appeal"
    " experience relations privacy release records record enrolment enrollment eligibility barristers"
    " solicitors notaries attorneys"
    " rendez-vous douleur anglais francais prelevements prelevement pneumologie memoire".split()
)


@cache
def load_heads() -> tuple[tuple[str, ...], ...]:
    """Return the words that say what an organization is, and what each says.

    Raises:
        DictionaryError: the list cannot be read.
    """
    return load_dictionary(data_dir("dictionaries") / "organization_heads.txt").rows


def words_before(text: str, start: int, *, small: bool = False, firm: bool = False) -> list[tuple[int, str]]:
    """Return the words of a name that ends before ``start``: where each begins, and the word.

    ``small``: the name is written in small letters; ``firm``: it may hold commas.
    """
    low = max(0, start - _LEFT_CHARS)
    left = text[low:start]
    if firm and left.endswith(", "):
        left = left[:-1]
    if not left or left[-1] not in (" ," if firm else " "):
        return []
    position = len(left) - 1
    barriers = (_BARRIER_OF_FIRM if firm else _BARRIER).finditer(left, 0, position)
    cut = max((barrier.end() for barrier in barriers), default=0)
    words: list[tuple[int, str]] = []
    while position > cut and len(words) < _MAX_WORDS:
        begin = max(left.rfind(" ", cut, position) + 1, cut)
        word = left[begin:position]
        if not (_may_be_small(word) if small else _may_be_part(word)):
            break
        words.append((low + begin, word))
        position = begin - 1
    while words and (words[-1][1].lower() in JOINS or words[-1][1].isdecimal()):
        words.pop()
    return words[::-1]


def _may_be_part(word: str) -> bool:
    plain = word.strip(".,'’-")  # noqa: RUF001 (names are written with it)
    if word.lower() in JOINS:
        return True
    if sum(map(str.isdecimal, word)) > _MAX_DIGITS:
        return False  # "Claim AZC-4418-22 Sonoran Fields Co-op"
    if not plain or not (plain[0].isupper() or (plain[0].isdecimal() and not plain.isdecimal())):
        return False
    ends_sentence = word.endswith(".") and len(plain) > _MAX_ABBREVIATED and "." not in plain
    return not ends_sentence and plain.lower() not in STOPS


def _may_be_small(word: str) -> bool:
    return word.islower() and word not in STOPS and (word in JOINS or len(word) > 1)


def is_generic(words: Iterable[str]) -> bool:
    """Tell whether every one of these words may stand in any organization's name.

    >>> is_generic(["Regional", "Medical"]), is_generic(["Big", "Sky"])
    (True, False)
    """
    return all(_stem(word) in GENERIC or word.lower() in JOINS for word in words)


def _stem(word: str) -> str:
    """Return a word as the lists have it: without what is elided before it ("d'examen")."""
    return _ELIDED.sub("", fold(word.strip(".,'’&-")))  # noqa: RUF001 (names are written with it)


def is_unusual(gazetteer: Gazetteer, words: Iterable[str]) -> bool:
    """Tell whether one of these words is on no list of ordinary words: it names something."""
    for word in words:
        plain = fold(word.strip(".,'’&-"))  # noqa: RUF001 (names are written with it)
        if len(plain) < _MIN_UNUSUAL or plain in GENERIC or plain in STOPS:
            continue
        if not gazetteer.of(plain) & (Word.ORDINARY | Word.NOT_PERSON | Word.EPONYM):
            return True
    return False
