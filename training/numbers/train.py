"""Train the number classifier: personal numbers and their types, and ages over 89.

The training data is marked texts (``--marked``) and phiscan's own everyday texts, whose numbers are marked or
labelled in ``numbers.txt``. The features of a number are computed as at run time, with the findings of the
rules and the tagger around it. Each file of marked texts, and each fifth of the own texts, is measured by
held-out weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from phiscan.config import Config
from phiscan.errors import InputError
from phiscan.metrics.deidentification.spans import LabelledSpan
from phiscan.model import Document, EntityType, Segment
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.free_text import machine_parts
from phiscan.screen.id_classifier.classifier import COUNTS, FORMAT, LEAST, LEAST_AGE, AgeModel, NumberModel
from phiscan.screen.id_classifier.features import NumberContext, ages, candidates
from training.corpora.marked_texts import FOLDER, marked_texts, marks_numbers, own_texts, unmarked
from training.names.folds import Log
from training.names.train import sha256_of
from training.numbers.card import render

JUDGED: Final = FOLDER.parent / "numbers.txt"
WEIGHTS, CARD = "numbers.json", "model-card-numbers.md"
OWN: Final = "our own texts"
N_PARTS: Final = 5  # cross-validation folds of the own texts
TYPES: Final = (
    EntityType.ACCOUNT,
    EntityType.CREDIT_CARD,
    EntityType.DEVICE,
    EntityType.DRIVER_LICENSE,
    EntityType.HEALTH_CARD,
    EntityType.HEALTH_PLAN,
    EntityType.LICENSE,
    EntityType.MRN,
    EntityType.OTHER_ID,
    EntityType.PASSPORT,
    EntityType.PHONE,
    EntityType.SIN,
    EntityType.SSN,
    EntityType.VEHICLE,
)
# Types of personal numbers; there are too few biometric ones to learn.
_ALL: Final = {kind.value: kind for kind in TYPES if kind is not EntityType.PHONE} | {
    EntityType.BIOMETRIC.value: EntityType.OTHER_ID
}
_PHONES: Final = frozenset({EntityType.PHONE.value, EntityType.FAX.value})
_KINDS: Final = frozenset("IDTAY") | _ALL.keys()
_DECIMALS: Final = 4
_NEVER: Final = -50.0  # the bias of a type without examples, so that it is never predicted
_NO_AGES: Final[dict[str, Any]] = {"bias": _NEVER, "weights": {}}


@dataclass(frozen=True)
class NumberSettings:
    """The hyperparameters."""

    c: float = 1.0  # inverse L1 penalty of the regression for personal numbers
    c_types: float = 1.0
    min_texts: int = 3  # with a feature, so that no single text can be inferred from the weights


@dataclass(frozen=True)
class Number:
    """A number of a text: its features, whether it is personal, its type, and whether a rule found it.

    As a candidate for an age over 89 it is positive if it is one. Of phone numbers only the type is learned.
    """

    features: tuple[str, ...]
    is_somebodys: bool | None
    kind: EntityType | None
    is_found: bool
    text: int
    as_age: bool


Judged = tuple[bool | None, EntityType | None]
Judge = Callable[[int, int, bool], Judged | None]


def train_numbers(settings: NumberSettings, *, marked: Sequence[Path], out: Path, log: Log) -> dict[str, Any]:
    """Train, measure, and write ``numbers.json`` and the model card to ``out``; return the card's data.

    Raises:
        InputError: a file of marked texts, or ``numbers.txt``, cannot be read; names it and the line.
    """
    screener = replace(build_screener(Config()), numbers=None)
    sources: dict[str, list[Number]] = {}
    for path in marked:
        if path.name in sources:
            message = f"{path}: expected a name that no other file of marked texts has"
            raise InputError(message)
        sources[path.name] = list(_marked(path, screener))
        log(f"{path.name}: {len(sources[path.name])} numbers")
    own = list(_own(screener))
    log(f"{OWN}: {len(own)} numbers")
    numbers = [*own, *(one for some in sources.values() for one in some)]
    figures, of_ages = (
        _measured(partial(fitted, settings), sources, own, as_age=as_age)
        for fitted, as_age in ((_of_numbers, False), (_of_ages, True))
    )
    for name, row in (*figures.items(), *((f"ages of {name}", row) for name, row in of_ages.items())):
        log(f"{name}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
    model = fit(settings, numbers) | {"ages": fit_ages(settings, numbers)}
    hashes = {path.name: sha256_of([path]) for path in (*marked, JUDGED)}
    hashes |= {f"texts/{path.name}": sha256_of([path]) for path in sorted(FOLDER.glob("*.txt"))}
    card = model | {
        "n_numbers": sum(not one.as_age and one.is_somebodys is not None for one in numbers),
        "n_somebodys": sum(bool(one.is_somebodys) for one in numbers if not one.as_age),
        "figures": figures,
        "figures_of_ages": of_ages,
        "hashes": hashes,
        "settings": asdict(settings),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / WEIGHTS).write_text(
        json.dumps(card, indent=0, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (out / CARD).write_text(render(card), encoding="utf-8")
    return card


def fit(settings: NumberSettings, numbers: Sequence[Number]) -> dict[str, Any]:
    """Return the weights except those of ages, in the format of ``numbers.json``.

    Raises:
        InputError: all numbers are personal, or none is.
    """
    numbers = [one for one in numbers if not one.as_age]
    labelled = [one for one in numbers if one.is_somebodys is not None]
    if len({one.is_somebodys for one in labelled}) < 2:  # noqa: PLR2004 (both kinds)
        message = "expected some numbers that are personal, and some that are not"
        raise InputError(message)
    names = _names(settings, numbers)
    rows, bias = np.zeros((1 + len(TYPES), len(names))), np.full(1 + len(TYPES), _NEVER)
    rows[0], bias[0] = _regression(
        settings.c, _table(labelled, names), [bool(one.is_somebodys) for one in labelled]
    )
    typed = [one for one in numbers if one.kind is not None]
    table = _table(typed, names)
    for place, kind in enumerate(TYPES, start=1):
        of_it = [one.kind is kind for one in typed]
        if len(set(of_it)) == 2:  # noqa: PLR2004 (some are of this type, and some are not)
            rows[place], bias[place] = _regression(settings.c_types, table, of_it)
        elif kind is EntityType.OTHER_ID or any(of_it):
            bias[place] = 0.0
    chosen = np.flatnonzero(np.abs(rows).sum(axis=0))
    return {
        "format": FORMAT,
        "types": [kind.value for kind in TYPES],
        "bias": bias.round(_DECIMALS).tolist(),
        "weights": {names[place]: rows[:, place].round(_DECIMALS).tolist() for place in chosen.tolist()},
    }


def fit_ages(settings: NumberSettings, numbers: Sequence[Number]) -> dict[str, Any]:
    """Return the weights of ages, in the format of ``numbers.json``; none without examples."""
    numbers = [one for one in numbers if one.as_age]
    truth = [bool(one.is_somebodys) for one in numbers]
    if len(set(truth)) < 2:  # noqa: PLR2004 (both kinds)
        return dict(_NO_AGES)
    names = _names(settings, numbers)
    row, bias = _regression(settings.c, _table(numbers, names), truth)
    chosen = np.flatnonzero(row.round(_DECIMALS))
    return {
        "bias": round(bias, _DECIMALS),
        "weights": {names[place]: round(float(row[place]), _DECIMALS) for place in chosen.tolist()},
    }


def _names(settings: NumberSettings, numbers: Sequence[Number]) -> list[str]:
    """Return the features that occur in enough texts."""
    texts: dict[str, set[int]] = {}
    for one in numbers:
        for name in one.features:
            texts.setdefault(name, set()).add(one.text)
    return sorted(name for name, seen in texts.items() if len(seen) >= settings.min_texts)


def _regression(c: float, table: csr_matrix, truth: Sequence[bool]) -> tuple[npt.NDArray[np.float64], float]:
    """Return the weights and the bias of an L1-regularized logistic regression."""
    lasso = LogisticRegression(C=c, l1_ratio=1.0, solver="liblinear", max_iter=500, random_state=0)
    lasso.fit(table, truth)
    return lasso.coef_[0], float(lasso.intercept_[0])


def _table(numbers: Sequence[Number], names: Sequence[str]) -> csr_matrix:
    place = {name: number for number, name in enumerate(names)}
    rows = [[place[name] for name in one.features if name in place] for one in numbers]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(names)))


def _marked(path: Path, screener: Screener) -> Iterator[Number]:
    """Yield the numbers of marked texts, without those marked as other types: dates, addresses."""
    for text, spans in marked_texts(path):
        yield from _seen(text, screener, partial(_as_marked, spans))


def _as_marked(spans: Sequence[LabelledSpan], start: int, end: int, as_age: bool) -> Judged | None:
    kinds = {span.type for span in spans if span.start < end and span.end > start}
    if as_age:
        return EntityType.AGE_OVER_89 in kinds, None
    if kinds & _PHONES:
        return None, EntityType.PHONE
    typed = min(kinds & _ALL.keys(), default="")
    return (bool(typed), _ALL.get(typed)) if typed or not kinds else None


def _own(screener: Screener) -> Iterator[Number]:
    """Yield the numbers of the own texts, with labels by their marks or by ``numbers.txt``."""
    judged = _read_judged(JUDGED)
    for source, name, marked in own_texts():
        text, marks = unmarked(marked)
        if marks_numbers(source):
            yield from _seen(text, screener, partial(_as_marked, marks))
        else:
            judge = partial(_as_judged, judged.get((source, name), {}), text)
            yield from _seen(text, screener, judge, without_days=True)


def _as_judged(kinds: Mapping[str, str], text: str, start: int, end: int, as_age: bool) -> Judged | None:
    kind = kinds.get(text[start:end], "")
    if as_age:
        return kind == "Y", None
    if kind == "T":
        return None, EntityType.PHONE
    return (bool(kind), _ALL.get(kind)) if kind in {"", "I", *_ALL} else None


def _read_judged(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return the labels of the values of each text, by file and ID."""
    judged: dict[tuple[str, str], dict[str, str]] = {}
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: expected a text in UTF-8: {type(error).__name__}"
        raise InputError(message) from None
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != 4 or columns[2] not in _KINDS:  # noqa: PLR2004 (file, text, kind, value)
                message = (
                    f"{path}: line {number}: expected file, text, kind (a type, I, D, T, A or Y) and value"
                )
                raise InputError(message)
            file, name, kind, value = columns
            judged.setdefault((file, name), {})[value] = kind
    return judged


