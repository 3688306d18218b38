"""Draw three kinds of shares at the paper's prevalences, from given or synthetic texts.

Source: Sokolova & El Emam (2008), sections 2, 6 and 8: 407 Canadian files with 0.98% PHI and 452 US files
with 0.44% from peer-to-peer networks, second-hand disk drives, and mail attachments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random

from papers.i2b2.corpus import PATIENT, make_record
from papers.i2b2.surrogates import medical_words, names
from papers.screened.made_texts import make_text
from phiscan.errors import InputError

PHI, PII_ONLY, HI_ONLY, NEITHER = "PHI", "PII_ONLY", "HI_ONLY", "NEITHER"
LABELS = (PHI, PII_ONLY, HI_ONLY, NEITHER)
# Mix of non-PHI texts by kind: e-books, forms and photos; business letters and drafts; mail with names.
KINDS = {
    "peer-to-peer folder": {NEITHER: 0.60, PII_ONLY: 0.25, HI_ONLY: 0.15},
    "disk": {NEITHER: 0.30, PII_ONLY: 0.45, HI_ONLY: 0.25},
    "mail attachments": {NEITHER: 0.15, PII_ONLY: 0.65, HI_ONLY: 0.20},
}
PREVALENCES = {"1%": (4, 407), "0.44%": (2, 452)}
_MAX_CHARS = 6_000  # of a text, since e-books would take most of the time


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its label."""

    name: str
    text: str = field(repr=False)
    label: str


@dataclass(frozen=True, slots=True)
class Share:
    """A share: its kind, its prevalence as printed in the paper, and its texts by name."""

    kind: str
    prevalence: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Texts to draw shares from."""

    texts: dict[str, Text]
    source: str
    sha256: Mapping[str, str] = field(default_factory=dict)  # of each file by its name

    def of(self, label: str) -> list[str]:
        """Return the names of the texts with a label."""
        return [name for name, text in self.texts.items() if text.label == label]


def read_pool(paths: Sequence[Path]) -> Pool:
    """Read JSON lines {"id","text","doc_label"}; labels PHI, PII_ONLY, HI_ONLY, NEITHER.

    Raises:
        InputError: a file cannot be read, a line is not as expected, or a label is missing altogether.
    """
    texts: dict[str, Text] = {}
    digests = {}
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            message = f"{path}: cannot be read: {error.strerror}"
            raise InputError(message) from None
        digests[path.name] = hashlib.sha256(content).hexdigest()
        for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), start=1):
            try:
                item = json.loads(line)
                label, text = item["doc_label"], item["text"]
            except (ValueError, TypeError, KeyError):
                label, text = None, None
            if label not in LABELS or not isinstance(text, str):
                message = (
                    f'{path}: line {number}: expected "text" and "doc_label", one of {", ".join(LABELS)}'
                )
                raise InputError(message)
            name = f"{path.name}:{number}"
            texts[name] = Text(name, text[:_MAX_CHARS], label)
    pool = Pool(texts, ", ".join(path.name for path in paths), digests)
    for label in LABELS:
        if not pool.of(label):
            message = f"{paths[0]}: expected texts with the doc_label {label}, found none in all files"
            raise InputError(message)
    return pool


def made_pool(seed: int = 0, *, n_phi: int = 24, n_other: int = 300) -> Pool:
    """Return synthetic texts of every label; half of the PHI are letters, half records."""
    random = Random(f"screened/{seed}")
    texts: dict[str, Text] = {}
    words = tuple(names("ordinary_words"))
    number = 0
    while len(texts) < n_phi // 2:
        record = make_record(f"record {number}", seed * 1000 + number)
        number += 1
        text = record.text or ""
        if any(span.type == PATIENT and " " in text[span.start : span.end] for span in record.spans):
            texts[record.name] = Text(record.name, text, PHI)
    for letter in range(n_phi - len(texts)):
        name = f"letter {letter}"
        texts[name] = Text(name, make_text(PHI, random, words, medical_words()), PHI)
    for label in (PII_ONLY, HI_ONLY, NEITHER):
        for number in range(n_other):
            name = f"{label.lower()} {number}"
            texts[name] = Text(name, make_text(label, random, words, medical_words()), label)
    return Pool(texts, f"made, seed {seed}")


def make_shares(pool: Pool, *, seed: int = 0, scale: float = 1.0) -> list[Share]:
    """Draw a share of each kind at each prevalence; ``scale`` makes them smaller, with one PHI at least.

    Raises:
        InputError: there are too few texts of a label, so that a share would have another prevalence.
    """
    random = Random(f"shares/{seed}")
    shares = []
    for kind, mixture in KINDS.items():
        for prevalence, (n_phi, n_files) in PREVALENCES.items():
            n_positive = max(1, round(n_phi * scale))
            n_rest = max(10, round(n_files * scale)) - n_positive
            chosen: list[str] = []
            for label, count in [(PHI, n_positive), *_counts(mixture, n_rest).items()]:
                candidates = pool.of(label)
                if len(candidates) < count:
                    message = (
                        f"{pool.source}: doc_label {label}: expected at least {count} texts for a share"
                        f" ({kind}, {prevalence}), found {len(candidates)}"
                    )
                    raise InputError(message)
                chosen += random.sample(candidates, count)
            shares.append(Share(kind, prevalence, tuple(chosen)))
    return shares


def _counts(mixture: Mapping[str, float], total: int) -> dict[str, int]:
    """Divide a number of texts by the shares of a mixture; rounded, they add up to the number.

    >>> _counts({"A": 0.5, "B": 0.25, "C": 0.25}, 10)
    {'A': 5, 'B': 3, 'C': 2}
    """
    ends = [0, *(round(total * share + 1e-9) for share in accumulate(mixture.values()))]
    return {label: end - start for label, (start, end) in zip(mixture, pairwise(ends), strict=True)}
