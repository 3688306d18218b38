"""Parse annotated documents: JSON lines and brat stand-off files.

No error ever shows document text: it names the file, the line and the field. Nothing here opens a file: who
scores and who trains read theirs, and give what is in them.
"""

from __future__ import annotations

import json
from typing import Any

from phiscan.errors import InputError
from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan

_BRAT_COLUMNS = 3
MAX_DIGITS = 18  # of an offset; Python refuses to convert thousands of digits


def checked_span(where: str, start: Any, end: Any, kind: Any, n_chars: int | None) -> LabelledSpan:
    """Return a span, once its offsets and type are what they should be.

    ``n_chars`` is the length of the text, None where it is not known.

    Raises:
        InputError: names ``where`` and what was expected.
    """
    for value in (start, end):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(where, "expected whole numbers as offsets")
    if not isinstance(kind, str) or not kind or not kind.isprintable():
        raise InputError(where, "expected a type, on one line")
    if not 0 <= start < end:
        raise InputError(where, f"expected 0 <= start < end, got [{start}, {end})")
    if n_chars is not None and end > n_chars:
        raise InputError(where, f"[{start}, {end}) ends beyond the text of {n_chars} characters")
    return LabelledSpan(start, end, kind)


def parse_jsonl(source: str, content: str) -> list[AnnotatedText]:
    """Read JSON lines ``{"id","text","spans":[[start,end,type]]}``; offsets are half-open, in code points.

    A span may also be an object with start, end and type, as ``phiscan screen --json`` writes it. ``text``
    may be absent (a system's output).

    Raises:
        InputError: names the file, the line and the field.
    """
    documents = []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{source}: line {number}"
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(where, "expected a JSON object") from None
        documents.append(_from_json(where, item))
    return documents


def _from_json(where: str, item: Any) -> AnnotatedText:
    if not isinstance(item, dict):
        raise InputError(where, "expected a JSON object")
    name, text, spans = item.get("id"), item.get("text"), item.get("spans")
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name:
        message = f"{where}, field id: expected a text"
        raise InputError(message)
    if text is not None and not isinstance(text, str):
        message = f"{where}, field text: expected a text"
        raise InputError(message)
    if not isinstance(spans, list):
        message = f"{where}, field spans: expected a list of [start, end, type]"
        raise InputError(message)
    found = []
    for index, span in enumerate(spans):
        place = f"{where}, field spans[{index}]"
        if isinstance(span, dict):
            span = [span.get("start"), span.get("end"), span.get("type")]  # noqa: PLW2901 (one shape below)
        if not isinstance(span, list) or len(span) != len(LabelledSpan._fields):
            raise InputError(place, "expected [start, end, type]")
        found.append(checked_span(place, span[0], span[1], span[2], None if text is None else len(text)))
    return AnnotatedText(name, text, tuple(found))


def parse_brat(source: str, name: str, annotations: str, text: str | None) -> AnnotatedText:
    r"""Read the text-bound annotations (T lines) of a brat .ann file; other lines are passed over.

    Offsets are half-open, in code points. Raises InputError, naming the file and the line, for what is not a
    span, and for discontinuous spans, which no score here is defined for.

    >>> parse_brat("a.ann", "a", "T1\tPATIENT 0 2\tJo\n", "Jo").spans
    (LabelledSpan(start=0, end=2, type='PATIENT'),)
    """
    spans = []
    for number, line in enumerate(annotations.split("\n"), start=1):
        if not line.startswith("T"):
            continue
        where = f"{source}: line {number}"
        columns = line.split("\t")
        if len(columns) > 1 and ";" in columns[1]:
            raise InputError(where, "expected a continuous span, found a discontinuous one")
        fields = columns[1].split(" ") if len(columns) > 1 else []
        if len(fields) != _BRAT_COLUMNS or not all(
            value.isdecimal() and len(value) <= MAX_DIGITS for value in fields[1:]
        ):
            raise InputError(where, "expected 'T<number>, tab, type start end, tab, text'")
        n_chars = None if text is None else len(text)
        spans.append(checked_span(where, int(fields[1]), int(fields[2]), fields[0], n_chars))
    return AnnotatedText(name, text, tuple(spans))
