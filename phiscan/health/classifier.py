"""Score documents for health information: terms to windows, windows to classifier and kNN scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.config import Config
from phiscan.errors import ModelError
from phiscan.health.features import Reading, Window, read, windows
from phiscan.health.knn import ConceptTfidf, OneClassKnn
from phiscan.health.patient_classifier import CueModel, PatientModel, load_patient_model
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
MIN_CONCEPTS: Final = 2  # windows with fewer distinct concepts need further cues to be scored
MIN_CODES: Final = 3
MIN_APPOINTMENTS: Final = 2
# Cues of a person or an event; with one of them a single concept suffices ("she tested HIV positive").
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
HINT: Final = 0.2  # a window below this score is not looked at closely


@dataclass(frozen=True, slots=True)
class Classifier:
    """The models and word lists of one worker process; read-only once built."""

    lexicon: Lexicon
    tfidf: ConceptTfidf
    knn: OneClassKnn
    patient_model: PatientModel
    cue_model: CueModel  # over the cues alone: the input of detector B
    prototype_names: tuple[str, ...]
    text_model: TextModel
    version: str
    bags: tuple[dict[str, int], ...] = field(default=(), repr=False)
    is_knn_alone: bool = False  # the health score is the one-class kNN score alone


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
        raise ModelError(MODEL_FILE, f"thresholds: none for k = {config.k}; expected one of {known}")
    patient_model = load_patient_model(PATIENT_MODEL_FILE)
    return Classifier(
        lexicon=load_lexicon(),
        tfidf=tfidf,
        knn=OneClassKnn(config.k, model["quantile"]).restore(None, *learned),
        patient_model=patient_model,
        cue_model=CueModel(model["person"]["weights"], model["person"]["intercept"]),
        prototype_names=tuple(item["name"] for item in model["prototypes"]),
        text_model=load_text_model(TEXT_MODEL_FILE),
        version=patient_model.version,
        bags=tuple(item["counts"] for item in model["prototypes"]),
        is_knn_alone=config.health.detector == "knn",
    )


def load_model(
    path: Path, version: int = FORMAT_VERSION, *, damaged: str = "; reinstall phiscan", outdated: str = ""
) -> dict[str, Any]:
    """Read the JSON of a model that states this version of its format.

    ``damaged`` and ``outdated``: what to do about a file that is no JSON, or of another version.

    Raises:
        ModelError: names the file and what was expected.
    """
    try:
        model = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(path, f"cannot be read as JSON ({type(error).__name__}){damaged}") from None
    if not isinstance(model, dict) or model.get("format") != version:
        raise ModelError(path, f"format: expected {version}{outdated}")
    return model


def read_terms(document: Document, classifier: Classifier) -> Reading:
    """Find the health terms and cues of a document."""
    return read(document.text, classifier.lexicon)


def classify(document: Document, classifier: Classifier, reading: Reading | None = None) -> HealthScore:
    """Return the health score of a document: the score of its best window.

    ``distance`` is that window's Euclidean distance to its k-th nearest prototype, None if no window
    describes a person. Without a window to score the score is 0.

    ``reading``: what ``read_terms`` returned for this document; None reads it here.
    """
    if reading is None:
        reading = read_terms(document, classifier)
    found = windows(reading, classifier.lexicon)
    joint = _joint_score(document, found, reading, classifier)
    return _by_knn_alone(joint, found, classifier) if classifier.is_knn_alone else joint


def _by_knn_alone(joint: HealthScore, found: Sequence[Window], classifier: Classifier) -> HealthScore:
    """Return ``joint`` with the one-class kNN score alone: no patient classifier and no cues.

    Every window with a health concept is scored. The score that detector B uses (``by_concepts``) is
    unchanged.

    Source: Sokolova & El Emam (2008), section 4, step 2.
    """
    measured = [window for window in found if window.n_concepts]
    if not measured:
        return replace(joint, score=0.0, distance=None, nearest_prototype="", window=None)
    distances, nearest = distances_of(measured, classifier)
    best = int(distances.argmin())
    return replace(
        joint,
        score=float(classifier.knn.score(distances)[best]),
        distance=float(distances[best]),
        nearest_prototype=classifier.prototype_names[int(nearest[best])],
        window=_bag(measured[best]),
    )


def _joint_score(
    document: Document, found: Sequence[Window], reading: Reading, classifier: Classifier
) -> HealthScore:
    """Score a document by the lower of the patient classifier's and the kNN score of its best window."""
    terms = _hits(reading, classifier.lexicon)
    candidates = [window for window in found if describes_patient(window)]
    if not candidates:
        return HealthScore(0.0, None, "", terms)
    # The lower score counts; 0.5 is the threshold of either. The nearest-neighbour search costs most, so it
    # runs only on windows whose classifier score still allows a referral or a verdict of detector B.
    words = words_of(document.text, reading, classifier.lexicon, candidates)
    patient = np.array([classifier.patient_model.score(words, window) for window in candidates])
    cued = np.array([classifier.cue_model.score(window) for window in candidates])
    likely = (np.maximum(patient, cued) >= HINT).nonzero()[0].tolist()
    if not likely:
        best = int(patient.argmax())
        return HealthScore(float(patient[best]), None, "", terms, _bag(candidates[best]))
    candidates, patient, cued = [candidates[index] for index in likely], patient[likely], cued[likely]
    distances, nearest = distances_of(candidates, classifier)
    near = classifier.knn.score(distances)
    scores = np.minimum(near, patient)
    best = int(np.argmax(scores))
    return HealthScore(
        float(scores[best]),
        float(distances[best]),
        classifier.prototype_names[int(nearest[best])],
        terms,
        _bag(candidates[best]),
        float(np.minimum(near, cued).max()),
    )


def _bag(window: Window) -> WindowBag:
    return WindowBag(window.end - window.start, tuple(sorted(window.counts.items())))


def describes_patient(window: Window) -> bool:
    """Return whether a window has enough features to be scored.

    That is two concepts, or one concept and a person cue, or codes of a record. Messages, claims and
    appointment lists hold few health words: segment names, billing codes and appointments count in addition
    to one concept, or instead of it.
    """
    n_concepts = window.n_concepts
    if n_concepts >= MIN_CONCEPTS or window.count("cue:code") >= MIN_CODES:
        return True
    return n_concepts >= 1 and (
        window.count("cue:record") >= MIN_CODES
        or window.count("cue:appointment") >= MIN_APPOINTMENTS
        or not PERSON_CUES.isdisjoint(window.counts)
    )


def distances_of(bags: Sequence[Window], classifier: Classifier) -> tuple[Any, Any]:
    """Return, per window, the distance to the k-th nearest prototype and the index of the nearest."""
    knn = classifier.knn
    if knn.prototypes_ is None:
        knn.restore(classifier.tfidf.transform(classifier.bags), knn.threshold_, knn.scale_)
    return knn.nearest(classifier.tfidf.rows(window.counts for window in bags))


def _hits(reading: Reading, lexicon: Lexicon) -> tuple[TermHit, ...]:
    health = reading.health
    spans = map(Span, health.starts.tolist(), health.ends.tolist())
    return tuple(map(TermHit, spans, [lexicon.marks[index][0] for index in health.terms.tolist()]))
