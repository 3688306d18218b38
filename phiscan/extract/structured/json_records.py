"""JSON and NDJSON: one line per field, after its name; FHIR identifiers and names as a form shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby, zip_longest
from typing import Any

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import Enclosures
from phiscan.extract.core.labels import humanise, is_label, pair
from phiscan.extract.structured.html import html_text

_MAX_DEPTH = 200
_OBJECT = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"])")
_MAX_TITLE_CHARS = 60
_NUMBER, _TIME = re.compile(r"[\d.:,-]+$"), re.compile(r"start|time|offset|begin|^ts$", re.IGNORECASE)
_IDS, _NAMES = ("id", "_id", "uid", "user_id", "userId", "number", "label", "speaker_label"), (
    "real_name", "full_name", "fullName", "displayName", "display_name", "name", "nom", "username",
)  # fmt: skip
# What holds the people of an export, and the field of a message with the number of who wrote it.
_PEOPLE = re.compile(
    r"^(?:users?|members?|participants?|speakers?|authors?|people|contacts?|utilisateurs?|membres?)$",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"(?:\w+ )?(?:user|from|sender|author|speaker|member|participant|utilisateur|auteur|expediteur)"
    r"(?: (?:id|label|number))?",
    re.IGNORECASE,
)
_MIN_WORDS = 5  # objects in a list that is taken for the words of a transcript
_MARKUP = re.compile(r"\s{0,9}<(?:div|p|table|html|style|!doctype)\b[^<]{0,999}>", re.IGNORECASE)
# {"title": "Employee", "value": "Ann Roy"} is a field that its title names.
_NAMED_VALUES = [{name, "value"} for name in ("title", "label", "name", "key", "question")]
# {"birthDate": ...} names a field; {"ann.roy@example.org": {...}} and {"Ann Marie Roy": {...}} hold a value.
_FIELD_NAME = re.compile(r"[@$#_:]*[^\W\d_]+(?:[_:.\-/$#]+[^\W\d_]+)*_?[0-9]{0,3}|[0-9]{1,4}")


def read_json(content: Content, sink: Sink) -> None:
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


def read_json_lines(content: Content, sink: Sink) -> None:
    """Add one segment per line, ``#line4``."""
    text, _ = decode(sink.bound(content.data, content.locator))
    enclosures, people = Enclosures(content, sink), dict[str, str]()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            value = _lift({"": json.loads(line, object_pairs_hook=_record)}, enclosures)[""]
            record = "\n".join(labelled_lines(value, people))
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
            nested = _parsed(value) if isinstance(value, str) else value
            if isinstance(nested, dict | list):
                item[key] = nested
                stack.append(nested)
            elif isinstance(value, str) and enclosures.take(
                value, declared=is_attachment and key in ("data", "content")
            ):
                item[key] = None
    return root


def _parsed(text: str) -> Any:
    """Return the object or array that a string is, as cards of chats are sent; the string if it is none."""
    if not _OBJECT.match(text):
        return text
    try:
        return json.loads(text, object_pairs_hook=_record)
    except (ValueError, RecursionError):
        return text


def labelled_lines(value: Any, people: dict[str, str] | None = None) -> Iterator[str]:
    """Yield ``label: value`` for every field, in the order of the record; ``people``: of records before it.

    >>> list(labelled_lines({"birthDate": "1950-01-02", "telecom": [{"system": "phone", "value": "555"}]}))
    ['birth Date: 1950-01-02', 'telecom phone: 555']
    """
    stack: list[tuple[str, Any, int]] = [("", value, 0)]
    people = {} if people is None else people
    people |= _people(value)
    while stack:
        label, item, depth = stack.pop()
        if depth > _MAX_DEPTH:
            yield pair(label, json.dumps(item, ensure_ascii=False))
        elif isinstance(item, dict) and (rows := _rows(item)):
            stack.extend(("", row, depth + 1) for row in reversed(rows))
        elif isinstance(item, dict):
            stack.extend(reversed(list(_fields(label, item, depth + 1))))
        elif isinstance(item, list) and _is_lines(item):  # of a text or a page, as notebooks have them
            yield pair(label, _value("".join(item)))
        elif isinstance(item, list) and (words := _words(item) or _marked_text(item)):
            yield pair(label, words)
        elif isinstance(item, list):
            stack.extend((label, child, depth + 1) for child in reversed(item))
        elif item is not None and item != "":
            yield pair(label, (people and _WROTE.fullmatch(label) and people.get(str(item))) or _value(item))


