"""The hint of a rare pattern lets everything pass that the pattern matches."""

import importlib
import json
import pkgutil
from pathlib import Path

import pytest

import phiscan.screen
from phiscan.text.automata import Rare

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
