"""Speed of the name tagger on prose and a table, with and without the LSTM.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_tagger.py``. Processor time, the least
of five rounds, one core. The alternative in the same run: the random field alone.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from phiscan.config import data_dir
from phiscan.lexicon.gazetteer import terms
from phiscan.model import Document
from phiscan.screen.ner.features import Lexicon, Stream
from phiscan.screen.ner.lstm import PassageReader
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.ner.viterbi import Floats

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
ROUNDS = 5
N_ROWS = 6_000


def prose(name: str, n_chars: int) -> list[str]:
    """Return the first texts of a set."""
    texts: list[str] = []
    for line in (DATA / f"{name}.jsonl").open(encoding="utf-8"):
        texts.append(json.loads(line)["text"])
        if sum(map(len, texts)) > n_chars:
            break
    return texts


def table() -> list[str]:
    """Return one table: number, name, city, amount."""
    draw = random.Random(2008)
    first, last, places = (
        sorted(terms(data_dir("dictionaries") / f"{name}.txt"))
        for name in ("first_names", "last_names", "places")
    )
    rows = (
        f"{number},{draw.choice(first).title()} {draw.choice(last).title()},{draw.choice(places).title()},"
        f"{draw.randint(1000, 9999)}"
        for number in range(N_ROWS)
    )
    return ["\n".join(rows) + "\n"]


def least_seconds(tagger: TaggerRecognizer, texts: list[str]) -> float:
    """Return the least processor time of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for text in texts:
            list(tagger.recognize(Document(text, (), "text/plain")))
        seconds.append(time.process_time() - begin)
    return min(seconds)


def _nothing(reader: PassageReader, _lexicon: Lexicon, stream: Stream) -> Floats:
    """Return the scores of an LSTM without knowledge: zeros."""
    return np.zeros((len(stream.sizes), len(reader.labels)), dtype=np.float32)


def read_all() -> None:
    """Read the prose and the table once, and print the most memory that this process ever held, in MB."""
    tagger = TaggerRecognizer.load()
    for text in (*prose("medquad_dev", 800_000), *table()):
        list(tagger.recognize(Document(text, (), "text/plain")))
    # Not ru_maxrss: a process that was forked begins with its parent's.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(f"{int(status.partition('VmHWM:')[2].split()[0]) / 1e3:.0f}")


@pytest.mark.bench
@pytest.mark.timeout(900)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_the_speed_of_the_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = TaggerRecognizer.load()
    sets: dict[str, Callable[[], list[str]]] = {
        "health prose (medquad_dev)": lambda: prose("medquad_dev", 800_000),
        "speeches (state_union_inaugural)": lambda: prose("state_union_inaugural", 500_000),
        f"a table of {N_ROWS:,} rows": table,
    }
    print("\n| text | MB/s | the field alone, MB/s | ratio |\n| --- | ---: | ---: | ---: |")
    for title, make in sets.items():
        texts = make()
        n_bytes = sum(len(text.encode()) for text in texts)
        both = least_seconds(tagger, texts)
        with monkeypatch.context() as patched:
            patched.setattr(PassageReader, "log_probabilities", _nothing)
            field = least_seconds(tagger, texts)
        print(f"| {title} | {n_bytes / 1e6 / both:.2f} | {n_bytes / 1e6 / field:.2f} | {field / both:.2f} |")
        assert both > 0
    command = [sys.executable, "-c", "from benchmarks.bench_tagger import read_all; read_all()"]
    peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(f"\nmost memory of a process that loads it and reads the prose and the table: {peak.strip()} MB")
