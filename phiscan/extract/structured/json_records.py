"""JSON and NDJSON: one line per field, after its name; FHIR identifiers and names as a form shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import Enclosures
from phiscan.extract.core.labels import humanise, is_label, pair
from phiscan.extract.structured.html import html_text

_MAX_DEPTH = 200
_MARKUP = re.compile(r"\s{0,9}<(?:div|p|table|html|style|!doctype)\b[^<]{0,999}>", re.IGNORECASE)
# {"birthDate": ...} names a field; {"ann.roy@example.org": {...}} and {"Ann Marie Roy": {...}} hold a value.
_FIELD_NAME = re.compile(r"[@$#_:]*[^\W\d_]+(?:[_:.\-/$#]+[^\W\d_]+)*_?[0-9]{0,3}|[0-9]{1,4}")


class JsonExtractor:
    """Read one JSON value."""

    media_types = frozenset({"application/json"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the fields, then the documents within them; what does not parse is added as it is."""
        text, _ = decode(content.data)
        try:
            value = json.loads(text, object_pairs_hook=_record)
        except (ValueError, RecursionError):
            sink.add(text, content.locator)
            return
        enclosures = Enclosures(content, sink)
        value = _lift({"": value}, enclosures)[""]
        sink.add("\n".join(labelled_lines(value)), content.locator)
        enclosures.read()


class JsonLinesExtractor:
    """Read one JSON value per line."""

    media_types = frozenset({"application/x-ndjson"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per line, ``#line4``."""
        text, _ = decode(sink.bound(content.data, content.locator))
        enclosures = Enclosures(content, sink)
        for number, line in enumerate(text.split("\n"), 1):
            try:
                value = _lift({"": json.loads(line, object_pairs_hook=_record)}, enclosures)[""]
                record = "\n".join(labelled_lines(value))
            except (ValueError, RecursionError):
                record = line.replace("\0", " ")
            sink.add(record, content.place(f"line{number}"))
            enclosures.read(f"line{number}")


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as a mapping; a name that occurs twice keeps all of its values, in a list."""
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    gathered: dict[str, list[Any]] = {}
    for key, value in pairs:
        gathered.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in gathered.items()}


def _lift(root: dict[str, Any], enclosures: Enclosures) -> dict[str, Any]:
    """Take the documents out of a record, in place: FHIR attachments, binaries, and what is plainly one."""
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        is_attachment = isinstance(item, dict) and (
            isinstance(item.get("contentType"), str) or item.get("resourceType") == "Binary"
        )
        for key, value in item.items() if isinstance(item, dict) else enumerate(item):
            if isinstance(value, dict | list):
                stack.append(value)
            elif isinstance(value, str) and enclosures.take(
                value, declared=is_attachment and key in ("data", "content")
            ):
                item[key] = None
    return root


def labelled_lines(value: Any) -> Iterator[str]:
    """Yield ``label: value`` for every field, in the order of the record.

    >>> list(labelled_lines({"birthDate": "1950-01-02", "telecom": [{"system": "phone", "value": "555"}]}))
    ['birth Date: 1950-01-02', 'telecom phone: 555']
    """
    stack: list[tuple[str, Any, int]] = [("", value, 0)]
    while stack:
        label, item, depth = stack.pop()
        if depth > _MAX_DEPTH:
            yield pair(label, json.dumps(item, ensure_ascii=False))
        elif isinstance(item, dict):
            stack.extend(reversed(list(_fields(label, item, depth + 1))))
        elif isinstance(item, list) and _is_lines(item):  # of a text or a page, as notebooks have them
            yield pair(label, _value("".join(item)))
        elif isinstance(item, list):
            stack.extend((label, child, depth + 1) for child in reversed(item))
        elif item is not None and item != "":
            yield pair(label, _value(item))


def _fields(label: str, item: dict[str, Any], depth: int) -> Iterator[tuple[str, Any, int]]:
    name = _person_name(item)
    kind = _kind(item)
    if name:
        yield f"{label} name" if label and label != "name" else "name", name, depth
    for key, value in item.items():
        if name and key in ("family", "given", "prefix", "suffix", "text"):
            continue
        if key == "system" and kind and kind == value:
            continue  # it is in the label
        if not _FIELD_NAME.fullmatch(key) and not is_label(key):
            yield "", key, depth  # an identifier that its record is filed under is data, not a field's name
        if key == "value" and label and not isinstance(value, dict | list):
            yield f"{label} {kind}".rstrip(), value, depth
        elif isinstance(value, dict | list):
            yield humanise(key), value, depth
        else:
            # The parent's name is kept with short keys: "name family", "address city".
            own = humanise(key)
            yield f"{label} {own}" if label and label.count(" ") < 2 else own, value, depth  # noqa: PLR2004


def _is_lines(item: list[Any]) -> bool:
    return (
        len(item) > 1
        and all(isinstance(line, str) for line in item)
        and all(line.endswith("\n") for line in item[:-1])
    )


def _person_name(item: dict[str, Any]) -> str:
    """Join a FHIR HumanName: given names, then the family name."""
    family, given = item.get("family"), item.get("given")
    if not isinstance(family, str) or not isinstance(given, list):
        return ""
    parts = [*_texts(item.get("prefix")), *_texts(given), family, *_texts(item.get("suffix"))]
    return " ".join(parts)


def _texts(value: Any) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _kind(item: dict[str, Any]) -> str:
    """Say what a FHIR identifier or contact point is: the code of its type, or its short system."""
    kind = item.get("type")
    if isinstance(kind, dict):
        if isinstance(kind.get("text"), str):
            return str(kind["text"])
        for coding in kind.get("coding") or ():
            if isinstance(coding, dict):
                return str(coding.get("display") or coding.get("code") or "")
    system = item.get("system")
    return system if isinstance(system, str) and "/" not in system else ""


def _value(item: Any) -> str:
    if isinstance(item, str):
        # FHIR narratives are XHTML, results in notebooks are tables.
        if _MARKUP.match(item):
            return html_text(item)
        return item.replace("\0", " ")
    return json.dumps(item)
