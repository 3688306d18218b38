"""Recall and false referrals on simulated shares: phiscan and two simpler rules.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_referral_share.py``. Needs the development
texts beside the checkout; only the half that no model has learned from is examined. Each document is
examined once; shares of 1% PHI, 25% PII only, 10% health only and 64% neither are then drawn from the
results with several seeds. PHI is drawn evenly from its families, the rest by document.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from phiscan import decision, screen
from phiscan.config import Config
from phiscan.health.classifier import build_classifier, classify
from phiscan.model import Document, PiiBit, Referral, Segment
from training.decision.features import detect

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
MIX = {"PHI": 0.01, "PII_ONLY": 0.25, "HI_ONLY": 0.10, "NEITHER": 0.64}
N_FILES = 10_000
SEEDS = range(20)
RULES = ("phiscan", "equation 4 alone", "naive")
_IDENTIFIERS = frozenset(PiiBit) - {
    PiiBit.FIRST_NAME,
    PiiBit.LAST_NAME,
    PiiBit.ORGANIZATION,
    PiiBit.LOCATION,
    PiiBit.DATE,
    PiiBit.URL,
    PiiBit.HEALTH_PROFESSIONAL,
}


@dataclass(frozen=True, slots=True)
class Seen:
    """The verdict of each rule on one document."""

    family: str
    label: str
    case: str
    referred: tuple[bool, bool, bool]
    detectors: tuple[bool, bool, bool]


def held_out(identifier: str) -> bool:
    """The half that dictionaries/build/prototypes.py does not learn from."""
    return hashlib.sha256(identifier.encode()).digest()[0] % 2 == 1


def texts() -> Iterator[tuple[str, str, str]]:
    for path in sorted(DATA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            document = json.loads(line)
            if held_out(document["id"]):
                yield path.stem, document["doc_label"], document["text"]


def examine_all() -> tuple[list[Seen], dict[str, float]]:
    screener, classifier = screen.build_screener(Config()), build_classifier(Config())
    decider = decision.build_decider(Config())
    seconds: dict[str, float] = defaultdict(float)
    found = []
    for family, label, text in texts():
        document = Document(text, (Segment("", 0, len(text)),), "text/plain")
        times = [time.perf_counter()]
        screening = screen.screen(document, screener)
        times.append(time.perf_counter())
        health = classify(document, classifier)
        times.append(time.perf_counter())
        verdicts = detect(document, screening, health, classifier)
        gathered = decider.gather(document, screening, classifier)
        decided = decider.decide(document, screening, health, verdicts, gathered)
        referral, case = decided.referral, decided.case
        times.append(time.perf_counter())
        for stage, start, end in zip(("screen", "classify", "detect"), times, times[1:], strict=False):
            seconds[stage] += end - start
        bits = screening.vector.bits
        full_name = {PiiBit.FIRST_NAME, PiiBit.LAST_NAME} <= bits
        words = len({hit.concept for hit in health.terms}) >= 3
        naive = words and (full_name or bool(bits & _IDENTIFIERS))
        rules = (referral is Referral.REFERRED, screening.hamming == 0, naive)
        a, b, c = (verdict for _, verdict in verdicts)
        found.append(Seen(family, label, case, rules, (a, b, c)))
    return found, dict(seconds)


def draw_share(seen: list[Seen], seed: int) -> list[Seen]:
    draw = random.Random(seed)
    share: list[Seen] = []
    for label, part in MIX.items():
        pool = [item for item in seen if item.label == label]
        n_files = round(part * N_FILES)
        if label != "PHI":
            share += draw.choices(pool, k=n_files)
            continue
        families = sorted({item.family for item in pool})
        for index in range(n_files):
            family = families[index % len(families)]
            share.append(draw.choice([item for item in pool if item.family == family]))
    return share


@pytest.mark.bench
@pytest.mark.timeout(900)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_recall_and_false_referrals() -> None:
    seen, seconds = examine_all()
    print("\nfamily, label: documents; referred by each rule; detectors A, B, C")
    for family, label in sorted({(item.family, item.label) for item in seen}):
        group = [item for item in seen if (item.family, item.label) == (family, label)]
        rules = [sum(item.referred[rule] for item in group) for rule in range(3)]
        eyes = [sum(item.detectors[eye] for item in group) for eye in range(3)]
        print(f"  {family:26}{label:10}{len(group):6}  {rules}  {eyes}")
    print("cases:", dict(Counter(item.case for item in seen)))
    print(f"shares of {N_FILES} files, {len(SEEDS)} seeds: mean [least, most]")
    for rule, name in enumerate(RULES):
        recalls, ratios = [], []
        for seed in SEEDS:
            share = draw_share(seen, seed)
            true = sum(item.referred[rule] for item in share if item.label == "PHI")
            false = sum(item.referred[rule] for item in share if item.label != "PHI")
            recalls.append(true / sum(item.label == "PHI" for item in share))
            ratios.append(false / max(true, 1))
        print(
            f"  {name:18} recall {sum(recalls) / len(recalls):.3f} [{min(recalls):.3f}, {max(recalls):.3f}]"
            f"   false per true {sum(ratios) / len(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
        )
    print("seconds:", {stage: round(value, 2) for stage, value in seconds.items()})
    assert seen
