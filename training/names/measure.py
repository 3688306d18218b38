"""Recall and precision of a name recognizer on labelled text, by tokens, and false persons."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from phiscan.lexicon.gazetteer import Word, load_gazetteer
from phiscan.model import Document, EntityType, Finding
from phiscan.screen.recognizers.person.recognizer import NameSource
from training.corpora.documents import Labelled
from training.corpora.open_texts import LABELS

GROUPS = {
    EntityType.PERSON: "person",
    EntityType.HEALTH_PROFESSIONAL: "person",
    EntityType.ORGANIZATION: "organization",
    EntityType.LOCATION: "place",
    EntityType.STREET_ADDRESS: "place",
}
GROUP_OF_LABEL = {"PER": "person", "ORG": "organization", "LOC": "place", "ADR": "place"}
UNSCORED = frozenset({"TITLE", "PREFIX", "NRP", "product", "creative-work"})
# Sets that mark every name, on which precision is defined.
FULLY_MARKED = frozenset(
    {
        "presidio_synth_v2",
        "presidio_generated_large",
        "wnut17_train",
        "fhir_synthea_dev",
        "us_legislators_dev",
    }
)
# Kinds of names by what the lists say: on a list, on a list and an ordinary word as well, on none.
KINDS = _LISTED, _WORDED, _UNKNOWN = "listed", "worded", "unknown"
Figures = dict[str, float | int | str | None]
_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


@dataclass(frozen=True)
class Marked:
    """A text and its marked spans ``(start, end, group)``; ``unscored``: ignored spans."""

    text: str = field(repr=False)
    spans: tuple[tuple[int, int, str], ...]
    unscored: tuple[tuple[int, int], ...] = ()


@dataclass
class Count:
    """Tokens of one group: in the gold, found, both, found under any label, and found of any marked span."""

    gold: int = 0
    found: int = 0
    right: int = 0
    any_label: int = 0
    marked: int = 0


@dataclass
class ByKind:
    """Tokens of persons by their kind in the lists of names: in the gold, and found."""

    gold: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, cells: list[tuple[int, int]], gold: set[int], found: set[int]) -> None:
        """Count the tokens of one text; ``gold`` and ``found`` are numbers of ``cells``."""
        kinds = {i: _kind(text[slice(*cells[i])]) for i in gold}
        self.gold.update(kinds.values())
        self.found.update(kinds[i] for i in gold & found)

    def figures(self) -> Figures:
        """Return recall in percent, and the number of tokens, of each kind."""
        figures: Figures = {f"n_{kind}_tokens": self.gold[kind] for kind in KINDS}
        share = {kind: 100 * self.found[kind] / self.gold[kind] for kind in KINDS if self.gold[kind]}
        return figures | {f"{kind}_recall": value for kind, value in share.items()}


def foreign_set(path: Path) -> Iterator[Marked]:
    """Yield the documents of one openly licensed set as they are."""
    for line in path.open(encoding="utf-8"):
        record = json.loads(line)
        spans = tuple(
            (a, b, GROUP_OF_LABEL[LABELS[kind]]) for a, b, kind in record["spans"] if kind in LABELS
        )
        unscored = tuple((a, b) for a, b, kind in record["spans"] if kind in UNSCORED)
        yield Marked(record["text"], spans, unscored)


def made(documents: Iterable[Labelled]) -> Iterator[Marked]:
    """Yield the documents of the generator."""
    for document in documents:
        yield Marked(document.text, tuple((a, b, GROUP_OF_LABEL[label]) for a, b, label in document.spans))


def measure(
    recognizer: NameSource, documents: Iterable[Marked], *, fully_marked: bool
) -> tuple[Figures, list[str]]:
    """Return the figures of one set, in percent, and the errors with persons.

    ``*_precision_any_label``: the share of what is found as a person that lies in a marked span of any kind,
    such as a street called after somebody. ``unknown_recall``: of the tokens of persons of which no word is
    on a list of names; ``listed_recall``, ``worded_recall``: of those on a list, without and with ordinary
    words among them. ``counted_*``: of the persons without the doubtful ones; ``*_counted_*``: the same of
    organizations and places. Without ``fully_marked`` precision is null with a reason. Units: tokens are
    runs without white space.
    """
    counts = {group: Count() for group in ("person", "organization", "place")}
    sure_counts = {group: Count() for group in counts}
    n_words = n_beyond = n_counted_beyond = 0
    by_kind = ByKind()
    errors: list[str] = []
    for document in documents:
        text = document.text
        findings = _names(recognizer, text)
        cells = [match.span() for match in _TOKEN.finditer(text)]
        n_words += len(cells)
        skipped = _cells(document.unscored, cells)
        every: set[int] = set()
        found = {}
        for group in counts:
            mine = ((f.span.start, f.span.end) for f in findings if GROUPS[f.entity_type] == group)
            found[group] = _cells(mine, cells) - skipped
            every |= found[group]
        marked = _cells(((a, b) for a, b, _ in document.spans), cells)
        for group, count in counts.items():
            gold = _cells(((a, b) for a, b, g in document.spans if g == group), cells) - skipped
            count.gold += len(gold)
            count.found += len(found[group])
            count.right += len(gold & found[group])
            count.any_label += len(gold & every)
            count.marked += len(marked & found[group])
            sure_spans = (
                (f.span.start, f.span.end)
                for f in findings
                if GROUPS[f.entity_type] == group and not f.is_doubtful
            )
            sure_cells = _cells(sure_spans, cells) - skipped
            sure_counts[group].found += len(sure_cells)
            sure_counts[group].right += len(gold & sure_cells)
            if group == "person":
                by_kind.add(text, cells, gold, found[group])
                errors += [_shown("MISSED", text, *cells[i]) for i in sorted(gold - found[group])]
        people = [(a, b) for a, b, group in document.spans if group == "person"]
        for f in findings:
            if GROUPS[f.entity_type] == "person" and not any(
                a < f.span.end and f.span.start < b for a, b in people
            ):
                n_beyond += 1
                n_counted_beyond += not f.is_doubtful
                errors.append(_shown("FALSE", text, f.span.start, f.span.end))
    figures: Figures = {"n_words": n_words, "n_person_tokens": counts["person"].gold}
    for group, count in counts.items():
        if count.gold:
            figures[f"{group}_recall"] = 100 * count.right / count.gold
            figures[f"{group}_recall_any_label"] = 100 * count.any_label / count.gold
            figures[f"{group}_precision"] = (
                100 * count.right / count.found if count.found and fully_marked else None
            )
            figures[f"{group}_precision_any_label"] = (
                100 * count.marked / count.found if count.found and fully_marked else None
            )
            sure = sure_counts[group]
            prefix = "counted" if group == "person" else f"{group}_counted"
            figures[f"{prefix}_recall"] = 100 * sure.right / count.gold
            figures[f"{prefix}_precision"] = (
                100 * sure.right / sure.found if sure.found and fully_marked else None
            )
    if counts["person"].gold and not fully_marked:
        figures["reason"] = "no precision: the source does not mark every name"
    figures |= by_kind.figures()
    figures["persons_beyond_gold_per_1000_words"] = 1000 * n_beyond / max(n_words, 1)
    figures["counted_beyond_gold_per_1000_words"] = 1000 * n_counted_beyond / max(n_words, 1)
    return figures, errors


def _kind(token: str) -> str:
    """Return the kind of a token of a name: on the lists or not, and also an ordinary word or not."""
    flags = [load_gazetteer().of(word) for word in _WORD.findall(token) if len(word) > 1]
    if not flags:
        return ""  # an initial
    if not any(f & (Word.FIRST | Word.LAST) for f in flags):
        return _UNKNOWN
    return _WORDED if any(f & Word.ORDINARY for f in flags) else _LISTED


def _shown(what: str, text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - 40) : start], text[end : end + 30]
    return f"{what} {before!r} >>{text[start:end]!r}<< {after!r}"


def _names(recognizer: NameSource, text: str) -> list[Finding]:
    """Return the findings of a recognizer except numbers."""
    found = recognizer.recognize(Document(text, (), "text/plain"))
    return [finding for finding in found if finding.entity_type in GROUPS]


def _cells(spans: Iterable[tuple[int, int]], cells: list[tuple[int, int]]) -> set[int]:
    hit: set[int] = set()
    for start, end in spans:
        hit.update(i for i, (a, b) in enumerate(cells) if a < end and start < b)
    return hit
