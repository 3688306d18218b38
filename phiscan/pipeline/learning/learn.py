"""A new version of prototypes and models from reviewed decisions; nothing uses it until it is activated.

The health side learns from counts that scans keep. Detector C learns from the files themselves, which are
read again in the sandbox, if they are still there with the same content; only hashed feature sums leave it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from phiscan import extract, screen
from phiscan import health as classify
from phiscan.config import Config
from phiscan.decision.model import threshold_of
from phiscan.errors import InputError
from phiscan.hasher import NoHasher
from phiscan.health.features import Window
from phiscan.health.learned_versions import MODEL_NAME, TEXT_NAME, file_hash, model_bytes
from phiscan.health.learning import (
    LOG_ODDS,
    LOG_ODDS_SCALE,
    Example,
    Learned,
    learn,
    model_of,
    patient_score_of,
)
from phiscan.health.text_detector import features, masked, pieces
from phiscan.health.text_detector_learning import LearnedText, Piece, learn_text, save_text
from phiscan.metrics.intervals import proportion
from phiscan.model import SourceFile
from phiscan.pipeline.engine import Engine, build_engine
from phiscan.pipeline.learning.calibration import calibrate
from phiscan.pipeline.learning.file_lookup import present
from phiscan.pipeline.learning.poisoning import doubts
from phiscan.pipeline.workers.delivery import Delivery
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.review.decisions.model_versions import ReviewedFile, add_version, next_number, reviewed_files
from phiscan.review.store import Store
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.services import program_service

N_PIECES: Final = 2  # of each file that detector C learns from: those that look most like PHI now
_PRELOAD: Final = ("phiscan.pipeline.learning.learn",)


@dataclass(frozen=True, slots=True)
class RandomSample:
    """Which files were reviewed because a random order said so, and what each of them stands for."""

    weights: Mapping[int, float]  # file number -> files of the share per reviewed file of its stratum


class _Reader:
    """The engine of a worker process; empty in the parent."""

    engine: Engine | None = None


def learn_version(
    config: Config, store: Store, *, sample: RandomSample, by: str, now: datetime, read_files: bool = True
) -> tuple[int, dict[str, Any]]:
    """Learn from all decisions that stand, write and register the version; returns its number and summary.

    Raises:
        InputError: nobody has decided a file yet that can be learned from.
        StoreError: the store cannot be read or written.
    """
    files = [item for item in reviewed_files(store.database) if _usable(item)]
    if not files:
        message = (
            "nothing to learn from: no verdict of phi or not_phi stands on a file that this phiscan has"
            " examined; `phiscan scan ROOT --full` examines again what was decided before"
        )
        raise InputError(message)
    classifier = classify.build_classifier(config)
    examples = [
        Example(
            f"reviewed/{item.file_id}",
            item.counts,
            item.n_chars,
            item.is_phi,
            patient_score_of(Window(0, item.n_chars, dict(item.counts)), item.evidence, classifier),
            item.evidence[LOG_ODDS] / LOG_ODDS_SCALE,
        )
        for item in files
    ]
    learned = learn(examples, classifier, threshold_of(config.missed_file_cost))
    is_phi = np.array([item.is_phi for item in files])
    text, read_again = _learn_text(config, files, learned, classifier) if read_files else (None, {})
    number = next_number(store.database)
    pii = _pii_prototypes(files)
    calibration = calibrate(learned.p_phi, is_phi, [sample.weights.get(item.file_id, 0.0) for item in files])
    summary = {
        "base": classifier.version,
        "reviewed": {
            "files": len(files),
            "phi": int(is_phi.sum()),
            "not_phi": int((~is_phi).sum()),
            "different": len(set(learned.groups.tolist())),
        },
        "before": _held_out(learned.before, is_phi),
        "after": _held_out(learned.after, is_phi),
        "change": _change(learned.before, learned.after, is_phi),
        "correction": {
            "made": learned.adjustment is not None,
            "weights": len(learned.adjustment.weights) if learned.adjustment else 0,
            "reason": learned.reason or None,
        },
        "prototypes": {
            "health": len(learned.prototypes),
            "pii": len(pii),
            "threshold_before": classifier.knn.threshold_,
            "threshold_after": learned.thresholds[str(config.k)][0],
        },
        "detector_text": _text_summary(text, read_again),
        "calibration": calibration,
        "warnings": [
            {"kind": doubt.kind, "message": doubt.message} for doubt in doubts(files, learned.groups.tolist())
        ],
    }
    line = {name: calibration[name] for name in ("slope", "intercept")}
    model = {
        **model_of(learned, base=classifier.version),
        "pii": pii,
        "calibration": line if line["slope"] is not None else None,
    }
    written = _write(config.home / "models" / str(number), model, text)
    add_version(store.database, number=number, files=written, summary=summary, by=by, now=now)
    return number, summary


def _usable(item: ReviewedFile) -> bool:
    return LOG_ODDS in item.evidence  # else it was examined by a version without a probability


def _pii_prototypes(files: Sequence[ReviewedFile]) -> list[dict[str, Any]]:
    """Return each different PII vector of confirmed files once: the prototypes of equation 5."""
    found: dict[int, str] = {}
    for item in files:
        if item.is_phi and item.vector.bits:
            found.setdefault(item.vector.to_int(), f"reviewed/{item.file_id}")
    return [{"name": name, "vector": vector} for vector, name in found.items()]


def _write(folder: Path, model: Mapping[str, Any], text: tuple[LearnedText, Any] | None) -> dict[str, str]:
    """Write the files of a version, readable by the owner only; return their hashes."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = [MODEL_NAME]
    _write_private(folder / MODEL_NAME, model_bytes(model))
    if text is not None and text[0].model is not None:
        names.append(TEXT_NAME)
        _write_private(folder / TEXT_NAME, b"")
        save_text(text[0].model, folder / TEXT_NAME)
    return {name: file_hash(folder / name) for name in names}


