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
# A word of a transcript, and what stands beside it: its time, how sure the program is, and who spoke.
_FIELDS = """word text token content transcript punctuated mot texte
start end begin stop offset time times timestamp ts duration debut fin duree
type kind speaker channel locuteur
confidence conf score probability prob logprob label tag index in ms s sec seconds ticks"""
_SPOKEN, _TIMES, _SORTS, _OTHERS = (frozenset(line.split()) for line in _FIELDS.split("\n"))
_MEASURES = _TIMES | _SORTS | _OTHERS
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?(?:e-?\d+|s)?|\d+(?::\d\d){1,2}(?:[.,]\d+)?", re.IGNORECASE)
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
_MARKS = frozenset({"text", "type", "href", "url"})  # of a marked part of a text; others hold no text
_MIN_WORDS = 5  # objects in a list that is taken for the words of a transcript
_MARKUP = re.compile(r"\s{0,9}<(?:div|p|table|html|style|!doctype)\b[^<]{0,999}>", re.IGNORECASE)
_NAME_PARTS = ("family", "given", "prefix", "suffix", "text")
# {"title": "Employee", "value": "Ann Roy"} is a field that its title names.
_NAMED_VALUES = [{name, "value"} for name in ("title", "label", "name", "key", "question")]
# {"birthDate": ...} names a field; {"ann.roy@example.org": {...}} and {"Ann Marie Roy": {...}} hold a value.
_FIELD_NAME = re.compile(r"[@$#_:]*[^\W\d_]+(?:[_:.\-/$#]+[^\W\d_]+)*_?[0-9]{0,3}|[0-9]{1,4}")


def read_json(content: Content, sink: Sink) -> None:
    """Add the fields, then the documents within them; what does not parse is added as it is."""
    text, _ = decode(content.data)
    try:
        value = _load(text)
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
            value = _lift({"": _load(line)}, enclosures)[""]
            record = "\n".join(labelled_lines(value, people))
        except (ValueError, RecursionError):
            record = line.replace("\0", " ")
        sink.add(record, content.place(f"line{number}"))
        enclosures.read(f"line{number}")


def _load(text: str) -> Any:
    """Return the value of a JSON text; a number with a point stays as it is written."""
    return json.loads(text, object_pairs_hook=_record, parse_float=str)


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
        return _load(text)
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
            stack.extend(reversed(list(_fields(label, item, depth + 1, people))))
        elif isinstance(item, list) and _is_lines(item):  # of a text or a page, as notebooks have them
            yield pair(label, _value("".join(item)))
        elif isinstance(item, list) and (
            lines := [*_transcript(label, item)] or [*_marked_text(label, item)]
        ):
            yield from lines
        elif isinstance(item, list):
            stack.extend((label, child, depth + 1) for child in reversed(item))
        elif item is not None and item != "":
            yield pair(label, _value(item))


def _fields(
    label: str, item: dict[str, Any], depth: int, people: dict[str, str]
) -> Iterator[tuple[str, Any, int]]:
    name = _person_name(item)
    kind = _kind(item)
    if item.keys() in _NAMED_VALUES:
        title = next(value for key, value in item.items() if key != "value")
        if isinstance(title, str) and 0 < len(title) <= _MAX_TITLE_CHARS:
            yield title, item["value"], depth
            return
    if name:
        yield f"{label} name" if label and label != "name" else "name", name, depth
    for key, value in item.items():
        parts = value if isinstance(value, list) else [value]
        if name and key in _NAME_PARTS and all(isinstance(part, str) and part in name for part in parts):
            continue
        is_kind_shown = label and not isinstance(item.get("value", []), dict | list)
        if key == "system" and kind and kind == value and is_kind_shown:
            continue  # it is in the label
        if not _FIELD_NAME.fullmatch(key) and not is_label(key):
            yield "", key, depth  # an identifier that its record is filed under is data, not a field's name
        # The parent's name is kept with short keys: "name family", "address city".
        own = key if key in people else humanise(key)
        is_short = label and label.count(" ") < 2 and not isinstance(value, dict | list)  # noqa: PLR2004
        full = f"{label} {own}" if is_short else own
        if key == "value" and is_kind_shown:
            yield f"{label} {kind}".rstrip(), value, depth
        elif people and _WROTE.fullmatch(full):
            yield full, _named(value, item, people), depth
        else:
            yield full, value, depth


