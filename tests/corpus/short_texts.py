"""Read the short texts and split them in two halves by a seeded draw; short_texts/README.md says why."""

import random
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "short_texts"
SEED = 5


@dataclass(frozen=True, slots=True)
class ShortText:
    """One text, what it is, and on which half it lies."""

    number: int  # place in its file, from 1
    kind: str
    text: str
    is_phi: bool
    kept: bool


def short_texts() -> list[ShortText]:
    """Return all texts, PHI first; of each side one half is kept."""
    found: list[ShortText] = []
    draw = random.Random(SEED)
    for name, is_phi in (("phi", True), ("other", False)):
        parts = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("===== ")[1:]
        kept = set(draw.sample(range(len(parts)), len(parts) // 2))
        for index, part in enumerate(parts):
            kind, text = part.split("\n", 1)
            found.append(ShortText(index + 1, kind, text.strip() + "\n", is_phi, index in kept))
    return found
