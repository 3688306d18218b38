"""Generate short texts from patterns, by a seed: single sentences, rows and notes with and without PHI.

Few of the other texts are as short as a chat line or a caption. The patterns are in
``texts/short_patterns.txt``; the people are of Faker's lists of five countries.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from faker import Faker

PATTERNS: Final = Path(__file__).parent / "texts" / "short_patterns.txt"
SEED: Final = 2008
N_OF_EACH: Final = 9
LOCALES: Final = ("en_US", "en_GB", "en_IN", "fr_CA", "en_AU")
TERMS: Final[dict[str, tuple[str, ...]]] = {
    "dx": (
        *(
            "congestive heart failure",
            "breast cancer",
            "type 2 diabetes",
            "hepatitis C",
            "HIV",
            "TB",
            "asthma",
        ),
        *("multiple sclerosis", "COPD", "epilepsy", "bipolar disorder", "depression", "melanoma", "stroke"),
        *("chronic kidney disease", "Crohn's disease", "dementia", "pneumonia", "a hip fracture", "lupus"),
        *("prostate cancer", "anorexia", "schizophrenia", "gout", "endometriosis", "a seizure disorder"),
        *("cirrhosis", "leukemia", "autism", "sickle cell disease", "DKA", "atrial fibrillation", "migraine"),
    ),
    "rx": (
        *(
            "methadone",
            "lithium",
            "warfarin",
            "insulin",
            "metformin",
            "sertraline",
            "prednisone",
            "clozapine",
        ),
        *(
            "furosemide",
            "tamoxifen",
            "levothyroxine",
            "olanzapine",
            "buprenorphine",
            "methotrexate",
            "amoxicillin",
        ),
        *("adalimumab", "lamotrigine", "citalopram", "morphine", "salbutamol", "risperidone", "naltrexone"),
    ),
    "px": (
        *("a biopsy", "knee replacement", "chemotherapy", "a colonoscopy", "dialysis", "cataract surgery"),
        *("a hysterectomy", "bypass surgery", "physiotherapy", "a root canal", "an abortion", "radiotherapy"),
    ),
    "sx": (
        "chest pain",
        "shortness of breath",
        "a rash",
        "dizziness",
        "back pain",
        "fever",
        "a panic attack",
    ),
    "test": (
        "MRI",
        "blood test",
        "mammogram",
        "PSA",
        "CT scan",
        "ultrasound",
        "A1c",
        "HIV test",
        "Pap smear",
    ),
    "dx_fr": ("diabète", "cancer du sein", "dépression", "insuffisance cardiaque", "asthme", "épilepsie"),
    "px_fr": ("une biopsie", "une chirurgie du genou", "la dialyse", "une coloscopie", "la chimiothérapie"),
}


def short_texts() -> Iterator[tuple[str, bool, str]]:
    """Yield (identifier, whether it is PHI, text) of ``N_OF_EACH`` texts of every pattern."""
    draw = random.Random(SEED)
    fakers = [Faker(locale) for locale in LOCALES]
    for number, faker in enumerate(fakers):
        faker.seed_instance(SEED + number)
    lines = PATTERNS.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(line for line in lines if line and not line.startswith("#")):
        label, pattern = line.split("\t")
        for copy in range(N_OF_EACH):
            yield f"short/{number}/{copy}", label == "PHI", _filled(pattern, draw, fakers) + "\n"


def _filled(pattern: str, draw: random.Random, fakers: list[Faker]) -> str:
    faker = fakers[3] if "_fr}" in pattern else draw.choice(fakers)
    first, last = faker.first_name(), faker.last_name()
    other_first, other_last = faker.first_name(), faker.last_name()
    born = faker.date_of_birth(minimum_age=1, maximum_age=95)
    day = faker.date_this_decade()
    values = {
        "name": f"{first} {last}",
        "first": first,
        "last": last,
        "Last, First": f"{last}, {first}",
        "NAME": f"{first} {last}".upper(),
        "staff": draw.choice((f"Dr. {other_last}", f"{other_first} {other_last}")),
        "staff_first": other_first,
        "num": str(draw.randrange(10**6, 10**8)),
        "born": draw.choice((born.isoformat(), f"{born:%d/%m/%Y}", f"{born:%b} {born.day}, {born.year}")),
        "day": draw.choice((f"{day:%A}", f"{day:%B} {day.day}", day.isoformat())),
        **{name: draw.choice(terms) for name, terms in TERMS.items()},
    }
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    text = pattern.replace("\\n", "\n")
    return draw.choice((text, text, text, text.lower())) if len(text) % 3 == 0 else text
