"""Make phiscan/health/data/prototypes.json: the positive prototypes of the health classifier.

Run from the checkout: ``python dictionaries/build/prototypes.py``. A prototype is a bag: how often each
concept and cue occurs in one window. Bags come from our own hand-written clinical texts
(notes/*.txt beside this script) and from the training half of the openly licensed development texts
(../shared/data/text, attribution in docs/reference/model-card-health.md). Only counts are kept, no text.
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from phiscan.health.classifier import FORMAT_VERSION, MODEL_FILE, describes_patient
from phiscan.health.features import Window, read, windows
from phiscan.health.knn import ConceptTfidf, OneClassKnn, block_of
from phiscan.health.patient_classifier import densities
from phiscan.health.term_lexicon import load_lexicon
from phiscan.metrics.intervals import clopper_pearson

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1].parent / "shared" / "data" / "text"
# File -> prototypes taken from its training half (windows, drawn with the seed).
SOURCES = {"aci_bench_train_valid": 60, "fhir_synthea_dev": 30, "hl7v2_reportstream": 30, "ccda_hl7": 20}
NEGATIVE_SOURCES = (
    "medquad_dev",
    "spamassassin_ham_dev",
    "wnut17_train",
    "state_union_inaugural",
    "presidio_generated_large",
)
OURS = ("claims", "forms", "letters", "lists", "mails", "results", "visits")
# The second file of each side holds the kinds that health-2 judged badly; detector C does not learn from it.
WRITTEN = {"phi": ("phi", "requests_lists_claims"), "other": ("other", "prices_minutes_rosters")}
# What fills a share (mail, posts, speeches) and speaks of health now and then must not be mistaken.
FAMILY_WEIGHT = {
    "papers_health": 3.0,
    "medquad_dev": 3.0,
    "spamassassin_ham_dev": 3.0,
    "wnut17_train": 3.0,
    "state_union_inaugural": 3.0,
    **dict.fromkeys(OURS, 2.0),
}
PERSON_C = 1.0
WEIGHTS = {"concept": 0.15, "kind": 0.3, "cue": 2.0}
QUANTILE = 0.97
SEED = 2008


def training_half(identifier: str) -> bool:
    """Tell whether a document belongs to the half that models may learn from."""
    return hashlib.sha256(identifier.encode()).digest()[0] % 2 == 0


def documents(name: str, label: str = "") -> list[dict]:
    """Return the training documents of one file, with ``label`` if one is asked for."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [d for d in found if training_half(d["id"]) and (not label or d["doc_label"] == label)]


def scored_windows(text: str) -> list[Window]:
    """Return the windows of a text that have enough features to be scored."""
    lexicon = load_lexicon()
    return [window for window in windows(read(text, lexicon), lexicon) if describes_patient(window)]


def learned_documents(name: str, most: int) -> Iterator[tuple[str, str, bool]]:
    """Yield (id, text, about a patient) of the first ``most`` training documents of one file.

    A visit note without its name is written like one with it, and counts as one; a message without a patient
    is written like one with a patient, and is left out.
    """
    for document in documents(name)[:most]:
        about_patient = document["doc_label"] == "PHI" or name.startswith("aci")
        if about_patient or not document["text"].startswith("MSH"):
            yield document["id"], document["text"], about_patient


def filed_texts(folder: str) -> Iterator[tuple[str, int, str]]:
    """Yield (file, number in it, text) of the texts of notes/ or papers/."""
    for path in sorted((HERE / folder).glob("*.txt")):
        for number, text in enumerate(path.read_text(encoding="utf-8").split("\n=====\n")):
            yield path.stem, number, text.strip()


