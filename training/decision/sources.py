"""The labelled texts for training and measuring P(PHI), each with its family.

A family is held out as a whole: a public data set, a repository of background files, a file of phiscan's own
texts. Labels: PHI or not; texts with an ambiguous label are left out.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from phiscan import extract
from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.model import Document, Segment, SourceFile
from training.decision.short_texts import short_texts
from training.decision.table_texts import table_texts

ROOT: Final = Path(__file__).resolve().parents[2]
DATA: Final = ROOT.parent / "shared" / "data"
HERE: Final = Path(__file__).parent
LABELS: Final = HERE / "labels.tsv"
MAX_CHARS: Final = 40_000  # of one file
N_ORDINARY_FAMILIES: Final = 12
PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff"})
# Number of documents from each public data set.
PUBLIC: Final = {
    "aci_bench_train_valid": 100,
    "ccda_hl7": 20,
    "fhir_synthea_dev": 214,
    "hl7v2_reportstream": 200,
    "us_legislators_dev": 150,
    "wnut17_train": 170,
    "state_union_inaugural": 40,
    "spamassassin_ham_dev": 400,
    "medquad_dev": 400,
    "presidio_synth_v2": 500,
    "presidio_generated_large": 500,
}
_MARK: Final = re.compile(r"⟦([A-Z_]+)\|([^⟦⟧|]+)⟧")


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled document."""

    family: str
    identifier: str
    is_phi: bool
    document: Document


def samples(ordinary: Path | None = None) -> Iterator[Sample]:
    """Yield every labelled document; ``ordinary``: the folder that ``ordinary_files.py`` filled."""
    for name, most in PUBLIC.items():
        yield from _public(name, most)
    yield from _our_texts()
    yield from _unseen_texts()
    yield from _short_texts()
    yield from _written_texts()
    yield from _named_texts()
    yield from _files(DATA / "background", DATA / "background.tsv", "background")
    if ordinary is not None:
        yield from _files(ordinary / "files", ordinary / "ordinary.tsv", "ordinary")


def new_samples() -> Iterator[Sample]:
    """Yield the files of ``ordinary2``, which phi-5 did not learn from; a repository is a family."""
    yield from _files(DATA / "ordinary2", DATA / "ordinary2.tsv", "ordinary2")


def plain_document(text: str) -> Document:
    """Return a text as a document of one segment."""
    return Document(text, (Segment("", 0, len(text)),) if text else (), "text/plain")


def _public(name: str, most: int) -> Iterator[Sample]:
    lines = (DATA / "text" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: sha256(f"x{row['id']}".encode()).digest())
    for row in rows[:most]:
        yield Sample(name, f"{name}/{row['id']}", row["doc_label"] == "PHI", plain_document(row["text"]))


