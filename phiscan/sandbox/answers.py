"""Results of workers as JSON: written by the annotated return type, read back with every field checked.

A worker may have been taken over by a file that it read. Its reply must hold one result of the annotated
type, or a fault, for each item; anything else fails its items. Never pickled: reading a pickle can run code
of its writer with the rights of the scanning process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, TypeVar, get_type_hints

from phiscan.model import FailReason
from phiscan.model.plain_values import dumps, from_plain, to_plain
from phiscan.sandbox.isolation import LOST
from phiscan.visible import visible

R = TypeVar("R")
_MOST_LINE = 500  # characters of a line about a layer


@dataclass(frozen=True, slots=True)
class Fault:
    """An item that its worker did not survive, or could not read."""

    reason: FailReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Unusable:
    """The worker's initializer failed; nothing can be run."""

    message: str


def pack(
    function: Callable[..., R], seconds: float, results: Sequence[R | Fault], missing: Sequence[str]
) -> bytes:
    """Return the answer to one batch; a result that is not of the annotated type becomes a fault."""
    hint = _return_type(function)
    parts = [_packed(hint, result) for result in results]
    return f"[{json.dumps(seconds)},[{','.join(parts)}],{json.dumps(list(missing))}]".encode()


def pack_unusable(problem: Unusable) -> bytes:
    """Return the answer of a worker that cannot work."""
    return dumps(problem.message).encode()


def unpack(
    function: Callable[..., R], data: bytes, n_items: int
) -> tuple[float, list[R | Fault], tuple[str, ...]] | Unusable:
    """Return the seconds, the results and the missing layers of what ``pack`` made.

    Raises:
        ValueError: it is no answer to ``n_items`` items of this function.
    """
    try:
        plain = json.loads(data)
        if isinstance(plain, str):
            return Unusable(visible(plain))
        seconds, rows, lines = plain
        hint = _return_type(function)
        results = [from_plain(hint if is_result else Fault, one) for is_result, one in rows]
        missing = from_plain(tuple[str, ...], lines)
        seconds = from_plain(float, seconds)
    except (TypeError, ValueError, OverflowError, RecursionError):
        message = "not an answer of a worker"
        raise ValueError(message) from None
    if len(results) != n_items:
        message = "not an answer to these items"
        raise ValueError(message)
    return max(seconds, 0.0), results, _layers(missing)


def _packed(hint: Any, result: Any) -> str:
    if isinstance(result, Fault):
        return dumps([0, to_plain(Fault, result)])
    try:
        return dumps([1, to_plain(hint, result)])
    except Exception as error:  # noqa: BLE001 (the fault boundary of one item; its message could quote a document)
        return dumps([0, to_plain(Fault, Fault(FailReason.CRASHED, type(error).__name__))])


def _layers(lines: Sequence[str]) -> tuple[str, ...]:
    """Keep the lines that name a layer of isolation, without anything that a terminal would obey."""
    named = [line for line in lines if line.partition(":")[0] in LOST]
    return tuple(visible(line[:_MOST_LINE]) for line in named[: len(LOST)])


def _return_type(function: Callable[..., Any]) -> Any:
    while isinstance(function, partial):
        function = function.func
    return _annotated(function)


@cache
def _annotated(function: Any) -> Any:
    # Only this annotation: those of the arguments may name what is imported for the type checker alone.
    holder = SimpleNamespace(__annotations__={"return": function.__annotations__.get("return", object)})
    return get_type_hints(holder, globalns=function.__globals__)["return"]
