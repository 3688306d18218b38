"""Initials that represent a person."""

from __future__ import annotations

import pytest

from phiscan.screen.recognizers.person.initials import initials


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
