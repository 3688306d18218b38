"""Screen the samples and compute the features of their passages, cached in a work folder."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phiscan import screen
from phiscan.config import Config
from phiscan.decision.evidence import gather
from phiscan.health.classifier import Classifier, build_classifier, classify
from phiscan.health.detectors import detector_margins, text_margin
from phiscan.health.patient_classifier import densities
from phiscan.health.term_lexicon import Lexicon
from phiscan.health.text_detector import features as ngram_features
from phiscan.health.text_detector import pieces
from phiscan.health.word_hashes import word_features
from phiscan.model import Document, HealthScore, Screening
from training.decision.sources import Sample

Sparse = tuple[npt.NDArray[np.int32], npt.NDArray[np.floating[Any]]]


@dataclass(frozen=True, slots=True)
class Screened:
    """A sample with its screening, health score and the verdicts of the detectors."""

    family: str
    identifier: str
    is_phi: bool
    document: Document
    screening: Screening
    health: HealthScore
    detectors: tuple[tuple[str, bool], ...]


@dataclass(slots=True)
class Described:
    """The features of a document: one row per passage."""

    family: str
    identifier: str
    is_phi: bool
    n_chars: int
    words: list[Sparse] = field(repr=False)
    cues: list[dict[str, float]] = field(repr=False)
    evidence: npt.NDArray[np.float32] = field(repr=False)  # (passages, evidence)
    lengths: npt.NDArray[np.float32] = field(repr=False)  # log(1 + characters / 100)
    pieces: list[Sparse] = field(repr=False)  # of the masked text, for the text detector
    passages: list[tuple[int, int]] = field(repr=False)  # start and end of each
    codes: npt.NDArray[np.uint16] = field(repr=False)  # the masked text
    detectors: dict[str, bool]
    hamming: int
    n_concepts: int
    is_named: bool
    message: str


def detect(
    document: Document, screening: Screening, health: HealthScore, classifier: Classifier
) -> tuple[tuple[str, bool], ...]:
    """Return each detector's verdict on "is this a PHI file", in the order of ``DETECTORS``."""
    text = text_margin(document, screening, health, classifier)
    found = detector_margins(document, screening, health, text)
    return tuple((name, margin is not None and margin >= 0) for name, margin in found)


def screened(samples: Iterable[Sample], out: Path) -> None:
    """Screen every sample and write one pickle per family; existing families are skipped."""
    screener, classifier = screen.build_screener(Config()), build_classifier(Config())
    found: dict[str, list[Screened]] = {}
    for sample in samples:
        document = sample.document
        screening = screen.screen(document, screener)
        health = classify(document, classifier)
        detectors = detect(document, screening, health, classifier)
        found.setdefault(sample.family, []).append(
            Screened(
                sample.family,
                sample.identifier,
                sample.is_phi,
                document,
                screening,
                health,
                detectors,
            )
        )
    for family, rows in found.items():
        (out / f"{family.replace(':', '_').replace('/', '_')}.pickle").write_bytes(pickle.dumps(rows))
        print(f"{family}: {len(rows)} texts", flush=True)


def described(one: Screened, lexicon: Lexicon) -> Described:
    """Return the features of a screened sample."""
    evidence = gather(one.document, one.screening, lexicon)
    windows = evidence.windows()
    bits = {bit.value for bit in one.screening.vector.bits}
    return Described(
        one.family,
        one.identifier,
        one.is_phi,
        len(one.document.text),
        words=[_sparse(*word_features(evidence.words, window.start, window.end)) for window in windows],
        cues=[dict(densities(window)) for window in windows],
        evidence=evidence.vectors(windows).astype(np.float32),
        lengths=np.array([math.log1p((end - start) / 100) for start, end in evidence.passages], np.float32),
        pieces=[_sparse(*ngram_features(piece)) for piece in pieces(evidence.codes)],
        passages=list(evidence.passages),
        codes=evidence.codes.astype(np.uint16),
        detectors=dict(one.detectors),
        hamming=one.screening.hamming,
        n_concepts=len({hit.concept for hit in one.health.terms}),
        is_named={"FirstName", "LastName"} <= bits,
        message=evidence.message,
    )


def _sparse(buckets: npt.NDArray[np.int64], values: npt.NDArray[np.float32]) -> Sparse:
    return buckets.astype(np.int32), values.astype(np.float32)
