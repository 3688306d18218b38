"""The ledger of private releases: the budget spent on each data set; a release beyond it is refused.

One small JSON file per data set in the folder ``privacy`` of the phiscan home: budget, and per release its
time, metric, noise, epsilon and delta. No figure, no score, no label.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phiscan.errors import InputError
from phiscan.metrics.ranking.differential_privacy import Spent, compose

DEFAULT_EPSILON = 10.0
DEFAULT_DELTA = 0.05
_ROUNDING = 1 + 1e-12  # tolerance, so that ten releases of 0.1 fit into a budget of 1


@dataclass(frozen=True, slots=True)
class Budget:
    """The total budget of all releases from one data set."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Charge:
    """One release, before the figure is drawn."""

    metric: str
    noise: str
    epsilon: float
    delta: float


def data_set_id(home: Path, examples: Iterable[tuple[float, bool]]) -> str:
    """Identify a data set by its examples, in any order, by a hash with a key of the ledger.

    Raises:
        InputError: the home cannot be written.
    """
    content = "\n".join(sorted(f"{score!r},{label:d}" for score, label in examples))
    return hmac.new(_key(home), content.encode(), hashlib.sha256).hexdigest()[:32]


def roots_id(home: Path, roots: Iterable[bytes]) -> str:
    """Identify the data set of a report by the scanned folders, independent of the verdicts.

    A hash of the verdicts would start a new budget with each new verdict.

    Raises:
        InputError: the home cannot be written.
    """
    content = b"report\0" + b"\0".join(sorted(roots))
    return hmac.new(_key(home), content, hashlib.sha256).hexdigest()[:32]


def _key(home: Path) -> bytes:
    path = _folder(home) / "key"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = path.read_bytes()
    else:
        key = secrets.token_bytes(32)
        with os.fdopen(handle, "wb") as stream:
            stream.write(key)
    return key


def _folder(home: Path) -> Path:
    folder = home / "privacy"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        message = f"{folder}: cannot be made: {error.strerror}; PHISCAN_HOME must be a folder to write in"
        raise InputError(message) from None
    return folder


def charge(home: Path, data_set: str, release: Charge, budget: Budget | None) -> Spent:
    """Record a release and return the spent budget; call it before the noise is drawn.

    ``budget`` None keeps the ledger's (initially the default); another one replaces it. A release beyond the
    budget is not recorded.

    Raises:
        InputError: the budget does not allow the release, or the ledger is damaged.
    """
    path = _folder(home) / f"{data_set}.json"
    try:
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise InputError(message) from None
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # concurrent releases must not both read the old sum
        ledger = _parse(path, stream.read())
        if budget is not None:
            ledger["budget"] = {"epsilon": budget.epsilon, "delta": budget.delta}
        limit = ledger["budget"]
        past = [(item["epsilon"], item["delta"]) for item in ledger["releases"]]
        spent = compose([*past, (release.epsilon, release.delta)])
        if spent.epsilon > limit["epsilon"] * _ROUNDING or spent.delta > limit["delta"] * _ROUNDING:
            before = compose(past)
            message = (
                f"{path}: the privacy budget of this data set does not allow the release: spent epsilon "
                f"{before.epsilon:g} of {limit['epsilon']:g} and delta {before.delta:g} of {limit['delta']:g}"
            )
            raise InputError(message)
        ledger["releases"].append(
            {
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                "metric": release.metric,
                "noise": release.noise,
                "epsilon": release.epsilon,
                "delta": release.delta,
            }
        )
        stream.seek(0)
        stream.write(json.dumps(ledger, indent=1) + "\n")
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())
    return spent


def _parse(path: Path, content: str) -> dict[str, Any]:
    if not content:
        return {"budget": {"epsilon": DEFAULT_EPSILON, "delta": DEFAULT_DELTA}, "releases": []}
    try:
        ledger = json.loads(content)
        numbers = [ledger["budget"], *ledger["releases"]]
        usable = all(float(item["epsilon"]) >= 0 and float(item["delta"]) >= 0 for item in numbers)
    except (ValueError, TypeError, KeyError):
        usable = False
    if not usable:
        message = f"{path}: expected a ledger of private releases; refusing to release without one"
        raise InputError(message)
    return dict(ledger)