def sections(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a file of texts."""
    for number, part in enumerate(path.read_text(encoding="utf-8").split("===== ")[1:]):
        kind, text = part.split("\n", 1)
        yield f"{path.parent.name}/{path.stem}/{number}/{kind.strip()}", f"{text.strip()}\n"


def _our_texts() -> Iterator[Sample]:
    """Yield the training texts of the health classifier; both classes of a file are one family."""
    folder = ROOT / "dictionaries" / "build"
    of_stem = {
        "phi": "first",
        "other": "first",
        "requests_lists_claims": "second",
        "prices_minutes_rosters": "second",
    }
    for path in sorted((folder / "written").glob("*.txt")):
        is_phi = path.stem.endswith("phi") or path.stem == "requests_lists_claims"
        family = of_stem.get(path.stem, path.stem.removesuffix("_phi").removesuffix("_other"))
        for name, text in sections(path):
            yield Sample(f"own:{family}", name, is_phi, plain_document(text))
    for kind, is_phi in (("notes", True), ("papers", False)):
        for path in sorted((folder / kind).glob("*.txt")):
            for name, text in sections(path):
                yield Sample(f"own:{kind}", name, is_phi, plain_document(text))


def _unseen_texts() -> Iterator[Sample]:
    """Yield the eight sets of unseen texts; each is a family."""
    for folder in sorted((ROOT / "tests" / "health").glob("unseen*")):
        for path in sorted(folder.glob("*.txt")):
            for name, text in sections(path):
                yield Sample(folder.name, name, path.stem == "phi", plain_document(text))


def _short_texts() -> Iterator[Sample]:
    """Yield tables and short texts, hand-written and generated; a quarter of each is a family."""
    for stem, is_phi in (("short_phi", True), ("short_other", False)):
        for number, (name, text) in enumerate(sections(HERE / "texts" / f"{stem}.txt")):
            yield Sample(f"short:written {number % 4}", name, is_phi, plain_document(text))
    for identifier, is_phi, text in table_texts():
        yield Sample(f"tables:{int(identifier.split('/')[1]) % 4}", identifier, is_phi, plain_document(text))
    for identifier, is_phi, text in short_texts():
        pattern = int(identifier.split("/")[1])
        yield Sample(f"short:{pattern % 4}", identifier, is_phi, plain_document(text))


def _written_texts() -> Iterator[Sample]:
    """Yield texts that were written apart from the program, some of them to measure an earlier model on.

    Their sections say PHI or NOT; half of a file is a family. ``in_passing`` mentions somebody's health
    within ordinary text.
    """
    for stem in ("written_1", "written_2", "written_3", "in_passing"):
        for number, (name, text) in enumerate(sections(HERE / "texts" / f"{stem}.txt")):
            is_phi = name.rsplit("/", 1)[-1].startswith("PHI")
            yield Sample(f"written:{stem} {number % 2}", name, is_phi, plain_document(text))


def _named_texts() -> Iterator[Sample]:
    """Yield the name tagger's training texts, labelled by ``labels.tsv``; each file is a family."""
    labels = dict(line.split("\t") for line in LABELS.read_text(encoding="utf-8").splitlines())
    for path in sorted((ROOT / "training" / "corpora" / "texts").glob("*.txt")):
        for part in re.split(r"^===== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _, body = part.partition("\n")
            identifier = f"{path.stem}/{name.strip()}"
            if (label := labels.get(identifier)) in {"PHI", "NOT"}:
                text = _MARK.sub(r"\2", body.strip()) + "\n"
                yield Sample(f"hand:{path.stem}", identifier, label == "PHI", plain_document(text))


def _files(folder: Path, listing: Path, kind: str) -> Iterator[Sample]:
    """Yield the readable files of a folder, without OCR; only ``ordinary2`` has some that are PHI."""
    limits = replace(Limits(), ocr_s=0.001)
    with listing.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    for row in rows:
        path = folder / row["file"]
        is_phi = row["label"].startswith("PHI")
        if path.suffix.lower() in PICTURES or (is_phi and kind != "ordinary2"):
            continue
        try:
            source = SourceFile.of(str(folder).encode(), row["file"].encode(), path.lstat())
            document = _cut(extract.extract(source, limits, ()))
        except (ExtractError, OSError):
            continue
        if document.text.strip():
            origin = row.get("repository") or row.get("package") or ""
            family = f"bg:{origin.rsplit('/', 1)[-1]}"
            if kind == "ordinary":
                family = f"ord:{zlib.crc32(origin.encode()) % N_ORDINARY_FAMILIES}"
            if kind == "ordinary2":
                family = f"new:{origin}"
            yield Sample(family, f"{kind}/{row['file']}", is_phi, document)


def _cut(document: Document) -> Document:
    """Return the beginning of a long document."""
    if len(document.text) <= MAX_CHARS:
        return document
    segments = tuple(
        replace(segment, end=min(segment.end, MAX_CHARS))
        for segment in document.segments
        if segment.start < MAX_CHARS
    )
    return replace(document, text=document.text[:MAX_CHARS], segments=segments)
