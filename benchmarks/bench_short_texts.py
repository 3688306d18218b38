"""Screen our short texts: recall and false referrals on the seen and on the kept half.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_short_texts.py``. With
``SHORT_TEXTS=seen`` the kept half is not read, as while phiscan was repaired for the seen one.
"""

from __future__ import annotations

import os

import pytest

from phiscan import decision, screen
from phiscan.config import Config
from phiscan.health.classifier import build_classifier, classify
from phiscan.metrics.intervals import clopper_pearson
from phiscan.model import Document, Referral, Segment
from tests.corpus.short_texts import short_texts
from training.decision.features import detect


@pytest.mark.bench
@pytest.mark.timeout(300)
def test_print_what_is_referred_of_the_short_texts() -> None:
    screener, classifier = screen.build_screener(Config()), build_classifier(Config())
    decider = decision.build_decider(Config())
    halves = [False] if os.environ.get("SHORT_TEXTS") == "seen" else [False, True]
    for kept in halves:
        for is_phi in (True, False):
            group = [text for text in short_texts() if (text.kept, text.is_phi) == (kept, is_phi)]
            title = f"{'kept' if kept else 'seen'}, {'PHI' if is_phi else 'other'}"
            print(f"\n{title}: number, kind | case | health score | terms | bits lacking | A B C")
            counts = [0] * 4
            for item in group:
                document = Document(item.text, (Segment("", 0, len(item.text)),), "text/plain")
                screening = screen.screen(document, screener)
                health = classify(document, classifier)
                verdicts = detect(document, screening, health, classifier)
                gathered = decider.gather(document, screening, classifier)
                decided = decider.decide(document, screening, health, verdicts, gathered)
                referral, case = decided.referral, decided.case
                eyes = [verdict for _, verdict in verdicts]
                verdicts = (referral is Referral.REFERRED, *eyes)
                counts = [count + verdict for count, verdict in zip(counts, verdicts, strict=True)]
                shown = "".join("ABC"[place] if eye else "-" for place, eye in enumerate(eyes))
                terms = len({hit.concept for hit in health.terms})
                mark = "" if verdicts[0] is is_phi else "WRONG"
                print(
                    f"  {item.number:3} {item.kind:20} {case:22} {health.score:.3f} {terms:2}"
                    f" {screening.hamming} {shown} {mark}"
                )
            for rule, count in zip(("phiscan", "A", "B", "C"), counts, strict=True):
                low, high = clopper_pearson(count, len(group))
                share = f"{count / len(group):.2f} [{low:.2f}, {high:.2f}]"
                print(f"  {title}: {rule} {count} of {len(group)}: {share}")
            assert len(group) == 30
