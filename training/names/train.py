"""Train the name tagger from a seed: documents, weights, cross-validation, gate and card."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from phiscan.config import data_dir
from phiscan.errors import InputError
from phiscan.lexicon.gazetteer import Gazetteer, load_gazetteer
from phiscan.screen.ner.features import Inventory, Lexicon
from phiscan.screen.ner.lstm import NETWORK
from phiscan.screen.ner.lstm import WEIGHTS as PASSAGES
from phiscan.screen.ner.tagger import TaggerRecognizer, load_kinds
from phiscan.screen.ner.tokens import Kinds
from phiscan.screen.recognizers.person.recognizer import RuleNameRecognizer
from training.corpora.documents import Labelled, Writer
from training.corpora.marked_texts import Texts, copies, files_of_names, read_marked, written
from training.corpora.open_texts import FAMILIES, GENERATOR, read
from training.corpora.world import World
from training.names.card import render
from training.names.examples import (
    HIDDEN,
    HIDDEN_WORDS,
    MIN_WORD_DOCUMENTS,
    HiddenNames,
    hidden_words,
    inventory,
    seen_in_part,
    sequences,
    units,
)
from training.names.folds import (
    HELD_OUT,
    HELD_OUT_WRITTEN,
    TEMPLATES_FOLD,
    WHOLE,
    Drawn,
    Fold,
    Log,
    held_out_texts,
    measured_by_folds,
)
from training.names.gate import falls, last_card
from training.names.measure import measure
from training.names.network import train_lstm
from training.names.weights import LABELS, WEIGHTS, export, unlike, write_labels
from training.names.windows import LstmSettings, Passages
from training.needs import PACKAGES, needed

SEED = 20261120
N_DOCUMENTS = 10_000
SEED_STEP = 1000  # between the draws of the texts for the reader; less than ten is used within one
N_COPIES = 2
N_VARIANTS = 4  # each hides another part of the name lists, so that unknown names are learned too
N_COMPARED = 400  # documents on which the exported weights are compared with CRFsuite
WITH_RULES = f"{HELD_OUT}, with the rules"
CARD = "model-card-names.md"
DICTIONARIES = (
    "first_names",
    "last_names",
    "ordinary_words",
    "ordinary_words_fr",
    "name_cues",
    "places",
    "nations",
)
_RECIPE = (
    "training/corpora/documents.py",
    "training/corpora/people.py",
    "training/corpora/world.py",
    "training/corpora/words.py",
    "training/corpora/open_texts.py",
    "training/names/examples.py",
    "training/names/weights.py",
    "training/corpora/marked_texts.py",
    "training/corpora/forms.txt",
    "training/corpora/plain.txt",
    "training/corpora/sentences.txt",
    "training/names/windows.py",
    "training/names/network.py",
    "phiscan/screen/ner/features.py",
    "phiscan/screen/ner/tokens.py",
    "phiscan/lexicon/gazetteer.py",
)
_CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    """What decides the weights, beside the texts."""

    seed: int = SEED
    n_documents: int = N_DOCUMENTS
    n_copies: int = N_COPIES  # times that each marked text is read, with other people; 0: none is
    max_iterations: int = 70  # more fit the templates better and unseen text worse
    min_word_documents: int = MIN_WORD_DOCUMENTS
    c1: float = 0.1
    c2: float = 0.02
    reader: LstmSettings = field(default_factory=LstmSettings)

    def parameters(self) -> dict[str, Any]:
        """Return CRFsuite's parameters."""
        return {
            "c1": self.c1,
            "c2": self.c2,
            "max_iterations": self.max_iterations,
            "feature.possible_transitions": True,
            "feature.minfreq": 2,
        }


@dataclass(frozen=True)
class Trained:
    """The card of new weights, and the figures for which the gate refused them, worst first."""

    card: dict[str, Any]
    refused: tuple[str, ...]


