"""Reading annotated documents of files and folders, and pairing gold with system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from lxml import etree

from phiscan.config import data_dir
from phiscan.errors import InputError
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.metrics.deidentification.span_formats import MAX_DIGITS, checked_span, parse_brat, parse_jsonl
from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan

_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")


def parse_i2b2(source: str, name: str, content: str) -> list[AnnotatedText]:
    """Read one file of either i2b2 format, distinguished by their elements.

    2006: any number of ``<RECORD ID="..."><TEXT>...<PHI TYPE="...">...</PHI>...</TEXT></RECORD>``; a record
    is named by its ID. 2014: one document with ``<TEXT>`` and ``<TAGS>``, named ``name``; a span's type is
    its TYPE attribute, else its element, and TEXT may be absent (a system's output). Offsets count code
    points of the TEXT element. Entities and document types are refused.

    Raises:
        InputError: names the file and the line.
    """
    # The declaration is replaced by a root on the same line, because several records have no common root.
    body = _DECLARATION.sub(lambda match: "\n" * match.group().count("\n"), content, count=1)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)
    try:
        root = etree.fromstring(f"<documents>{body.lstrip(chr(0xFEFF))}</documents>", parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InputError(source, f"line {line}: expected well-formed XML without a document type") from None
    for tags in root.iter("TAGS"):
        return [_from_standoff(source, name, tags)]
    records = list(root.iter("RECORD"))
    if not records:
        raise InputError(source, "line 1: expected RECORD elements (i2b2 2006) or a TAGS element (i2b2 2014)")
    return [_from_inline(source, record) for record in records]


def _from_inline(source: str, record: etree._Element) -> AnnotatedText:
    where = f"{source}: line {record.sourceline}"
    name, text = record.get("ID"), record.find("TEXT")
    if not name or text is None:
        raise InputError(where, "expected a RECORD with an ID and a TEXT")
    parts: list[str] = []
    spans: list[LabelledSpan] = []
    _walk(source, text, parts, spans)
    return AnnotatedText(name, "".join(parts), tuple(sorted(spans)))


def _walk(source: str, element: etree._Element, parts: list[str], spans: list[LabelledSpan]) -> None:
    """Collect the text of an element and the extents of the PHI elements in it."""
    parts.append(element.text or "")
    for child in element:
        where = f"{source}: line {child.sourceline}"
        tag: Any = child.tag  # a function for an entity or a processing instruction
        if not isinstance(tag, str):
            raise InputError(where, "expected no entity or processing instruction inside the text")
        start = sum(map(len, parts))
        _walk(source, child, parts, spans)
        if child.tag == "PHI":
            spans.append(checked_span(where, start, sum(map(len, parts)), child.get("TYPE"), None))
        parts.append(child.tail or "")
    parts[:] = ["".join(parts)]


def _from_standoff(source: str, name: str, tags: etree._Element) -> AnnotatedText:
    parent = tags.getparent()
    text_element = None if parent is None else parent.find("TEXT")
    if text_element is not None and len(text_element):
        raise InputError(source, f"line {text_element.sourceline}: expected a TEXT element of plain text")
    text = None if text_element is None else text_element.text or ""
    spans = []
    for tag in tags:
        where = f"{source}: line {tag.sourceline}"
        start, end = _offset(where, tag, "start"), _offset(where, tag, "end")
        spans.append(
            checked_span(where, start, end, tag.get("TYPE") or tag.tag, None if text is None else len(text))
        )
    return AnnotatedText(name, text, tuple(spans))


def _offset(where: str, tag: etree._Element, field: str) -> int:
    value = tag.get(field) or ""
    if not value.isdecimal() or len(value) > MAX_DIGITS:
        message = f"{where}, field {field}: expected a whole number"
        raise InputError(message)
    return int(value)


READ_FORMATS = ("i2b2", "brat", "jsonl")
_SUFFIX = {"i2b2": ".xml", "brat": ".ann", "jsonl": ".jsonl"}

# Type sets that spans can be mapped to: column names of dictionaries/span_types.txt.
TYPE_SETS = ("hipaa", "i2b2-2006", "i2b2-2014")


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs of gold and system documents, in gold order; ``missing``: those without a system document."""

    pairs: tuple[tuple[AnnotatedText, AnnotatedText], ...]
    missing: tuple[str, ...]


def read_documents(path: Path, kind: str) -> dict[str, AnnotatedText]:
    """Read a file, or every file of a folder, in one of ``READ_FORMATS``.

    brat reads each .ann file and its .txt file, if there is one; a folder is read without subfolders. The
    result is in the order of names and lines.

    Raises:
        InputError: names the file and the line; also for an empty folder and for a document that comes twice.
    """
    suffix = _SUFFIX[kind]
    files = sorted(path.glob(f"*{suffix}")) if path.is_dir() else [path]
    if not files:
        raise InputError(path, f"expected {suffix} files in this folder, found none")
    documents: dict[str, AnnotatedText] = {}
    for file in files:
        for document in _read_file(file, kind):
            if not document.name.isprintable():  # a line break would forge a second line of a message
                raise InputError(file, f"document {len(documents) + 1}: expected a printable name")
            if document.name in documents:
                raise InputError(file, f"the document '{document.name}' comes twice; expected it once")
            documents[document.name] = document
    if not documents:
        raise InputError(path, "line 1: expected documents, found none")
    return documents


def _read_file(file: Path, kind: str) -> list[AnnotatedText]:
    if kind == "jsonl":
        return parse_jsonl(str(file), _read_text(file))
    if kind == "i2b2":
        return parse_i2b2(str(file), file.stem, _read_text(file))
    text_file = file.with_suffix(".txt")
    text = _read_text(text_file) if text_file.is_file() else None
    return [parse_brat(str(file), file.stem, _read_text(file), text)]


def _read_text(file: Path) -> str:
    try:
        # newline="": offsets count every character of the file.
        with file.open(encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except OSError as error:
        raise InputError(file, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(file, f"byte {error.start}: expected UTF-8") from None


def pair_documents(
    gold: Mapping[str, AnnotatedText], system: Mapping[str, AnnotatedText], gold_path: Path, system_path: Path
) -> Pairing:
    """Pair documents by name; a document that the system lacks counts as one without spans, and is reported.

    Sorted by name: a shuffle with a given seed then gives the same p-value for every format and order of the
    documents.

    Raises:
        InputError: a gold document lacks its text, the system has a document that the gold standard lacks,
        its text differs, or a span exceeds the gold text.
    """
    unknown = [name for name in system if name not in gold]
    if unknown:
        message = f"{system_path}: the document '{unknown[0]}' is not in {gold_path}"
        if len(unknown) > 1:
            message += f", nor are {len(unknown) - 1} others"
        raise InputError(message)
    pairs = []
    missing = []
    for name, document in sorted(gold.items()):
        other = system.get(name)
        if other is None:
            missing.append(name)
            other = AnnotatedText(name, None, ())
        elif None not in {document.text, other.text} and other.text != document.text:
            pairs_of_chars = zip(document.text or "", other.text or "", strict=False)
            n_same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs_of_chars))
            message = f"the text of the document '{name}' differs from {gold_path} at character {n_same}"
            raise InputError(system_path, message)
        for number, span in enumerate(other.spans):
            where = f"{system_path}: document '{name}', span {number}"
            n_chars = None if document.text is None else len(document.text)
            checked_span(where, span.start, span.end, span.type, n_chars)
        pairs.append((document, other))
    return Pairing(tuple(pairs), tuple(missing))


def read_vocabulary(path: Path) -> frozenset[str]:
    """Read the words of a vocabulary: one entry per line, or a dictionary file of phiscan.

    Lines that start with "#" are skipped, only the first tab-separated column counts, and an entry of several
    words is split, because scores compare single tokens.

    Raises:
        InputError: the file cannot be read or holds no word.
    """
    words: set[str] = set()
    for line in _read_text(path).splitlines():
        if not line.startswith("#"):
            words.update(line.split("\t")[0].split())
    if not words:
        raise InputError(path, "line 1: expected one word per line, found none")
    return frozenset(words)


def read_type_map(target: str) -> dict[str, str]:
    """Return the mapping of span types to one of ``TYPE_SETS``, from dictionaries/span_types.txt.

    Names that are in the target set already map to themselves.
    """
    table = load_dictionary(data_dir("dictionaries") / "span_types.txt")
    column = TYPE_SETS.index(target) + 1
    known = {row[0]: row[column] for row in table.rows if row[column] != "-"}  # "-": no counterpart
    return {**{name: name for name in known.values()}, **known}


def map_types(
    documents: Mapping[str, AnnotatedText], mapping: Mapping[str, str], path: Path
) -> dict[str, AnnotatedText]:
    """Replace the types of all spans.

    Raises:
        InputError: a type is not in the mapping.
    """
    mapped = {}
    for name, document in documents.items():
        for number, span in enumerate(document.spans):
            if span.type not in mapping:
                raise InputError(
                    path, f"document '{name}', span {number}: the type '{span.type}' has no mapping"
                )
        spans = tuple(LabelledSpan(start, end, mapping[kind]) for start, end, kind in document.spans)
        mapped[name] = AnnotatedText(name, document.text, spans)
    return mapped
