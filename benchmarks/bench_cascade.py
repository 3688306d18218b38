"""Time saved and files missed by the cascade; time of classification relative to screening.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_cascade.py``. Needs the development texts
beside the checkout; only the half that no model has learned from is examined, once each way.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.bench_referral_share import DATA, texts
from phiscan import screen
from phiscan.config import Config
from phiscan.decision import build_decider
from phiscan.health.classifier import build_classifier, classify
from phiscan.model import Document, Referral, Segment
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine
from tests.corpus.short_texts import short_texts
from training.decision.features import detect

SHORT, LONG = 2_000, 200_000


def engine(share: float) -> Engine:
    config = Config()
    return Engine(
        screen.build_screener(config),
        build_classifier(config),
        build_decider(config),
        config.limits,
        key=b"k" * 32,
        audit_share=share,
    )


def document(text: str, number: int = 0) -> Document:
    return Document(text, (Segment("", 0, len(text)),), "text/plain", content_hash=f"{number:064x}")


@pytest.mark.bench
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_what_the_cascade_saves_and_misses() -> None:
    full, cut = engine(1.0), engine(0.0)
    seconds = {"whole": 0.0, "cascade": 0.0}
    changed: Counter[str] = Counter()
    examine(document("warm up"), full)
    n_texts = 0
    for number, (_, label, text) in enumerate(texts()):
        one = document(text, number)
        start = time.perf_counter()
        whole = examine(one, full)
        middle = time.perf_counter()
        less = examine(one, cut)
        seconds["whole"] += middle - start
        seconds["cascade"] += time.perf_counter() - middle
        n_texts += 1
        changed["cut"] += less.case == "names_not_searched" or len(less.detectors) < len(whole.detectors)
        changed["referral lost"] += (whole.referral is Referral.REFERRED) != (
            less.referral is Referral.REFERRED
        )
        changed["pii_only became clear"] += whole.referral is not less.referral
        changed["verdicts of C not given"] += dict(whole.detectors)["text"] and "text" not in dict(
            less.detectors
        )
        changed["of them on PHI files"] += (
            label == "PHI" and dict(whole.detectors)["text"] and "text" not in dict(less.detectors)
        )
    print(f"\n{n_texts} texts: {dict(changed)}")
    print(
        f"seconds: {seconds['whole']:.1f} whole, {seconds['cascade']:.1f} cascade,"
        f" {seconds['cascade'] / seconds['whole']:.2f} of it"
    )
    assert n_texts


@pytest.mark.bench
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_what_classification_adds() -> None:
    one = engine(1.0)
    examine(document("Mrs. Warm Up has asthma and takes salbutamol."), one)
    print("\n| texts | screening MB/s | health terms and score | detector C | classification / screening |")
    print("| --- | --- | --- | --- | --- |")
    for name in ("aci_bench_train_valid", "medquad_dev", "spamassassin_ham_dev", "state_union_inaugural"):
        lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        joined = "\n\n".join(json.loads(line)["text"] for line in lines)[:2_000_000]
        for size in (SHORT, LONG):
            ends = range(0, min(len(joined), 100 * size), size)
            print_shares(f"{name}, {size:,} characters", [joined[at : at + size] for at in ends], one)
    # Whole texts, as short as they are: the fixed cost of a text tells most here.
    for name in ("presidio_generated_large", "hl7v2_reportstream"):
        lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:200]
        print_shares(f"{name}, whole", [json.loads(line)["text"] for line in lines], one)
    print_shares("our short texts, whole", [text.text for text in short_texts() if not text.kept], one)
    assert replace(one)


def print_shares(title: str, parts: list[str], one: Engine) -> None:
    """Print the time of both parts of classification as shares of the time of screening."""
    times = [0.0, 0.0, 0.0]
    for part in parts:
        made = document(part)
        begin = time.perf_counter()
        screening = screen.screen(made, one.screener)
        screened = time.perf_counter()
        health = classify(made, one.classifier)
        classified = time.perf_counter()
        detect(made, screening, health, one.classifier)
        for place, (first, last) in enumerate(
            ((begin, screened), (screened, classified), (classified, time.perf_counter()))
        ):
            times[place] += last - first
    n_chars, (screened_s, terms_s, text_s) = sum(map(len, parts)), times
    print(
        f"| {title} (mean {n_chars // len(parts):,}) | {n_chars / 1e6 / screened_s:.2f} |"
        f" {terms_s / screened_s:.3f} | {text_s / screened_s:.3f} | {(terms_s + text_s) / screened_s:.3f} |"
    )


@pytest.mark.bench
@pytest.mark.timeout(900)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_memory_over_many_files() -> None:
    # Of /proc/self/status: what the process holds now, not what it once held.
    one = engine(1.0)
    nothing = screen.screen(document(""), one.screener)
    line = (DATA / "medquad_dev.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(part)["text"] for part in line][:700]
    print("\n| files classified | resident memory, MB |\n| --- | --- |")
    sizes = []
    for number in range(2_001):
        # Another text each time: the number makes it unlike all before it.
        made = document(f"{number} {found[number % len(found)]}", number)
        health = classify(made, one.classifier)
        detect(made, nothing, health, one.classifier)
        if number % 500 == 0:
            status = Path("/proc/self/status").read_text(encoding="utf-8")
            sizes.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
            print(f"| {number:,} | {sizes[-1]:.0f} |")
    assert sizes
