"""Fields of records that hold who treats: elements and keys of FHIR and CDA, DICOM, names of columns.

A field says what its value is in its own name (``ReferringPhysicianName``), in an attribute or a field
before it (``"role": "attending"``), or in a comment after it, as dumps of DICOM files have it.

Source: HL7 FHIR R4, resource elements of type Reference(Practitioner); HL7 CDA R2, 4.2; DICOM PS3.6, data
elements with value representation PN.
"""

from __future__ import annotations

from phiscan.lexicon.role_words import NAME_KEY, ROLE

_WHO = (
    rf"(?:{ROLE}|mrp|pcp|practitioners?|provider|prov|prestataire|soignante?|requester|recorder|asserter"
    r"|performer|attester"
    r"|author|authenticator|legalAuthenticator|informationRecipient|assigned(?:Person|Author|Entity)"
    r"|responsible"
    r"|(?:referr|order|attend|admitt?|consult|perform|prescrib|dispens|operat|render|report|sign|author"
    r"|verif|collect"
    r"|interpret|read|treat|request|discharg|supervis)(?:ing|ed|er|or)?[ _-]?(?:by|provider|physician|doctor"
    r"|clinician|practitioner|party|md|surgeon|nurse))"
)
_NAME_ELEMENT = r"<(?:\w{1,8}:)?(?:name|nom|given|prenom|family|prefix|text|display)\b[^<>\n]{0,40}>"
_CAMEL = (
    r"(?-i:(?:[A-Z]?[a-z]{2,12}){0,3}(?:Physician|Practitioner|Provider|Surgeon|Nurse|Operators?|Technologist"
    r"|Doctor|Prescriber|Therapist|Clinician|Pharmacist|Medecin|Soignant|Prescripteur)s?(?:Nm"
    r"|(?:Of[A-Z]\w{1,10})?"
    r"(?:Full|Last|First|Family|Given)?Name)?"
    r"|(?:[a-z]{2,12}_){0,3}(?:physician|practitioner|provider|surgeon|nurse|operator|technologist|doctor"
    r"|prescriber"
    r"|therapist|clinician|pharmacist|md|medecin|infirmiere|soignant|prescripteur)(?:_(?:full|last|first"
    r"|family"
    r"|given))?(?:_(?:name|nm|nom|prenom|last|first))?)"
)
# What is before such a value; without look-around, for two kinds of engines.
FIELD_BEFORE = (
    # <MRP msp="1">, <assignedPerson><name><given>
    rf"<(?:\w{{1,8}}:)?{_WHO}(?:[ ][^<>\n]{{0,60}})?>(?:\s{{0,12}}{_NAME_ELEMENT}"
    r"(?:[^<>\n]{1,24}</\w{1,12}>)?){0,3}\s{0,12}"
    # <Person role="RN">
    rf"|<\w{{1,24}}(?:[ ][^<>\n]{{0,40}})?[ ](?:role|type|fonction)=\"(?:rn|md|np|mrp|pcp|rpn|lpn"
    rf"|{_WHO})\"[^<>\n]{{0,40}}>"
    # "requester": {"reference": "Practitioner/1", "display": "
    rf"|\"{_WHO}\"[ ]?:\s{{0,8}}(?:[\[{{]\s{{0,8}}){{0,3}}"
    rf"(?:\"\w{{1,20}}\"[ ]?:[ ]?\"[^\"\n]{{0,40}}\",\s{{0,8}}){{0,2}}"
    rf"(?:\"{NAME_KEY}\"[ ]?:[ ]?\[?)?\""
    # "par": "
    r"|\"(?:par|by|sign[ée]e?(?:_?par)?|signed(?:_?by)?|pr[ée]lev[ée]_?par|valid[ée]_?par"
    r"|conseill[èe]re?)\"[ ]?:[ ]?\""
    # "role": "attending", "display": "
    rf"|\"(?:role|type|function|fonction)\"[ ]?:[ ]?\"(?:rn|md|np|mrp|pcp|rendering|attending|referring"
    rf"|ordering|{_WHO})"
    rf"\",\s{{0,8}}\"{NAME_KEY}\"[ ]?:[ ]?\""
    # ReferringPhysicianName: ; (0008,0090) PN [
    rf"|{_CAMEL}[\"']?[ ]{{0,3}}[:=][ ]{{0,3}}[\"'\[]?"
    r"|\((?:0008,(?:0090|1048|1050|1060|1062|1070)|0032,1032|0040,a(?:075|123))\)[ ]PN[ ]\["
)
# The comment of a dump after it.
FIELD_AFTER = r"\][ \t]{0,40}#[ ]{0,3}[\d, ]{0,8}\w{0,30}(?:Physician|Operator|Observer|Technologist)"
