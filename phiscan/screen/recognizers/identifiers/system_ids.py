r"""Identifiers of computer systems: accounts of users, and numbers of CDA documents and FHIR resources.

An account is mostly a name (jroy, a.roy) or a number of staff. Source: Windows and Unix profile folders, the
common log format of web servers (its third field), LDAP (uid), Windows event logs (DOMAIN\user). Who assigned
the number of a document or resource says what it is. Source: HL7 CDA R2 (II: root and extension), the
registry of HL7 object identifiers, FHIR R4 (Resource.id, Reference.reference); namespaces of provinces:
Canada Health Infoway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import ClassVar

from phiscan.lexicon.capitalized_words import name_finding
from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.text.automata import automaton
from phiscan.text.prefilter import Rare

SCORE = 0.7
SOURCE = "names.account"
_USER = r"(?:[^\W_]|[._-](?=[^\W_])){3,40}"
_VERB = r"(?:[Pp]rint|[Ee]xport|[Gg]enerat|[Cc]reat|[Mm]odifi|[Uu]pdat|[Ee]nter|[Ss]cann)"
_VERB_FR = r"(?:[Ii]mprim|[Ee]xport|[Gg]énér|[Cc]ré|[Mm]odifi|[Ss]aisi|[Nn]uméris)"
_LABEL = re.compile(
    r"(?:user|account|login|owner|logon|utilisateur|compte)(?: ?name)?[ \t]{0,3}\Z", re.IGNORECASE
)
_LABEL_CHARS = 20
# Each by its place; one automaton for each, of the same without what re2 lacks, and without counts.
_FORMS = (
    (
        re.compile(
            r"(?:[\\/]{1,2}(?:[Uu]sers|Utilisateurs|Documents and Settings)[\\/]{1,2}"
            r"|(?<![\w.])/(?:export/)?home/)"
            rf"(?P<folder>{_USER})(?=[\\/>\"'\s]|$)"
        ),
        r"[\\/](?:[Uu]sers|Utilisateurs|Documents and Settings|home)[\\/]",
    ),
    (
        re.compile(rf"^\d{{1,3}}(?:\.\d{{1,3}}){{3}} \S{{1,40}} (?P<log>{_USER}) \[\d\d?/", re.MULTILINE),
        r"\d\.\d+\.\d+ \S+ [^\s\[]+ \[\d",
    ),
    (
        re.compile(rf"(?<![\w-])uid=(?P<uid>{_USER}),\s?(?:ou|dc|cn|o)=", re.IGNORECASE),
        r"(?i)uid=[\w.-]+,\s?(?:ou|dc|cn|o)=",
    ),
    (
        re.compile(rf"[:=][ \t]{{0,14}}[A-Za-z][\w.-]{{1,30}}\\{{1,2}}(?P<member>{_USER})"),
        r"[:=][ \t]*[A-Za-z][\w.-]*\\\\?[\w.-]",
    ),
    (
        re.compile(
            r"\"(?:from|author|sender|created_?by|modified_?by|utilisateur|auteur|exp[ée]diteur)\"\s?:"
            rf"\s?\"(?P<sender>{_USER})\"",
            re.IGNORECASE,
        ),
        r"(?i)\"(?:from|author|sender|created_?by|modified_?by|utilisateur|auteur|exp.{1,2}diteur)\"\s?:\s?\"[\w.-]+\"",
    ),
    (
        re.compile(
            rf"(?:{_VERB}ed by|{_VERB_FR}é?e? par)[: ]{{1,2}}(?P<by>[a-z][a-z.]{{3,24}}\d?)"
            r"(?=[ ,;]{1,2}(?:on |at |le |à )?\d)"
        ),
        rf"(?:{_VERB}ed by|{_VERB_FR}(?:é|ée|e|) par)[: ]+[a-z][a-z.]+\d?[ ,;]+(?:on |at |le |à )?\d",
    ),
)
_ANY = automaton("|".join(f"(?:{hint})" for _, hint in _FORMS))
_PLACES = tuple(Rare(pattern, hint) for pattern, hint in _FORMS)
# Accounts that nobody is called by.
_MACHINES = frozenset(
    "admin administrateur administrator all anonymous apache app appdata apps auto backup batch bot"  # noqa: SIM905 (a list of words reads best as a text)
    " bin build common conda daemon data default deploy dev docker ec2-user email fax ftp git"
    " gitlab-runner guest hand hl7 hudson interface invite invité jenkins lab local localservice"
    " mail mysql network networkservice nobody node none operator oracle our pacs phone post"
    " postgres postgresql print prod public root runner sa scanner scheduler server service"
    " services share shared shiny sql sqlserver ssh ssm-user staff student sync sys system"
    " systeme système temp test tester the them tomcat ubuntu unknown user username users"
    " utilisateur vagrant virtual web webmaster workstation www www-data your".split()
)
_PREFIXES = ("bot-", "bot_", "bot.", "svc", "srv", "app-", "admin", "test", "default", "system", "service")


class AccountRecognizer:
    """Find accounts of users where systems write them."""

    name: ClassVar = "identifiers.user_accounts"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        text = document.text
        if _ANY.search(text.encode("utf-8", "surrogatepass")) is None:
            return
        for match in chain.from_iterable(place.finditer(text) for place in _PLACES):
            where = match.lastgroup or "folder"
            account = match[where].casefold()
            if account in _MACHINES or account.startswith(_PREFIXES) or account.endswith("$"):
                continue
            if where == "member" and not _LABEL.search(
                text[max(0, match.start() - _LABEL_CHARS) : match.start()]
            ):
                continue
            start, end = match.span(where)
            letters = sum(map(str.isalpha, account))
            if letters < len(account) / 2 or letters < 3:  # noqa: PLR2004 (a name has three letters)
                kind = EntityType.OTHER_ID
                reason = Reason("label", where, SCORE)
                yield Finding(Span(start, end), kind, "account", SCORE, bits_of(kind), (reason,))
                continue
            yield name_finding(
                start, end, health=False, bits=frozenset(), source=SOURCE, score=SCORE,
                reason=("label", where),
            )  # fmt: skip


RESOURCE_SCORE = 0.9
RESOURCE_SOURCE = "resource"
_ID = re.compile(
    r"<(?:[A-Za-z]\w{0,20}:)?(?:id|setId)\s(?=[^<>]{0,300}?\broot\s?=\s?\"(?P<root>[\d.]{3,80})\")"
    r"[^<>]{0,300}?\bextension\s?=\s?\"(?P<number>[^\"<>]{2,64})\""
)
_PATIENT = re.compile(
    r"<(?:\w{1,20}:)?patientRole\b[^<>]{0,200}>(?:\s{0,40}<(?:\w{1,20}:)?id\b[^<>]{0,400}>){0,12}\s{0,40}\Z"
)
_BEFORE_NUMBER = 4_000  # characters from the patient's role to the last of its numbers
_TYPES = (
    "Patient|Practitioner|RelatedPerson|Encounter|Person|Appointment|Coverage|Observation|Condition|DiagnosticReport"
    "|ServiceRequest|MedicationRequest|Specimen|Device|DocumentReference|Claim|EpisodeOfCare|Procedure|Immunization"
    "|AllergyIntolerance|CarePlan"
)
_REFERENCE = re.compile(
    rf"\"(?:reference|fullUrl)\"\s?:\s?\"[^\"\s]{{0,200}}?(?:{_TYPES}|PractitionerRole)/(?P<number>[\w.-]{{1,64}})\""
)
_RESOURCE = re.compile(
    rf"\"resourceType\"\s?:\s?\"(?:{_TYPES}|Bundle)\"\s{{0,3}},\s{{0,40}}\"id\"\s?:\s?\"(?P<number>[\w.-]{{1,64}})\""
)
_MIN_RESOURCE_CHARS = 3
_OIDS: Mapping[str, EntityType] = MappingProxyType({
    "2.16.840.1.113883.4.1": EntityType.SSN,
    "2.16.840.1.113883.4.6": EntityType.LICENSE,  # NPI
    "2.16.840.1.113883.4.814": EntityType.LICENSE,  # DEA
    "2.16.840.1.113883.4.572": EntityType.HEALTH_PLAN,  # Medicare
    "2.16.840.1.113883.4.927": EntityType.HEALTH_PLAN,  # Medicare, MBI
    **dict.fromkeys(  # British Columbia to the Northwest Territories
        (f"2.16.840.1.113883.4.{number}" for number in (44, 45, 47, 49, 50, 53, 55, 56, 57, 58, 59, 60, 61)),
        EntityType.HEALTH_CARD,
    ),
})  # fmt: skip


class ResourceRecognizer:
    """Find the numbers of CDA documents and of FHIR resources."""

    name: ClassVar = "messages.resource_ids"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        text = document.text
        if "extension" in text and "root" in text:
            for match in _ID.finditer(text):
                kind = _OIDS.get(match["root"])
                if kind is None:
                    before = text[max(0, match.start() - _BEFORE_NUMBER) : match.start()]
                    role = before.rfind("patientRole")
                    is_patient = role >= 0 and _PATIENT.search(before, max(0, role - 30)) is not None
                    kind = EntityType.MRN if is_patient else EntityType.OTHER_ID
                yield from _resource(kind, match, "extension")
        if '"resourceType"' in text:
            for pattern in (_REFERENCE, _RESOURCE):
                for match in pattern.finditer(text):
                    yield from _resource(EntityType.OTHER_ID, match, "id")


def _resource(kind: EntityType, match: re.Match[str], where: str) -> Iterator[Finding]:
    number = match["number"]
    if len(number) >= _MIN_RESOURCE_CHARS and any(map(str.isdecimal, number)):
        span = Span(*match.span("number"))
        yield Finding(
            span,
            kind,
            RESOURCE_SOURCE,
            RESOURCE_SCORE,
            bits_of(kind),
            (Reason("label", where, RESOURCE_SCORE),),
        )
