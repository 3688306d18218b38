"""Names by the names beside them, by initials, and again in small letters or with an apostrophe."""

from __future__ import annotations

import pytest

from phiscan.config import Config
from phiscan.lexicon.capitalized_words import FIRST_ONLY, name_finding
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Document, EntityType
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.recognizers.person.enumerations import listed_names
from phiscan.screen.recognizers.person.initials import initials

PEOPLE = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}


@pytest.fixture(scope="module")
def screener() -> Screener:
    return build_screener(Config())


def beside(text: str, *known: str) -> list[str]:
    found = [
        name_finding(
            start,
            start + len(name),
            health=False,
            bits=FIRST_ONLY,
            source="test",
            score=0.8,
            reason=("a", "b"),
        )
        for name in known
        if (start := text.index(name)) >= 0
    ]
    return [finding.span.of(text) for finding in listed_names(text, found, load_gazetteer())]


def test_a_row_among_rows_of_names_is_a_name() -> None:
    text = (
        "Lupita - type 1\nPrince - sickle trait\nOakley T - G tube\nSiobhan: bee stings\nAngel (boy): ADHD\n"
    )
    assert beside(text, "Lupita", "Oakley", "Siobhan", "Angel") == ["Prince"]


def test_a_row_of_something_else_among_names_is_none() -> None:
    text = "8h00\tlavoie\tx\n8h15\troy\tx\n8h30\tpause\tx\n8h45\tgagnon\tx\n9h00\ttremblay\tx\n"
    assert beside(text, "lavoie", "roy", "gagnon", "tremblay") == []


@pytest.mark.parametrize(
    ("text", "known", "name"),
    [
        ("two kids, zara and obi.", ["zara"], "obi"),
        ("Here: Dale, Wren (they), Ron", ["Dale"], None),
        ("Marcus, Big Mike, Santosh", ["Marcus", "Santosh"], "Big Mike"),
        ("Rose et Blanche, 96 ans", ["Blanche"], "Rose"),
        ("Julie, Montréal", ["Julie"], None),
        ("Marie and Wednesday, maybe", ["Marie"], None),
        ("Ann and the nurse", ["Ann"], None),
        ("Roy and Cardiology", ["Roy"], None),
    ],
)
def test_members_of_an_enumeration(text: str, known: list[str], name: str | None) -> None:
    assert beside(text, *known) == ([] if name is None else [name])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("pt. J.R. came", "J.R."),
        ("Mère (mme S.B.) dit", "S.B."),
        ("É.-M. T., 15 ans, fugue", "É.-M. T."),
        ("004 D.O'C. 70M withdrew", "D.O'C."),
        ("R. de V. 66M eligible", "R. de V."),
        ("005 XY 38F, eligible", "XY"),
        ("007 TvdB 59M eligible", "TvdB"),
        ("Dr. L. called", "L."),
        ("\nN. T.-R.\n", "N. T.-R."),
        ("The patient (E.F.) consented", "E.F."),
        ("- M.-J. D. : dossier fermé", "M.-J. D."),
    ],
)
def test_initials_with_a_sign_of_a_person_are_somebody(text: str, name: str) -> None:
    assert [finding.span.of(text) for finding in initials(text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "U.S. Army for U.S. use",
        "5 mg P.O. b.i.d.",
        "seen by P.T. and O.T.",
        "Patient NPO, pt DNR, pt BP 120",
        "AF 78M, MVA 34F",
        "Dr. J. Smith",
        "Mr. A Smith",
        "Subject: RE: the plan",
        "in B.C. now",
        "at 9 a.m. with A.M. staff",
        "e.g. this, i.e. that",
    ],
)
def test_initials_of_something_else_are_nobody(text: str) -> None:
    assert not list(initials(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Her husband Cornie drove. Cornie's cell is broken.", "Cornie"),
        ("pt gordon mcphail is here. mcphail's ecg was faxed.", "mcphail"),
    ],
)
def test_a_name_is_found_again(screener: Screener, text: str, name: str) -> None:
    found = [f for f in screen(Document(text, (), ""), screener).findings if f.entity_type in PEOPLE]
    assert found[-1].span.of(text) == name
