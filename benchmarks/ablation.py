"""Ablation: measure the whole program without each heuristic of screening, on unread marked sets.

    .venv/bin/python -m benchmarks.ablation [--only NAME ...] [--together] [--every N] [--out FILE]

For each component (a recognizer, a step after the recognizers, a detector or filter of names, a part of the
tagger, the repair of OCR errors) the program screens the unread marked sets without it. The table gives the
change of found, family and precision in points (tokens of all sets together, as ``bench_marked_texts``
counts them), the tokens found and lost, and the processor time. With ``--together`` the components named are
left out at the same time: the sum of single removals is not the removal of all. A component whose removal
costs less than 0.1 point of found and of precision is a candidate for deletion; what only other formats need
(HL7, X12, EDIFACT, DICOM, ZPL) is judged by the tests of these formats, not by this table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.bench_marked_texts import FOLDER, Tally, phiscan
from phiscan.config import Config
from phiscan.screen import Screener, build_screener
from phiscan.screen.pipeline import STEPS

UNREAD = ("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "kept")
RECOGNIZERS = (
    "ocr_confusions",
    "ocr_confusions.names",
    "messages.hl7",
    "messages.segments",
    "messages.dicom_listing",
    "messages.dicom_json",
    "messages.contact_cards",
    "identifiers.checked_columns",
    "person.file_names",
)


def _nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def _no(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> None:
    return None


def _second(_: Any, value: Any, *__: Any, **___: Any) -> Any:
    return value


_NAMES = "screen.recognizers.person.recognizer"
# Component, module below phiscan, attribute there (of a class after a dot), what it is replaced by.
PATCHES: tuple[tuple[str, str, str, Any], ...] = (
    ("person.cues", "screen.recognizers.person.cues", "CueRecognizer.recognize", _nothing),
    ("filters.eponyms", _NAMES, "doubt_eponyms", _second),
    ("filters.eponym_phrases", _NAMES, "without_eponym_phrases", _second),
    ("location.city_and_state", _NAMES, "cities", _nothing),
    ("filters.false_names (labels)", "screen.filters.false_names", "Vetoes.is_label", _no),
    ("case_variants (small letters)", "screen.case_variants", "is_small", _no),
    ("attributes.citations", "screen.attributes.named_roles", "cited", _nothing),
    ("normalize.text_view", "screen.pipeline", "normalized", _none),
    ("normalize.ocr_words (halves)", "normalize.ocr_words", "Vocabulary._joins", _nothing),
    ("normalize.ocr_words (one letter)", "normalize.ocr_words", "Vocabulary._guessed", _nothing),
    ("normalize.ocr_numbers (runs)", "normalize.ocr_numbers", "_tokens_of_digits", _nothing),
    ("normalize.ocr_numbers (groups)", "normalize.ocr_numbers", "_grouped", _nothing),
    ("normalize.ocr_numbers (codes)", "normalize.ocr_numbers", "corrected_codes", _nothing),
    ("normalize.ocr_numbers (Medicare)", "normalize.ocr_numbers", "_medicare", _nothing),
    ("normalize.ocr_numbers (spaces)", "normalize.ocr_numbers", "_inner_spaces", _nothing),
    ("free_text (codes of messages)", "screen.pipeline", "without_codes", _second),
    ("ocr_confusions (parts of values)", "screen.pipeline", "without_parts", list),
    ("messages.zpl_labels", "screen.pipeline", "bar_codes", _nothing),
)


@dataclass(frozen=True)
class Component:
    """A heuristic that can be left out: its name, and one of three means to do so."""

    name: str
    recognizer: str | None = None
    step: str | None = None
    patch: tuple[str, str, Any] | None = None  # module below phiscan, attribute, what it is replaced by


@dataclass(frozen=True)
class Figures:
    """Found, family and precision in percent; tokens found; processor seconds."""

    found: float
    family: float
    precision: float
    n_found: int
    seconds: float


def components() -> Iterator[Component]:
    """Yield every component that can be left out, in the order of the program."""
    for name in RECOGNIZERS:
        yield Component(name, recognizer=name)
    for step in STEPS:
        yield Component(step.name, step=step.name)
    for name, module, attribute, other in PATCHES:
        yield Component(name, patch=(module, attribute, other))


@contextmanager
def without(left_out: Sequence[Component]) -> Iterator[Screener]:
    """Yield a screener without all of the components."""
    with ExitStack() as stack:
        for component in left_out:
            if component.patch is not None:
                module, attribute, other = component.patch
                owner = import_module(f"phiscan.{module}")
                *classes, name = attribute.split(".")
                owner = getattr(owner, classes[0]) if classes else owner
                stack.enter_context(patch.object(owner, name, other))
        stack.callback(_forget)
        _forget()
        whole = build_screener(Config())
        recognizers = {one.recognizer for one in left_out if one.recognizer}
        steps = {one.step for one in left_out if one.step}
        assert recognizers <= {one.name for one in whole.recognizers}, recognizers
        yield replace(
            whole,
            recognizers=tuple(one for one in whole.recognizers if one.name not in recognizers),
            steps=tuple(one for one in whole.steps if one.name not in steps),
        )
    _forget()


def _forget() -> None:
    """Clear the caches of recognizers, so that the next screener uses the present patches."""
    import_module("phiscan.screen.pipeline")._shipped.cache_clear()
    person = import_module("phiscan.screen.recognizers.person.recognizer")
    person._cues.cache_clear()


def documents() -> list[dict[str, Any]]:
    """Return the texts of the unread marked sets with their marks."""
    lines: list[str] = []
    for name in UNREAD:
        lines += (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def measure(screener: Screener, texts: Sequence[dict[str, Any]]) -> Figures:
    """Screen the texts and return the figures of their marks."""
    before = time.process_time()
    tally = Tally(list(texts), phiscan(screener))
    seconds = time.process_time() - before
    found, family = tally.recall(tally.found), tally.recall(tally.same)
    return Figures(found, family, tally.precision, tally.found.total(), seconds)


def table(whole: Figures, rows: Iterable[tuple[str, Figures]]) -> Iterator[str]:
    """Yield the lines of the table: the program, then each component by its effect."""
    yield "| without | found | family | precision | tokens found | processor time |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    yield (
        f"| nothing | {whole.found:.2f} | {whole.family:.2f} | {whole.precision:.2f} | {whole.n_found} |"
        f" {whole.seconds:.1f} s |"
    )
    for name, one in sorted(rows, key=lambda row: row[1].found + row[1].precision):
        yield (
            f"| {name} | {one.found - whole.found:+.2f} | {one.family - whole.family:+.2f} |"
            f" {one.precision - whole.precision:+.2f} | {one.n_found - whole.n_found:+d} |"
            f" {100 * one.seconds / whole.seconds - 100:+.0f}% |"
        )


def main() -> None:
    """Print the table, or write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--together", action="store_true", help="Leave all of them out at the same time.")
    parser.add_argument("--every", type=int, default=1, help="Measure on every Nth text.")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    texts = documents()[:: given.every]
    every = list(components())
    if unknown := set(given.only or ()) - {one.name for one in every}:
        parser.error(f"--only: no component is called {', '.join(sorted(unknown))}")
    chosen = [one for one in every if not given.only or one.name in given.only]
    groups = [chosen] if given.together else [[one] for one in chosen]
    measure(build_screener(Config()), texts[:20])  # memories of words are filled alike for all
    whole = measure(build_screener(Config()), texts)
    rows = []
    for group in groups:
        with without(group) as screener:
            name = ", ".join(one.name for one in group)
            rows.append((name, measure(screener, texts)))
        print(name, rows[-1][1], flush=True)
    lines = "\n".join(table(whole, rows))
    print(lines)
    if given.out:
        given.out.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