def _named(value: Any, record: dict[str, Any], people: dict[str, str]) -> Any:
    """Return the name of the person that a number is of; the number, in the record that has them both."""
    if isinstance(value, list):
        return [_named(one, record, people) for one in value]
    name = None if isinstance(value, dict) else people.get(str(value))
    return value if name is None or name in record.values() else name


def _is_lines(item: list[Any]) -> bool:
    return (
        len(item) > 1
        and all(isinstance(line, str) for line in item)
        and all(line.endswith("\n") for line in item[:-1])
    )


def _transcript(label: str, item: list[Any]) -> Iterator[str]:
    """Yield a transcript, a line a turn, then its measures: objects of one word, times and other measures.

    The word may be in its only alternative. Nothing comes of objects that hold anything else.
    """
    if len(item) < _MIN_WORDS or not _is_list_of(item, dict):
        return
    ones = [_flat(one) for one in item]
    names = {key: frozenset(humanise(key).lower().split()) for one in ones for key in one}
    words = [key for key, name in names.items() if name and name <= _SPOKEN]
    if not words or sum(any(names[key] & _TIMES for key in one) for one in ones) <= len(ones) // 2:
        return
    if not all(_is_measure(names[key], value) for one in ones for key, value in one.items()):
        return
    speaker = next((key for key, name in names.items() if name & {"speaker", "locuteur"}), "")
    for key in words:
        turns = groupby(ones, key=lambda one: one.get(speaker))
        for who, turn in turns:
            spoken = " ".join(str(one[key]).strip() for one in turn if key in one)
            yield pair(label, pair("" if who is None else str(who), spoken))
    yield from _rest(label, ones, {*words, speaker})


def _flat(one: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the fields of its only alternative in place of the list; else as it is."""
    for key, value in one.items():
        if _is_list_of(value, dict) and len(value) == 1 and value[0].keys().isdisjoint(one):
            alternative: dict[str, Any] = value[0]
            return {name: field for name, field in one.items() if name != key} | alternative
    return one


def _is_measure(name: frozenset[str], value: Any) -> bool:
    """Tell a word of a transcript, or a number, a time, a kind or a speaker, by the words of its name."""
    if name <= _SPOKEN:
        return isinstance(value, str) and not re.search(r"\s", value.strip())
    is_number = isinstance(value, int | float | None) or bool(name & _SORTS or _NUMBER.fullmatch(str(value)))
    return name <= _MEASURES and is_number and not isinstance(value, dict | list)


def _rest(label: str, records: list[Any], joined: set[str]) -> Iterator[str]:
    """Yield, a line a key, each value once that objects hold under other keys than those already joined."""
    values: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.items() if isinstance(record, dict) else ():
            if key not in joined and value is not None and value != "":
                values.setdefault(key, {})[_value(value)] = None
    for key, found in values.items():
        yield pair(f"{label} {humanise(key)}", ", ".join(found))


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


def _marked_text(label: str, item: list[Any]) -> Iterator[str]:
    """Yield a text whose marked parts are objects: ["I have ", {"type": "bold", "text": "lupus"}]."""
    marked = [one for one in item if isinstance(one, dict)]
    parts = [one.get("text") if isinstance(one, dict) else one for one in item]
    is_markup = all(
        value == "" or isinstance(value, bool | int | None) or (key in _MARKS and isinstance(value, str))
        for one in marked
        for key, value in one.items()
    )
    if 0 < len(marked) < len(item) and is_markup and _is_list_of(parts, str):
        yield pair(label, "".join(map(str, parts)))
        yield from _rest(label, marked, {"text"})


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
                numbers = {key: value for key, value in texts.items() if not is_label(key)}
                found |= {number: name} if number and name else numbers
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
