"""Augment samples with ordinary text around them, so that the surroundings of a passage get little weight."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from training.decision.sources import Sample, plain_document

SEED: Final = 7
N_PHI, N_OTHER = 1_000, 550
MAX_CHARS: Final = 4_000  # of a text that is padded
MIN_FILLER: Final = 300
SIZES: Final = (200, 400, 800, 1600, 3200, 6000)  # characters of ordinary text on a side
_PLACES: Final = ("before", "after", "both", "both")


def padded_texts(samples: Sequence[Sample]) -> Iterator[Sample]:
    """Yield samples embedded in text of background and package files, each with its family."""
    draw = random.Random(SEED)
    filler = [
        one.document.text
        for one in samples
        if one.family.startswith(("bg:", "ord:")) and len(one.document.text) > MIN_FILLER
    ]
    texts = [
        one
        for one in samples
        if len(one.document.text) < MAX_CHARS
        and not one.family.startswith(("bg:", "ord:", "tables:", "written:"))
    ]
    draw.shuffle(texts)
    phi = [one for one in texts if one.is_phi][:N_PHI]
    others = [one for one in texts if not one.is_phi][:N_OTHER]
    for one in (*phi, *others):
        place, size = draw.choice(_PLACES), draw.choice(SIZES)
        before = f"{_part(draw, filler, size)}\n\n" if place != "after" else ""
        after = f"\n\n{_part(draw, filler, size)}" if place != "before" else ""
        text = f"{before}{one.document.text.strip()}{after}\n"
        yield Sample(one.family, f"{one.identifier}/padded", one.is_phi, plain_document(text))


def _part(draw: random.Random, filler: Sequence[str], n_chars: int) -> str:
    """Return lines of about ``n_chars`` characters from somewhere in an ordinary text."""
    text = draw.choice(filler)
    if len(text) <= n_chars:
        return text.strip()
    start = text.find("\n", draw.randrange(len(text) - n_chars)) + 1
    part = text[start : start + n_chars]
    end = part.rfind("\n")
    return (part[:end] if end > n_chars // 3 else part).strip()
