"""Speed of the search for names beside an earlier version of the program, in one run.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_names_speed.py``. Needs the development data
beside the checkout and the history of the repository. The earlier version is the commit before its speed was
worked on, or the one that ``PHISCAN_BENCH_COMMIT`` names. Both versions read the same texts by turns, each
time in a new process with one thread. Printed are processor seconds: the least of the turns, because others
may use the machine.

"tagger, first reading": every word is new to the process once; "second reading": no word is. "search for
names": every recognizer less the cheap ones alone, as in a scan of a file whose names are searched.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan import extract
from phiscan.config import Config
from phiscan.errors import ExtractError
from phiscan.model import SourceFile

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
MARKED = ROOT / "tests" / "screen" / "marked"
COMMIT = os.environ.get("PHISCAN_BENCH_COMMIT", "b1b2c2dd")
TURNS = 3
STEP = int(os.environ.get("PHISCAN_BENCH_STEP", "1"))
MAX_CHARS = 200_000  # of one file
_CHILD = """
import json, sys, time
from phiscan.config import Config
from phiscan.model import Document
from phiscan.screen import build_screener, screen
from phiscan.screen.ner.tagger import TaggerRecognizer
sets = {
    name: [Document(text, (), "text/plain") for text in texts]
    for name, texts in json.load(open(sys.argv[1], encoding="utf-8")).items()
}
def seconds(read, documents):
    begin = time.process_time()
    for document in documents:
        read(document)
    return time.process_time() - begin
everything = build_screener(Config())
cheap = everything.without_names()
result = {}
for name, documents in sets.items():
    tagger = TaggerRecognizer.load()
    for document in documents[:2]:
        screen(document, everything)
        screen(document, cheap)
    once, again = (seconds(lambda d: list(tagger.recognize(d)), documents) for _ in range(2))
    whole = seconds(lambda d: screen(d, everything), documents)
    result[name] = {
        "tagger, first reading": once,
        "tagger, second reading": again,
        "search for names": whole - seconds(lambda d: screen(d, cheap), documents),
    }
print(json.dumps(result))
"""


def texts_of_files() -> list[str]:
    """Return the texts of every 15th background file, without OCR."""
    limits = replace(Config().limits, ocr_s=0.0)
    texts = []
    for path in sorted((DATA / "background").iterdir())[:: 15 * STEP]:
        source = SourceFile.of(str(path.parent).encode(), path.name.encode(), path.lstat())
        try:
            text = extract.extract(source, limits, ()).text
        except ExtractError:
            continue
        if text.strip() and len(text) < MAX_CHARS:
            texts.append(text)
    return texts


def texts_of_lines(path: Path, step: int) -> list[str]:
    """Return the texts of every n-th line of a JSONL file."""
    return [
        json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()[:: step * STEP]
    ]


def checkout(commit: str, folder: Path) -> Path:
    """Write the files of a commit to a folder."""
    archive = subprocess.run(
        ["git", "-C", ROOT, "archive", commit, "phiscan", "patterns", "dictionaries", "pyproject.toml"],
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def measured(version: Path, texts: Path) -> dict[str, dict[str, float]]:
    """Return the processor seconds of a version by set and stage, from a new process."""
    environment = os.environ | {"PYTHONPATH": str(version), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _CHILD, str(texts)]
    output = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=version, env=environment
    ).stdout
    found: dict[str, dict[str, float]] = json.loads(output)
    return found


@pytest.mark.bench
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development data in ../shared/data")
def test_print_the_speed_of_names_beside_an_earlier_version(tmp_path: Path) -> None:
    known = subprocess.run(["git", "-C", ROOT, "cat-file", "-e", COMMIT], check=False, capture_output=True)
    if known.returncode:
        pytest.skip(f"the repository has no commit {COMMIT}")
    sets = {
        "background files": texts_of_files(),
        "medquad_dev": texts_of_lines(DATA / "text" / "medquad_dev.jsonl", 6),
        "spamassassin_ham_dev": texts_of_lines(DATA / "text" / "spamassassin_ham_dev.jsonl", 5),
        "marked texts": [text for path in sorted(MARKED.glob("*.jsonl")) for text in texts_of_lines(path, 4)],
    }
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(sets), encoding="utf-8")
    versions = {"before": checkout(COMMIT, tmp_path / "before"), "now": ROOT}
    turns: dict[str, list[dict[str, dict[str, float]]]] = {name: [] for name in versions}
    for _ in range(TURNS):
        for name, version in versions.items():
            turns[name].append(measured(version, texts))
    print(f"\n| texts | stage | {COMMIT}, MB/s | now, MB/s | ratio |\n| --- | --- | ---: | ---: | ---: |")
    for name, documents in sets.items():
        n_bytes = sum(len(text.encode()) for text in documents)
        for stage in turns["now"][0][name]:
            before, now = (min(turn[name][stage] for turn in turns[version]) for version in versions)
            print(
                f"| {name} | {stage} | {n_bytes / 1e6 / before:.3f} | {n_bytes / 1e6 / now:.3f}"
                f" | {before / now:.2f} |"
            )
            assert now > 0
