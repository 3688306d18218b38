"""Screen eight sets of unseen texts: false referrals and recall of PHI.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_unseen.py``. The naive rule reads them in the
same run. What became of each text is printed of the first set alone. Then every set is read in capitals,
in small letters and misread (``bench_marked_texts.WRITINGS``); of that only sums are printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.bench_marked_texts import WRITINGS
from benchmarks.bench_referral_share import _IDENTIFIERS
from phiscan import screen
from phiscan.config import Config
from phiscan.decision import build_decider
from phiscan.health.classifier import Classifier, build_classifier
from phiscan.metrics.intervals import clopper_pearson
from phiscan.model import Document, HealthScore, PiiBit, Referral, Screening, Segment
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine

CLASSIFY = Path(__file__).resolve().parents[1] / "tests" / "health"


def texts(name: str, folder: str = "unseen") -> Iterator[tuple[str, str]]:
    for part in (CLASSIFY / folder / name).read_text(encoding="utf-8").split("===== ")[1:]:
        kind, text = part.split("\n", 1)
        yield kind, text.strip() + "\n"


def judged(
    text: str, screener: screen.Screener, classifier: Classifier
) -> tuple[Screening, HealthScore, Sequence[tuple[str, bool]], Referral, str]:
    """Return the screening, health score, verdicts and referral of a text."""
    document = Document(text, (Segment("", 0, len(text)),), "text/plain")
    result = examine(
        document, Engine(screener, classifier, build_decider(Config()), Config().limits, key=b"")
    )
    return result.screening, result.health, result.detectors, result.referral, result.case


FOLDERS = (
    "unseen",
    "unseen_second",
    "unseen_third",
    "unseen_fourth",
    "unseen_fifth",
    "unseen_sixth",
    "unseen_seventh",
    "unseen_eighth",
)


@pytest.mark.bench
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", FOLDERS)
def test_print_what_is_referred_of_the_unseen_texts(folder: str) -> None:
    each = folder == "unseen"
    screener, classifier = screen.build_screener(Config()), build_classifier(Config())
    for name in ("other_en.txt", "other_fr.txt", "phi.txt"):
        columns = ": text | case | health score | bits lacking | A B C | naive rule" if each else ""
        print(f"\n{folder}/{name}{columns}")
        counts = [0] * 5
        found = list(texts(name, folder))
        for kind, text in found:
            screening, health, verdicts, referral, case = judged(text, screener, classifier)
            eyes = [verdict for _, verdict in verdicts]
            bits = screening.vector.bits
            full_name = {PiiBit.FIRST_NAME, PiiBit.LAST_NAME} <= bits
            naive = len({hit.concept for hit in health.terms}) >= 3 and (
                full_name or bool(bits & _IDENTIFIERS)
            )
            ruled = (referral is Referral.REFERRED, naive, *eyes)
            counts = [count + verdict for count, verdict in zip(counts, ruled, strict=True)]
            shown = "".join("ABC"[place] if eye else "-" for place, eye in enumerate(eyes))
            mark = "REFERRED" if ruled[0] else ""
            if each:
                score = f"{health.score:.3f}"
                print(f"  {kind:30} {case:24} {score} {screening.hamming} {shown} {int(naive)} {mark}")
        for rule, count in zip(("phiscan", "naive", "A", "B", "C"), counts, strict=True):
            low, high = clopper_pearson(count, len(found))
            print(f"  {rule}: {count} of {len(found)} [{low:.3f}, {high:.3f}]")
        assert found


@pytest.mark.bench
@pytest.mark.timeout(600)
@pytest.mark.parametrize("folder", FOLDERS)
def test_print_what_is_referred_however_it_is_written(folder: str) -> None:
    screener, classifier = screen.build_screener(Config()), build_classifier(Config())
    print(f"\n{folder} | referred of others | found of PHI")
    for writing, write in WRITINGS.items():
        counts: list[tuple[int, int]] = []
        for names in (("other_en.txt", "other_fr.txt"), ("phi.txt",)):
            found = [text for name in names for _, text in texts(name, folder)]
            referred = 0
            for seed, one in enumerate(found):
                *_, referral, _ = judged(write(one, seed), screener, classifier)
                referred += referral is Referral.REFERRED
            counts.append((referred, len(found)))
        (others, n_others), (phi, n_phi) = counts
        print(f"  {writing} | {others} of {n_others} | {phi} of {n_phi}")
        assert n_phi