def train_names(
    settings: Settings,
    *,
    texts: Texts,
    out: Path,
    last: Path,
    log: Log,
    measure_only: bool = False,
) -> Trained:
    """Train, measure, and write weights, labels and card to ``out``.

    Refused weights go to ``out/refused``. Models lie in ``out/folds``; one of the same
    recipe is not trained again. ``measure_only``: nothing is trained; the models must be those of the last
    card's recipe, and are measured by the program of today.

    Raises:
        InputError: a package, a set or a model is missing, or the last card cannot be read.
    """
    for module in PACKAGES:
        needed(module)
    before = last_card(last)
    hashes = hashes_of(texts)
    recipe = _recipe(settings, hashes)
    if measure_only:
        recipe, hashes = str(before.get("recipe", "")), _hashes_of_last(before, hashes)
    # What was seen in training is no test: without a hash the gate does not ask for it.
    hashes |= {HELD_OUT_WRITTEN: sha256_of(files_of_names())}
    hashes |= dict.fromkeys((HELD_OUT, WITH_RULES), recipe)
    whole = out / "folds" / WHOLE
    figures = measured_by_folds(
        settings,
        lambda fold, folder: _trained(
            settings, fold, texts=texts, out=folder, recipe=recipe, log=log, measure_only=measure_only
        ),
        TaggerRecognizer.load,
        data=texts.data,
        out=out / "folds",
        log=log,
    )
    without_templates = TaggerRecognizer.load(out / "folds" / TEMPLATES_FOLD)
    figures[WITH_RULES], _ = measure(
        RuleNameRecognizer(load_gazetteer(), without_templates), held_out_texts(settings), fully_marked=True
    )
    card = json.loads((whole / LABELS).read_text(encoding="utf-8"))
    card |= {"figures": figures, "hashes": hashes, "settings": asdict(settings)}
    card |= {"hidden": HIDDEN, "hidden_words": HIDDEN_WORDS}
    card |= {"measured_anew": measure_only}
    card |= {"megabytes": (whole / WEIGHTS).stat().st_size / 1e6}
    card |= {"reader_megabytes": sum((whole / name).stat().st_size for name in (PASSAGES, NETWORK)) / 1e6}
    refused = tuple(falls(before, card))
    target = out / "refused" if refused else out
    target.mkdir(parents=True, exist_ok=True)
    for name in (WEIGHTS, PASSAGES, NETWORK):
        shutil.copyfile(whole / name, target / name)
    write_labels(target, card)
    (target / CARD).write_text(render(card), encoding="utf-8")
    return Trained(card, refused)


def train(settings: Settings, fold: Fold, *, texts: Texts, out: Path, log: Log) -> dict[str, Any]:
    """Train on everything but what ``fold`` leaves out, write the weights, return what was done."""
    documents = list(corpora(settings, fold, texts))
    gazetteer = load_gazetteer()
    kinds = load_kinds(gazetteer)
    used = inventory([d for _, d in documents], kinds, min_documents=settings.min_word_documents)
    lexicons = _lexicons(used, gazetteer, kinds)
    trainer = needed("pycrfsuite").Trainer(verbose=False)
    passages = Passages()
    n_tokens = 0
    for number, (source, document) in enumerate(documents):
        lexicon = lexicons[number % N_VARIANTS]
        stream = lexicon.read(document.text)
        learned = list(units(document, stream, source))
        passages.add(learned, stream, lexicon)
        for features, wanted in sequences(learned, stream, lexicon):
            trainer.append(features, wanted)
            n_tokens += len(wanted)
    trainer.set_params(settings.parameters())
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        labels = export(f"{folder}/model", used, out)
        n_unlike = unlike(f"{folder}/model", out, kinds, [d for _, d in documents[:N_COMPARED]])
    for draw in range(1, settings.reader.n_draws):
        passages.draw()
        again = corpora(replace(settings, seed=settings.seed + draw * SEED_STEP), fold, texts)
        for number, (source, document) in enumerate(again, start=draw):  # other names are hidden, too
            lexicon = lexicons[number % N_VARIANTS]
            stream = lexicon.read(document.text)
            passages.add(units(document, stream, source), stream, lexicon)
    train_lstm(passages, settings.reader, labels=labels, seed=settings.seed, out=out, log=log)
    return {"n_documents": len(documents), "n_tokens": n_tokens, "n_unlike_crfsuite": n_unlike}


def _lexicons(used: Inventory, gazetteer: Gazetteer, kinds: Kinds) -> list[Lexicon]:
    """Return what the documents are read by, in turn: each knows other names, terms and words."""
    return [
        Lexicon(
            Kinds(
                HiddenNames(gazetteer, v),
                places=kinds.places,
                health=seen_in_part(kinds.health, v),
                nations=seen_in_part(kinds.nations, v),
            ),
            used,
            hidden_words(used.words, v),
        )
        for v in range(N_VARIANTS)
    ]


