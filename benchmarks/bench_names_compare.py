"""Persons and all identifiers per development set: phiscan beside Presidio's patterns, scrubadub and a gazetteer.

    .venv/bin/python benchmarks/bench_names_compare.py [--folds DIR] [--chars N] [SET ...]

All systems read the same documents in the same run: those of a set from its first on until N characters. Tokens are
runs without white space; a token counts as found when a span of the system covers a part of it. P, R and F for persons
(under a person's label) and for any identifier under any label. P and F stand only where the source marks everything.

``--folds``: ``folds`` of ``phiscan train names --out``, with taggers that were trained without the family of a set. A set whose
family has none there is measured with the shipped tagger and marked *, because that tagger has seen it.

Presidio runs its pattern recognizers on spaCy's blank English, scrubadub its default detectors (text_blob_name and spaCy's
need models that have to be downloaded): neither finds a bare name. The gazetteer calls every capitalized word a name that
is on phiscan's lists and is no ordinary word, the plainest thing that lists can do. kB/s are of processor time. Needs the extra ``compare``.
"""  # noqa: E501 (the command is on one line)

from __future__ import annotations

import argparse
import importlib
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phiscan.config import Config
from phiscan.lexicon.capitalized_words import tokenize
from phiscan.lexicon.gazetteer import Word, load_gazetteer
from phiscan.model import Document
from phiscan.screen import build_screener, screen
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.recognizers.person.recognizer import RuleNameRecognizer
from training.corpora.open_texts import FAMILIES, FOLDS

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "text"
PERSONS = {"PERSON", "HEALTH_PROFESSIONAL", "NAME", "PATIENT_NAME", "person"}
UNSCORED = {"NRP", "creative-work", "product", "TITLE", "PREFIX", "AGE"}
FULLY_MARKED = {
    "presidio_synth_v2", "presidio_generated_large", "wnut17_train", "medquad_dev", "state_union_inaugural",
}  # fmt: skip
SETS = (
    "presidio_synth_v2", "presidio_generated_large", "wnut17_train", "aci_bench_train_valid",
    "fhir_synthea_dev", "us_legislators_dev", "ccda_hl7", "hl7v2_reportstream", "medquad_dev",
    "state_union_inaugural",
)  # fmt: skip
MIN_PRESIDIO_SCORE = 0.4  # phiscan's own least score
_TOKEN = re.compile(r"\S+")
Spans = list[tuple[int, int, bool]]  # start, end, whether a person
System = Callable[[str], Spans]


@dataclass
class Count:
    """Tokens in the gold, found, and both."""

    gold: int = 0
    found: int = 0
    right: int = 0

    def add(self, gold: set[int], found: set[int]) -> None:
        self.gold += len(gold)
        self.found += len(found)
        self.right += len(gold & found)

    def cells(self, *, marked: bool) -> list[str]:
        """Return precision, recall and F in percent; - where the source cannot say."""
        recall = 100 * self.right / self.gold if self.gold else None
        precision = 100 * self.right / self.found if marked and self.found and self.gold else None
        both = None
        if precision is not None and recall is not None:
            both = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return ["-" if x is None else f"{x:.1f}" for x in (precision, recall, both)]


@dataclass
class Tally:
    """One system on one set."""

    persons: Count = field(default_factory=Count)
    everything: Count = field(default_factory=Count)
    n_words: int = 0
    n_false_people: int = 0  # person spans that touch no person of the gold
    seconds: float = 0.0


def phiscan(folder: Path | None, *, tagger: bool = True) -> System:
    """Return the whole screener, with the tagger of a folder, the shipped one, or none."""
    ours = build_screener(Config())
    if folder is not None or not tagger:
        names = RuleNameRecognizer(load_gazetteer(), TaggerRecognizer.load(folder) if tagger else None)
        recognizers = tuple(names if isinstance(r, RuleNameRecognizer) else r for r in ours.recognizers)
        ours = replace(ours, recognizers=recognizers)

    def finds(text: str) -> Spans:
        findings = screen(Document(text, (), "text/plain"), ours).findings
        return [(f.span.start, f.span.end, f.entity_type.value in PERSONS) for f in findings]

    return finds


def presidio() -> System:
    """Return Presidio's pattern recognizers."""
    spacy, analyzer = importlib.import_module("spacy"), importlib.import_module("presidio_analyzer")
    engines: Any = importlib.import_module("presidio_analyzer.nlp_engine")

    class Blank(engines.SpacyNlpEngine):  # type: ignore[misc]
        """Tokens, no entities."""

        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}
            self.nlp["en"].max_length = 50_000_000

    registry = analyzer.RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    engine = analyzer.AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])

    def finds(text: str) -> Spans:
        found = engine.analyze(text, "en", score_threshold=MIN_PRESIDIO_SCORE)
        return [(f.start, f.end, f.entity_type == "PERSON") for f in found]

    return finds