def written_texts(name: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of the texts of one file of written/."""
    for part in (HERE / "written" / f"{name}.txt").read_text(encoding="utf-8").split("===== ")[1:]:
        kind, text = part.split("\n", 1)
        yield kind, text.strip()


def shares(taken: list[np.ndarray], chosen: np.ndarray) -> str:
    """Return the shares of the chosen texts that were taken, with Clopper-Pearson intervals, as cells."""
    cells = []
    for yes in taken:
        low, high = clopper_pearson(int(yes[chosen].sum()), int(chosen.sum()))
        cells.append(f"{yes[chosen].mean():.2f} [{low:.2f}, {high:.2f}]")
    return " | ".join(cells) + " |"


def written(side: str) -> list[tuple[int, str, Window]]:
    """Return (number, family, window) of the short texts of written/, one side of them."""
    return [
        (number, kind, window)
        for number, (kind, text) in enumerate(short_texts(side), start=1)
        for window in scored_windows(text)
    ]


def short_texts(side: str) -> list[tuple[str, str]]:
    """Return (kind, text) of the short texts of one side."""
    return [found for name in WRITTEN[side] for found in written_texts(name)]


def collect() -> list[tuple[str, Window]]:
    """Return (name, window) of every prototype, our own first."""
    found: list[tuple[str, Window]] = []
    for stem, number, note in filed_texts("notes"):
        found += [(f"{stem}/{number + 1}", window) for window in scored_windows(note)]
    found += [(f"written_{kind}/{number}", window) for number, kind, window in written("phi")]
    draw = random.Random(SEED)  # noqa: S311 (a seeded sample, no secret)
    for name, limit in SOURCES.items():
        taken: list[tuple[str, Window]] = []
        seen: set[str] = set()
        for document in documents(name):
            if document["doc_label"] not in {"PHI", "HI_ONLY"}:
                continue
            for window in scored_windows(document["text"]):
                key = json.dumps(window.counts, sort_keys=True)
                if key not in seen:
                    seen.add(key)
                    taken.append((name.split("_")[0], window))
        draw.shuffle(taken)
        found += [
            (f"{kind}/{number}", window) for number, (kind, window) in enumerate(taken[:limit], start=1)
        ]
    return found


def negatives() -> list[tuple[str, Window]]:
    """Return (family, window) of texts that say much of health and nothing of a patient."""
    found: list[tuple[str, Window]] = []
    for stem, _, paper in filed_texts("papers"):
        found += [(f"papers_{stem}", window) for window in scored_windows(paper)]
    found += [(f"written_{kind}", window) for _, kind, window in written("other")]
    for name in NEGATIVE_SOURCES:
        for document in documents(name):
            if document["doc_label"] != "PHI":
                found += [(name, window) for window in scored_windows(document["text"])[:8]]
    return found


def fit_person(positive: list[tuple[str, Window]], negative: list[tuple[str, Window]]) -> dict:
    """Fit the person model; every family of texts weighs the same, whatever its size."""
    families = [name.split("/")[0] for name, _ in positive] + [name for name, _ in negative]
    sizes = Counter(families)
    vectorizer = DictVectorizer(sparse=False)
    rows = vectorizer.fit_transform([dict(densities(window)) for _, window in [*positive, *negative]])
    labels = np.array([True] * len(positive) + [False] * len(negative))
    weights = np.array([FAMILY_WEIGHT.get(family, 1.0) * min(1.0, 30 / sizes[family]) for family in families])
    for side in (labels, ~labels):
        weights[side] /= weights[side].sum() / 100
    model = LogisticRegression(C=PERSON_C, max_iter=5000).fit(rows, labels, sample_weight=weights)
    learned = zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True)
    return {
        "weights": {name: round(float(weight), 4) for name, weight in learned},
        "intercept": round(float(model.intercept_[0]), 4),
    }


def vocabulary(bags: list[dict[str, int]], others: list[dict[str, int]]) -> ConceptTfidf:
    """Return the features of the prototypes and all cues and kinds, weighed over both sides."""
    both = ConceptTfidf(weights=WEIGHTS).fit([*bags, *others])
    ours = sorted(
        {name for bag in bags for name in bag}
        | {name for name in both.vocabulary_ if ":" in name and block_of(name) != "concept"}
    )
    kept = ConceptTfidf(weights=WEIGHTS)
    kept.vocabulary_ = {name: index for index, name in enumerate(ours)}
    kept.idf_ = np.array([round(float(both.idf_[both.vocabulary_[name]]), 4) for name in ours])
    kept.unseen_ = round(both.unseen_, 4)
    return kept


def main() -> None:
    """Collect, weigh, learn the thresholds for every k, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=MODEL_FILE)
    options = parser.parse_args()
    positive, negative = collect(), negatives()
    bags = [window.counts for _, window in positive]
    tfidf = vocabulary(bags, [window.counts for _, window in negative])
    rows = tfidf.transform(bags)
    thresholds = {}
    for k in range(1, 10):
        knn = OneClassKnn(k=k, quantile=QUANTILE).fit(rows)
        thresholds[str(k)] = [round(knn.threshold_, 5), round(knn.scale_, 5)]
    model = {
        "format": FORMAT_VERSION,
        "version": "health-3",
        "weights": WEIGHTS,
        "quantile": QUANTILE,
        "thresholds": thresholds,
        "person": fit_person(positive, negative),
        "unseen_idf": tfidf.unseen_,
        "idf": dict(zip(tfidf.vocabulary_, tfidf.idf_.tolist(), strict=True)),
        "prototypes": [{"name": name, "counts": dict(sorted(w.counts.items()))} for name, w in positive],
    }
    options.out.write_text(
        json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    families = Counter(name.split("/")[0] for name, _ in positive)
    print(len(positive), "prototypes", dict(families))
    print("negative windows", dict(Counter(name for name, _ in negative)))
    print("thresholds", thresholds)
    print(
        "person", {n: round(w, 2) for n, w in sorted(model["person"]["weights"].items(), key=lambda i: i[1])}
    )


if __name__ == "__main__":
    main()