def _hashes_of_last(before: dict[str, Any], hashes: dict[str, str]) -> dict[str, str]:
    """Return the hashes of the last card; its sets must be those of today.

    Raises:
        InputError: a set is another, so that the figures would be of other texts.
    """
    last: dict[str, str] = before.get("hashes", {})
    for name, digest in hashes.items():
        if "/" not in name and last.get(name) != digest:
            message = f"{name}: expected the set that the last weights were trained on"
            raise InputError(message)
    return dict(last)


def _trained(
    settings: Settings,
    fold: Fold,
    *,
    texts: Texts,
    out: Path,
    recipe: str,
    log: Log,
    measure_only: bool,
) -> None:
    """Train into ``out`` unless weights of this recipe lie there.

    Raises:
        InputError: nothing may be trained, and they do not lie there.
    """
    if _made_by(recipe, out):
        log(f"without {fold.left_out}: there already")
        return
    if measure_only:
        message = f"{out}: expected a model of the last weights' recipe, for nothing is trained"
        raise InputError(message)
    shutil.rmtree(out, ignore_errors=True)
    done = train(settings, fold, texts=texts, out=out, log=log)
    write_labels(out, {**done, "seed": settings.seed, "parameters": settings.parameters(), "recipe": recipe})
    log(f"without {fold.left_out}: {done['n_documents']} documents, {done['n_tokens']} tokens")


def _made_by(recipe: str, out: Path) -> bool:
    """Log whether complete weights of a recipe lie in a folder; the labels are written last."""
    try:
        return bool(json.loads((out / LABELS).read_text(encoding="utf-8")).get("recipe") == recipe)
    except (OSError, ValueError):
        return False


def corpora(settings: Drawn, fold: Fold, texts: Texts) -> Iterator[tuple[str, Labelled]]:
    """Yield all training documents with the name of their source.

    Raises:
        InputError: a file of marked texts cannot be read.
    """
    for document in Writer(settings.seed, without_held_out=fold.held_out).documents(settings.n_documents):
        yield GENERATOR, document
    if texts.data is not None:
        world = World(settings.seed + 1)
        for family, names in FAMILIES.items():
            if family not in fold.families:
                for name in names:
                    for document in read(texts.data, name, world):
                        yield name, document
    own = written(held_out=False if fold.held_out else None)
    own += [document for path in texts.marked for document in read_marked(path)]
    for document in copies(own, settings.n_copies, settings.seed + 3):
        yield "marked", document


def hashes_of(texts: Texts) -> dict[str, str]:
    """Return the SHA-256 of every set, file of marked texts, dictionary and file of templates.

    Raises:
        InputError: a set or file is missing, or two files of marked texts have one name.
    """
    paths: dict[str, Path] = {}
    if texts.data is not None:
        paths = {name: texts.data / f"{name}.jsonl" for names in FAMILIES.values() for name in names}
    for path in texts.marked:
        if paths.setdefault(f"marked/{path.name}", path) != path:
            message = f"{path}: expected a name that no other file of marked texts has"
            raise InputError(message)
    folder = data_dir("dictionaries")
    paths |= {f"dictionaries/{path.name}": path for path in (folder / f"{n}.txt" for n in DICTIONARIES)}
    paths |= {f"dictionaries/{path.name}": path for path in sorted(folder.glob("health_*.txt"))}
    paths |= {name: _CHECKOUT / name for name in _RECIPE if name.endswith(".txt")}
    paths |= {f"training/corpora/texts/{path.name}": path for path in files_of_names()}
    return {name: sha256_of([path]) for name, path in paths.items()}


def _recipe(settings: Settings, hashes: dict[str, str]) -> str:
    """Return one hash of everything that decides the weights."""
    code = sha256_of([_CHECKOUT / name for name in _RECIPE])
    return hashlib.sha256(json.dumps([asdict(settings), hashes, code]).encode()).hexdigest()


def sha256_of(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of files, one after the other.

    Raises:
        InputError: one cannot be read.
    """
    digest = hashlib.sha256()
    for path in paths:
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            message = f"{path}: expected a set of the training data: {error.strerror}"
            raise InputError(message) from None
    return digest.hexdigest()
