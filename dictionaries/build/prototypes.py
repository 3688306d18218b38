"""Make phiscan/classify/data/prototypes.json: the positive prototypes of the health classifier.

Run from the checkout: ``python dictionaries/build/prototypes.py``. A prototype is a bag: how often each
concept and cue occurs in one window. Bags come from our own hand-written clinical texts
(notes/*.txt beside this script) and from the training half of the openly licensed development texts
(../shared/data/text, attribution in docs/reference/model-card-health.md). Only counts are kept, no text.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from phiscan.classify.classifier import FORMAT_VERSION, MODEL_FILE, is_told
from phiscan.classify.features import read, windows
from phiscan.classify.knn import ConceptTfidf, OneClassKnn, block_of
from phiscan.classify.lexicon import load_lexicon

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1].parent / "shared" / "data" / "text"
# File -> prototypes taken from its training half (windows, drawn with the seed).
SOURCES = {"aci_bench_train_valid": 60, "fhir_synthea_dev": 30, "hl7v2_reportstream": 30, "ccda_hl7": 20}
BACKGROUND = ("medquad_dev",)  # read for document frequencies only
WEIGHTS = {"concept": 0.5, "kind": 1.0, "cue": 1.0}
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


def bags_of(text: str) -> list[dict[str, int]]:
    """Return the bags of the windows of a text that say something."""
    lexicon = load_lexicon()
    return [window.counts for window in windows(read(text, lexicon), lexicon) if is_told(window)]


def collect() -> list[tuple[str, dict[str, int]]]:
    """Return (name, bag) of every prototype, our own first."""
    found: list[tuple[str, dict[str, int]]] = []
    for path in sorted((HERE / "notes").glob("*.txt")):
        for number, note in enumerate(path.read_text(encoding="utf-8").split("\n=====\n"), start=1):
            for bag in bags_of(note.strip()):
                found.append((f"{path.stem}/{number}", bag))
    draw = random.Random(SEED)
    for name, limit in SOURCES.items():
        taken: list[tuple[str, dict[str, int]]] = []
        seen: set[str] = set()
        for document in documents(name):
            if document["doc_label"] not in {"PHI", "HI_ONLY"}:
                continue
            for bag in bags_of(document["text"]):
                key = json.dumps(bag, sort_keys=True)
                if key not in seen:
                    seen.add(key)
                    taken.append((name.split("_")[0], bag))
        draw.shuffle(taken)
        found += [(f"{kind}/{number}", bag) for number, (kind, bag) in enumerate(taken[:limit], start=1)]
    return found


def main() -> None:
    """Collect, weigh, learn the thresholds for every k, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=MODEL_FILE)
    options = parser.parse_args()
    found = collect()
    bags = [bag for _, bag in found]
    background = [bag for name in BACKGROUND for d in documents(name)[:300] for bag in bags_of(d["text"])[:1]]
    tfidf = ConceptTfidf(weights=WEIGHTS).fit([*bags, *background])
    ours = sorted({name for bag in bags for name in bag})
    idf = {name: round(float(tfidf.idf_[tfidf.vocabulary_[name]]), 4) for name in ours}
    unseen = round(tfidf.unseen_, 4)
    loaded = ConceptTfidf(weights=WEIGHTS)
    loaded.vocabulary_ = {name: index for index, name in enumerate(idf)}
    loaded.idf_ = __import__("numpy").array(list(idf.values()))
    loaded.unseen_ = unseen
    rows = loaded.transform(bags)
    thresholds = {}
    for k in range(1, 10):
        knn = OneClassKnn(k=k, quantile=QUANTILE).fit(rows)
        thresholds[str(k)] = [round(knn.threshold_, 5), round(knn.scale_, 5)]
    model = {
        "format": FORMAT_VERSION,
        "version": "health-1",
        "weights": WEIGHTS,
        "quantile": QUANTILE,
        "thresholds": thresholds,
        "unseen_idf": unseen,
        "idf": idf,
        "prototypes": [{"name": name, "counts": dict(sorted(bag.items()))} for name, bag in found],
    }
    options.out.write_text(
        json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    families = Counter(name.split("/")[0] for name, _ in found)
    print(len(found), "prototypes", dict(families), "thresholds", thresholds)  # noqa: T201


if __name__ == "__main__":
    main()
