"""Who wrote an article is found, and is not the one whom it is about; a patient whom it names is."""

import pytest

from phiscan.config import Config
from phiscan.model import Document, EntityType, PiiBit
from phiscan.screen import build_screener, screen
from phiscan.screen.attributes.bylines import authors, is_article

SCREENER = build_screener(Config())
ARTICLE = """Early walking after hip fracture: a cohort study

{byline}
Department of Orthopaedic Surgery, Riverbend General Hospital, Hamilton

Abstract
Background: delirium and pneumonia are common. Results: 412 adults took part (95% CI 0.44 to 0.86).

Methods
We measured delirium and pain. {body}

{behind}
"""
BYLINES = [
    "Sarah L. Whitcombe1, Hiroshi Tanabe1,2, Marie-Josée Pelletier3 and Kwame Osei2",
    "Sarah Whitcombe, MD, Hiroshi Tanabe, PhD, and Kwame Osei",
    "By Sarah Whitcombe* and Hiroshi Tanabe†",
]


def _named(text: str) -> set[PiiBit]:
    bits = screen(Document(text, (), "text/plain"), SCREENER).vector.bits
    return set(bits) & {PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.PHONE, PiiBit.EMAIL}


@pytest.mark.parametrize("byline", BYLINES)
def test_a_byline_sets_no_characteristic(byline: str) -> None:
    text = ARTICLE.format(byline=byline, body="", behind="")
    assert is_article(text)
    assert not _named(text)


@pytest.mark.parametrize(
    "behind",
    [
        "Correspondence: Sarah Whitcombe, 237 Barton Street East; whitcombe@example.org; 905-555-0143",
        "Acknowledgements\nWe thank Paul Okonkwo and Linda Marchetti for their help.",
        "Author contributions: Sarah Whitcombe designed the study; Kwame Osei wrote the draft.",
        "Conflits d'intérêts : Chantal Leduc a reçu des honoraires.",
        "Guideline panel\nSarah Whitcombe (Toronto), Kwame Osei (Accra)",
    ],
)
def test_who_is_asked_and_thanked_sets_no_characteristic(behind: str) -> None:
    text = ARTICLE.format(byline="", body="", behind=behind)
    assert is_article(text)
    assert not _named(text)


def test_a_patient_whom_a_draft_names_counts() -> None:
    text = ARTICLE.format(byline=BYLINES[0], body="Case: Delphine Arsenault, 78, fell at home.", behind="")
    screening = screen(Document(text, (), "text/plain"), SCREENER)
    people = [one for one in screening.findings if one.entity_type is EntityType.PERSON and one.bits]
    assert [one.span.of(text) for one in people] == ["Delphine Arsenault"]


@pytest.mark.parametrize(
    "text",
    [
        "Summary: Delphine Arsenault, 78.\nConclusion: stable. Correspondence: her son Paul, 905-555-0143.\n",
        "Background: fell at home.\nResults: Hb 92.\nDiscussion: with Sarah Whitcombe and her daughter.\n",
        "",
    ],
)
def test_a_letter_with_headings_is_no_article(text: str) -> None:
    assert not is_article(text)
    assert list(authors(text)) == []
