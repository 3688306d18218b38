"""Persons on documents of held-out templates, with the difficulty taken away step by step.

    .venv/bin/python benchmarks/bench_held_out_names.py --folds OUT/folds
    .venv/bin/python benchmarks/bench_held_out_names.py --folds OUT/folds --tenth "second group" --trained OUT2 --data DATA

``--folds``: of ``phiscan train names --out``. ``--tenth``: hold out another tenth of the templates, drawn by this word; its
fold is trained into ``--trained`` unless it lies there (five minutes). Rows: the model that has not seen the templates and the
one that has ("seen"); documents as the generator makes them, none in capitals, small letters or misread ("as written"), and no
name that is a word or on no list ("listed names"); the last row is the whole program. Tokens are runs without white space; of
all names that are shown, those that count after a stroke.
"""  # noqa: E501 (the command is on one line)

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from phiscan.config import Config
from phiscan.lexicon.gazetteer import Word, load_gazetteer
from phiscan.model import Document, Finding
from phiscan.screen import build_screener, screen
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.recognizers.person.recognizer import NameSource, RuleNameRecognizer
from training.corpora import documents
from training.corpora.documents import Labelled, Writer
from training.corpora.marked_texts import Texts
from training.names.folds import N_HELD_OUT, TEMPLATES_FOLD, WHOLE, Fold
from training.names.measure import GROUPS, made, measure
from training.names.train import SEED, Settings, train
from training.names.weights import WEIGHTS

SEEDS = (SEED + 2, SEED + 3)
MIXES = ("as made", "as written", "listed names")


class WholeProgram:
    """Everything that the program finds, with a tagger of our choice."""

    def __init__(self, tagger: TaggerRecognizer) -> None:
        screener = build_screener(Config())
        names = RuleNameRecognizer(load_gazetteer(), tagger)
        own = (names if isinstance(one, RuleNameRecognizer) else one for one in screener.recognizers)
        self._screener = replace(screener, recognizers=tuple(own))

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield the findings that may be of a marked kind."""
        findings = screen(document, self._screener).findings
        yield from (finding for finding in findings if finding.entity_type in GROUPS)


def main() -> None:
    """Print a row per model and mix of documents."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--tenth")
    parser.add_argument("--trained", type=Path)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    unseen = arguments.folds / TEMPLATES_FOLD
    if arguments.tenth:
        # The generator has one tenth; another one is a question of this measurement alone.
        documents._held_out = lambda template: zlib.crc32(f"{arguments.tenth}\n{template}".encode()) % 10 == 0
        unseen = arguments.trained
        if not (unseen / WEIGHTS).exists():
            train(Settings(), Fold(held_out=True), texts=Texts(arguments.data), out=unseen)
    print("| model | documents | recall / any label | precision / any label | unknown names | that count |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, folder in (("unseen", unseen), ("seen", arguments.folds / WHOLE)):
        tagger = TaggerRecognizer.load(folder)
        for mix in MIXES:
            print(_row(name, mix, tagger), flush=True)
    print(_row("unseen, whole program", MIXES[0], WholeProgram(TaggerRecognizer.load(unseen))))


def _row(name: str, mix: str, recognizer: NameSource) -> str:
    figures, _ = measure(recognizer, made(_documents(mix)), fully_marked=True)

    def shown(*keys: str, between: str = " / ") -> str:
        return between.join(f"{figures.get(key) or 0.0:.1f}" for key in keys)

    cells = [
        shown("person_recall", "person_recall_any_label"),
        shown("person_precision", "person_precision_any_label"),
        shown("unknown_recall"),
        shown("counted_recall", "counted_precision", between=" at "),
    ]
    return f"| {name} | {mix} | {' | '.join(cells)} |"


def _documents(mix: str) -> Iterator[Labelled]:
    for seed in SEEDS:
        writer = Writer(seed, only_held_out=True)
        if mix != MIXES[0]:
            writer._disturbed = lambda document: document  # type: ignore[method-assign]
        if mix == MIXES[2]:
            world = writer.world
            world.first, world.last = _listed(world.first), _listed(world.last)  # type: ignore[method-assign, assignment]
        yield from writer.documents(N_HELD_OUT)


def _listed(draw: Callable[[str], str]) -> Callable[[str], str]:
    """Return a draw of names that are on a list and no ordinary words."""

    def drawn(locale: str = "") -> str:
        while True:
            name = draw(locale)
            flags = load_gazetteer().of(name)
            if flags & (Word.FIRST | Word.LAST) and not flags & Word.ORDINARY:
                return name

    return drawn


if __name__ == "__main__":
    main()
