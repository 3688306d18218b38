"""Recall by type on marked texts as hospitals have them, beside the rules alone, Presidio's patterns and scrubadub.

    .venv/bin/python -m benchmarks.bench_marked_texts [--set first|...|fifteenth|kept] [--misses TYPE] [--written] [--scanned [STYLE]]

Tokens are runs without white space that hold a letter or digit. "found": some span covers a part of the token, of whatever
type; "family": one of the same family (a person and a health professional are one, parts of an address are, dates are).
Precision: tokens of a system's spans that some mark covers. ``--misses`` prints what was missed of a type; never use it with
the kept set. Presidio and scrubadub look for no bare names without a model that has to be downloaded. Needs the extra ``compare``.
``--written`` reads each set four times instead, with phiscan alone: as it is, in capitals, in small letters, and with signs
misread as a scanner misreads them. ``--scanned`` draws them as pages, reads these with the program's own OCR and screens
what was read (``scanned_texts``): in six styles by turns, or all in one.
"""  # noqa: E501 (a table of options)

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench_names_compare import presidio, scrubadub
from benchmarks.drawn_pages import STYLES
from benchmarks.scanned_texts import Scanned, scanned
from phiscan.config import Config
from phiscan.model import Document
from phiscan.normalize.letter_case import in_capitals, in_small_letters
from phiscan.screen import Screener, build_screener, screen

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "screen" / "marked"
SETS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
    "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "kept",
)  # fmt: skip
FAMILIES = {
    "HEALTH_PROFESSIONAL": "PERSON", "DATE_OF_BIRTH": "DATE", "FAX": "PHONE", "CREDIT_CARD": "ACCOUNT",
    "POSTAL_CODE": "ADDRESS", "STREET_ADDRESS": "ADDRESS", "LOCATION": "ADDRESS",
}  # fmt: skip
_TOKEN = re.compile(r"\S*\w\S*")
# Signs that scanners take for each other, one for one, so that marks stay where they are.
MISREAD = str.maketrans("oO01l5SechB8iIant6g2", "0OOl1S5ceh8BlloufbqZ")
MISREAD_SHARE = 0.032  # of the signs that have such a double: about two in a hundred of all signs
Spans = list[tuple[int, int, str]]
System = Callable[[str], Spans]


def phiscan(screener: Screener) -> System:
    def finds(text: str) -> Spans:
        findings = screen(Document(text, (), "text/plain"), screener).findings
        return [(f.span.start, f.span.end, f.entity_type.value) for f in findings]

    return finds


def without_types(finds: Callable[[str], list[tuple[int, int, bool]]]) -> System:
    """Return another tool's spans; it names its types otherwise."""
    return lambda text: [(start, end, "") for start, end, _ in finds(text)]


