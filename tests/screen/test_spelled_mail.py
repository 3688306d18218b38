"""E-mail addresses with their signs spelled out, through the whole screener: names in them are no people."""

import pytest

from tests.screen.whole import found, values


@pytest.mark.parametrize(
    "address",
    [
        "john.smith at email dot com",
        "marie.roy arobase exemple point ca",
        "m.tremblay [at] example.ca",
        "jroy at gmail.com",
    ],
)
def test_finds_an_address_whole(address: str) -> None:
    assert found(f"write to {address} please") == {("EMAIL", address)}


@pytest.mark.parametrize("text", ["book online at medeo.ca today", "available at cdc.gov and elsewhere"])
def test_where_a_page_is_read_is_no_address(text: str) -> None:
    assert not values(text, "EMAIL")
