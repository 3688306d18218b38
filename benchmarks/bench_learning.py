"""False referrals and recall by the number of reviewed files from which phiscan learns.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_learning.py``. Needs the development texts
beside the checkout. The shipped model refers almost none of these texts falsely, because it has learned from
the other half of the same sources. So the model here is taught without health questions and answers, our
papers and what else we wrote for it about nobody: a share whose kind of text it has never seen. And since
most of those texts name nobody and would not be referred anyway, each gets the name and office of somebody
of a public directory, without the role that would say that it is nobody's record. Reviewed files are drawn
at random from what is referred; all numbers are of the files that nobody reviewed. Draws the figure of the
docs.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from phiscan import health as classify
from phiscan import screen
from phiscan.config import Config
from phiscan.decision import build_decider
from phiscan.decision.model import threshold_of
from phiscan.health.classifier import Classifier
from phiscan.health.learned_versions import apply_model
from phiscan.health.learning import Example, learn, model_of
from phiscan.model import Document, Referral, Screening, Segment

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "text"
FIGURE = ROOT / "docs" / "explanation" / "images" / "learning.svg"
SEEDS = range(10)
REVIEWED = (25, 50, 100, 200)
UNSEEN = (
    "medquad_dev",
    "papers",
    *(f"{name}_other" for name in ("learned", "office", "care", "agency", "long", "tables", "hard")),
)


@dataclass(frozen=True, slots=True)
class Read:
    """A document, its screening, and whether it is PHI."""

    document: Document
    screening: Screening
    is_phi: bool

    def example(self, name: str, classifier: Classifier) -> Example | None:
        health = classify.classify(self.document, classifier)
        if health.window is None:
            return None
        decider = build_decider(Config())
        decided = decider.decide(self.document, self.screening, health, (), classifier)
        return Example(
            name,
            dict(health.window.counts),
            health.window.n_chars,
            self.is_phi,
            health.window.patient_score,
            decided.log_odds,
        )

    def referred(self, classifier: Classifier) -> bool:
        health = classify.classify(self.document, classifier)
        decided = build_decider(Config()).decide(self.document, self.screening, health, (), classifier)
        return decided.referral is Referral.REFERRED


def without(families: tuple[str, ...]) -> Classifier:
    """Return the classifier with a model of words that never saw these families of texts."""
    sys.path.insert(0, str(ROOT / "dictionaries" / "build"))
    import patient_classifier as build  # noqa: PLC0415 (a build script, found by path)

    shipped = classify.build_classifier(Config())
    return replace(shipped, patient_model=build.learned(build.collect(frozenset(families))))


def read_all(classifier: Classifier) -> list[Read]:
    """Read every text that this classifier never learned from and that says anything of health."""
    sys.path.insert(0, str(ROOT / "dictionaries" / "build"))
    import prototypes as build  # noqa: PLC0415

    screener = screen.build_screener(Config())
    draw = random.Random(2008)
    directory = (DATA / "us_legislators_dev.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for path in sorted(DATA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if build.training_half(item["id"]) and path.stem not in UNSEEN:
                continue
            text = item["text"]
            if path.stem == "medquad_dev":
                record = json.loads(draw.choice(directory))["text"].splitlines()
                lines = [line.partition(": ")[2] for line in record if not line.startswith("Born")]
                text += "\n\n" + "\n".join(lines)
            document = Document(text, (Segment("", 0, len(text)),), "text/plain")
            if classify.classify(document, classifier).window is not None:
                found.append(Read(document, screen.screen(document, screener), item["doc_label"] == "PHI"))
    return found


def share(hits: list[bool]) -> float:
    return sum(hits) / max(len(hits), 1)


@pytest.mark.bench
@pytest.mark.timeout(3000)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_and_draw_the_learning_curve() -> None:
    classifier = without(UNSEEN)
    texts = read_all(classifier)
    queue = [index for index, text in enumerate(texts) if text.referred(classifier)]
    n_false = sum(not texts[index].is_phi for index in queue)
    print(f"\n{len(texts)} texts with health information; {len(queue)} referred, {n_false} of them falsely")
    print("reviewed: false referrals left of those before, recall before and after; mean [least, most]")
    curves: dict[int, list[tuple[float, float, float]]] = {}
    for n_reviewed in REVIEWED:
        for seed in SEEDS:
            reviewed = set(random.Random(seed).sample(queue, n_reviewed))
            made = [texts[index].example(f"reviewed/{index}", classifier) for index in sorted(reviewed)]
            learned = learn(
                [example for example in made if example is not None],
                classifier,
                threshold_of(Config().missed_file_cost),
            )
            after = apply_model(classifier, model_of(learned, base=classifier.version))
            rest = [index for index in range(len(texts)) if index not in reviewed]
            before_false = sum(not texts[index].is_phi for index in queue if index not in reviewed)
            after_false = sum(texts[index].referred(after) for index in rest if not texts[index].is_phi)
            phi = [index for index in rest if texts[index].is_phi]
            queued = set(queue)
            recall_before = share([index in queued for index in phi])
            recall_after = share([texts[index].referred(after) for index in phi])
            curves.setdefault(n_reviewed, []).append(
                (after_false / before_false, recall_before, recall_after)
            )
        left, before, now = (np.array(column) for column in zip(*curves[n_reviewed], strict=True))
        print(
            f"  {n_reviewed:4}: {left.mean():.2f} [{left.min():.2f}, {left.max():.2f}]   "
            f"{before.mean():.3f} -> {now.mean():.3f} [{now.min():.3f}, {now.max():.3f}]"
        )
    draw(curves)
    assert curves


def draw(curves: dict[int, list[tuple[float, float, float]]]) -> None:
    import matplotlib as mpl  # noqa: PLC0415 (slow to import)

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "phiscan"
    from matplotlib import pyplot as plt  # noqa: PLC0415

    counts = [0, *curves]
    left = [[1.0], *([one[0] for one in runs] for runs in curves.values())]
    recall = [[one[1] for one in curves[REVIEWED[0]]], *([one[2] for one in r] for r in curves.values())]
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for values, colour, label in (
        (left, "#b5502b", "false referrals left, of those before"),
        (recall, "#2b6cb0", "recall of PHI files"),
    ):
        axes.plot(counts, [np.mean(v) for v in values], color=colour, marker="o", label=label)
        axes.fill_between(
            counts, [min(v) for v in values], [max(v) for v in values], color=colour, alpha=0.2, linewidth=0
        )
    axes.axhline(2 / 3, color="#777777", linestyle="--", linewidth=1)
    axes.text(counts[-1], 2 / 3 + 0.015, "a third fewer", ha="right", color="#555555")
    axes.set(xlabel="files reviewed", ylabel="share", ylim=(0, 1.05), xlim=(0, counts[-1]))
    axes.legend(loc="lower left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)