def tokens(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _TOKEN.finditer(text, start, end):
        yield match.span()


def family(name: str) -> str:
    return FAMILIES.get(name, name)


def misread(text: str, seed: int) -> str:
    """Return a text with some of its signs misread, the same ones for the same seed."""
    chance = random.Random(seed)
    return "".join(
        other if other != char and chance.random() < MISREAD_SHARE else char
        for char, other in zip(text, text.translate(MISREAD), strict=True)
    )


WRITINGS: dict[str, Callable[[str, int], str]] = {
    "as it is": lambda text, _: text,
    "in capitals": lambda text, _: in_capitals(text),
    "in small letters": lambda text, _: in_small_letters(text),
    "misread": misread,
}


class Tally:
    """Tokens of one system on one set, by type of the mark."""

    def __init__(self, documents: list[dict[str, Any]], system: System) -> None:
        self.marked: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.same: Counter[str] = Counter()
        self.misses: list[tuple[str, str]] = []
        self.n_system = self.n_right = 0
        for document in documents:
            self._add(document["text"], document["spans"], system(document["text"]))

    def _add(self, text: str, marks: list[tuple[int, int, str]], spans: Spans) -> None:
        for start, end, name in marks:
            for low, high in tokens(text, start, end):
                over = {family(kind) for a, b, kind in spans if a < high and b > low}
                self.marked[name] += 1
                self.found[name] += bool(over)
                self.same[name] += family(name) in over
                if not over:
                    self.misses.append((name, text[max(0, start - 30) : end + 15]))
        for start, end, _ in spans:
            for low, high in tokens(text, start, end):
                self.n_system += 1
                self.n_right += any(a < high and b > low for a, b, _ in marks)

    def recall(self, counts: Counter[str]) -> float:
        return 100 * counts.total() / self.marked.total()

    @property
    def precision(self) -> float:
        return 100 * self.n_right / self.n_system if self.n_system else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS)
    parser.add_argument("--misses")
    parser.add_argument("--written", action="store_true")
    parser.add_argument("--scanned", nargs="?", const="", choices=("", *STYLES), metavar="STYLE")
    given = parser.parse_args()
    screener = build_screener(Config())
    names = [given.set] if given.set else list(SETS)
    if given.written:
        _print_written(names, phiscan(screener))
        return
    if given.scanned is not None:
        _print_scanned(names, phiscan(screener), given.scanned or None)
        return
    systems = {
        "phiscan": phiscan(screener),
        "phiscan, rules alone": phiscan(screener.without_names()),
        "Presidio's patterns": without_types(presidio()),
        "scrubadub": without_types(scrubadub()),
    }
    for name in names:
        documents = _documents(name)
        tallies = {label: Tally(documents, system) for label, system in systems.items()}
        ours = tallies["phiscan"]
        print(
            f"\n{name}: {len(documents)} texts\n\n| system | found | family | precision |\n"
            "| --- | ---: | ---: | ---: |"
        )
        for label, tally in tallies.items():
            found, same = tally.recall(tally.found), tally.recall(tally.same)
            shown = f"{same:.1f}" if label.startswith("phiscan") else "-"  # others name their types otherwise
            print(f"| {label} | {found:.1f} | {shown} | {tally.precision:.1f} |")
        print("\n| type | tokens | found | family |\n| --- | ---: | ---: | ---: |")
        for kind, n in ours.marked.most_common():
            print(f"| {kind} | {n} | {100 * ours.found[kind] / n:.1f} | {100 * ours.same[kind] / n:.1f} |")
        for kind, around in dict.fromkeys(ours.misses):
            if kind == given.misses:
                print(repr(around))


def _documents(name: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _print_written(names: list[str], system: System) -> None:
    print(f"| set | {' | '.join(WRITINGS)} |\n| --- |{' ---: |' * len(WRITINGS)}")
    for name in names:
        cells = []
        for write in WRITINGS.values():
            documents = [
                {**each, "text": write(each["text"], seed)} for seed, each in enumerate(_documents(name))
            ]
            tally = Tally(documents, system)
            cells.append(_figures(tally))
        print(f"| {name} | {' | '.join(cells)} |")


def _print_scanned(names: list[str], system: System, style: str | None) -> None:
    every: list[Scanned] = []
    heads = "pages | as it is | as it is read | unreadable | found of all"
    print(f"| set | {heads} |\n| --- |{' ---: |' * 5}")
    for name in names:
        documents = _documents(name)
        read = scanned(name, documents, style)
        every += read
        print(f"| {name} | {_scan_cells(read, Tally(documents, system), system)} |")
    print(f"\n| style | {heads} | seconds a page |\n| --- |{' ---: |' * 6}")
    for each in STYLES:
        read = [scan for scan in every if scan.style == each]
        if read:
            seconds = sum(scan.seconds for scan in read) / sum(scan.n_pages for scan in read)
            drawn = [{"text": scan.drawn, "spans": scan.drawn_spans} for scan in read]
            print(f"| {each} | {_scan_cells(read, Tally(drawn, system), system)} | {seconds:.1f} |")


def _scan_cells(read: list[Scanned], before: Tally, system: System) -> str:
    after = Tally([{"text": scan.text, "spans": scan.spans} for scan in read], system)
    lost = sum(len(list(tokens(what, 0, len(what)))) for scan in read for _, what in scan.unreadable)
    every = after.marked.total() + lost
    shares = f"{100 * lost / every:.1f} | {100 * after.found.total() / every:.1f}"
    return f"{sum(scan.n_pages for scan in read)} | {_figures(before)} | {_figures(after)} | {shares}"


def _figures(tally: Tally) -> str:
    return f"{tally.recall(tally.found):.1f} / {tally.recall(tally.same):.1f} / {tally.precision:.1f}"


if __name__ == "__main__":
    main()
