"""Convert dataclasses of the model to JSON values and back, by the type annotations of their fields.

For input that may be forged: only values of the annotated types are returned, no code is executed, and
numbers and texts are valid (finite, 64 bits, UTF-8).
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, Union, get_args, get_origin, get_type_hints

Convert = Callable[[Any], Any]
_MAX_INT = 2**63 - 1


def dumps(plain: Any, *, ensure_ascii: bool = True) -> str:
    """Return a JSON value as text; scalars of numpy are written as numbers."""
    return json.dumps(plain, separators=(",", ":"), default=_scalar, ensure_ascii=ensure_ascii)


def to_plain(hint: Any, value: Any) -> Any:
    """Return a value of an annotated type as JSON values.

    >>> to_plain(tuple[bytes, float | None], (b"a", None))
    ['61', None]
    """
    convert = _encoder(hint)
    return value if convert is None else convert(value)


def from_plain(hint: Any, plain: Any) -> Any:
    """Return the value of an annotated type from JSON values, the inverse of ``to_plain``.

    >>> from_plain(tuple[bytes, float | None], ["61", None])
    (b'a', None)

    Raises:
        TypeError, ValueError: it is not of this type.
    """
    return _decoder(hint)(plain)


def _scalar(value: Any) -> Any:
    try:
        return value.item()
    except AttributeError:
        raise TypeError(type(value).__name__) from None


@cache
def _encoder(hint: Any) -> Convert | None:
    """Return the function that converts a type to JSON values; None if it needs no conversion."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind in {Union, types.UnionType}:
        return _union_encoder(parts)
    if kind is dict:
        pairs = _encoder(tuple[parts[0], parts[1]])  # type: ignore[valid-type]
        return lambda value: [pairs(pair) if pairs else pair for pair in value.items()]
    if kind in {tuple, list, frozenset}:
        return _sequence_encoder(kind, parts)
    return _record_encoder(hint) if is_dataclass(hint) else _simple_encoder(hint)


def _simple_encoder(hint: Any) -> Convert | None:
    if hint is bytes:
        return bytes.hex
    if isinstance(hint, type) and issubclass(hint, Enum) and not issubclass(hint, str | int):
        return attrgetter("value")
    return None


def _union_encoder(parts: Sequence[Any]) -> Convert | None:
    some = [part for part in parts if part is not types.NoneType]
    if len(some) == 1:
        convert = _encoder(some[0])
        return convert and (lambda value: None if value is None else convert(value))
    tried = [(number, get_origin(part) or part, _encoder(part)) for number, part in enumerate(some)]

    def encode(value: Any) -> Any:
        if value is None:
            return None
        for number, kind, convert in tried:
            if isinstance(value, kind):
                return [number, convert(value) if convert else value]
        raise TypeError(type(value).__name__)

    return encode


def _sequence_encoder(kind: Any, parts: Sequence[Any]) -> Convert | None:
    if kind is tuple and parts[-1] is not Ellipsis:
        converts = [_encoder(part) for part in parts]
        if not any(converts):
            return None
        return lambda value: [
            convert(one) if convert else one for convert, one in zip(converts, value, strict=True)
        ]
    convert = _encoder(parts[0])
    if kind is frozenset:
        return lambda value: sorted(convert(one) if convert else one for one in value)
    return convert and (lambda value: [convert(one) for one in value])


def _record_encoder(kind: Any) -> Convert:
    hints = _hints(kind)
    get = attrgetter(*hints)
    is_single = len(hints) == 1
    special = [
        (place, convert)
        for place, hint in enumerate(hints.values())
        if (convert := _encoder(hint)) is not None
    ]

    def encode(value: Any) -> list[Any]:
        row = [get(value)] if is_single else list(get(value))
        for place, convert in special:
            row[place] = convert(row[place])
        return row

    return encode


@cache
def _decoder(hint: Any) -> Convert:
    """Return the function that converts JSON values to a type, or raises TypeError or ValueError."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind in {Union, types.UnionType}:
        return _union_decoder(parts)
    if kind is dict:
        pair = _decoder(tuple[parts[0], parts[1]])  # type: ignore[valid-type]
        return lambda plain: dict(pair(one) for one in _listed(plain))
    if kind in {tuple, list, frozenset}:
        return _sequence_decoder(kind, parts)
    if is_dataclass(hint):
        return _record_decoder(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    return _SIMPLE[hint]


def _record_decoder(kind: Any) -> Convert:
    decoders = [_decoder(one) for one in _hints(kind).values()]
    return lambda plain: kind(*[decode(one) for decode, one in zip(decoders, _listed(plain), strict=True)])


def _union_decoder(parts: Sequence[Any]) -> Convert:
    some = [_decoder(part) for part in parts if part is not types.NoneType]
    is_optional = len(some) < len(parts)

    def decode(plain: Any) -> Any:
        if plain is None and is_optional:
            return None
        if len(some) == 1:
            return some[0](plain)
        number, value = _listed(plain)
        if type(number) is not int or not 0 <= number < len(some):
            raise ValueError
        return some[number](value)

    return decode


def _sequence_decoder(kind: Any, parts: Sequence[Any]) -> Convert:
    if kind is tuple and parts[-1] is not Ellipsis:
        decoders = [_decoder(part) for part in parts]
        return lambda plain: tuple(
            [decode(one) for decode, one in zip(decoders, _listed(plain), strict=True)]
        )
    decode = _decoder(parts[0])
    return lambda plain: kind([decode(one) for one in _listed(plain)])


def _listed(plain: Any) -> list[Any]:
    if type(plain) is not list:
        raise TypeError
    return plain


def _text(plain: Any) -> str:
    if type(plain) is not str:
        raise TypeError
    if plain.isascii():
        return plain
    # A lone surrogate cannot be stored; it is replaced by a question mark, so that offsets do not change.
    return plain.encode("utf-8", "replace").decode("utf-8")


def _integer(plain: Any) -> int:
    if not isinstance(plain, int):
        raise TypeError
    if not -_MAX_INT <= plain <= _MAX_INT:
        raise ValueError
    return plain


def _number(plain: Any) -> float:
    if not isinstance(plain, int | float):
        raise TypeError
    if not math.isfinite(plain):
        raise ValueError
    return plain


def _truth(plain: Any) -> bool:
    if not isinstance(plain, bool):
        raise TypeError
    return plain


def _nothing(plain: Any) -> None:
    if plain is not None:
        raise TypeError


def _bytes(plain: Any) -> bytes:
    return bytes.fromhex(_text(plain))


_SIMPLE: dict[Any, Convert] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _truth,
    bytes: _bytes,
    types.NoneType: _nothing,
    None: _nothing,
    object: lambda plain: plain,
    Any: lambda plain: plain,
}


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields, in their order."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}
