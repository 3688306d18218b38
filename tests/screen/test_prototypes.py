from pathlib import Path

import pytest

from phiscan.errors import ModelError
from phiscan.model import ALL_PII_BITS, PiiBit, PiiVector
from phiscan.screen.prototypes import (
    ID,
    PERSON_NAME,
    VENUE,
    load_prototypes,
    nearest,
)


def test_the_formula_is_that_of_equation_4() -> None:
    assert {bit.value for bit in PERSON_NAME} == {"FirstName", "LastName"}
    assert {bit.value for bit in ID} == {"SIN", "HealthCardN", "PassportN", "DriverLicenseN"}
    assert {bit.value for bit in VENUE} == {
        "OrganizationName", "StreetAddress", "HealthProfessionalName", "PhoneNumber", "Email",
    }  # fmt: skip


def test_the_united_states_prototype_is_stored() -> None:
    bits = {PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.MRN, PiiBit.DATE, PiiBit.SSN}
    assert nearest(PiiVector(frozenset(bits)), load_prototypes()) == ("patient record, United States", 0)


def test_nearest_counts_surplus_bits_too() -> None:
    prototypes = load_prototypes()
    name, distance = nearest(PiiVector(frozenset(ALL_PII_BITS)), prototypes)
    assert distance == min(len(ALL_PII_BITS) - len(p.vector.bits) for p in prototypes)
    assert name in {p.name for p in prototypes}


@pytest.mark.parametrize(
    "text",
    ["", "[[prototype]]\nname = 'x'\nbits = ['Nose']\n", "[[prototype]]\nname = 'x'\nbits = []\n", "[["],
)
def test_refuses_a_damaged_prototype_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prototypes.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"prototypes\.toml"):
        load_prototypes(path)
