"""Numbers and codes that are somebody's, told by what stands around them, where no rule has a form for them.

A logistic regression over the features of ``number_features`` says how likely a number identifies somebody,
and one for each type of which type it likeliest is. It looks only at numbers that nothing else has found,
when all else has been found: a name or a day of birth on the line says more than most words. Written by
``phiscan train numbers``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final, Self

from phiscan.errors import ModelError
from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.screen.bits import bits_of
from phiscan.screen.free_text import machine_parts
from phiscan.screen.number_features import NumberContext, candidates
from phiscan.screen.overlap import is_taken

FORMAT: Final = 1
SOURCE: Final = "learned_numbers"
LEAST: Final = 0.5  # how likely a number must be somebody's to be shown
COUNTS: Final = 0.8  # and to count: below it is doubtful
MAX_NUMBERS: Final = 2000  # looked at in one text; of more, every n-th is, and the findings say so


@dataclass(frozen=True, slots=True)
class NumberModel:
    """The weights: of each feature, that a number is somebody's, and then that it is of each type."""

    types: tuple[EntityType, ...]
    bias: tuple[float, ...]  # (1 + types,)
    weights: dict[str, tuple[float, ...]] = field(repr=False)  # (1 + types,) each

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """Read ``numbers.json`` of the package (or of ``folder``).

        Raises:
            ModelError: it is missing, damaged or of another version.
        """
        path = (folder or resources.files("phiscan.screen") / "data") / "numbers.json"
        try:
            card = json.loads(path.read_text(encoding="utf-8"))
            model = cls.of(card)
            rows = (model.bias, *model.weights.values())
            fits = card["format"] == FORMAT and all(len(row) == 1 + len(model.types) for row in rows)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            fits = False
        if not fits:
            message = f"{path}: expected the weights of the numbers, format {FORMAT}"
            raise ModelError(message) from None
        return model

    @classmethod
    def of(cls, card: Mapping[str, Any]) -> Self:
        """Return the model of which ``numbers.json`` holds the ``card``."""
        weights = {name: tuple(map(float, row)) for name, row in card["weights"].items()}
        return cls(tuple(map(EntityType, card["types"])), tuple(map(float, card["bias"])), weights)

    def chance(self, features: Sequence[str]) -> float:
        """Return how likely a number with these features is somebody's, in [0, 1]."""
        score = self.bias[0] + sum(self.weights[name][0] for name in features if name in self.weights)
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))

    def kind(self, features: Sequence[str]) -> EntityType:
        """Return the most likely type of a number that is somebody's."""
        rows = [self.bias, *(self.weights[name] for name in features if name in self.weights)]
        sums = [sum(column) for column in zip(*rows, strict=True)][1:]
        return self.types[max(range(len(sums)), key=sums.__getitem__)]


@cache
def load_numbers() -> NumberModel:
    """Return the shipped weights."""
    return NumberModel.load()


def learned_numbers(document: Document, findings: Sequence[Finding], model: NumberModel) -> Iterator[Finding]:
    """Yield the numbers that are likely somebody's; ``findings`` in text order, without overlaps.

    What another finding has is left to it, and machine formats, whose fields say what each number is, to
    what reads them.
    """
    text = document.text
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    machine = machine_parts(document)
    free = [
        (low, high)
        for low, high in candidates(text)
        if not is_taken(low, high, taken) and not is_taken(low, high, machine)
    ]
    stride = -(-len(free) // MAX_NUMBERS)
    around = NumberContext(text, findings)
    for low, high in free[:: max(stride, 1)]:
        features = around.features(low, high)
        chance = model.chance(features)
        if chance < LEAST:
            continue
        score = round(chance, 3)
        reasons = [Reason("learned", "its form and surroundings", score)]
        if chance < COUNTS:
            reasons.append(Reason("doubt", f"less likely than {COUNTS:.0%}", score))
        if stride > 1:
            reasons.append(Reason("cap", f"1 of {stride} of {len(free)} numbers examined", score))
        bits = bits_of(EntityType.OTHER_ID) if chance >= COUNTS else frozenset()  # its type is a guess
        yield Finding(Span(low, high), model.kind(features), SOURCE, score, bits, tuple(reasons))
