"""Results of workers as JSON: written by the annotated return type, read back with every field checked.

A worker may have been taken over by a file that it read. Its reply must hold one result of the annotated
type, or a fault, for each item; anything else fails its items. A detail consists of words of a fixed list
and numbers, or is dropped: it could quote a document. Never pickled: reading a pickle can run code
of its writer with the rights of the scanning process. Before it is parsed, the number of its values is
bounded: an empty list takes three bytes of an answer, and 64 of the reader's memory.
"""

from __future__ import annotations

import builtins
import errno
import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TypeVar, get_type_hints

import phiscan
from phiscan import errors
from phiscan.model import FailReason
from phiscan.model.plain_values import dumps, from_plain, to_plain
from phiscan.sandbox.isolation import LOST

R = TypeVar("R")
MOST_BYTES = 63 * 1024**2  # of one result; the longest text has 16 million characters
MOST_VALUES = 4_000_000  # of one answer: lists, numbers, texts
_MOST_DETAIL = 300  # characters
_MODULES = (builtins, errors)
_KINDS = frozenset(name for one in _MODULES for name in vars(one) if name.endswith(("Error", "Exception")))
_TEXT = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL
)  # one without an end reaches to the last byte


_PIECE = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """An item that its worker did not survive, or could not read."""

    reason: FailReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Unusable:
    """The worker's initializer failed with an error of this kind; nothing can be run."""

    kind: str


def pack(
    function: Callable[..., R], seconds: float, results: Sequence[R | Fault], missing: Sequence[str]
) -> bytes:
    """Return the answer to one batch; a result that is not of the annotated type becomes a fault."""
    hint = _return_type(function)
    parts = [_packed(hint, result) for result in results]
    head, tail = json.dumps(seconds).encode(), json.dumps(list(missing)).encode()
    return b"[%b,[%b],%b]" % (head, b",".join(parts), tail)


def pack_unusable(problem: Unusable) -> bytes:
    """Return the answer of a worker that cannot work."""
    return dumps(problem.kind).encode()


def unpack(
    function: Callable[..., R], data: bytes, n_items: int
) -> tuple[float, list[R | Fault], tuple[str, ...]] | Unusable:
    """Return the seconds, the results and the missing layers of what ``pack`` made.

    Raises:
        ValueError: it is no answer to ``n_items`` items of this function.
    """
    try:
        if not is_bounded(data):
            raise ValueError  # noqa: TRY301 (said below)
        plain = json.loads(data, object_pairs_hook=_refuse)
        if isinstance(plain, str):
            return Unusable(plain if plain in _KINDS else "Exception")
        seconds, rows, lines = plain
        hint = _return_type(function)
        found = [from_plain(hint if is_result else Fault, one) for is_result, one in rows]
        results = [
            Fault(one.reason, technical(one.detail)) if isinstance(one, Fault) else one for one in found
        ]
        missing = from_plain(tuple[str, ...], lines)
        seconds = from_plain(float, seconds)
    except (TypeError, ValueError, OverflowError, RecursionError):
        message = "not an answer of a worker"
        raise ValueError(message) from None
    if len(results) != n_items:
        message = "not an answer to these items"
        raise ValueError(message)
    return max(seconds, 0.0), results, _layers(missing)


def _packed(hint: Any, result: Any) -> bytes:
    if isinstance(result, Fault):
        return _encoded([0, to_plain(Fault, result)])
    try:
        packed = _encoded([1, to_plain(hint, result)])
    except Exception as error:  # noqa: BLE001 (the fault boundary of one item; its message could quote a document)
        return _packed(hint, Fault(FailReason.CRASHED, errors.kind_of(error)))
    if len(packed) <= MOST_BYTES and is_bounded(packed):
        return packed
    return _packed(hint, Fault(FailReason.TOO_LARGE, f"a result of {len(packed)} bytes"))


def _encoded(plain: Any) -> bytes:
    return dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")


def is_bounded(data: bytes) -> bool:
    """Tell whether JSON text has no more than ``MOST_VALUES`` values, in linear time.

    >>> is_bounded(b"[[],[]]"), is_bounded(b"[" + b"[]," * MOST_VALUES + b"[]]")
    (True, False)
    """
    if _most_values(data) <= MOST_VALUES:
        return True  # commas and brackets within texts counted as well
    return _most_values(_TEXT.sub(b"", data)) <= MOST_VALUES


def _most_values(data: bytes) -> int:
    return 1 + data.count(b",") + data.count(b"[")


def _refuse(_pairs: object) -> NoReturn:
    """Refuse a JSON object: no answer has one."""
    raise ValueError


def technical(detail: str) -> str:
    """Return a detail of words of the fixed list, kinds of errors and numbers; "" for any other.

    >>> technical("more than 500 members"), technical("ValueError at scan.py:12"), technical("Okafor, Ngozi")
    ('more than 500 members', 'ValueError at scan.py:12', '')
    """
    pieces = _PIECE.findall(detail) if len(detail) <= _MOST_DETAIL and detail.isascii() else [""]
    is_known = all(piece.isdecimal() or piece.lower() in _words() for piece in pieces)
    return detail if is_known and detail.isprintable() else ""


@cache
def _words() -> frozenset[str]:
    """Return the words of details: the list, kinds of errors, names of signals and of phiscan's modules."""
    package = Path(phiscan.__file__).parent
    listed = (package / "sandbox" / "detail_words.txt").read_text(encoding="ascii").partition("\n")[2]
    texts = [
        *(listed, *_KINDS, *errno.errorcode.values(), *(one.name for one in signal.Signals)),
        *(os.strerror(code) for code in errno.errorcode),
        *(path.stem for path in package.rglob("*.py")),
    ]
    return frozenset(piece.lower() for text in texts for piece in _PIECE.findall(text))


def _layers(lines: Sequence[str]) -> tuple[str, ...]:
    """Keep the lines that name a layer of isolation, with the reason where it is a technical one."""
    found = {}
    for line in lines:
        name, _, said = line.partition(": ")
        if name in LOST:
            found[name] = f"{name}: {technical(said.partition(';')[0]) or 'not on'}; {LOST[name]}"
    return tuple(found.values())


def _return_type(function: Callable[..., Any]) -> Any:
    while isinstance(function, partial):
        function = function.func
    return _annotated(function)


@cache
def _annotated(function: Any) -> Any:
    # Only this annotation: those of the arguments may name what is imported for the type checker alone.
    holder = SimpleNamespace(__annotations__={"return": function.__annotations__.get("return", object)})
    return get_type_hints(holder, globalns=function.__globals__)["return"]
