"""Train the name tagger: one seeded command that writes the weights and the model card.

    .venv/bin/python scripts/train_names/train.py [--data DIR] [--folds DIR] [--leave-out FAMILY] [--out DIR]

``--data``: folder with the openly licensed sets of foreign.py; without it the generator alone is used.
``--folds``: where the models of the cross-validation lie or will lie; then the model card is written too.
``--leave-out FAMILY``: train one of those alone, without that family.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pycrfsuite
from card import write_card
from documents import Labelled, Writer
from evaluate import measure, table
from foreign import FAMILIES, doubtful, read
from world import World

from phiscan.config import data_dir
from phiscan.screen.gazetteer import Gazetteer, Word
from phiscan.screen.tagger import TaggerRecognizer, load_kinds
from phiscan.screen.tagger_features import (
    OFFSETS,
    TEMPLATES,
    Inventory,
    Lexicon,
    Stream,
    context_names,
    own_names,
)
from phiscan.screen.tagger_model import FORMAT, TaggerModel
from phiscan.screen.tagger_tokens import N_MODES, Kinds, classes, split

SEED = 20261120
N_DOCUMENTS = 7500
N_VARIANTS = 4  # each hides another 30 % of the name lists, so that unknown names are learned too
HIDDEN = 0.3
MIN_WORD_DOCUMENTS = 6
MAX_WORDS = 4000
MIN_CLASS_TOKENS = 25
N_COMPARED = 400  # documents on which the exported weights are compared with CRFsuite
PARAMETERS = {
    "c1": 0.04,
    "c2": 0.02,
    "max_iterations": 110,
    "feature.possible_transitions": True,
    "feature.minfreq": 2,
}
SCALE = 0.002  # a weight nearer to zero than this is dropped


class HiddenNames:
    """A gazetteer without a part of its names."""

    def __init__(self, gazetteer: Gazetteer, variant: int) -> None:
        self._gazetteer = gazetteer
        self._variant = variant

    def of(self, word: str) -> int:
        """Return the flags of a word; a hidden name is an unknown word."""
        flags = self._gazetteer.of(word)
        if flags & (Word.FIRST | Word.LAST) and not flags & Word.ORDINARY:
            draw = zlib.crc32(f"{self._variant}{word.lower()}".encode()) / 2**32
            if draw < HIDDEN:
                flags &= ~(Word.FIRST | Word.LAST)
        return flags


def seen_in_part(words: frozenset[str], variant: int) -> frozenset[str]:
    """Return the words without a hidden part, so that the generator's terms are not all known."""
    return frozenset(w for w in words if zlib.crc32(f"{variant}{w}".encode()) / 2**32 >= HIDDEN)


def corpora(data: Path | None, left_out: str) -> Iterator[tuple[str, Labelled]]:
    """Yield all training documents with the name of their source."""
    for document in Writer(SEED).documents(N_DOCUMENTS):
        yield "generator", document
    world = World(SEED + 1)
    for family, names in FAMILIES.items():
        if data is not None and family != left_out:
            for name in names:
                for document in read(data, name, world):
                    yield name, document


def inventory(documents: list[tuple[str, Labelled]], kinds: Kinds) -> Inventory:
    """Choose the words and classes that become features."""
    seen, named, fine, coarse = Counter(), Counter(), Counter(), Counter()
    for _, document in documents:
        inside = np.zeros(len(document.text) + 1, dtype=bool)
        for start, end, _label in document.spans:
            inside[start:end] = True
        place, met = 0, set()
        for token in split(document.text):
            kind = kinds.of(token)
            for mode in range(N_MODES):
                a, b = classes(kind, mode)
                fine[a] += mode == 0
                coarse[b] += 1
                if mode:
                    fine[a] += 0.5
            if kind.folded not in met:
                met.add(kind.folded)
                seen[kind.folded] += 1
                named[kind.folded] += bool(inside[place])
            place += len(token)
    words = [
        w for w, n in seen.most_common() if n >= MIN_WORD_DOCUMENTS and named[w] < 0.6 * n and w != "\0"
    ][:MAX_WORDS]
    return Inventory(
        tuple(sorted(words)),
        tuple(sorted(name for name, n in fine.items() if n >= MIN_CLASS_TOKENS)),
        tuple(sorted(coarse)),
    )


