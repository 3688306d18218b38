"""Train detector C: phiscan/classify/data/detector_c.npz, the weights of the text classifier.

Run from the checkout: ``python dictionaries/build/detector_c.py``. Learns from the training half of the
development texts and from our own notes (positive) and papers (negative) beside this script. Identifiers
(gold spans), health terms and digits are masked, as they are when the detector runs.
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

import numpy as np
from prototypes import DATA, HERE, SEED, documents
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from phiscan.classify.classifier import TEXT_MODEL_FILE
from phiscan.classify.features import read
from phiscan.classify.lexicon import load_lexicon
from phiscan.classify.ngrams import N_BUCKETS, features, masked, pieces
from phiscan.model import Span

LIMITS = {
    "presidio_generated_large": 150,
    "presidio_synth_v2": 150,
    "us_legislators_dev": 80,
    "medquad_dev": 300,
}
FALSE_RATE = 0.01  # share of the negatives that may lie above the threshold, by cross-validation


def texts() -> list[tuple[str, list[Span], bool]]:
    """Return (text, gold spans, is PHI) of everything to learn from."""
    found: list[tuple[str, list[Span], bool]] = []
    for path in sorted(DATA.glob("*.jsonl")):
        for document in documents(path.stem)[: LIMITS.get(path.stem, 10_000)]:
            # A visit note without its name is written like one with it, and counts as one.
            positive = document["doc_label"] == "PHI" or path.stem.startswith("aci")
            if document["text"].startswith("MSH") and not positive:
                continue  # a message without a patient is laid out like one with a patient
            spans = [Span(start, end) for start, end, _ in document["spans"] if start < end]
            found.append((document["text"], spans, positive))
    for folder, positive in (("notes", True), ("papers", False)):
        for path in sorted((HERE / folder).glob("*.txt")):
            parts = path.read_text(encoding="utf-8").split("\n=====\n")
            found.extend((text.strip(), [], positive) for text in parts)
    return found


def main() -> None:
    """Learn, choose the threshold by cross-validation, write half-precision weights."""
    lexicon = load_lexicon()
    values: list[float] = []
    columns: list[int] = []
    ends = [0]
    labels: list[bool] = []
    for text, spans, positive in texts():
        hits = read(text, lexicon).health
        terms = [
            Span(start, end) for start, end in zip(hits.starts.tolist(), hits.ends.tolist(), strict=True)
        ]
        for piece in pieces(masked(text, [*spans, *terms]))[:4]:
            buckets, weights = features(piece)
            columns.extend(buckets.tolist())
            values.extend(weights.tolist())
            ends.append(len(columns))
            labels.append(positive)
    rows = csr_matrix((values, columns, ends), shape=(len(labels), N_BUCKETS))
    wanted = np.array(labels)
    model = LogisticRegression(C=30.0, class_weight="balanced", max_iter=2000, random_state=SEED)
    scores = cross_val_predict(model, rows, wanted, cv=5, method="decision_function")
    threshold = float(np.quantile(scores[~wanted], 1 - FALSE_RATE))
    model.fit(rows, wanted)
    weights = model.coef_[0].astype(np.float16)
    np.savez_compressed(
        TEXT_MODEL_FILE, weights=weights, constants=np.array([model.intercept_[0], threshold])
    )
    found = float((scores[wanted] >= threshold).mean())
    print(f"{wanted.sum()} PHI and {(~wanted).sum()} other pieces")
    print(f"threshold {threshold:.3f}; recall {found:.3f}")


if __name__ == "__main__":
    main()
