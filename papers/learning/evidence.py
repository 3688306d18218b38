"""Read every file of the simulated shares once; write what a scan stores of it, outside the repository.

Run: ``nice python -m papers.learning.evidence FOLDER``. The files: ``../shared/data`` (background, ordinary2,
the synthetic PHI of text/) and the PHI among our own training texts. Each becomes one line of JSON; OCR is
off. ``papers/learning/simulation.py`` draws its shares from them.
"""

from __future__ import annotations

import csv
import json
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from phiscan.config import Config, Limits
from phiscan.model import Outcome, SourceFile
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.process import process
from training.decision import sources

DATA: Final = Path(__file__).resolve().parents[3] / "shared" / "data"
NAME: Final = "stored.jsonl"
KEY: Final = b"2008" * 8
PHI_TEXTS: Final = ("aci_bench_train_valid", "ccda_hl7", "fhir_synthea_dev", "hl7v2_reportstream")
MOST_OF_A_FAMILY: Final = 120
SECONDS: Final = 60  # for one file

Found = tuple[str, str, bool, Path, str]  # name, family, is it PHI, folder, path below it


def ordinary_files() -> Iterator[Found]:
    """Yield the files of background and ordinary2 that hold text; a few of ordinary2 are PHI."""
    for name in ("background", "ordinary2"):
        with (DATA / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                if row["label"] != "NO_TEXT":
                    family = row.get("family") or f"bg:{row['repository'].rsplit('/', 1)[-1]}"
                    yield f"{name}/{row['file']}", family, row["label"] == "PHI", DATA / name, row["file"]


def phi_texts(scratch: Path) -> Iterator[Found]:
    """Write the PHI texts as files and yield them."""
    texts: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in PHI_TEXTS:
        for line in (DATA / "text" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if item["doc_label"] == "PHI":
                texts[f"text:{name}"].append((f"{name}/{item['id']}", item["text"]))
    for sample in sources.samples():
        if sample.is_phi and sample.family not in PHI_TEXTS:
            texts[sample.family].append((sample.identifier, sample.document.text))
    scratch.mkdir(parents=True, exist_ok=True)
    for family, members in texts.items():
        members.sort(key=lambda one: sha256(one[0].encode()).digest())
        for identifier, text in members[:MOST_OF_A_FAMILY]:
            path = f"{sha256(identifier.encode()).hexdigest()[:16]}.txt"
            (scratch / path).write_text(text, encoding="utf-8")
            yield identifier, family, True, scratch, path


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise MemoryError


def main(folder: Path) -> None:
    """Write what a scan stores of every file."""
    config = replace(Config(), home=folder, limits=replace(Limits(), ocr_s=0.001))
    engine = build_engine(config, KEY)
    signal.signal(signal.SIGALRM, _stop)
    with (folder / NAME).open("w", encoding="utf-8") as stream:
        for name, family, is_phi, base, path in chain(ordinary_files(), phi_texts(folder / "texts")):
            signal.alarm(SECONDS)
            try:
                source = SourceFile.of(str(base).encode(), path.encode(), (base / path).lstat())
                result = process(source, engine)
            except (MemoryError, OSError):
                continue
            finally:
                signal.alarm(0)
            if result.outcome is Outcome.SCREENED and result.probability is not None:
                kept = {
                    "name": name,
                    "family": family,
                    "is_phi": is_phi,
                    "second_look": result.second_look,
                    "probability": result.probability,
                    "evidence": dict(result.evidence),
                }
                stream.write(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
