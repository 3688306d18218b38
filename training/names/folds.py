"""Cross-validate a name recognizer by families of data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from phiscan.screen.recognizers.person.recognizer import NameSource
from training.corpora.documents import Writer
from training.corpora.marked_texts import written
from training.corpora.open_texts import FAMILIES, FOLDS
from training.names.measure import FULLY_MARKED, Figures, Marked, foreign_set, made, measure

N_HELD_OUT: Final = 600  # documents of held-out templates
TEMPLATES_FOLD: Final = "templates"  # the fold that holds out templates only
WHOLE: Final = "none"  # the training on all texts
HELD_OUT: Final = "held-out templates"
HELD_OUT_WRITTEN: Final = "held-out texts of our own"
SEEN_WRITTEN: Final = "the same texts, seen in training"
Log = Callable[[str], None]


@dataclass(frozen=True)
class Fold:
    """The held-out data of one training: families of sets, a tenth of the templates and own texts."""

    families: tuple[str, ...] = ()
    held_out: bool = False

    @property
    def left_out(self) -> str:
        """The held-out data in words."""
        return ", ".join([*self.families, *([HELD_OUT] if self.held_out else [])]) or "nothing"


class Drawn(Protocol):
    """Settings of a training with generated documents."""

    @property
    def seed(self) -> int: ...  # noqa: D102 (the seed of every draw)
    @property
    def n_documents(self) -> int: ...  # noqa: D102 (documents to make)
    @property
    def n_copies(self) -> int: ...  # noqa: D102 (times that each marked text is read)


def measured_by_folds(
    settings: Drawn,
    train: Callable[[Fold, Path], None],
    load: Callable[[Path], NameSource],
    *,
    data: Path | None,
    out: Path,
    log: Log,
) -> dict[str, Figures]:
    """Train each fold into a folder of ``out``, then on all texts; return the figures of each set.

    A set is measured with a training that left its family out, the held-out templates and texts with one that
    left out nothing else. No fold has seen them, so that all folds are trained alike.
    """
    folds = {name: Fold(some, held_out=True) for name, some in FOLDS.items()} if data else {}
    folds[TEMPLATES_FOLD] = Fold(held_out=True)
    figures: dict[str, Figures] = {}
    for name, fold in folds.items():
        train(fold, out / name)
        recognizer = load(out / name)
        for set_name in (s for family in fold.families for s in FAMILIES[family]):
            texts = foreign_set(data / f"{set_name}.jsonl") if data else ()
            figures[set_name], _ = measure(recognizer, texts, fully_marked=set_name in FULLY_MARKED)
            log(_line(set_name, figures[set_name]))
    figures[HELD_OUT], _ = measure(recognizer, held_out_texts(settings), fully_marked=True)
    figures[HELD_OUT_WRITTEN], _ = measure(recognizer, made(written(held_out=True)), fully_marked=True)
    train(Fold(), out / WHOLE)
    figures[SEEN_WRITTEN], _ = measure(load(out / WHOLE), made(written(held_out=True)), fully_marked=True)
    for name in (HELD_OUT, HELD_OUT_WRITTEN, SEEN_WRITTEN):
        log(_line(name, figures[name]))
    return figures


def held_out_texts(settings: Drawn) -> Iterator[Marked]:
    """Yield documents of the held-out templates."""
    n_documents = min(N_HELD_OUT, settings.n_documents)
    return made(Writer(settings.seed + 2, only_held_out=True).documents(n_documents))


def _line(name: str, figures: Figures) -> str:
    kept = {k: f"{v:.1f}" for k, v in figures.items() if isinstance(v, float)}
    return f"{name}: " + ", ".join(f"{key} {value}" for key, value in kept.items())