def _fields(label: str, item: dict[str, Any], depth: int) -> Iterator[tuple[str, Any, int]]:
    name = _person_name(item)
    kind = _kind(item)
    if item.keys() in _NAMED_VALUES:
        title, value = item.values()
        if isinstance(title, str) and 0 < len(title) <= _MAX_TITLE_CHARS:
            yield title, value, depth
            return
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


def _words(item: list[Any]) -> str:
    """Return the text of a word-level transcript: objects with one word each, and times or confidences.

    The word may be in the first of its alternatives, beside its kind and its speaker.
    """
    if len(item) < _MIN_WORDS or not all(isinstance(one, dict) and len(one) > 1 for one in item):
        return ""
    ones = [one | next((v[0] for v in one.values() if _is_list_of(v, dict)), {}) for one in item]
    values = [{k: v for k, v in one.items() if isinstance(v, str) and not _NUMBER.match(v)} for one in ones]
    n_values = {key: len({one.get(key) for one in values}) for one in values for key in one}
    word = max(n_values, key=lambda key: n_values[key], default="")
    others = n_values.keys() - {word}
    is_timed = not others or all(any(map(_TIME.search, one)) for one in item)
    is_nested = any(isinstance(value, dict) for one in item for value in one.values())
    if is_nested or not is_timed or any(" " in one.get(word, "").strip() for one in values):
        return ""
    if any(n_values[key] > len(item) // 2 for key in others):
        return ""
    speaker = next((key for key in others if "speaker" in key.lower()), "")
    turns = groupby(values, key=lambda one: one.get(speaker))
    return "\n".join(" ".join(one.get(word, "").strip() for one in turn) for _, turn in turns)


def _rows(item: dict[str, Any]) -> list[Any]:
    """Return the records of a table: rows below the names of columns, or a list of values for each column."""
    heads = next((item[key] for key in ("columns", "headers", "fields", "header") if key in item), None)
    rows = next((item[key] for key in ("rows", "data", "values", "records") if key in item), None)
    if _is_list_of(heads, str) and _is_list_of(rows, list):
        rest = {key: value for key, value in item.items() if value is not heads and value is not rows}
        return [rest, *(_record([*zip_longest(heads or (), row, fillvalue="")]) for row in rows or ())]
    n_rows = {len(one) if _is_list_of(one, str, int, float) else 0 for one in item.values()}
    if len(item) == 1 or len(n_rows) > 1 or max(n_rows, default=0) <= 1:
        return []
    return [dict(zip(item, row, strict=True)) for row in zip(*item.values(), strict=True)]


def _is_list_of(value: Any, *kinds: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, kinds) for one in value)


def _marked_text(item: list[Any]) -> str:
    """Return a text whose marked parts are objects: ["I have ", {"type": "bold", "text": "lupus"}]."""
    is_mixed = {str, dict} == {type(one) for one in item}
    parts = [one.get("text") if isinstance(one, dict) else one for one in item] if is_mixed else []
    return "".join(map(str, parts)) if _is_list_of(parts, str) else ""


def _people(root: Any) -> dict[str, str]:
    """Return the names of people by their numbers, as an export lists them apart from what they wrote."""
    found: dict[str, str] = {}
    stack: list[tuple[str, Any]] = [("", root)]
    while stack:
        label, item = stack.pop()
        if isinstance(item, list):
            stack.extend((label, one) for one in item if isinstance(one, dict | list))
        elif isinstance(item, dict):
            scalars = {key: value for key, value in item.items() if isinstance(value, str | int)}
            number = next((str(scalars[key]) for key in _IDS if key in scalars), "")
            name = next((str(scalars[key]) for key in _NAMES if key in scalars), "")
            texts = {key: value for key, value in scalars.items() if isinstance(value, str)}
            if _PEOPLE.search(label or texts.get("type", "")):
                found |= {number: name} if number and name else texts
            stack.extend((key, one) for key, one in item.items() if isinstance(one, dict | list))
    return found


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
