"""Numbers and codes of a person without a rule for their form: findings by a learned model of their context.

Ages over 89 in the same way: which of the numbers from 90 to 125 are ages.

A logistic regression over the features of ``number_features`` says how likely a number identifies somebody,
and one for each type of which type it likeliest is. It looks only at numbers that nothing else has found,
when all else has been found: a name or a day of birth on the line says more than most words. Of what rules
found without knowing its type it tells the type, where that is plain. Written by ``phiscan train numbers``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any, Final, Self

from phiscan.errors import ModelError
from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.free_text import machine_parts
from phiscan.screen.id_classifier.features import NumberContext, ages, candidates
from phiscan.screen.recognizers.identifiers.table_numbers import SOURCE as ROW_CODES
from phiscan.text.intervals import is_taken

FORMAT: Final = 2
SOURCE: Final = "learned_numbers"
LEAST: Final = 0.5  # how likely a number must be somebody's to be shown
LEAST_AGE: Final = 0.6  # and an age
COUNTS: Final = 0.8  # and to count: below it is doubtful
# How likely another type must be for a number of which a rule knows the form or a loose label ("policy",
# "claim") and hardly the type; by the type that it gives, and how its source begins.
LEAST_TYPE: Final[dict[EntityType, dict[str, float]]] = {
    EntityType.OTHER_ID: {
        "other_id.shape": 0.6,
        "other_id.zeros": 0.6,
        "other_id.hash": 0.6,
        "other_id.numbered": 0.6,
        "other_id.": 0.7,
        ROW_CODES: 0.6,
    },
    EntityType.HEALTH_PLAN: {"record.health_plan": 0.7, "other_id.": 0.7},
    EntityType.MRN: {ROW_CODES: 0.6},
}
MAX_NUMBERS: Final = 2000  # looked at in one text; of more, every n-th is, and the findings say so


def _chance(score: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))


@dataclass(frozen=True, slots=True)
class AgeModel:
    """The weights of each feature that a number is the age of somebody."""

    bias: float
    weights: dict[str, float] = field(repr=False)

    @classmethod
    def of(cls, card: Mapping[str, Any]) -> Self:
        """Return the model of a card: ``bias`` and ``weights``."""
        return cls(float(card["bias"]), {name: float(weight) for name, weight in card["weights"].items()})

    def chance(self, features: Sequence[str]) -> float:
        """Return how likely a number with these features is an age, in [0, 1]."""
        return _chance(self.bias + sum(self.weights.get(name, 0.0) for name in features))


@dataclass(frozen=True, slots=True)
class NumberModel:
    """The weights: of each feature, that a number is somebody's, and then that it is of each type."""

    types: tuple[EntityType, ...]
    bias: tuple[float, ...]  # (1 + types,)
    weights: dict[str, tuple[float, ...]] = field(repr=False)  # (1 + types,) each
    ages: AgeModel

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
            numbers = (*chain.from_iterable(rows), model.ages.bias, *model.ages.weights.values())
            fits = fits and all(map(math.isfinite, numbers))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            fits = False
        if not fits:
            raise ModelError(path, f"expected the weights of the numbers, format {FORMAT}") from None
        return model

    @classmethod
    def of(cls, card: Mapping[str, Any]) -> Self:
        """Return the model of which ``numbers.json`` holds the ``card``."""
        weights = {name: tuple(map(float, row)) for name, row in card["weights"].items()}
        types = tuple(map(EntityType, card["types"]))
        return cls(types, tuple(map(float, card["bias"])), weights, AgeModel.of(card["ages"]))

    def chance(self, features: Sequence[str]) -> float:
        """Return how likely a number with these features is somebody's, in [0, 1]."""
        return _chance(self.bias[0] + sum(self.weights[name][0] for name in features if name in self.weights))

    def kind(self, features: Sequence[str]) -> tuple[EntityType, float]:
        """Return the most likely type of a number that is somebody's, and how likely it is among all."""
        rows = [self.bias, *(self.weights[name] for name in features if name in self.weights)]
        chances = [_chance(sum(column)) for column in zip(*rows, strict=True)][1:]
        likeliest = max(range(len(chances)), key=chances.__getitem__)
        return self.types[likeliest], chances[likeliest] / sum(chances)


@cache
def load_numbers() -> NumberModel:
    """Return the shipped weights."""
    return NumberModel.load()


def learned_numbers(document: Document, findings: Sequence[Finding], model: NumberModel) -> Iterator[Finding]:
    """Yield the numbers that are likely somebody's, and ages; ``findings`` in text order, without overlaps.

    What another finding has is left to it, and machine formats, whose fields say what each number is, to
    what reads them. An age and a number at one place may both be yielded where one holds the other.
    """
    text = document.text
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    machine = machine_parts(document)
    around = NumberContext(text, findings)
    free, stride = _some(candidates(text), taken, machine)
    possible_ages, age_stride = _some(ages(text), taken, machine)
    strides = dict.fromkeys(free, stride) | dict.fromkeys(possible_ages - free, age_stride)
    for low, high in sorted(strides):
        features = around.features(low, high)
        chance = model.ages.chance(features) if (low, high) in possible_ages else 0.0
        of_number = model.chance(features) if (low, high) in free else 0.0
        is_age = chance >= LEAST_AGE and of_number <= max(chance, COUNTS)
        if not is_age and of_number < LEAST:
            continue
        if is_age:
            kind = shows = EntityType.AGE_OVER_89
        else:
            # Its type is a guess.
            chance, kind, shows = of_number, model.kind(features)[0], EntityType.OTHER_ID
        score = round(chance, 3)
        reasons = [Reason("learned", "its form and surroundings", score)]
        if chance < COUNTS:
            reasons.append(Reason("doubt", f"less likely than {COUNTS:.0%}", score))
        every = strides[low, high]
        if every > 1:
            reasons.append(Reason("cap", f"1 of {every} numbers examined", score))
        bits = bits_of(shows) if chance >= COUNTS else frozenset()
        yield Finding(Span(low, high), kind, SOURCE, score, bits, tuple(reasons))


def with_types(text: str, findings: Sequence[Finding], model: NumberModel) -> Iterator[Finding]:
    """Yield findings; a number of which a rule hardly knows the type has the one that its surroundings tell.

    ``findings`` in text order, without overlaps. None shows another characteristic than before.
    """
    leasts = [_least_type(finding) for finding in findings]
    if not any(leasts):
        yield from findings
        return
    around = NumberContext(text, findings)
    for finding, least in zip(findings, leasts, strict=True):
        if least:
            kind, chance = model.kind(around.features(finding.span.start, finding.span.end))
            if chance >= least and kind is not finding.entity_type:
                reason = Reason("learned", "its type by its surroundings", finding.score)
                yield replace(finding, entity_type=kind, reasons=(*finding.reasons, reason))
                continue
        yield finding


def _least_type(finding: Finding) -> float:
    """Return how likely another type must be; 0: it keeps the one that it has."""
    by_source = LEAST_TYPE.get(finding.entity_type, {})
    return next((least for source, least in by_source.items() if finding.source.startswith(source)), 0.0)


def _some(
    places: Iterable[tuple[int, int]], taken: Sequence[tuple[int, int]], machine: Sequence[tuple[int, int]]
) -> tuple[set[tuple[int, int]], int]:
    """Return the places that are nobody else's, of very many every n-th, and n."""
    free = [place for place in places if not is_taken(*place, taken) and not is_taken(*place, machine)]
    stride = max(1, -(-len(free) // MAX_NUMBERS))
    return set(free[::stride]), stride
