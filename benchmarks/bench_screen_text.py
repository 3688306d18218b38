"""Recall and precision of the screener per development set, token level, by family of types.

    .venv/bin/python benchmarks/bench_screen_text.py [DATASET ...] [--errors N FAMILY]

Tokens are runs without white space. Recall: a gold token is found when a finding of the same family covers a
part of it. Precision is given only where the source marks everything. Prints false person spans per 1,000 words.
"""  # noqa: E501 (one expression or one row of data)

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path

from phiscan.config import Config
from phiscan.model import Document
from phiscan.screen import build_screener, screen

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "text"
NAME, PLACE, ORG, DATE, ID = "NAME", "PLACE", "ORG", "DATE", "ID"
FAMILY = {
    **dict.fromkeys(
        ("PERSON", "HEALTH_PROFESSIONAL", "NAME", "PATIENT_NAME", "person", "PREFIX", "TITLE"), NAME
    ),
    **dict.fromkeys(
        ("STREET_ADDRESS", "LOCATION", "POSTAL_CODE", "ADDRESS", "GPE", "ZIP_CODE", "location"), PLACE
    ),
    **dict.fromkeys(("ORGANIZATION", "group", "corporation"), ORG),
    **dict.fromkeys(("DATE", "DATE_OF_BIRTH", "DATE_TIME"), DATE),
    **dict.fromkeys(("PHONE", "FAX", "PHONE_NUMBER"), "PHONE"),
    **dict.fromkeys(("EMAIL", "EMAIL_ADDRESS"), "EMAIL"),
    **dict.fromkeys(("SSN", "US_SSN"), "SSN"),
    **dict.fromkeys(("URL", "DOMAIN_NAME"), "URL"),
    **dict.fromkeys(("IP", "IP_ADDRESS"), "IP"),
    **dict.fromkeys(("ACCOUNT", "IBAN_CODE"), "ACCOUNT"),
    **dict.fromkeys(("DRIVER_LICENSE", "US_DRIVER_LICENSE"), "DRIVER_LICENSE"),
    **dict.fromkeys(("AGE_OVER_89", "AGE"), "AGE"),
}
IGNORED = {"NRP", "creative-work", "product", "TITLE", "PREFIX", "AGE"}
FULLY_MARKED = {
    "presidio_synth_v2", "presidio_generated_large", "wnut17_train", "medquad_dev", "state_union_inaugural",
}  # fmt: skip
_TOKEN = re.compile(r"\S+")


def tokens(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in _TOKEN.finditer(text)]


def covered(spans: list[tuple[int, int]], cells: list[tuple[int, int]]) -> set[int]:
    hit: set[int] = set()
    for start, end in spans:
        hit.update(i for i, (a, b) in enumerate(cells) if a < end and start < b)
    return hit


def measure(name: str, n_errors: int, family_shown: str) -> None:  # noqa: C901, PLR0915 (one table)
    screener = build_screener(Config())
    found, gold, right = (Counter[str]() for _ in range(3))
    any_found, any_gold = 0, 0
    n_words = n_chars = n_false_people = 0
    seconds = 0.0
    shown: list[str] = []
    n_people_bits = Counter[int]()
    for line in (DATA / f"{name}.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        text = record["text"]
        start_time = time.perf_counter()
        screening = screen(Document(text, (), "text/plain"), screener)
        seconds += time.perf_counter() - start_time
        n_people_bits[screening.hamming] += 1
        cells = tokens(text)
        n_words += len(cells)
        n_chars += len(text)
        by_family: dict[str, list[tuple[int, int]]] = {}
        for finding in screening.findings:
            family = FAMILY.get(finding.entity_type.value, finding.entity_type.value)
            by_family.setdefault(family, []).append((finding.span.start, finding.span.end))
        system_any = covered([s for spans in by_family.values() for s in spans], cells)
        gold_by_family: dict[str, list[tuple[int, int]]] = {}
        for start, end, kind in record["spans"]:
            if kind not in IGNORED:
                gold_by_family.setdefault(FAMILY.get(kind, kind), []).append((start, end))
        titles = covered([(a, b) for a, b, k in record["spans"] if k in IGNORED], cells)
        for family in set(by_family) | set(gold_by_family):
            system_tokens = covered(by_family.get(family, []), cells) - titles
            gold_tokens = covered(gold_by_family.get(family, []), cells) - titles
            found[family] += len(system_tokens)
            gold[family] += len(gold_tokens)
            right[family] += len(system_tokens & gold_tokens)
            if family == NAME:
                gold_names = gold_by_family.get(NAME, [])
                for start, end in by_family.get(NAME, []):
                    if not any(a < end and start < b for a, b in gold_names):
                        n_false_people += 1
            if family == family_shown and len(shown) < n_errors:
                bad = [("MISS", i) for i in sorted(gold_tokens - system_tokens)]
                bad += [("FALSE", i) for i in sorted(system_tokens - gold_tokens)]
                for what, i in bad:
                    a, b = cells[i]
                    why = [f.source for f in screening.findings if f.span.start < b and a < f.span.end]
                    shown.append(
                        f"{what} {text[max(0, a - 50) : a]!r} >>{text[a:b]!r}<< {text[b : b + 40]!r} {why}"
                    )
        gold_any = covered([s for spans in gold_by_family.values() for s in spans], cells)
        any_gold += len(gold_any)
        any_found += len(gold_any & system_any)
    speed = n_chars / max(seconds, 1e-9) / 1e6
    share = 100 * any_found / max(any_gold, 1)
    false_people = 1000 * n_false_people / n_words
    print(f"\n{name}: {n_words} words, {speed:.2f} MB/s, any-type recall {share:.1f}, false person spans")
    print(f"  {false_people:.2f} per 1,000 words; bits lacking {dict(sorted(n_people_bits.items()))}")
    for family in sorted(gold | found):
        recall = 100 * right[family] / gold[family] if gold[family] else float("nan")
        precision = (
            100 * right[family] / found[family] if found[family] and name in FULLY_MARKED else float("nan")
        )
        counts = f"gold {gold[family]:6d} found {found[family]:6d}"
        print(f"  {family:20s} {counts} recall {recall:5.1f} precision {precision:5.1f}")
    for line in shown:
        print("   ", line)


def main() -> None:
    arguments = sys.argv[1:]
    n_errors, family = 0, ""
    if "--errors" in arguments:
        place = arguments.index("--errors")
        n_errors, family = int(arguments[place + 1]), arguments[place + 2]
        del arguments[place : place + 3]
    for name in arguments or sorted(path.stem for path in DATA.glob("*.jsonl")):
        measure(name, n_errors, family)


if __name__ == "__main__":
    main()
