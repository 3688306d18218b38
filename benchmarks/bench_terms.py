"""Speed of matching health terms and cues. Run:

``.venv/bin/python -m pytest -m bench -s benchmarks/bench_terms.py``; needs ../shared/data.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from phiscan.health.term_lexicon import load_lexicon
from phiscan.health.terms import JointMatcher

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
FILES = ("aci_bench_train_valid", "medquad_dev", "spamassassin_ham_dev", "state_union_inaugural")


@pytest.mark.bench
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_matching_speed() -> None:
    load_lexicon.cache_clear()
    start = time.perf_counter()
    lexicon = load_lexicon()
    print(f"\nloading {len(lexicon.health.terms_)} terms: {1000 * (time.perf_counter() - start):.0f} ms")
    alone = JointMatcher.of((lexicon.health,))
    for name in FILES:
        lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        text = "\n\n".join(json.loads(line)["text"] for line in lines)
        times, both = [], []
        for _ in range(5):
            start = time.perf_counter()
            (hits,) = alone.match(text)
            middle = time.perf_counter()
            lexicon.both.match(text)
            times.append(middle - start)
            both.append(time.perf_counter() - middle)
        density = 1000 * len(hits.starts) / len(text)
        print(
            f"  {name:24} {len(text) / 1e6 / min(times):6.1f} MB/s,"
            f" with the cues {len(text) / 1e6 / min(both):.1f}, {density:.2f} terms per 1,000 characters"
        )
        assert len(hits.starts)
