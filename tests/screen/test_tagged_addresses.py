"""Tests of phiscan.screen.filters.false_names: what a street address of the tagger must have."""

from __future__ import annotations

import pytest

from phiscan.screen.filters.false_names import number_in, reads_as_address


@pytest.mark.parametrize(
    "name",
    [
        "12 Elm",
        "po box 1190 moapa nv 89025",
        "88, rg Saint-Joseph",
        "HC 61 BOX 338",
        "Portland, OR 97206",
        "CHATSWORTH, NEW JERSEY 08019",
        "House 314-B, Pond Inlet NU X0A0S0",
        "Bldg 341 Rm 212",
        "118, ch. de la Grave",
        "388 Clinch Mtn Rd, Lot 6",
    ],
)
def test_an_address_says_street_box_or_code_or_begins_with_its_number(name: str) -> None:
    assert reads_as_address(name)


@pytest.mark.parametrize(
    "name",
    [
        "GCS 15",
        "Permobil M3",
        "Evity 8 DR-T",
        "msp 97120",
        "ch 214 est",
        "Ascenda 8780, lot N771 204 003",
        "506 555-0162 poste 31",
        "CPT 93296",
        "6 ans",
        "chèque 004 817",
    ],
)
def test_a_word_and_a_number_are_no_address(name: str) -> None:
    assert not reads_as_address(name)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("msp 97120", "97120"),
        ("DNR-C 004471", "004471"),
        ("NFL-DM-009", None),
        ("BTQ 4418-01", "4418-01"),
        ("oeq 17-338", "17-338"),
        ("GCS 15", None),
        ("CIWA 0", None),
    ],
)
def test_the_number_of_what_is_no_address_is_told_by_its_length(name: str, number: str | None) -> None:
    place = number_in(name)
    assert (name[slice(*place)] if place else None) == number
