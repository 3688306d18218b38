"""Patterns as automata: searched each by its own as one of all of them; a hint hides no match."""

import importlib
import json
import pkgutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import phiscan.screen
from phiscan.text.automata import Alternatives, Rare, automaton, spans

_PARTS = ("a", "b", "ab", "a+b", r"\ba", r"b\b", "(?:ab)+", "c?", "bc|c", "[ab]{2,3}c", r"\d+", "é", "éa")
_PATTERNS = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=5)


def _found(patterns: list[str], raw: bytes) -> list[tuple[int, int]]:
    search, position, found = Alternatives(patterns).search(raw), 0, []
    while (match := search.after(position)) is not None:
        found.append(match)
        position = match[1] if match[1] > position else position + 1
    return found


@given(patterns=_PATTERNS, text=st.text(alphabet="abc1é ", max_size=30))
def test_alternatives_match_as_one_pattern_of_all_does(patterns: list[str], text: str) -> None:
    raw = text.encode()
    assert _found(patterns, raw) == list(spans(automaton("|".join(patterns)), raw))


def test_a_search_that_goes_back_into_its_last_match_finds_what_begins_there() -> None:
    search = Alternatives(["abc", "bc", "c"]).search(b"abc abc")
    assert search.after(0) == (0, 3)
    assert search.after(1) == (1, 3)
    assert search.after(2) == (2, 3)
    assert search.after(3) == (4, 7)
    assert search.after(7) is None


MARKED = Path(__file__).parent / "marked"
TEXTS = [
    json.loads(line)["text"]
    for name in ("first", "second", "third", "fourth")
    for line in (MARKED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
# At least one of each, beside accents, digits of other scripts, ends of lines and capitals.
EXAMPLES = [
    "\n123456789\n", '"1234 567 890",', "|123 456 789|", "٣٣٣٣٣٣٣٣٣",
    "x\nReferences\n1. Roy", "Bibliographie :\n", "MÉDIAGRAPHIE\n", "Résumé", "Smith et al", "2019;12",
    "likes dogs, Marie Côté, épouse\n", "SMITH, JOHN 78M", "Roy, Ann\t٣/٤/٢٤", "0800 settled   JM RN",
]  # fmt: skip


def rare_patterns() -> list[tuple[str, Rare]]:
    found = []
    for module in pkgutil.walk_packages(phiscan.screen.__path__, "phiscan.screen."):
        names = vars(importlib.import_module(module.name))
        found += [(f"{module.name}.{name}", one) for name, one in names.items() if isinstance(one, Rare)]
    assert found
    return found


@pytest.mark.parametrize(("name", "rare"), rare_patterns())
def test_a_hint_hides_no_match(name: str, rare: Rare) -> None:
    n = 0
    for text in (*TEXTS, *EXAMPLES, "\n".join(EXAMPLES)):
        expected = [match.span() for match in rare.pattern.finditer(text)]
        assert [match.span() for match in rare.finditer(text)] == expected, name
        first = rare.search(text)
        assert (first and first.span()) == (expected[0] if expected else None)
        n += len(expected)
    assert n
    assert not list(rare.finditer("Nothing of this kind stands here."))
