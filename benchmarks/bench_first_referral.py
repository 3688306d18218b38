"""How soon the first referral of a share with many pictures is in the queue, and how fast OCR goes on.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_first_referral.py``. Needs the development data
beside the checkout. The share is made: 2,400 files of text and 600 drawn pages as pictures, 1% of each PHI,
in folders in which they are mixed. The scan is the installed program with its defaults, but OCR stops after
OCR_BUDGET_S; the database is looked at from outside meanwhile, where the queue of the desk looks.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.drawn_pages import STYLES
from phiscan.extract.ocr.recognition import languages

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
N_TEXTS, N_PICTURES, N_FOLDERS = 2_400, 600, 30
PHI_SHARE = 0.01
PHI_SETS = ("ccda_hl7", "aci_bench_train_valid", "fhir_synthea_dev")
OTHER_SETS = ("medquad_dev", "spamassassin_ham_dev", "us_legislators_dev", "wnut17_train")
N_CHARS = 1_500  # of a drawn page
OCR_BUDGET_S = 150
LOOK_S = 0.25
AIM_S = 60.0


def texts(sets: tuple[str, ...]) -> list[str]:
    """Return the texts of sets, shuffled."""
    found = [
        json.loads(line)["text"]
        for name in sets
        for line in (DATA / "text" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    random.Random(7).shuffle(found)
    return found


def write_share(share: Path) -> None:
    """Write the share: real files and texts, and a picture of a page in one file of five."""
    chance = random.Random(11)
    phi, other = texts(PHI_SETS), texts(OTHER_SETS)
    background = sorted((DATA / "background").iterdir())
    background = [path for path in background if path.suffix in {".txt", ".md", ".html", ".eml", ".docx"}]
    styles = list(STYLES)
    for number in range(N_FOLDERS):
        (share / f"{number:02}").mkdir(parents=True)
    for number in range(N_TEXTS):
        folder = share / f"{chance.randrange(N_FOLDERS):02}"
        if number < N_TEXTS * PHI_SHARE:
            (folder / f"note {number}.txt").write_text(phi[number % len(phi)], encoding="utf-8")
        elif number % 2:
            (folder / f"{number}.txt").write_text(f"{number}\n{other[number % len(other)]}", encoding="utf-8")
        else:
            path = background[number % len(background)]
            shutil.copyfile(path, folder / f"{number}{path.suffix}")
    for number in range(N_PICTURES):
        source = phi if number < N_PICTURES * PHI_SHARE else other
        text = source[-number % len(source)][:N_CHARS]
        data, name, _ = STYLES[styles[number % len(styles)]].file(text, f"page {number}")
        folder = share / f"{chance.randrange(N_FOLDERS):02}"
        (folder / f"image {number}{Path(name).suffix}").write_bytes(data)


@dataclass(slots=True)
class Seen:
    """What was seen of a scan from outside: seconds since its start."""

    first_referral_s: float | None = None
    n_referred: list[tuple[float, int]] = field(default_factory=list)
    lines: list[tuple[float, str]] = field(default_factory=list)


def watch(process: subprocess.Popen[str], database: Path, started: float) -> Seen:
    """Look at the database until the scan ends, and note its lines of progress with their times."""
    seen = Seen()

    def read_lines() -> None:
        for line in process.stderr or ():
            seen.lines.append((time.monotonic() - started, line.rstrip()))

    reader = threading.Thread(target=read_lines)
    reader.start()
    while process.poll() is None:
        for count in referred(database):
            if count and seen.first_referral_s is None:
                seen.first_referral_s = time.monotonic() - started
            seen.n_referred.append((time.monotonic() - started, count))
        time.sleep(LOOK_S)
    reader.join()
    return seen


def referred(database: Path) -> Iterator[int]:
    """Yield the number of referred files that are recorded; nothing before there is a database."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            query = "SELECT count(*) FROM examination WHERE referral = 'referred'"
            yield from (count for (count,) in connection.execute(query))
    except sqlite3.Error:
        return


@pytest.mark.bench
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development data in ../shared/data")
@pytest.mark.skipif(not languages(), reason="tesseract is not installed")
def test_print_time_until_the_first_referral(tmp_path: Path) -> None:
    share, home = tmp_path / "share", tmp_path / "home"
    write_share(share)
    command = [sys.executable, "-m", "phiscan", "scan", str(share), "--json", "--exit-zero"]
    started = time.monotonic()
    with subprocess.Popen(
        [*command, "--ocr-budget", str(OCR_BUDGET_S)],
        env={**os.environ, "PHISCAN_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        seen = watch(process, home / "phiscan.db", started)
        summary = json.loads(process.stdout.read() if process.stdout else "")
    ocr = summary["ocr"]
    text_read_s = next((when for when, line in seen.lines if "wait for OCR" in line), None)
    assert seen.first_referral_s is not None
    print(f"\n{N_TEXTS + N_PICTURES:,} files, {N_PICTURES} of them pictures; load {os.getloadavg()[0]:.1f}")
    print(f"first referral in the queue     {seen.first_referral_s:8.1f} s (aim: {AIM_S:g})")
    if text_read_s is not None:
        n_then = max((count for when, count in seen.n_referred if when <= text_read_s), default=0)
        print(f"all text read                   {text_read_s:8.1f} s, {n_then} referred")
    rate = ocr["files_read"] / ocr["seconds"]
    print(f"OCR: {ocr['files_read']} files in {ocr['seconds']:.0f} s: {rate:.2f} pages/s")
    print(f"waiting at the end: {ocr['files_waiting']}; referred {summary['referred']}")
    print(f"failed {summary['failed']}")
    for when, line in seen.lines:
        print(f"  {when:6.1f} s  {line}")
    # Not while pictures are read: the queue had it before the first of them was begun.
    assert text_read_s is None or seen.first_referral_s < text_read_s
    assert ocr["files_waiting"] + ocr["files_read"] >= N_PICTURES * (1 - 2 * PHI_SHARE)