def scrubadub() -> System:
    """Return scrubadub's default detectors."""
    scrubber = importlib.import_module("scrubadub").Scrubber(locale="en_US")
    return lambda text: [(f.beg, f.end, f.type == "name") for f in scrubber.iter_filth(text)]


def gazetteer() -> System:
    """Return every capitalized word that is a name on the lists and no ordinary word."""
    lists = load_gazetteer()

    def finds(text: str) -> Spans:
        return [
            (token.start, token.end, True)
            for token in tokenize(text, lists)
            if token.flags & (Word.FIRST | Word.LAST) and not token.flags & Word.ORDINARY
        ]

    return finds


def documents(name: str, n_chars: int) -> Iterator[tuple[str, list[tuple[int, int, str]]]]:
    """Yield texts with their spans until ``n_chars`` are reached."""
    for line in (DATA / f"{name}.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        yield record["text"], [(a, b, kind) for a, b, kind in record["spans"]]
        n_chars -= len(record["text"])
        if n_chars <= 0:
            return


def covered(spans: Iterator[tuple[int, int]], cells: list[tuple[int, int]]) -> set[int]:
    """Return which tokens the spans touch."""
    hit: set[int] = set()
    for start, end in spans:
        hit.update(i for i, (a, b) in enumerate(cells) if a < end and start < b)
    return hit


def measure(name: str, systems: dict[str, System], n_chars: int) -> dict[str, Tally]:
    """Run every system over the documents of a set."""
    tallies = {label: Tally() for label in systems}
    for text, gold in documents(name, n_chars):
        cells = [m.span() for m in _TOKEN.finditer(text)]
        skipped = covered(((a, b) for a, b, kind in gold if kind in UNSCORED), cells)
        persons = covered(((a, b) for a, b, kind in gold if kind in PERSONS), cells) - skipped
        everything = covered(((a, b) for a, b, kind in gold if kind not in UNSCORED), cells) - skipped
        for label, system in systems.items():
            begun = time.process_time()
            found = system(text)
            tallies[label].seconds += time.process_time() - begun
            people = [(a, b) for a, b, person in found if person]
            marked = [(a, b) for a, b, kind in gold if kind in PERSONS]
            tallies[label].n_words += len(cells)
            tallies[label].n_false_people += sum(
                not any(a < end and start < b for a, b in marked) for start, end in people
            )
            named = covered(iter(people), cells) - skipped
            tallies[label].persons.add(persons, named)
            tallies[label].everything.add(everything, covered(((a, b) for a, b, _ in found), cells) - skipped)
    return tallies


def families() -> dict[str, str]:
    """Map each set that the tagger was trained on to the fold that leaves its family out."""
    return {name: fold for fold, some in FOLDS.items() for family in some for name in FAMILIES[family]}


def main() -> None:
    """Print one row per set and system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=Path)
    parser.add_argument("--chars", type=int, default=120_000)
    parser.add_argument("sets", nargs="*", default=SETS)
    arguments = parser.parse_args()
    family_of = families()
    others = {
        "phiscan, no tagger": phiscan(None, tagger=False),
        "gazetteer": gazetteer(),
        "Presidio's patterns": presidio(),
        "scrubadub": scrubadub(),
    }
    print("| Set | System | person P | R | F | any P | R | F | false persons per 1,000 words | kB/s |")
    print("| --- | --- |" + " ---: |" * 8)
    for name in arguments.sets:
        family = family_of.get(name, "")
        folder = arguments.folds / family if arguments.folds and family else None
        if folder is not None and not (folder / "names.npz").exists():
            folder = None
        label = "phiscan *" if family and folder is None else "phiscan"
        systems = {label: phiscan(folder), **others}
        n_bytes = sum(len(text.encode()) for text, _ in documents(name, arguments.chars))
        for system, tally in measure(name, systems, arguments.chars).items():
            marked = name in FULLY_MARKED
            cells = [
                name,
                system,
                *tally.persons.cells(marked=marked),
                *tally.everything.cells(marked=marked),
                f"{1000 * tally.n_false_people / tally.n_words:.2f}" if marked else "-",
                f"{n_bytes / 1e3 / max(tally.seconds, 1e-9):.0f}",
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