def _write_private(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)  # left behind by a run that did not get as far as the database
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as stream:
        stream.write(data)


def _share(n_hits: int, n: int, empty: str) -> dict[str, Any]:
    figure = proportion(n_hits, n, empty)
    found: dict[str, Any] = {
        "value": figure.value,
        "ci95": None if figure.ci95 is None else list(figure.ci95),
    }
    return found if figure.reason is None else {**found, "reason": figure.reason}


def _held_out(referred: npt.NDArray[np.bool_], is_phi: npt.NDArray[np.bool_]) -> dict[str, Any]:
    n_phi, n_other = int((referred & is_phi).sum()), int((referred & ~is_phi).sum())
    return {
        "phi_referred": n_phi,
        "others_referred": n_other,
        "phi_kept": _share(n_phi, int(is_phi.sum()), "no file was confirmed as PHI"),
        "others_kept": _share(n_other, int((~is_phi).sum()), "no file was called not_phi"),
    }


def _change(
    before: npt.NDArray[np.bool_], after: npt.NDArray[np.bool_], is_phi: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Count who changed sides, with McNemar's exact test on the files called not_phi."""
    spared, added = before & ~after, after & ~before
    counts = {
        "others_spared": int((spared & ~is_phi).sum()),
        "others_added": int((added & ~is_phi).sum()),
        "phi_lost": int((spared & is_phi).sum()),
        "phi_gained": int((added & is_phi).sum()),
    }
    n_changed = counts["others_spared"] + counts["others_added"]
    if n_changed == 0:
        return {**counts, "p_value": None, "reason": "no file called not_phi changed sides"}
    return {**counts, "p_value": float(stats.binomtest(counts["others_added"], n_changed, 0.5).pvalue)}


def _text_summary(
    text: tuple[LearnedText, npt.NDArray[np.bool_]] | None,
    read_again: Mapping[str, int],
) -> dict[str, Any]:
    if text is None:
        reason = "the reviewed files were not read again"
        return {
            "made": False,
            "read_again": 0,
            "not_read": {},
            "before": None,
            "after": None,
            "reason": reason,
        }
    learned, is_phi = text
    return {
        "made": learned.model is not None,
        "read_again": len(is_phi),
        "not_read": dict(read_again),
        "before": _held_out(learned.before, is_phi) if len(is_phi) else None,
        "after": _held_out(learned.after, is_phi) if len(is_phi) else None,
        "reason": learned.reason or None,
    }


def _learn_text(
    config: Config, files: Sequence[ReviewedFile], learned: Learned, classifier: classify.Classifier
) -> tuple[tuple[LearnedText, npt.NDArray[np.bool_]], dict[str, int]]:
    """Read the reviewed files again and teach detector C; count those that are not what was decided upon.

    A file on which several contents were decided is read once: it has only one of them.
    """
    decided: defaultdict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    for index, item in enumerate(files):
        decided[item.source.root, item.source.path].append(index)
    rows: list[list[Piece]] = []
    kept: list[int] = []
    lost: Counter[str] = Counter()

    def still_there() -> Iterator[SourceFile]:
        for indexes in decided.values():
            source = present(files[indexes[-1]].source)
            if source is None:
                lost["gone"] += len(indexes)
            else:
                yield source

    with ExitStack() as stack:
        handoff = stack.enter_context(FileHandoff([program_service(config.limits)]))
        delivery = stack.enter_context(Delivery(config, handoff))
        start = (config.for_workers(), handoff.address)
        sandbox = Sandbox(config.n_workers, config.limits, _start, start, preload=_PRELOAD)
        stack.enter_context(sandbox)
        for source, answer in delivery.run(sandbox, _read, still_there()):
            for index in decided[source.root, source.path]:
                if isinstance(answer, Fault):
                    lost[str(answer.reason)] += 1
                elif answer.content_hash != files[index].content_hash:
                    lost["changed"] += 1
                else:
                    rows.append([_as_arrays(*piece) for piece in answer.pieces])
                    kept.append(index)
    is_phi = np.array([files[index].is_phi for index in kept], dtype=np.bool_)
    groups = learned.groups[kept] if kept else np.zeros(0, dtype=np.int64)
    return (learn_text(rows, is_phi, groups, classifier.text_model), is_phi), dict(sorted(lost.items()))


def _start(config: Config, handoff: str) -> None:
    ask_at(handoff)
    _Reader.engine = build_engine(config, NoHasher())  # nothing of a file is kept under a hash here


@dataclass(frozen=True, slots=True)
class _Read:
    """What a confined process says of a file: hashed features, never text."""

    content_hash: str
    pieces: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...] = field(repr=False)  # buckets and values


def _read(source: SourceFile) -> _Read:
    """Return the hashed features of a file's most telling pieces, and which content they are of.

    Runs in the sandbox. What goes back are bucket numbers and values, never text; identifiers and health
    terms are masked before hashing, as they are when detector C judges a file.
    """
    if _Reader.engine is None:
        message = "the worker was not started with _start"
        raise RuntimeError(message)
    engine = _Reader.engine
    document = extract.extract(source, engine.limits, engine.passwords)
    screening = screen.screen(document, engine.screener)
    health = classify.classify(document, engine.classifier)
    spans = [finding.span for finding in screening.counted] + [hit.span for hit in health.terms]
    model = engine.classifier.text_model
    found = [features(piece) for piece in pieces(masked(document.text, spans))]
    found.sort(key=lambda piece: -float(model.weights[piece[0]] @ piece[1]))
    kept = found[:N_PIECES]
    numbers = tuple((tuple(map(int, buckets)), tuple(map(float, values))) for buckets, values in kept)
    return _Read(document.content_hash, numbers)


def _as_arrays(buckets: Sequence[int], values: Sequence[float]) -> Piece:
    return np.array(buckets, dtype=np.int64), np.array(values, dtype=np.float32)
