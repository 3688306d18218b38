"""Patterns around a name: what says that somebody treats, is treated, or is related to one who is."""

from __future__ import annotations

import re
from typing import Final

from phiscan.lexicon.role_words import CREDENTIAL, DONE_BY, GAP, KIN, NAME_KEY, ROLE, SHORT, TITLE
from phiscan.screen.attributes.staff_contexts import FIELD_AFTER, FIELD_BEFORE

BEFORE: Final = re.compile(
    rf"(?:(?<![\w-])(?:{TITLE}"
    # label and value
    rf"|{ROLE}(?:['’]s)?(?:[ ](?:signature|name|de[ ]famille|traitante?|r[ée]f[ée]rante?"  # noqa: RUF001 (texts are written with it)
    rf"|requ[ée]rante?))?{GAP}"
    rf"|{SHORT}{GAP}|(?<=\n){ROLE}[ ]?:?[ ]{{0,3}}\n[ ]{{0,8}}"
    # running text
    rf"|(?<!retired )(?<!former )(?<!ancienne )(?<!a )(?<!an ){ROLE}[ ]"
    r"|(?-i:RN|LPN|RPN|NP|RPh|MD|RRT|CRNA|MSW|SW|LCSW|PSW|CNA|HCA|MLT|OD|SF|PI|IPS|TS|MRP|w/[ ]fellow|backup"
    r"|RT|OT|SLP|CM|RCP|T\.S\.|R[1-6]|PGY-?[1-7]|CC[34]|MS[34]|PAB|[Cc]harge|CHARGE"
    r"|[Cc]rew[ ]\d|reviewer)[ ]|(?:psw|hca|rn|lpn|rpn|cna|msw|rrt|lcsw|ipspl|inf\.?|hyg\.|sw|ot|slp)[ ]"
    # in brackets after what is done, as in with OT (Thaddeus)
    rf"|(?:{ROLE}|(?-i:RN|OT|SLP|RT|NP|SW|MSW|RD|MA)|(?:slp|ot|pt|psych|wound|diet"
    rf"|cardio)[ ]referral)[ ]\("
    # where somebody has to sign, as in charge nurse of ED to countersign
    rf"|{ROLE}(?:[ ][^\W\d]{{1,12}}){{0,5}}[ ](?:countersign|sign|signature"
    rf"|initials?)[ ]?:[ ]{{0,2}}_{{0,20}}[ ]?"
    # "my nurse, Hope"
    rf"|(?:my|our|your|notre|votre|mon|ma)[ ](?:[^\W\d]{{1,14}}[ ]){{0,2}}(?:{ROLE}|(?-i:RN|NP|OT|PT|SLP"
    rf"|SW|RD|GP)),[ ]"
    rf"|(?:{ROLE}|(?-i:RN|LPN|RPN|NP|RT|OT|PT|PCP|MRP|GP|CHR|CHW|SW|MSW|PSW|HCA|CNA|RRT"
    rf"|PI))(?:,?[ ][^\W\d]{{1,8}}){{0,6}}[ ]"
    r"(?:is|was|est|named|called|nomm[ée]e?|as|being)[ ]"
    rf"|{DONE_BY}{GAP}|{DONE_BY}[ ]|par=[\"']?"
    # <prescripteur permis="1"> <nom>, "prescriber": {"name": "
    rf"|{ROLE}(?:[ ]\w{{1,20}}=\"[^\"\n]{{0,40}}\")?[\"' >:={{\[\n]{{1,24}}<?"
    rf"{NAME_KEY}[\">:=' \[{{]{{1,8}})|{FIELD_BEFORE})"
    r"(?:(?-i:RN|NP|MD|OT|RT|SLP|LPN|RPN|PA|RPh)[ ])?(?:M(?:me|lle|r|rs|s)?\.?[ ])?\"?$",
    re.IGNORECASE,
)
AFTER: Final = re.compile(
    r"[\"']?[ ,;]{1,2}role=[\"']?(?:RN|MD|DO|NP|PA|LPN|RPN|RPH|RT|PHYSICIAN|NURSE|PHARMACIST)\b|"
    rf"(?:[ ]?,[ ]?|[ ]{{1,3}}|[ ]?\(|[ ][-–][ ])(?-i:{CREDENTIAL})(?![\w-])"  # noqa: RUF001 (texts are written with it)
    r"|(?:,[ ]?|[ ]?\(|[ ][-–/][ ])(?:(?:le|la|the|your|our|votre|notre)[ ])?"  # noqa: RUF001 (texts are written with it)
    rf"{ROLE}(?=[ ]?(?:[,.;:)\n|]|[ ]{{2}}|$|at\b|de\b|du\b|of\b))"
    # the line below a signature
    rf"|\.?[ ]?\r?\n[ >]{{0,8}}(?-i:(?:[A-Z]{{2}}[ ])?{CREDENTIAL})(?=[ ]{{2}}|[ ]?[,(\n]"
    rf"|[ ][A-Z]{{0,4}}\d|\Z)"
    rf"|[ ]?\r?\n[ >]{{0,8}}(?:[^\W\d_]{{2,14}}[ ]){{0,2}}{ROLE}"
    r"(?=,[ ]|[ ](?:at|of|de|du|[-–—])[ ])"  # noqa: RUF001 (texts are written with it)
    # a licence to treat
    rf"|[ ,]{{1,4}}(?-i:NPI|CPS[A-Z]{{1,4}}|C[RN]N[A-Z]{{0,2}}|BCC?NM|CMQ|O[A-Z]{{2,7}}Q"
    rf"|RCDSO)[ #:]{{0,3}}(?:no\.?[ ]?)?\w?\d"
    r"|[ ](?:pab|psw|lpn|rpn|rn|np|inf(?:\.?[ ]?aux)?\.?|pr[ée]pos[ée]e?|cna|hca)[ ]?:"
    # of a chat: "sunny (rt)"
    r"|[ ]\((?:sw|charge|rt|rn|ot|slp|md|np|pab|inf|aux|pa|hca|resp)\b[^()\n]{0,10}\)"
    rf"|{FIELD_AFTER}",
    re.IGNORECASE,
)
LAY: Final = re.compile(
    rf"(?<![\w])(?:{KIN}(?:[ ]{{0,2}}[:=,(|][ ]{{0,3}}|[ ](?:is[ ])?|\t)"
    r"|(?:patiente?s?|pts?|clients?|usag(?:er|ère)|r[ée]sidente?|b[ée]n[ée]ficiaire|claimant|insured"
    r"|member|subscriber"
    r"|employee|employ[ée]e?|student|[ée]l[èe]ve|re|objet|regarding|mrs?|ms|miss|m\.|mme|mlle|monsieur|madame"
    r"|mademoiselle|emergency[ ]contact|next[ ]of[ ]kin)(?:['’]s)?(?:[ ](?:name|nom))?[ .]{0,3}[:="  # noqa: RUF001 (texts are written with it)
    r"|\t]?[ \t\"']{0,12}"
    r"|(?<!user)(?<!doctor )(?<!du m[ée]decin )(?:full[ ]|complet[ ]?)?(?:name|nom)[ ]?:[ ]{1,3})\"?$",
    re.IGNORECASE,
)
LAY_SURE: Final = re.compile(
    rf"(?<!\w)(?:{KIN}|patiente?s?|pts?|usag(?:er|ère)|mrs?|ms|miss|m|mme|mlle|monsieur|madame)\b\W{{0,6}}$",
    re.IGNORECASE,
)
TREATED: Final = re.compile(
    r"[ ]?[,(|\t ][ ]{0,3}(?:(?:is[ ])?an?[ ])?(?:dob|ddn|d\.o\.b|n[ée]e?[ ]le|mrn|\d{1,3}[ -]?(?:y\b"
    r"|yo\b|y/o|ans\b|year|[mf]\b)|[MF][ ]\d{1,3}\b)",
    re.IGNORECASE,
)
# A remark after a comma or a figure that the name took along: "agbaje, gi", "Mahajan 0215", "Hoang, sera".
TAIL: Final = re.compile(
    rf"(?:,[ ][a-zà-ÿ]{{2,6}}|[ ]\d{{3,4}}|[ ](?:EN|A|AU|ET|EST|LE|LA|SUR|AND|IS)|,[ ](?i:{ROLE}))$"
)
REMARK: Final = re.compile(
    rf"(?:[ ]\((?i:{KIN})\)?|[ ](?:phn|dob|ddn|mrn|hcn|PHN|DOB|DDN|MRN|HCN)"
    rf"|,[ ](?:NPI|DEA|NAM|MBI|SSN|SIN|PHN)|,[ ]{KIN}|[ ]A[ ]L['’]\w+)$"  # noqa: RUF001 (names are written with it)
)
HEAD: Final = re.compile(
    r"^(?:(?:[^\W\d_]{2,12}[ ])?(?:Dre?|DRE?|Docteure?|DOCTEURE?)\.?|P\.A\.|OT|RN|NP|RT|SLP|LPN|RPN|MRP|SW"
    r"|MSW|PSW"
    r"|CNA|HCA|RRT|MLT|IPS|TS|PI|SC|(?:[A-Z]{4,9}[ ])?PAR|(?:de la|du|la|le)[ ](?:TS|Dre?)|inf\.|INF\."
    rf"|(?i:(?:(?:l['’]|(?:la|le|the|our|notre)[ ])?{ROLE})))"  # noqa: RUF001 (texts are written with it)
    r"[ ]+(?=\w)"
)
# What a name is addressed with, or a rank; "M." is an initial, too.
ADDRESS: Final = re.compile(
    r"(?i:mrs?|ms|miss|mme|mlle|monsieur|madame|mademoiselle|sister|rev(?:erend)?|imam|rabbi|hon|sgt|ssgt"
    r"|cst|const|ofc"
    r"|officer|det|capt|cpl|pte|lt|ma[îi]tre|agente?|soeur|sœur|coach|teacher|staff[ ]sgt|uncle|auntie?"
    r"|stepdad|stepmom"
    r"|foster[ ](?:mom|dad|mother|father)|gu?ardian|constable|sergeant|detective|trooper|dil|fil"
    r"|mil|sil)\.?[ ]+(?=\w)"
    r"|(?:Me|M\.(?=[ ][^\W\d_]{2}))[ ]+(?=\w)"
)
DEGREE: Final = re.compile(rf"(?<=\w)\.?,?[ ](?-i:{CREDENTIAL})$")
MIDWIFE: Final = re.compile(r",[ ]rm$")  # a room where no comma is
ROLE_END: Final = re.compile(rf",[ ](?i:{ROLE})$")
CREDENTIAL_END: Final = re.compile(rf"\.?(?:,[ ]?|[ ])(?-i:{CREDENTIAL})(?![\w-])")
# "titrated by Mr. Blevins": what somebody did to a patient says more than how he is addressed.
DID: Final = re.compile(
    rf"(?<!\w){DONE_BY}(?:(?<=by)|(?<=par))[ ](?:mrs?|ms|miss|m|mme|mlle|monsieur|madame)\b\.?[ ]$",
    re.IGNORECASE,
)
