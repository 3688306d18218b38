"""phiscan, plain equation 4, Presidio with a health word list, and the naive rule on one benchmark share.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_side_by_side.py``. Needs the development texts
beside the checkout and the extra ``compare``. Only the half that no model has learned from is examined. Each
document is examined once by every rule; shares (1% PHI, 25% PII only, 10% health only, 64% neither) and a
pool of PHI documents only are then drawn with several seeds.

Presidio runs with its own pattern recognizers on spaCy's blank English pipeline: its named-entity model is a
download that an offline installation does not have, so it sees no bare names. It refers a file with three
different health words and anything that it finds but dates, places and web addresses. With a model it would
find more names, and refer more of everything.

Scans are the documents drawn as pictures and read back by OCR (a few of each family: it is slow).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bench_referral_share import _IDENTIFIERS, DATA, MIX, N_FILES, texts
from phiscan import decision, screen
from phiscan.config import Config
from phiscan.health.classifier import build_classifier, classify
from phiscan.metrics.intervals import clopper_pearson
from phiscan.model import Document, PiiBit, Referral, Segment
from training.decision.features import detect

SEEDS = range(20)
N_SCANS = 4  # of each family and label
RULES = ("phiscan", "equation 4 alone", "Presidio and three health words", "naive rule")
# What Presidio calls an identifier and almost every text has.
_WEAK = {"DATE_TIME", "LOCATION", "NRP", "URL"}


@dataclass(frozen=True, slots=True)
class Seen:
    """The verdict of every rule on one document."""

    family: str
    label: str
    referred: tuple[bool, ...]


def presidio() -> Callable[[str], bool]:
    """Return whether Presidio's patterns find an identifier in a text."""
    import spacy  # noqa: PLC0415
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # noqa: PLC0415 (extra, slow)
    from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415

    class Blank(SpacyNlpEngine):
        """An engine around spaCy's blank English: tokens, no entities."""

        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}
            self.nlp["en"].max_length = 50_000_000

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    engine = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])

    def finds(text: str) -> bool:
        return any(
            found.entity_type not in _WEAK for found in engine.analyze(text, "en", score_threshold=0.4)
        )

    return finds


def scanned(text: str) -> str:
    """Draw a text as a page of pixels and read it back with the OCR that phiscan uses; "" without one."""
    import io  # noqa: PLC0415
    import shutil  # noqa: PLC0415
    import subprocess  # noqa: PLC0415

    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    if shutil.which("tesseract") is None:
        return ""
    lines = [
        line[at : at + 95] for line in text[:3500].splitlines() for at in range(0, max(len(line), 1), 95)
    ]
    page = Image.new("L", (1700, 60 + 32 * min(len(lines), 64)), 255)
    ImageDraw.Draw(page).multiline_text(
        (40, 30), "\n".join(lines[:64]), fill=0, font=ImageFont.load_default(26), spacing=6
    )
    picture = io.BytesIO()
    page.save(picture, "png", dpi=(200, 200))
    done = subprocess.run(
        ["tesseract", "stdin", "stdout"], input=picture.getvalue(), capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "replace")


def all_texts() -> Iterator[tuple[str, str, str]]:
    """Yield family, label and text of every held-out document, and a few of each as scans."""
    drawn: dict[tuple[str, str], int] = defaultdict(int)
    for family, label, text in texts():
        yield family, label, text
        if drawn[family, label] < N_SCANS and len(text) < 6000:
            read = scanned(text)
            if read.strip():
                drawn[family, label] += 1
                yield f"scans of {family}", label, read


def examine_all() -> list[Seen]:
    decider = decision.build_decider(Config())
    screener, classifier, finds = (
        screen.build_screener(Config()),
        build_classifier(Config()),
        presidio(),
    )
    found = []
    for family, label, text in all_texts():
        document = Document(text, (Segment("", 0, len(text)),), "text/plain")
        screening = screen.screen(document, screener)
        health = classify(document, classifier)
        verdicts = detect(document, screening, health, classifier)
        gathered = decider.gather(document, screening, classifier)
        decided = decider.decide(document, screening, health, verdicts, gathered)
        referral = decided.referral
        bits = screening.vector.bits
        words = len({hit.concept for hit in health.terms}) >= 3
        full_name = {PiiBit.FIRST_NAME, PiiBit.LAST_NAME} <= bits
        found.append(
            Seen(
                family,
                label,
                (
                    referral is Referral.REFERRED,
                    screening.hamming == 0,
                    words and finds(text),
                    words and (full_name or bool(bits & _IDENTIFIERS)),
                ),
            )
        )
    return found


def draw_share(seen: list[Seen], seed: int) -> list[Seen]:
    """Draw a share; PHI evenly over its families (scans are families of their own), the rest by document."""
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


def summary(values: list[float], digits: int) -> str:
    mean = sum(values) / len(values)
    return f"{mean:.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


@pytest.mark.bench
@pytest.mark.timeout(3000)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_all_rules_side_by_side() -> None:
    pytest.importorskip("presidio_analyzer", reason="needs the extra `compare`")
    seen = examine_all()
    print("\nreferred of each family by: " + ", ".join(RULES))
    for family, label in sorted({(item.family, item.label) for item in seen}):
        group = [item for item in seen if (item.family, item.label) == (family, label)]
        counts = [sum(item.referred[rule] for item in group) for rule in range(len(RULES))]
        print(f"  {family:36}{label:10}{len(group):6}  {counts}")
    n_distinct = sum(item.label == "PHI" for item in seen)
    rows: list[Any] = []
    for rule, name in enumerate(RULES):
        recalls, ratios = [], []
        for seed in SEEDS:
            share = draw_share(seen, seed)
            true = sum(item.referred[rule] for item in share if item.label == "PHI")
            false = sum(item.referred[rule] for item in share if item.label != "PHI")
            recalls.append(true / sum(item.label == "PHI" for item in share))
            ratios.append(false / max(true, 1))
        hits = sum(item.referred[rule] for item in seen if item.label == "PHI")
        low, high = clopper_pearson(hits, n_distinct)
        rows.append((name, summary(recalls, 3), summary(ratios, 2), hits / n_distinct, low, high))
    print(f"\n{len(seen)} documents, {n_distinct} of them PHI; {len(SEEDS)} shares of {N_FILES} files")
    print("| rule | recall: mean [least, most] | false referrals per true one | PHI pool: recall [95%] |")
    print("| --- | --- | --- | --- |")
    for name, recall, ratio, pool, low, high in rows:
        print(f"| {name} | {recall} | {ratio} | {pool:.3f} [{low:.3f}, {high:.3f}] |")
    assert Path(DATA).is_dir()
