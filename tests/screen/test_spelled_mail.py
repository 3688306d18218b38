"""E-mail addresses with their signs spelled out, through the whole screener: names in them are no people."""

import pytest

from tests.screen.whole import values


@pytest.mark.parametrize(
    "address",
    [
        "john.smith at email dot com",
        "marie.roy arobase exemple point ca",
        "m.tremblay [at] example.ca",
        "jroy at gmail.com",
    ],
)
def test_finds_an_address_whole_and_takes_no_page_for_one(address: str) -> None:
    text = f"write to {address} please, book online at medeo.ca today; available at cdc.gov and elsewhere"
    assert values(text, "EMAIL") == [address]