def _seen(text: str, screener: Screener, judge: Judge, *, without_days: bool = False) -> Iterator[Number]:
    """Yield the numbers of a text that ``judge`` labels, and candidates for ages."""
    document = Document(text, (Segment("", 0, len(text)),), "text/plain")
    if machine_parts(document):
        return
    findings = screen(document, screener).findings
    for find, as_age in ((candidates, False), (ages, True)):
        around = NumberContext(text, findings)
        for start, end in find(text):
            over = {one.entity_type for one in findings if one.span.start < end and one.span.end > start}
            judged = judge(start, end, as_age)
            is_day = without_days and not as_age and not {one.value for one in over} <= _ALL.keys()
            if judged is not None and (judged[0] is None or not is_day):
                features = tuple(around.features(start, end))
                yield Number(features, *judged, bool(over), _number_of(text), as_age)


def _of_numbers(settings: NumberSettings, numbers: Sequence[Number]) -> NumberModel:
    return NumberModel.of(fit(settings, numbers) | {"ages": _NO_AGES})


def _of_ages(settings: NumberSettings, numbers: Sequence[Number]) -> AgeModel:
    return AgeModel.of(fit_ages(settings, numbers))


def _measured(
    fitted: Callable[[Sequence[Number]], NumberModel | AgeModel],
    sources: Mapping[str, list[Number]],
    own: Sequence[Number],
    *,
    as_age: bool,
) -> dict[str, dict[str, Any]]:
    """Return the held-out figures of each file, and of the own texts by cross-validation."""
    figures = {}
    for name, numbers in sources.items():
        model = fitted([*own, *(one for other, some in sources.items() if other != name for one in some)])
        figures[name] = _figures(
            [_judged_by(model, one) for one in numbers if _is_asked(one, as_age=as_age)], as_age=as_age
        )
    judged = []
    for part in range(N_PARTS):
        others = [one for one in own if one.text % N_PARTS != part]
        model = fitted([*(one for some in sources.values() for one in some), *others])
        judged += [
            _judged_by(model, one)
            for one in own
            if one.text % N_PARTS == part and _is_asked(one, as_age=as_age)
        ]
    figures[OWN] = _figures(judged, as_age=as_age)
    return figures


