"""Measure a trained tagger on foreign text: tokens without white space, spans per 1,000 words, speed.

.venv/bin/python scripts/train_names/evaluate.py --data FOLDER [--model FOLDER] SET ...
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from foreign import FAMILIES, LABELS

from phiscan.model import Document, EntityType
from phiscan.screen.tagger import TaggerRecognizer

GROUPS = {
    EntityType.PERSON: "PER",
    EntityType.HEALTH_PROFESSIONAL: "PER",
    EntityType.ORGANIZATION: "ORG",
    EntityType.LOCATION: "PLACE",
    EntityType.STREET_ADDRESS: "PLACE",
}
UNSCORED = ("TITLE", "PREFIX", "NRP", "product", "creative-work")


@dataclass
class Count:
    """Tokens of one group: in the gold, found, both, and in the gold found under any label."""

    gold: int = 0
    found: int = 0
    right: int = 0
    any_label: int = 0

    @property
    def recall(self) -> float:
        """Percent of the gold tokens found."""
        return 100 * self.right / self.gold if self.gold else float("nan")

    @property
    def precision(self) -> float:
        """Percent of the found tokens in the gold."""
        return 100 * self.right / self.found if self.found else float("nan")


@dataclass
class Measured:
    """What one set says of a tagger."""

    counts: dict[str, Count]
    n_words: int
    n_false_people: int  # spans that touch no person of the gold
    mb_per_s: float


def measure(recognizer: TaggerRecognizer, path: Path, show: int = 0, group_shown: str = "PER") -> Measured:
    """Count tokens over one set."""
    counts = {group: Count() for group in ("PER", "ORG", "PLACE")}
    n_words = n_false = n_bytes = 0
    seconds = 0.0
    for line in path.open(encoding="utf-8"):
        record = json.loads(line)
        text = record["text"]
        begun = time.perf_counter()
        findings = list(recognizer.recognize(Document(text, (), "text/plain")))
        seconds += time.perf_counter() - begun
        n_bytes += len(text.encode())
        cells = [m.span() for m in re.finditer(r"\S+", text)]
        n_words += len(cells)
        skipped = _cells(((a, b) for a, b, kind in record["spans"] if kind in UNSCORED), cells)
        gold = {
            g: _cells(((a, b) for a, b, k in record["spans"] if _group(k) == g), cells) - skipped
            for g in counts
        }
        found = {
            g: _cells(((f.span.start, f.span.end) for f in findings if GROUPS[f.entity_type] == g), cells)
            - skipped
            for g in counts
        }
        every = set().union(*found.values())
        for group, count in counts.items():
            count.gold += len(gold[group])
            count.found += len(found[group])
            count.right += len(gold[group] & found[group])
            count.any_label += len(gold[group] & every)
        people = [(a, b) for a, b, k in record["spans"] if _group(k) == "PER"]
        for f in findings:
            if GROUPS[f.entity_type] == "PER" and not any(
                a < f.span.end and f.span.start < b for a, b in people
            ):
                n_false += 1
        bad = [("MISS", i) for i in gold[group_shown] - found[group_shown]]
        bad += [("FALSE", i) for i in found[group_shown] - gold[group_shown]]
        for what, i in sorted(bad, key=lambda x: x[1]):
            if show > 0:
                a, b = cells[i]
                print(f"   {what} {text[max(0, a - 45) : a]!r} >>{text[a:b]!r}<< {text[b : b + 35]!r}")
                show -= 1
    return Measured(counts, n_words, n_false, n_bytes / 1e6 / max(seconds, 1e-9))


def _group(kind: str) -> str:
    label = LABELS.get(kind, "")
    return "PLACE" if label in {"LOC", "ADR"} else label


def _cells(spans: Iterable[tuple[int, int]], cells: list[tuple[int, int]]) -> set[int]:
    hit: set[int] = set()
    for start, end in spans:
        hit.update(i for i, (a, b) in enumerate(cells) if a < end and start < b)
    return hit


def table(name: str, measured: Measured) -> str:
    """Return one row of the model card."""
    cells = [name, str(measured.n_words)]
    for group in ("PER", "ORG", "PLACE"):
        count = measured.counts[group]
        cells += [f"{count.recall:.1f} / {count.any_label * 100 / count.gold:.1f}" if count.gold else "-"]
        cells += [f"{count.precision:.1f}" if count.gold else "-"]
    cells += [f"{1000 * measured.n_false_people / measured.n_words:.2f}", f"{measured.mb_per_s:.2f}"]
    return "| " + " | ".join(cells) + " |"


HEADER = (
    "| set | words | PER recall / any | PER precision | ORG recall / any | ORG precision |"
    " PLACE recall / any | PLACE precision | false PER spans per 1,000 words | MB/s |\n| --- "
    + "| ---: " * 9
    + "|"
)


def main() -> None:
    """Print one row per set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--group", default="PER")
    parser.add_argument("sets", nargs="*", default=[name for names in FAMILIES.values() for name in names])
    arguments = parser.parse_args()
    recognizer = TaggerRecognizer.load(arguments.model)
    print(HEADER)
    for name in arguments.sets:
        print(
            table(
                name, measure(recognizer, arguments.data / f"{name}.jsonl", arguments.show, arguments.group)
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
