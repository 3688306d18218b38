"""Train the reader of numbers: which numbers and codes are somebody's, and of what type.

It learns from marked texts (``--marked``) and from our own everyday texts, whose numbers ``numbers.txt``
judges. A number is looked at as the program will see it: with all that the rules and the tagger find
around it. Each file of marked texts, and each fifth of our own, is then judged by weights that have not
learned from it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from phiscan.config import Config
from phiscan.errors import InputError
from phiscan.metrics.span_formats import parse_jsonl
from phiscan.model import Document, EntityType, Segment
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.free_text import machine_parts
from phiscan.screen.learned_numbers import COUNTS, FORMAT, LEAST, NumberModel
from phiscan.screen.number_features import NumberContext, candidates
from phiscan.train.folds import Tell
from phiscan.train.names import sha256_of
from phiscan.train.numbers_card import render
from phiscan.train.written import FOLDER, parsed

JUDGED: Final = FOLDER.parent / "numbers.txt"
WEIGHTS, CARD = "numbers.json", "model-card-numbers.md"
OWN: Final = "our own texts"
N_PARTS: Final = 5  # of our own texts: each is judged by weights that have not learned from it
TYPES: Final = (
    EntityType.ACCOUNT,
    EntityType.DEVICE,
    EntityType.HEALTH_CARD,
    EntityType.HEALTH_PLAN,
    EntityType.LICENSE,
    EntityType.MRN,
    EntityType.OTHER_ID,
    EntityType.VEHICLE,
)
# Numbers that check digits and forms tell apart, and too few to learn: any of them is somebody's.
_OTHER: Final = (
    EntityType.BIOMETRIC,
    EntityType.CREDIT_CARD,
    EntityType.DRIVER_LICENSE,
    EntityType.PASSPORT,
    EntityType.SIN,
    EntityType.SSN,
)
_ALL: Final = {kind.value: EntityType.OTHER_ID if kind in _OTHER else kind for kind in (*TYPES, *_OTHER)}
_KINDS: Final = frozenset("IDTA")
_HEAD: Final = re.compile(r"^===== (\S+)$", re.MULTILINE)
_DECIMALS: Final = 4
_NEVER: Final = -50.0  # the bias of a type that no text had: it is never the likeliest


@dataclass(frozen=True)
class NumberSettings:
    """What decides the weights, beside the texts."""

    c: float = 1.0  # of the regression whether a number is somebody's; the smaller, the fewer features stay
    c_types: float = 1.0
    min_texts: int = 3  # that a feature must stand in, so that no text can be read off the weights


@dataclass(frozen=True)
class Number:
    """A number of a text: its features, whether it is somebody's, of what type, and whether a rule has it."""

    features: tuple[str, ...]
    is_somebodys: bool
    kind: EntityType | None
    is_found: bool
    text: int