def _judged_by(model: NumberModel | AgeModel, one: Number) -> tuple[Number, float, EntityType]:
    """Return a number, its probability of being personal, and its most likely type."""
    kind = model.kind(one.features)[0] if isinstance(model, NumberModel) else EntityType.AGE_OVER_89
    return one, model.chance(one.features), kind


def _is_asked(one: Number, *, as_age: bool) -> bool:
    return one.as_age is as_age and one.is_somebodys is not None


def _figures(judged: Sequence[tuple[Number, float, EntityType]], *, as_age: bool) -> dict[str, Any]:
    """Return recall and precision in percent over all numbers, and over those that nothing else finds.

    ``types_right``: of those that nothing else finds and that are shown, the share whose type is right.
    """
    numbers = [one for one, _, _ in judged]
    chances = np.array([chance for _, chance, _ in judged])
    truth = np.array([bool(one.is_somebodys) for one in numbers], dtype=bool)
    free = np.array([not one.is_found for one in numbers], dtype=bool)
    shown = LEAST_AGE if as_age else LEAST
    row: dict[str, Any] = {"n_numbers": len(numbers), "n_somebodys": int(truth.sum())}
    for name, least in (("shown", shown), ("counted", COUNTS)):
        taken = chances >= least
        row[f"{name}_recall"] = _percent(int((taken & truth).sum()), int(truth.sum()))
        row[f"{name}_precision"] = _percent(int((taken & truth).sum()), int(taken.sum()))
        row[f"{name}_new"] = int((taken & truth & free).sum())
        row[f"{name}_new_false"] = int((taken & ~truth & free).sum())
    typed = [
        one.kind is kind
        for one, chance, kind in judged
        if one.kind is not None and not one.is_found and chance >= shown
    ]
    row["types_right"] = _percent(sum(typed), len(typed))
    return row


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _number_of(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)
