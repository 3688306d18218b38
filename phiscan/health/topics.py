"""Map health concepts to ICD-10-CM chapters, for the officer's view and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from phiscan.health.term_lexicon import load_lexicon
from phiscan.language import current
from phiscan.language import lazy_gettext as _

# (first category, last category, chapter). Source: ICD-10-CM tabular list, CDC/NCHS, public domain.
CHAPTERS: Final[tuple[tuple[str, str, str], ...]] = (
    ("A00", "B99", _("Infectious and parasitic diseases")),
    ("C00", "D49", _("Neoplasms")),
    ("D50", "D89", _("Blood and immune mechanism")),
    ("E00", "E89", _("Endocrine, nutritional and metabolic diseases")),
    ("F01", "F99", _("Mental, behavioral and neurodevelopmental disorders")),
    ("G00", "G99", _("Nervous system")),
    ("H00", "H59", _("Eye and adnexa")),
    ("H60", "H95", _("Ear and mastoid process")),
    ("I00", "I99", _("Circulatory system")),
    ("J00", "J99", _("Respiratory system")),
    ("K00", "K95", _("Digestive system")),
    ("L00", "L99", _("Skin and subcutaneous tissue")),
    ("M00", "M99", _("Musculoskeletal system and connective tissue")),
    ("N00", "N99", _("Genitourinary system")),
    ("O00", "O9A", _("Pregnancy, childbirth and the puerperium")),
    ("P00", "P96", _("Perinatal period")),
    ("Q00", "Q99", _("Congenital malformations")),
    ("R00", "R99", _("Symptoms, signs and abnormal findings")),
    ("S00", "T88", _("Injury, poisoning and external consequences")),
    ("U00", "U85", _("Special purposes")),
    ("V00", "Y99", _("External causes of morbidity")),
    ("Z00", "Z99", _("Health status and contact with health services")),
)


def chapter_of(code: str) -> str:
    """Return the chapter of an ICD-10-CM code, "" if there is none.

    >>> chapter_of("E11.9")
    'Endocrine, nutritional and metabolic diseases'
    """
    category = code[:3].upper()
    return next((name for first, last, name in CHAPTERS if first <= category <= last), "")


def topic_of(concept: str) -> str:
    """Return the ICD-10-CM chapter of a concept, "" where it has no code (drugs, body parts, tests)."""
    return chapter_of(load_lexicon().icd.get(concept, ""))


def label_of(concept: str) -> str:
    """Return the label of a concept in the language of the context, else in English; unknown = its id."""
    lexicon = load_lexicon()
    english = lexicon.labels.get(concept, concept)
    return lexicon.french_labels.get(concept, english) if current() == "fr" else english


def topics(concepts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the chapters of a file's concepts with their counts, the most frequent first; repeats count."""
    counts = Counter(topic for topic in map(topic_of, concepts) if topic)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
