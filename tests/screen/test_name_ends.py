"""What stands at the ends of a name and is none of it."""

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Span
from phiscan.screen.ner.name_boundaries import NameEnds


def _trimmed(text: str) -> str | None:
    """Return what is left of the name in angle brackets."""
    start, end = text.index("<"), text.index(">") - 1
    plain = text.replace("<", "").replace(">", "")
    span = NameEnds(load_gazetteer()).trimmed(plain, Span(start, end))
    return span.of(plain) if span else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Friend Zoraida> brought soup", "Zoraida"),
        ("<Bonjour William>, ca va", "William"),
        ("<Pt Omar Falk> reports pain", "Omar Falk"),
        ("<Well, Vincent>, I am writing", "Vincent"),
        ("by <Fintan Donca, M.D.>\nplan", "Fintan Donca"),
    ],
)
def test_what_is_no_name_is_cut_off(text: str, expected: str) -> None:
    assert _trimmed(text) == expected