def sequences(
    document: Labelled, stream: Stream, lexicon: Lexicon, source: str
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yield the features and labels of each unit."""
    labels = gold(document, stream)
    index = stream.units.index
    names_of = {}
    for start, length in zip(stream.units.starts.tolist(), stream.units.lengths.tolist(), strict=True):
        tokens = index[start : start + length].tolist()
        low, high = stream.places[tokens[0]], stream.places[tokens[-1] + 1]
        line = document.text[low:high]
        unit_labels = [labels[token] for token in tokens]
        if unit_labels[0].startswith("I-"):
            unit_labels[0] = "B" + unit_labels[0][1:]
        if doubtful(source, line):
            continue
        features = []
        for token in tokens:
            names = context_names(stream, token)
            for place in range(len(OFFSETS)):
                row = int(stream.rows[token + place])
                if row not in names_of:
                    names_of[row] = own_names(
                        lexicon.kinds[row // N_MODES], row % N_MODES, lexicon.vocabulary
                    )
                names = [*names, *names_of[row][place]]
            features.append(names)
        yield features, unit_labels


def gold(document: Labelled, stream: Stream) -> list[str]:
    """Return the label of every token: BIO."""
    labels = ["O"] * len(stream.sizes)
    starts = stream.places[:-1]
    for low, high, label in document.spans:
        first = int(np.searchsorted(starts, low, side="right")) - 1
        last = int(np.searchsorted(starts, high, side="left"))
        for token in range(first, last):
            labels[token] = f"{'B' if token == first else 'I'}-{label}"
    return labels


def export(
    model_file: str,
    used: Inventory,
    out: Path,
    *,
    precision: type[np.floating] = np.float16,
    least: float = SCALE,
) -> int:
    """Write the weights of a CRFsuite model as arrays and the labels as JSON; return how many features."""
    tagger = pycrfsuite.Tagger()
    tagger.open(model_file)
    info = tagger.info()
    labels = ["O", *sorted(label for label in tagger.labels() if label != "O")]
    column = {label: number for number, label in enumerate(labels)}
    transition = np.zeros((len(labels), len(labels)), dtype=precision)
    for (before, after), weight in info.transitions.items():
        transition[column[before], column[after]] = weight
    rows: dict[str, np.ndarray] = {}
    for (name, label), weight in info.state_features.items():
        if abs(weight) >= least:
            rows.setdefault(name, np.zeros(len(labels), dtype=precision))[column[label]] = weight
    number = {template: index for index, template in enumerate(TEMPLATES)}
    word_names = sorted(name for name in rows if name.partition(":")[0] not in number)
    context = sorted(
        (number[name.partition(":")[0]], int(name.partition(":")[2]))
        for name in rows
        if name.partition(":")[0] in number
    )
    weight = np.stack([rows[name] for name in word_names] + [rows[f"{TEMPLATES[t]}:{c}"] for t, c in context])

    def packed(texts: list[str] | tuple[str, ...]) -> np.ndarray:
        return np.frombuffer("\0".join(texts).encode(), dtype=np.uint8)

    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / "names.npz",
        weight=weight,
        transition=transition,
        names=packed(word_names),
        words=packed(used.words),
        fine=packed(used.fine),
        coarse=packed(used.coarse),
        codes=np.array([c for _, c in context], dtype=np.int32),
        templates=np.array([t for t, _ in context], dtype=np.int8),
    )
    card = {"format": FORMAT, "labels": labels, "n_features": len(weight), "seed": SEED}
    (out / "names.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    return len(weight)


def others(model_file: str, out: Path, kinds: Kinds, documents: list[Labelled]) -> int:
    """Count the tokens that the exported weights label otherwise than CRFsuite does."""
    theirs = pycrfsuite.Tagger()
    theirs.open(model_file)
    ours = TaggerModel.load(kinds, out)
    n_other = 0
    for document in documents:
        stream = ours.lexicon.read(document.text)
        labels = [ours.labels[i] for i in ours.best(stream, ours.emission(stream))]
        position = 0
        for features, _ in sequences(document, stream, ours.lexicon, "generator"):
            expected = theirs.tag(features)
            n_other += sum(a != b for a, b in zip(labels[position:], expected, strict=False))
            position += len(expected)
    return n_other


def train(data: Path | None, left_out: str, out: Path) -> None:
    """Train on everything but one family and write the weights to ``out``."""
    begun = time.monotonic()
    documents = list(corpora(data, left_out))
    gazetteer = Gazetteer(data_dir("dictionaries"))
    kinds = load_kinds(gazetteer)
    used = inventory(documents, kinds)
    variants = [
        Lexicon(Kinds(HiddenNames(gazetteer, v), kinds.places, seen_in_part(kinds.health, v)), used)
        for v in range(N_VARIANTS)
    ]
    trainer = pycrfsuite.Trainer(verbose=False)
    n_tokens = 0
    for number, (source, document) in enumerate(documents):
        lexicon = variants[number % N_VARIANTS]
        for features, labels in sequences(document, lexicon.read(document.text), lexicon, source):
            trainer.append(features, labels)
            n_tokens += len(labels)
    trainer.set_params(PARAMETERS)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        n_features = export(f"{folder}/model", used, out)
        n_other = others(f"{folder}/model", out, kinds, [document for _, document in documents[:N_COMPARED]])
    size = (out / "names.npz").stat().st_size
    print(
        f"{left_out or 'all'}: {len(documents)} documents, {n_tokens} tokens, {n_features} features,"
        f" {size / 1e6:.2f} MB, {n_other} labels unlike CRFsuite, {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    card = json.loads((out / "names.json").read_text(encoding="utf-8"))
    card |= {"n_documents": len(documents), "n_tokens": n_tokens}
    (out / "names.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def facts(out: Path) -> dict[str, object]:
    """Return what the model card says of the weights in a folder."""
    card = json.loads((out / "names.json").read_text(encoding="utf-8"))
    size = (out / "names.npz").stat().st_size
    return {**card, "megabytes": size / 1e6, "hidden": HIDDEN, "min_documents": MIN_WORD_DOCUMENTS}


def left_out_rows(data: Path, folds: Path) -> list[str]:
    """Return the rows of the card: every set measured with a model that never saw its family."""
    rows = []
    for family, names in FAMILIES.items():
        out = folds / family
        if not (out / "names.npz").exists():
            train(data, family, out)
        recognizer = TaggerRecognizer.load(out)
        rows += [table(name, measure(recognizer, data / f"{name}.jsonl")) for name in names]
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Train, export, and write the model card when the folds are measured too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--leave-out", default="", choices=["", *FAMILIES])
    parser.add_argument("--folds", type=Path)
    parser.add_argument(
        "--card", action="store_true", help="only write the card of the weights that are there"
    )
    parser.add_argument("--out", type=Path, default=Path("phiscan/screen/data"))
    arguments = parser.parse_args()
    if not arguments.card:
        train(arguments.data, arguments.leave_out, arguments.out)
    if arguments.data is not None and arguments.folds is not None and not arguments.leave_out:
        write_card(
            arguments.data, left_out_rows(arguments.data, arguments.folds), facts(arguments.out), PARAMETERS
        )


if __name__ == "__main__":
    main()
