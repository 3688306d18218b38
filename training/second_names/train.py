"""Train the second name tagger, a small spaCy network, on the training texts of the first."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from phiscan.model import Document
from phiscan.screen.ner.second_tagger import FORMAT, LABELS, WEIGHTS, SecondNames, arrays_of, blank, digest
from training.corpora.documents import ADDRESS, LOCATION, ORGANIZATION, Labelled
from training.corpora.marked_texts import Texts
from training.corpora.open_texts import doubtful
from training.corpora.people import PERSON
from training.names.folds import WHOLE, Fold, Log, measured_by_folds
from training.names.train import N_COPIES, corpora, hashes_of
from training.needs import needed
from training.second_names.card import render

CARD = "model-card-second-names.md"
N_COMPARED = 300  # documents on which half precision is compared with single
TYPES = {PERSON: "PERSON", ORGANIZATION: "ORG", LOCATION: "LOC", ADDRESS: "LOC"}


@dataclass(frozen=True)
class NetworkSettings:
    """The hyperparameters."""

    seed: int = 20261121
    n_documents: int = 7500
    n_copies: int = N_COPIES  # as the tagger's
    n_epochs: int = 5
    width: int = 64
    depth: int = 3
    hidden: int = 48
    rows: tuple[int, ...] = (3000, 500, 1500, 750)
    dropout: float = 0.25
    batch_words: int = 1000
    learn_rate: float = 0.002
    warmup_steps: int = 100  # the rate rises over these, then falls to nothing

    def shape(self) -> dict[str, Any]:
        """Return the shape of the network."""
        return {"width": self.width, "depth": self.depth, "hidden": self.hidden, "rows": list(self.rows)}


def train_second_names(settings: NetworkSettings, *, texts: Texts, out: Path, log: Log) -> dict[str, Any]:
    """Train, measure, and write weights, labels and card to ``out``; return the card.

    Networks lie in ``out/folds``; one of the same recipe is not trained again.

    Raises:
        InputError: a package or a set is missing.
    """
    needed("faker")
    hashes = hashes_of(texts)
    recipe = _recipe(settings, hashes)
    whole = out / "folds" / WHOLE
    figures = measured_by_folds(
        settings,
        lambda fold, folder: _trained(settings, fold, texts=texts, out=folder, recipe=recipe, log=log),
        SecondNames.load,
        data=texts.data,
        out=out / "folds",
        log=log,
    )
    card: dict[str, Any] = json.loads((whole / LABELS).read_text(encoding="utf-8"))
    card |= {"figures": figures, "hashes": hashes, "settings": asdict(settings)}
    card |= {"spacy": version("spacy"), "megabytes": (whole / WEIGHTS).stat().st_size / 1e6}
    shutil.copyfile(whole / WEIGHTS, out / WEIGHTS)
    _write(out, card)
    (out / CARD).write_text(render(card), encoding="utf-8")
    return card


def train(settings: NetworkSettings, fold: Fold, *, texts: Texts, out: Path, log: Log) -> None:
    """Train on everything but what ``fold`` leaves out, and write weights and labels."""
    import_module("spacy.util").fix_random_seed(settings.seed)
    pipeline = blank(settings.shape())
    documents = [
        piece for source, document in corpora(settings, fold, texts) for piece in marked(document, source)
    ]
    examples = [made_example(pipeline, document) for document in documents]
    n_words = sum(len(example.reference) for example in examples)
    network = pipeline.get_pipe("ner")
    pipeline.initialize(lambda: examples)
    thinc = import_module("thinc.api")
    n_steps = settings.n_epochs * (n_words // settings.batch_words + 1)
    rate = thinc.warmup_linear(settings.learn_rate, settings.warmup_steps, n_steps)
    optimizer = thinc.Adam(rate, L2=0.01, grad_clip=1.0, use_averages=True, L2_is_weight_decay=True)
    random = Random(settings.seed)
    batches = import_module("spacy.training.batchers").minibatch_by_words
    for epoch in range(settings.n_epochs):
        random.shuffle(examples)
        losses: dict[str, float] = {}
        for batch in batches(examples, size=settings.batch_words, discard_oversize=False):
            network.update(batch, drop=settings.dropout, sgd=optimizer, losses=losses)
            optimizer.step_schedules()
        loss = 1000 * losses["ner"] / n_words
        log(f"epoch {epoch + 1} of {settings.n_epochs}: loss per 1,000 words {loss:.1f}")
    with network.model.use_params(optimizer.averages):
        arrays = {name: array.astype(np.float16) for name, array in arrays_of(pipeline).items()}
        exact = [_spans(SecondNames(pipeline), d) for d in documents[:N_COMPARED]]
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / WEIGHTS, **arrays)  # type: ignore[arg-type]  # numpy's stub takes no mapping
    labels = {str(action): dict(names) for action, names in network.moves.labels.items()}
    card: dict[str, Any] = {"format": FORMAT, "shape": settings.shape(), "actions": labels}
    card |= {"arrays": digest(arrays)}
    _write(out, card)
    again = SecondNames.load(out)
    n_unlike = sum(_spans(again, d) != one for d, one in zip(documents, exact, strict=False))
    card |= {"n_documents": len(documents), "n_words": n_words, "n_unlike_single_precision": n_unlike}
    _write(out, card)


def marked(document: Labelled, source: str) -> Iterator[Labelled]:
    """Yield the document without lines of ``source`` that may hold an unmarked name, split there."""
    start = position = 0
    for line in [*document.text.splitlines(keepends=True), ""]:
        left_out = doubtful(source, line)
        end = position + len(line)
        if (left_out or not line) and position > start:
            spans = tuple(
                (a - start, b - start, c) for a, b, c in document.spans if start <= a and b <= position
            )
            yield Labelled(document.text[start:position], spans)
        if left_out:
            start = end
        position = end


def made_example(pipeline: Any, document: Labelled) -> Any:
    """Return a training example; a name that begins within a word takes the whole word."""
    reference, predicted = pipeline.make_doc(document.text), pipeline.make_doc(document.text)
    found = [
        reference.char_span(
            *_stripped(document.text, start, end), label=TYPES[label], alignment_mode="expand"
        )
        for start, end, label in document.spans
    ]
    reference.set_ents(import_module("spacy.util").filter_spans([span for span in found if span]))
    return import_module("spacy.training").Example(predicted, reference)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def _spans(recognizer: SecondNames, document: Labelled) -> list[tuple[int, int, str]]:
    found = recognizer.recognize(Document(document.text, (), "text/plain"))
    return [(finding.span.start, finding.span.end, finding.entity_type.value) for finding in found]


def _trained(
    settings: NetworkSettings, fold: Fold, *, texts: Texts, out: Path, recipe: str, log: Log
) -> None:
    """Train into ``out`` unless a network of this recipe lies there; its labels are completed last."""
    try:
        known = json.loads((out / LABELS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if known.get("recipe") == recipe:
        log(f"without {fold.left_out}: there already")
        return
    shutil.rmtree(out, ignore_errors=True)
    log(f"without {fold.left_out}")
    train(settings, fold, texts=texts, out=out, log=log)
    card = json.loads((out / LABELS).read_text(encoding="utf-8"))
    _write(out, card | {"recipe": recipe})


def _write(out: Path, card: dict[str, Any]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(card, indent=1, allow_nan=False) + "\n"
    (out / LABELS).write_text(text, encoding="utf-8")


def _recipe(settings: NetworkSettings, hashes: dict[str, str]) -> str:
    """Return one hash of the settings, the texts and this module."""
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps([asdict(settings), hashes, code]).encode()).hexdigest()