def train_numbers(
    settings: NumberSettings, *, marked: Sequence[Path], out: Path, tell: Tell
) -> dict[str, Any]:
    """Train, measure, and write ``numbers.json`` and the model card to ``out``; return what the card says.

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
        tell(f"{path.name}: {len(sources[path.name])} numbers")
    own = list(_own(screener))
    tell(f"{OWN}: {len(own)} numbers")
    figures = {
        name: _judged(settings, numbers, _others(sources, own, name)) for name, numbers in sources.items()
    }
    figures[OWN] = _judged_own(settings, own, [one for numbers in sources.values() for one in numbers])
    for name, row in figures.items():
        tell(f"{name}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
    numbers = [*own, *(one for some in sources.values() for one in some)]
    model = fit(settings, numbers)
    hashes = {path.name: sha256_of([path]) for path in (*marked, JUDGED)}
    hashes |= {f"texts/{path.name}": sha256_of([path]) for path in sorted(FOLDER.glob("*.txt"))}
    card = model | {
        "n_numbers": len(numbers),
        "n_somebodys": sum(one.is_somebodys for one in numbers),
        "figures": figures,
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
    """Return the weights, as ``numbers.json`` has them.

    Raises:
        InputError: all numbers are somebody's, or none is.
    """
    if len({one.is_somebodys for one in numbers}) < 2:  # noqa: PLR2004 (both kinds)
        message = "expected numbers that are somebody's, and some that are nobody's"
        raise InputError(message)
    texts: dict[str, set[int]] = {}
    for one in numbers:
        for name in one.features:
            texts.setdefault(name, set()).add(one.text)
    names = sorted(name for name, seen in texts.items() if len(seen) >= settings.min_texts)
    rows, bias = np.zeros((1 + len(TYPES), len(names))), np.full(1 + len(TYPES), _NEVER)
    rows[0], bias[0] = _regression(settings.c, _table(numbers, names), [one.is_somebodys for one in numbers])
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


def _regression(c: float, table: csr_matrix, truth: Sequence[bool]) -> tuple[npt.NDArray[np.float64], float]:
    """Return the weights and the bias of a regression with a lasso, which leaves most weights at zero."""
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
    """Yield the numbers of marked texts but those that are marked as no number: days, phones, addresses."""
    for document in parse_jsonl(str(path), _content(path)):
        if document.text is None:
            message = f"{path}: {document.name}: expected a text"
            raise InputError(message)
        for start, end, features, is_found in _seen(document.text, screener):
            kinds = {span.type for span in document.spans if span.start < end and span.end > start}
            typed = min(kinds & _ALL.keys(), default="")
            if typed or not kinds:
                yield Number(features, bool(typed), _ALL.get(typed), is_found, _number_of(document.text))


def _own(screener: Screener) -> Iterator[Number]:
    """Yield the numbers of our own texts, as ``numbers.txt`` judges them."""
    judged = _read_judged(JUDGED)
    for path in sorted(FOLDER.glob("*.txt")):
        _, *pieces = _HEAD.split(path.read_text(encoding="utf-8"))
        for name, body in zip(pieces[::2], pieces[1::2], strict=True):
            text = parsed(body.strip("\n") + "\n").text
            for start, end, features, is_found in _seen(text, screener, without_days=True):
                kind = judged.get((path.stem, name, text[start:end]), "")
                if kind in {"", "I"}:
                    yield Number(features, kind == "I", None, is_found, _number_of(text))


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: expected a text in UTF-8: {type(error).__name__}"
        raise InputError(message) from None


def _read_judged(path: Path) -> dict[tuple[str, str, str], str]:
    judged: dict[tuple[str, str, str], str] = {}
    for number, line in enumerate(_content(path).splitlines(), start=1):
        if not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != 4 or columns[2] not in _KINDS:  # noqa: PLR2004 (file, text, kind, value)
                message = f"{path}: line {number}: expected file, text, kind (I, D, T or A) and value"
                raise InputError(message)
            judged[columns[0], columns[1], columns[3]] = columns[2]
    return judged


def _seen(
    text: str, screener: Screener, *, without_days: bool = False
) -> Iterator[tuple[int, int, tuple[str, ...], bool]]:
    """Yield where each number of a text stands, its features, and whether anything has found it."""
    document = Document(text, (Segment("", 0, len(text)),), "text/plain")
    if machine_parts(document):
        return
    findings = screen(document, screener).findings
    around = NumberContext(text, findings)
    for start, end in candidates(text):
        over = {one.entity_type for one in findings if one.span.start < end and one.span.end > start}
        if without_days and over and not {one.value for one in over} <= _ALL.keys():
            continue
        yield start, end, tuple(around.features(start, end)), bool(over)


def _others(sources: dict[str, list[Number]], own: list[Number], left_out: str) -> list[Number]:
    return [*own, *(one for name, numbers in sources.items() if name != left_out for one in numbers)]


def _judged_own(settings: NumberSettings, own: Sequence[Number], marked: Sequence[Number]) -> dict[str, Any]:
    chances = np.zeros(len(own))
    for part in range(N_PARTS):
        mine = np.array([one.text % N_PARTS == part for one in own], dtype=bool)
        others = [*marked, *(one for one, is_mine in zip(own, mine, strict=True) if not is_mine)]
        some = [one for one, is_mine in zip(own, mine, strict=True) if is_mine]
        chances[mine] = _chances(fit(settings, others), some)
    return _figures(own, chances)


def _judged(settings: NumberSettings, numbers: Sequence[Number], others: Sequence[Number]) -> dict[str, Any]:
    return _figures(numbers, _chances(fit(settings, others), numbers))


def _chances(model: dict[str, Any], numbers: Sequence[Number]) -> npt.NDArray[np.float64]:
    reader = NumberModel.of(model)
    return np.array([reader.chance(one.features) for one in numbers])


def _figures(numbers: Sequence[Number], chances: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return recall and precision in percent over all numbers, and over those that nothing else finds."""
    truth = np.array([one.is_somebodys for one in numbers])
    free = np.array([not one.is_found for one in numbers])
    row: dict[str, Any] = {"n_numbers": len(numbers), "n_somebodys": int(truth.sum())}
    for name, least in (("shown", LEAST), ("counted", COUNTS)):
        taken = chances >= least
        row[f"{name}_recall"] = _percent(int((taken & truth).sum()), int(truth.sum()))
        row[f"{name}_precision"] = _percent(int((taken & truth).sum()), int(taken.sum()))
        row[f"{name}_new"] = int((taken & truth & free).sum())
        row[f"{name}_new_false"] = int((taken & ~truth & free).sum())
    return row


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _number_of(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)
