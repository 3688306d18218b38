"""OCR of drawn pages by tesseract and by tesserocr: processor seconds of a page and words found, in one run.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_ocr.py``. Needs the development texts beside
the checkout. Every way reads the same pages through ``picture_text``, so the check for text, deskewing
and layout count as well.
"""

from __future__ import annotations

import json
import os
import re
import resource
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pypdfium2
import pytest
from PIL import Image

from benchmarks.drawn_pages import STYLES
from phiscan.extract.ocr import recognition
from phiscan.extract.ocr.images import grey_fax
from phiscan.sandbox import programs

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
SETS = ("medquad_dev", "state_union_inaugural", "aci_bench_train_valid", "fhir_synthea_dev")
N_CHARS = 2_200  # a page and less in most styles
SECONDS = 600.0  # what is read must not depend on how busy the machine is
WAYS = ("tesseract", "tesserocr")


@dataclass(frozen=True, slots=True)
class Page:
    """A drawn page and the text on it."""

    text: str
    image: Any


def pages() -> Iterator[Page]:
    """Yield one page of each style for each set of texts; what did not fit on it does not count."""
    for name in SETS:
        documents = map(json.loads, (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
        text = next(one["text"] for one in documents if len(one["text"]) >= N_CHARS)[:N_CHARS]
        for style, drawn in STYLES.items():
            n_chars = len(text)
            while (file := drawn.file(text[:n_chars], f"{style} {name}"))[2] > 1:
                n_chars -= 200
            yield Page(text[:n_chars], _image(file[0], file[1]))


def _image(data: bytes, name: str) -> Any:
    if name.endswith(".pdf"):
        return pypdfium2.PdfDocument(data)[0].render(scale=200 / 72).to_pil()
    image = Image.open(BytesIO(data))
    return grey_fax(image) if image.mode == "1" else image.convert("L")


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w{3,}", text.lower()))


def processor_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


@contextmanager
def way(name: str) -> Iterator[None]:
    """Have pages read by one of the programs."""
    by_tesserocr = programs._by_tesserocr if name == "tesserocr" else lambda *_: []
    with patch.object(programs, "_by_tesserocr", by_tesserocr):
        yield


@pytest.mark.bench
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
@pytest.mark.skipif(not recognition.languages(), reason="tesseract is not installed")
def test_print_seconds_and_words_of_each_way() -> None:
    drawn = list(pages())
    n_words = sum(words(page.text).total() for page in drawn)
    print(f"\n{len(drawn)} pages, {n_words:,} words, load {os.getloadavg()[0]:.1f}")
    print(f"{'':40}{'CPU s':>8}{'clock s':>9}{'times':>7}{'words':>8}")
    first = 0.0
    recalls = []
    for name in WAYS:
        with way(name):
            before, started, n_found = processor_s(), time.perf_counter(), 0
            for page in drawn:
                n_found += (words(recognition.picture_text(page.image, SECONDS)) & words(page.text)).total()
            seconds = time.perf_counter() - started
        used = (processor_s() - before) / len(drawn)
        first = first or used
        recalls.append(n_found / n_words)
        columns = f"{used:8.3f}{seconds / len(drawn):9.3f}{first / used:7.2f}{recalls[-1]:8.4f}"
        print(f"{name:40}{columns}")
    assert max(recalls) - min(recalls) < 0.005
