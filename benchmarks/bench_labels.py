"""Recall by type of generated values after 294 labels, and below as many column headers, in 19 layouts.

    .venv/bin/python -m benchmarks.bench_labels

"Found": some finding covers a part of the value; "family": one of its family (a person and a health professional are one,
parts of an address are, dates are). ``--missed`` prints the words under which a fifth or more is missed.
"""  # noqa: E501 (a sentence)

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator

from benchmarks.made_values import Maker, kinds
from phiscan.config import Config
from phiscan.model import Document, EntityType
from phiscan.screen import Screener, build_screener, screen

SEED = 20261123
N_ROWS = 5
N_LABELLED = 2  # values of each word in each layout
MISSED_SHARE = 0.2
LABELLED = {
    "Label: value": "{label}: {value}\n",
    "Label value": "{label} {value}\n",
    "LABEL     value": "{upper:24}{value}\n",
    "value below": "{label}\n{value}\n\n",
    "**Label:** value": "**{label}:** {value}\n",
    "- Label : value": "- {label} : {value}\n",
    "Label=value": "{label}={value}\n",
    "Label ..... value": "{label} ........ {value}\n",
    "| Label | value |": "| {label} | {value} |\n",
    "tab between": "{label}\t{value}\n",
    "quoted pair": '"{label}","{value}"\n',
    "JSON": '  "{key}": "{value}",\n',
    "(Label value)": "seen today ({label} {value}) for follow up\n",
    "a; Label: value; b": "Dx: CHF; {label}: {value}; Iso: none\n",
}
TABLES = {
    "table, commas": ",",
    "table, semicolons": ";",
    "table, tabs": "\t",
    "table, bars": " | ",
    "table, spaces": "",
}
_FAMILIES = {
    EntityType.LOCATION: EntityType.STREET_ADDRESS,
    EntityType.POSTAL_CODE: EntityType.STREET_ADDRESS,
    EntityType.HEALTH_PROFESSIONAL: EntityType.PERSON,
    EntityType.DATE_OF_BIRTH: EntityType.DATE,
    EntityType.FAX: EntityType.PHONE,
    EntityType.SIN: EntityType.SSN,
}
Made = tuple[str, list[str]]  # a text, and the values in it in their order


def labelled(word: str, value: str, form: str) -> Made:
    line = form.format(label=word, value=value, upper=word.upper(), key=word.lower().replace(" ", "_"))
    return f"Dx: CHF\nNote for chart\n{line}Plan: continue meds\n", [value]


def table(word: str, values: list[str], delimiter: str, draw: random.Random) -> Made:
    """Return a table with a column of ``values`` among two others."""
    rows = [["Dx", word, "Unit"]]
    rows += [
        [draw.choice(["CHF", "UTI", "asthma"]), value, draw.choice(["4W", "ED", "2B"])] for value in values
    ]
    if not delimiter:
        widths = [max(len(row[place]) for row in rows) + 3 for place in range(3)]
        lines = ["".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    else:
        lines = [delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in row) for row in rows]
    return "\n".join(lines) + "\n", values


def made(word: str, maker: Maker, draw: random.Random) -> Iterator[tuple[str, Made]]:
    for layout, form in LABELLED.items():
        for _ in range(N_LABELLED):
            yield layout, labelled(word, maker(draw), form)
    for layout, delimiter in TABLES.items():
        yield layout, table(word, [maker(draw) for _ in range(N_ROWS)], delimiter, draw)


def judged(text: str, values: list[str], kind: EntityType, screener: Screener) -> Iterator[tuple[bool, bool]]:
    """Yield for each value whether it is found, and in its family."""
    findings = screen(Document(text, (), "text/plain"), screener).findings
    at = text.index("\n")
    for value in values:
        start = text.index(value, at)
        at = start + len(value)
        kinds = {one.entity_type for one in findings if one.span.start < at and one.span.end > start}
        yield bool(kinds), _FAMILIES.get(kind, kind) in {_FAMILIES.get(one, one) for one in kinds}


def print_rows(title: str, counts: dict[str, Counter[str]]) -> None:
    print(f"\n| {title} | values | found | family |\n| --- | ---: | ---: | ---: |")
    for name, count in counts.items():
        n = count["n"]
        print(f"| {name} | {n} | {100 * count['found'] / n:.1f} | {100 * count['family'] / n:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true")
    arguments = parser.parse_args()
    draw = random.Random(SEED)
    screener = build_screener(Config())
    by_kind: dict[str, Counter[str]] = {}
    by_layout: dict[str, Counter[str]] = {}
    by_word: dict[str, Counter[str]] = {}
    for kind, maker, words in kinds():
        for word in words:
            for layout, (text, values) in made(word, maker, draw):
                for found, family in judged(text, values, kind, screener):
                    for counts, name in ((by_kind, kind), (by_layout, layout), (by_word, f"{kind} {word}")):
                        count = counts.setdefault(name, Counter())
                        count.update(n=1, found=found, family=family)
    print_rows("type", by_kind)
    print_rows("layout", by_layout)
    if arguments.missed:
        print_rows("word", {w: c for w, c in by_word.items() if c["found"] < (1 - MISSED_SHARE) * c["n"]})


if __name__ == "__main__":
    main()
