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
    'likes dogs, goes by "Bunny"', "dit « Ti-Rol »", "ALIAS: “Summer Bay”",
    "Prince Abernathy (grandson)", "Marie Côté, épouse\n", "Ann Roy (NEIGHBOUR), Élise Roy, sœur.",
    "MSW TERESA SOUND", "Crew 1 Naveed Qureshi", "crew ٣ Naveed Qureshi", "inf. Élise Côté",
    "Baby Girl Okafor", "BÉBÉ FILLE TREMBLAY", "Roy, Bébé garçon A",
    "SMITH, JOHN 78M", "okafor n 33 y/o f", "ROY ANN ٣٣F", "Roy Ann 41 ans H",
    "mme Tremblay", "dr Okafor", "mr. Élie",
    "see JohnSmith_labs.PDF", "a.docx", "é.jpeg",
    "\n123456789\n", '"1234 567 890",', "|123 456 789|", "٣٣٣٣٣٣٣٣٣",
    'Marcus "Duke" Washington-Bell', "Buck 'Élie' Roy met", "\n“Buck” Charlie Roy\n",
    "Ann «\u00a0Nan\u00a0» Roy",
    "Smith et al", "DOI 10.1", "2019;12", "Résumé", "résumé : ", "Conflits d'intérêts",
    "conflict of interest", "We report", "x\nReferences\n1. Roy", "Bibliographie :\n", "MÉDIAGRAPHIE\n",
    "Received: from a.b by c\n d", "X-Mailer: é\n", "List-Post: a",
    "Hi its Élise from", "je m'appelle Zoé", "madame bellefleur", "infirmière côté", "Big Élie", "P'tit Jean",
    "her boss (Curt)", "copain, « Éli »", 'Roy ("Élo")', "pt J.R. came", "R. de la V.", "Dr É.", "mme C",
    "patient XY: is",    "RÉSIDENT AB is", "ÉL 38F", "TvdB ٣9M", "rm 18 rose 90f", "- côté élise, ٣٣ y/o f",
    "702-1  STASIUK 101M", "12 O'ROY ٣٣F", "Côté, Élise 44F", "Roy, Ann\t٣/٤/٢٤", "Do, Van 71M",
    "0800 settled   JM RN", "-- K.S., LPN\n", "par É.S., inf. ok", "transcrit par jmb le",
    "Transcribed by: TLM", "DICTATED BY: OMD", "dict: ÉL", "by smacisaac", "par: égagnon2", "signed: rroyy",
    "Troy (son) cell", "Élie (sœur)", "the Roy & DaCosta families", "la famille Côté", "La famille Roy",
    "seen 3/4.", "(1٣/04)", "x-3/4 é3/4", "3-4\n", "3/4  5/4  7/4\n", "|1/12\t 3/12;04/1٣ |",
    "3/٣ | 5/4 | 7/4",
    "Lyle Running Rabbit", "Two Bulls, Élise", "D'AMICO, Ann 44F", "Saint-éloi, Ann F 4",
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
