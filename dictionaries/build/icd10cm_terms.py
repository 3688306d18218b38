"""Write health_icd10cm*.txt and icd10cm_titles.txt from the ICD-10-CM titles and inclusion terms.

Run from the checkout: ``python dictionaries/build/icd10cm_terms.py`` (needs simple-icd-10-cm, dev extra).
Official titles are not how people write: they are cut at commas and brackets, qualifiers are dropped, an
"and"/"or" between two names gives both, and "X of Y" also gives "Y X".
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

import importlib.metadata
import re

import simple_icd_10_cm as icd
from health_terms import HERE, rows_of, slug, write

MAX_WORDS = 5
TURNED_WORDS = 4  # "fracture of left femur" is also "left femur fracture"
# Chapters 19-21 beyond injuries are causes and reasons (falls, contact with, encounters): not health words.
SHORT_CODE = re.compile(r"[A-Z]\d[0-9A-Z](\.[0-9A-Z])?")
CATEGORY = re.compile(r"[A-Z]\d[0-9A-Z]")
NOT_SHOWN = re.compile(r"^Other (and unspecified |specified )?|, (unspecified|not elsewhere classified)\b")
LEFT_OUT = re.compile(r"^[V-Z]|^T[3-6]|^T7[0-7]|^Y")
QUALIFIERS = re.compile(
    r"\b(unspecified|other specified|other|others|not elsewhere classified|not otherwise specified|NOS|NEC|"
    r"essential|initial encounter|subsequent encounter|sequela|classified elsewhere|elsewhere classified|"
    r"of unspecified site|site unspecified|uncomplicated|due to .*|without .*|with .*|in diseases.*|"
    r"following .*|caused by .*|affecting .*|as the cause.*|complicating .*|so stated|type)\b",
    re.IGNORECASE,
)
# Words that name an illness only together with others; alone, or only with each other, they are prose.
WEAK = frozenset(  # one text reads better than 250 quoted words
    """abnormal acute adverse adult all and any as at benign bilateral body both by care cause central child
    chronic complication complications condition conditions congenital contact cold current deficiency degree
    dependence diet disease diseases disorder disorders disturbance disturbances drug effect effects
    environment exposure external factor factors fall family female finding findings fluid follow form
    forms foreign function functional general growth health heat high history hot in individual infection
    infections infestation injury injuries labor left level light local loss lower male mass mechanical
    mixed multiple new newborn noise normal of on or organ other pain part parts period person personal
    physical place poisoning position pressure primary problem problems process product products radiation
    recurrent reaction response right secondary sequelae service severe single site skin social sound special
    specific state status strain stress superficial symptom symptoms syndrome system the toxic trauma unit
    upper use violence vision water weight work zone attack effusion discharge culture labour iron table
    masses contracture conduct wound wounds dream shock collapse delivery supervision presence absence
    awareness alcohol tobacco caffeine sedative cannabis tone rupture twin moderate mild single mental
    malignant invasive diffuse focal partial complete total severity examination screening
    refractive error carrier suspected aspiration abuse neglect neck head face leg arm hand foot
    communication blood nail hair cyst gas stone calculus callus corn plague yaws anthrax tics bites
    sting stings frozen drowning lightning sinking air travel altitude motion nightmares amnesia worries
    hunger thirst burn burns corrosion corrosions frostbite late early term long short small large
    tremor cramp spasm belching hiccough yawning snoring worms lice mites ticks nits dysfunction bleeding
    language reading spelling gender identity gambling pathological fire stealing sleep eating
    legal cultural economic environmental developmental transient ischemic unstable polyp reflux strabismus
    stenosis insufficiency obstruction hemorrhage rupture perforation abscess ulcer swelling""".split()  # noqa: SIM905 (see above)
)

# Cut out of a title, these lack the organ that it names ("Ischemia and infarction of kidney"): its code is
# not theirs. Our own lists have those that occur alone.
LOST_SITE = frozenset(
    {"ischemia", "fibrosis", "chondritis", "acute embolism", "chronic embolism", "intraoperative hemorrhage"}
    | {"accidental puncture", "postprocedural hematoma", "postprocedural complications", "mixed metabolic"}
    | {"congenital atresia", "congenital hypoplasia", "28 completed weeks", "abnormal chromosomal"}
)

# A single word stands for itself only if its ending is one that medicine made.
MEDICAL = re.compile(
    r"\w{3,}(itis|osis|oses|asis|emia|aemia|oma|omas|omata|pathy|pathies|plegia|paresis|algia|uria|ectomy|trophy|"
    r"penia|rrhea|rrhoea|rrhagia|megaly|cele|plasia|phagia|phasia|phobia|pnea|cytosis|sclerosis|stenosis|"
    r"ptysis|thorax|edema|phlebitis|spasm|malacia|ectasia|ectasis|clonus|opia|opsia|tonia|kinesia|lepsy|"
    r"philia|dontia|genesis imperfecta|ectopia|gnosia|lexia|natremia|kalemia|globinemia)",
    re.IGNORECASE,
)


def forms_of(title: str) -> list[str]:
    """Return the forms in which a title occurs in text; lower case.

    >>> forms_of("Malignant neoplasm of stomach, unspecified")
    ['malignant neoplasm of stomach', 'stomach malignant neoplasm']
    >>> forms_of("Ischemia and infarction of kidney")
    ['infarction of kidney', 'kidney infarction']
    """
    plain = re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", title)
    found: list[str] = []
    head = QUALIFIERS.sub(" ", plain.split(",")[0])
    for part in re.split(r";|\band\b|\bor\b|/", head):
        words = re.findall(r"[\w'-]+", part.lower())
        while words and words[-1] in {"of", "in", "the", "to", "by", "for", "on", "and", "or", "a"}:
            words.pop()
        while words and words[0] in {"of", "in", "the", "to", "by", "for", "on", "a"}:
            words.pop(0)
        if not words or len(words) > MAX_WORDS or all(word in WEAK for word in words):
            continue
        if " ".join(words) in LOST_SITE:
            continue
        if len(words) == 1 and not MEDICAL.fullmatch(words[0]):
            continue
        found.append(" ".join(words))
        if words.count("of") == 1 and 0 < words.index("of") < len(words) - 1 and len(words) <= TURNED_WORDS:
            at = words.index("of")
            turned = [*words[at + 1 :], *words[:at]]
            found.append(" ".join(turned))
    return found


def code_rows() -> list[tuple[str, str, str, str, str]]:
    """Return the codes themselves: claims and problem lists often hold nothing else.

    A dotted code counts by itself; a category (I10) or a code without its dot (E119) also names motorways,
    rooms and parts, so it needs a health term near by.
    """
    rows: list[tuple[str, str, str, str, str]] = []
    for code in icd.get_all_codes():
        if not SHORT_CODE.fullmatch(code) or (LEFT_OUT.match(code) and code[0] != "Z"):
            continue
        rows.append((code, f"icd:{code[:3]}", code, "case" if "." in code else "case,context", "en"))
        if "." in code:
            rows.append((code.replace(".", ""), f"icd:{code[:3]}", code, "case,context", "en"))
    return rows


def title_rows() -> list[tuple[str, str]]:
    """Return the concept and the title of each category, as it is shown to people.

    The capital letter at the beginning is kept where the word has one inside other titles too (Parkinson's).
    """
    titles = [icd.get_description(code) for code in icd.get_all_codes()]
    inside = {word for title in titles for word in re.findall(r"[\w'-]+", title)[1:]}
    rows = {}
    for code in icd.get_all_codes():
        if not CATEGORY.fullmatch(code):
            continue
        title = NOT_SHOWN.sub("", icd.get_description(code)).strip()
        first = re.match(r"[\w'-]*", title).group()
        if first.lower() in inside or (first not in inside and "'" not in first and first[1:].islower()):
            title = title[0].lower() + title[1:]
        rows[f"icd:{code}"] = title
    return list(rows.items())


def main() -> None:
    """Write the dictionary; our own lists win where they have the same form."""
    ours = {row[0].lower() for path in (HERE / "health").glob("*.src") for row in rows_of(path)}
    rows: dict[str, tuple[str, str, str, str, str]] = {}
    for code in icd.get_all_codes():
        if not SHORT_CODE.fullmatch(code) or LEFT_OUT.match(code):
            continue
        category = code[:3]
        concept = f"icd:{category}"
        for title in [icd.get_description(code), *icd.get_inclusion_term(code)]:
            for form in forms_of(title):
                if form not in ours and slug(form):
                    rows.setdefault(form, (form, concept, code, "-", "en"))
    version = importlib.metadata.version("simple-icd-10-cm")
    source = f"ICD-10-CM (CDC/NCHS, public domain) through simple-icd-10-cm {version} (MIT)"
    write("health_icd10cm", sorted(rows.values()), source, "public domain (data), MIT (package)")
    titles = title_rows()
    header = (
        f"# source: {source}\n# licence: public domain (data), MIT (package)\n# version: 1\n"
        "# date: 2026-11-26\n# normalisation: none; shown to people, never matched\n"
        "# columns: concept, title of its category\n"
    )
    body = "".join(f"{concept}\t{title}\n" for concept, title in titles)
    (HERE.parent / "icd10cm_titles.txt").write_text(header + body, encoding="utf-8")
    codes = code_rows()
    write("health_icd10cm_codes", codes, source, "public domain (data), MIT (package)")
    print(f"health_icd10cm_codes.txt: {len(codes)} terms")
    print(f"health_icd10cm.txt: {len(rows)} terms")


if __name__ == "__main__":
    main()
