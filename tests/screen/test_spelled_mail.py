"""E-mail addresses with their signs spelled out, through the whole screener: names in them are no people."""

from __future__ import annotations

from functools import cache

import pytest

from phiscan.config import Config
from phiscan.model import Document, EntityType
from phiscan.screen import Screener, build_screener, screen


@cache
def _screener() -> Screener:
    return build_screener(Config())


def found(text: str) -> dict[str, EntityType]:
    findings = screen(Document(text, (), "text/plain"), _screener()).findings
    return {finding.span.of(text): finding.entity_type for finding in findings}


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
    assert found(f"write to {address} please") == {address: EntityType.EMAIL}


@pytest.mark.parametrize("text", ["book online at medeo.ca today", "available at cdc.gov and elsewhere"])
def test_where_a_page_is_read_is_no_address(text: str) -> None:
    assert EntityType.EMAIL not in found(text).values()
