"""Reading a rendered page in the tests: strict XML, visible text, the numbers that it shows."""

import json
import re
from typing import Any

from lxml import etree

_ENTITIES = {"&ndash;": "&#8211;"}


def parsed(page: str) -> etree._Element:
    """Parse the page as strict XML, so that a forgotten tag or quote fails."""
    for entity, char in _ENTITIES.items():
        page = page.replace(entity, char)
    return etree.fromstring(page.removeprefix("<!DOCTYPE html>").strip().encode())


def visible_text(page: str) -> str:
    root = parsed(page)
    for style in root.iter("style"):
        style.text = ""
    return re.sub(r"\s+", " ", "".join(root.itertext()))


def shown_numbers(page: str) -> set[float]:
    return {float(element.get("value")) for element in parsed(page).iter("data")}


def json_numbers(text: str) -> set[float]:
    found: set[float] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            found.add(float(len(value)))
            for item in value:
                collect(item)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.add(float(value))

    collect(json.loads(text))
    return found
