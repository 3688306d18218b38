"""Document to HealthScore: read the terms, cut windows, measure each against the prototypes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.config import Config
from phiscan.errors import ModelError
from phiscan.health.features import Reading, Window, read, windows
from phiscan.health.knn import ConceptTfidf, OneClassKnn
from phiscan.health.patient_classifier import PatientModel, load_patient_model
from phiscan.health.patient_cues import PersonModel
from phiscan.health.review_correction import Adjustment, log_odds
from phiscan.health.term_lexicon import Lexicon, load_lexicon
from phiscan.health.text_detector import TextModel, load_text_model
from phiscan.health.word_hashes import words_of
from phiscan.model import Document, HealthScore, Span, TermHit, WindowBag

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MODEL_FILE: Final = Path(__file__).parent / "data" / "prototypes.json"
PATIENT_MODEL_FILE: Final = Path(__file__).parent / "data" / "patient_classifier.npz"
TEXT_MODEL_FILE: Final = Path(__file__).parent / "data" / "text_detector.npz"
FORMAT_VERSION: Final = 1
MIN_CONCEPTS: Final = 2  # a window with fewer different concepts and hardly a record cue says nothing
MIN_CODES: Final = 3
MIN_APPOINTMENTS: Final = 2
# Of whom, and what happened. Beside one of these a single concept is enough ("she tested HIV positive").
PERSON_CUES: Final = frozenset(
    f"cue:{name}"
    for name in (
        "person",
        "third",
        "first",
        "my",
        "kin",
        "title",
        "age",
        "leave",
        "event",
        "lab",
        "flag",
        "label",
    )
)
HINT: Final = 0.2  # below this score no row of the decision table refers


@dataclass(frozen=True, slots=True)
class Classifier:
    """What one worker process needs to classify; read-only once built."""

    lexicon: Lexicon
    tfidf: ConceptTfidf
    knn: OneClassKnn
    told: PatientModel
    person: PersonModel  # over the cues alone: what detector B asks
    prototype_names: tuple[str, ...]
    text_model: TextModel
    version: str
    bags: tuple[dict[str, int], ...] = field(default=(), repr=False)
    thresholds: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)  # of every k
    adjustment: Adjustment | None = None  # what reviewers taught, if anything
    is_knn_alone: bool = False  # the health score is that of the nearest prototypes alone


def build_classifier(config: Config) -> Classifier:
    """Load dictionaries, prototypes and the text model as shipped; once per process.

    Raises:
        DictionaryError, ModelError: a file is missing, damaged or of another version.
    """
    model = load_model(MODEL_FILE)
    tfidf = ConceptTfidf(weights=model["weights"])
    tfidf.vocabulary_ = {name: index for index, name in enumerate(model["idf"])}
    tfidf.idf_ = np.array(list(model["idf"].values()))
    tfidf.unseen_ = model["unseen_idf"]
    learned = model["thresholds"].get(str(config.k))
    if learned is None:
        known = ", ".join(model["thresholds"])
        message = f"{MODEL_FILE}: thresholds: none for k = {config.k}; expected one of {known}"
        raise ModelError(message)
    told = load_patient_model(PATIENT_MODEL_FILE)
    knn = OneClassKnn(k=config.k, quantile=model["quantile"])
    knn.threshold_, knn.scale_ = learned
    return Classifier(
        lexicon=load_lexicon(),
        tfidf=tfidf,
        knn=knn,
        told=told,
        person=PersonModel(model["person"]["weights"], model["person"]["intercept"]),
        prototype_names=tuple(item["name"] for item in model["prototypes"]),
        text_model=load_text_model(TEXT_MODEL_FILE),
        version=told.version,
        bags=tuple(item["counts"] for item in model["prototypes"]),
        thresholds={k: (threshold, scale) for k, (threshold, scale) in model["thresholds"].items()},
        is_knn_alone=config.health.detector == "knn",
    )


def load_model(path: Path) -> dict[str, Any]:
    """Read the prototype file.

    Raises:
        ModelError: names the file and what was expected.
    """
    try:
        model: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{path}: cannot be read as JSON ({type(error).__name__}); reinstall phiscan"
        raise ModelError(message) from None
    if model.get("format") != FORMAT_VERSION:
        message = f"{path}: format: expected {FORMAT_VERSION}"
        raise ModelError(message)
    return model


def read_terms(document: Document, classifier: Classifier) -> Reading:
    """Find the health terms and cues of a document."""
    return read(document.text, classifier.lexicon)


def classify(document: Document, classifier: Classifier, reading: Reading | None = None) -> HealthScore:
    """Score how much a document looks like health information about a person.

    The score of a document is that of its best window; ``distance`` is that window's Euclidean distance to
    its k-th nearest prototype, None where no window says anything of a person. Without anything to measure
    the score is 0.

    ``reading``: what ``read_terms`` returned for this document; None reads it here.
    """
    if reading is None:
        reading = read_terms(document, classifier)
    found = windows(reading, classifier.lexicon)
    joint = _joint_score(document, found, reading, classifier)
    return _by_knn_alone(joint, found, classifier) if classifier.is_knn_alone else joint


def _by_knn_alone(joint: HealthScore, found: Sequence[Window], classifier: Classifier) -> HealthScore:
    """Return the score by the distance to the prototypes alone: no model of words, no cues, no corrections.

    Every window with a health concept is measured. What detector B asks (``by_concepts``) stays as it is.

    Source: Sokolova & El Emam (2008), section 4, step 2.
    """
    measured = [window for window in found if window.n_concepts]
    if not measured:
        return replace(joint, score=0.0, distance=None, nearest_prototype="", window=None, correction=0.0)
    distances, nearest = distances_of(measured, classifier)
    best = int(distances.argmin())
    return replace(
        joint,
        score=float(classifier.knn.score(distances)[best]),
        distance=float(distances[best]),
        nearest_prototype=classifier.prototype_names[int(nearest[best])],
        window=_bag(measured[best], 0.0),
        correction=0.0,
    )


def _joint_score(
    document: Document, found: Sequence[Window], reading: Reading, classifier: Classifier
) -> HealthScore:
    """Score a document by the distance to the prototypes and by the model of words, which must both hold."""
    terms = _hits(reading, classifier.lexicon)
    told = [window for window in found if describes_patient(window)]
    if not told:
        return HealthScore(0.0, None, "", terms)
    # Both must hold: told of a person, and near to the prototypes. 0.5 is the threshold of either. The search
    # is the dear half, so it is made only where the cheap one leaves a referral, or a verdict of B, possible.
    words = words_of(document.text, reading, classifier.lexicon, told)
    about = np.array([classifier.told.score(words, window) for window in told])
    cued = np.array([classifier.person.score(window) for window in told])
    likely = (np.maximum(about, cued) >= HINT).nonzero()[0].tolist()
    if not likely:
        best = int(about.argmax())
        return HealthScore(float(about[best]), None, "", terms, _bag(told[best], about[best]))
    told, about, cued = [told[index] for index in likely], about[likely], cued[likely]
    distances, nearest = distances_of(told, classifier)
    near = classifier.knn.score(distances)
    shipped = np.minimum(near, about)
    scores = _corrected(shipped, about >= HINT, told, classifier)
    by_concepts = _corrected(np.minimum(near, cued), cued >= HINT, told, classifier)
    best = int(np.argmax(scores))
    return HealthScore(
        float(scores[best]),
        float(distances[best]),
        classifier.prototype_names[int(nearest[best])],
        terms,
        _bag(told[best], about[best]),
        float(by_concepts.max()),
        log_odds(float(scores[best])) - log_odds(float(shipped[best])),
    )


def _corrected(scores: Floats, hints: Flags, told: Sequence[Window], classifier: Classifier) -> Floats:
    """Return the scores of windows as reviewers taught them; what gives no hint stays as it is."""
    if classifier.adjustment is None:
        return scores
    correct = classifier.adjustment.score
    each = zip(scores.tolist(), hints.tolist(), told, strict=True)
    return np.array([correct(score, window) if hint else score for score, hint, window in each])


def _bag(window: Window, about: float) -> WindowBag:
    return WindowBag(window.end - window.start, tuple(sorted(window.counts.items())), float(about))


def describes_patient(window: Window) -> bool:
    """Tell whether a window says enough to be measured: two concepts, one and a person, or a record's codes.

    Messages, claims and appointment lists hardly hold a health word: there the segments, billing codes and
    appointments of health care stand beside one concept, or instead of it.
    """
    n_concepts = window.n_concepts
    if n_concepts >= MIN_CONCEPTS or window.count("cue:code") >= MIN_CODES:
        return True
    return n_concepts >= 1 and (
        window.count("cue:record") >= MIN_CODES
        or window.count("cue:appointment") >= MIN_APPOINTMENTS
        or not PERSON_CUES.isdisjoint(window.counts)
    )


def distances_of(told: Sequence[Window], classifier: Classifier) -> tuple[Any, Any]:
    """Return the distances to the k-th nearest prototype and the nearest one's index, per window."""
    knn = classifier.knn
    if knn.prototypes_ is None:
        knn.restore(classifier.tfidf.transform(classifier.bags), knn.threshold_, knn.scale_)
    return knn.nearest(classifier.tfidf.rows(window.counts for window in told))


def _hits(reading: Reading, lexicon: Lexicon) -> tuple[TermHit, ...]:
    health = reading.health
    spans = map(Span, health.starts.tolist(), health.ends.tolist())
    return tuple(map(TermHit, spans, [lexicon.marks[index][0] for index in health.terms.tolist()]))
