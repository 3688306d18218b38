"""Screen the samples and keep of each the passages that the encoder would read, cached in a work folder."""

# ruff: noqa: S301 (the pickles are written by this command)

from __future__ import annotations

import pickle
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

from phiscan.decision.encoder import Pair, passage_and_context
from phiscan.decision.evidence import gather
from phiscan.decision.model import PhiModel, load_phi_model
from phiscan.health.classifier import TEXT_MODEL_FILE
from phiscan.health.file_evidence import identifies
from phiscan.health.term_lexicon import Lexicon, load_lexicon
from phiscan.health.text_detector import TextModel, TextScores, load_text_model
from training.decision.features import Screened


@dataclass(frozen=True, slots=True)
class Example:
    """A document: the log-odds of its strongest passages without the encoder, and what it reads of them."""

    family: str
    identifier: str
    is_phi: bool
    n_chars: int
    message: str
    # Log-odds, what is read, may it rise, its evidence, is the sender a person named in it.
    passages: tuple[tuple[float, Pair, bool, tuple[float, ...], bool], ...]


def example_of(one: Screened, lexicon: Lexicon, model: PhiModel, text_model: TextModel) -> Example:
    """Return the strongest passage of a screened document, and that of those that do not overlap it."""
    evidence = gather(one.document, one.screening, lexicon)
    inputs = model.inputs(evidence)
    text = TextScores.of(text_model, evidence.codes)
    strong = model.candidates(inputs, text, is_sent=True) if inputs.places else []
    can_rise = inputs.names_health & identifies(one.screening.findings)
    passages = tuple(
        (
            found.log_odds,
            passage_and_context(evidence, one.screening.findings, *inputs.places[found.index]),
            bool(can_rise[found.index]),
            tuple(found.evidence.round(3).tolist()),
            found.is_sent,
        )
        for found in strong
    )
    return Example(one.family, one.identifier, one.is_phi, len(one.document.text), inputs.message, passages)


def _of_file(path: Path) -> list[Example]:
    """Return the examples of one screened family, from the cache of an earlier run if it has them."""
    kept = path.parent.parent / "examples" / path.name
    if kept.exists():
        return list(pickle.loads(kept.read_bytes()))
    model, lexicon, text_model = load_phi_model(), load_lexicon(), load_text_model(TEXT_MODEL_FILE)
    found = [example_of(one, lexicon, model, text_model) for one in pickle.loads(path.read_bytes())]
    kept.write_bytes(pickle.dumps(found))
    return found


def examples(screened: Path) -> list[Example]:
    """Return the examples of all screened families."""
    (screened.parent / "examples").mkdir(exist_ok=True)
    with Pool(2) as pool:
        return [one for part in pool.imap(_of_file, sorted(screened.glob("*.pickle"))) for one in part]
