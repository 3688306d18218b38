"""Plain text as it is; HL7 v2 and X12 as they are, then their personal fields after their names.

Source of the field names: HL7 v2.5.1, chapters 3 and 6 (PID, NK1, PV1, IN1, GT1, MRG), and the X12
005010 implementation guides (NM1, DMG, N3, N4, PER, REF).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import MIN_CHARS, Enclosures
from phiscan.extract.text_codes.lifting import lift_encoded, read_lifted
from phiscan.formats.message_fields import FIELD_NAMES

_NAME_FIELDS = re.compile(r"name|doctor|provider|clinician|interpreter|insured$|alias|copies", re.IGNORECASE)
_ESCAPES = {"\\F\\": "|", "\\S\\": "^", "\\T\\": "&", "\\R\\": "~", "\\E\\": "\\", "\\.br\\": "\n"}
_ESCAPE = re.compile(r"\\[^\\]{1,20}\\")
_OBX_VALUE, _ED_DATA = 5, 4  # where an observation keeps its value, and encapsulated data its bytes
_X12_PARTIES = {
    "IL": "Subscriber", "QC": "Patient", "74": "Insured", "82": "Rendering provider",
    "85": "Billing provider", "DN": "Referring provider", "1P": "Provider", "PR": "Payer",
}  # fmt: skip


def read_hl7(content: Content, sink: Sink) -> None:
    """Add the raw message, one segment per line, then the labelled fields ``#fields``, then documents."""
    text = decode(content.data)[0].replace("\r\n", "\n").replace("\r", "\n").strip("\x0b\x1c\n")
    enclosures = Enclosures(content, sink)
    text = _lift(text, enclosures)
    sink.add(text, content.locator)
    sink.add("\n".join(hl7_lines(text)), content.place("fields"))
    enclosures.read()


def _lift(text: str, enclosures: Enclosures) -> str:
    """Take the documents out of messages: encapsulated data of an observation, and other long digits."""
    lines = text.split("\n")
    separator, component = "|", "^"
    for number, line in enumerate(lines):
        if line.startswith("MSH") and len(line) > 7:  # noqa: PLR2004 (MSH and its five separators)
            separator, component = line[3], line[4]
        if len(line) < MIN_CHARS and not line.startswith("OBX"):
            continue
        fields = line.split(separator)
        is_data = fields[0] == "OBX" and len(fields) > _OBX_VALUE and fields[2] == "ED"
        for at, field in enumerate(fields):
            if len(field) < MIN_CHARS and not (is_data and at == _OBX_VALUE):
                continue
            parts = field.split(component)
            encoding = parts[3].lower() if is_data and at == _OBX_VALUE and len(parts) > _ED_DATA else ""
            for index, part in enumerate(parts):
                declared = encoding in ("base64", "hex") and index == _ED_DATA
                digits = _ESCAPE.sub("", part) if declared or len(part) >= MIN_CHARS else part
                if enclosures.take(digits, declared=declared, encoding=encoding):
                    parts[index] = ""
            fields[at] = component.join(parts)
        lines[number] = separator.join(fields)
    return "\n".join(lines)


def hl7_lines(text: str) -> Iterator[str]:
    r"""Yield the personal fields of HL7 v2 messages as ``label: value``.

    >>> list(hl7_lines("MSH|^~\\&|LAB\nPID|1||77^^^GH||SMITH^JOHN^Q||19500102"))
    ['Patient identifier: 77 GH', 'Patient name: SMITH JOHN Q', 'Date of birth: 19500102']
    """
    separator, component, repetition = "|", "^", "~"
    for line in text.split("\n"):
        if line.startswith("MSH") and len(line) > 7:  # noqa: PLR2004 (MSH and its five separators)
            separator, component, repetition = line[3], line[4], line[5]
        fields = line.split(separator)
        for number, label in FIELD_NAMES.get(fields[0], {}).items():
            if number >= len(fields) or not fields[number] or fields[number] == '""':
                continue
            for value in fields[number].split(repetition):
                shown = _show(value, component, label)
                if shown:
                    yield f"{label}: {shown}"


def _show(value: str, component: str, label: str) -> str:
    """Join the components of a field; a doctor's leading identifier is put after the name."""
    parts = [part.replace("&", " ").strip() for part in value.split(component)]
    if _NAME_FIELDS.search(label):
        if any(char.isdecimal() for char in parts[0]) and len(parts) > 1:
            parts = [*parts[1:4], *parts[:1]]
        else:
            parts = parts[:4]
    shown = " ".join(part for part in parts if part and part != '""')
    for escape, char in _ESCAPES.items():
        shown = shown.replace(escape, char)
    return shown


def read_x12(content: Content, sink: Sink) -> None:
    """Add the interchange with one segment per line, then the labelled fields ``#fields``."""
    text = decode(content.data)[0].lstrip("\ufeff \r\n")
    if len(text) < 106:  # noqa: PLR2004 (the ISA segment has a fixed length)
        sink.add(text, content.locator)
        return
    element, end = text[3], text[105]
    segments = [segment.strip() for segment in text.split(end)]
    sink.add("\n".join(segment.replace(element, " | ") for segment in segments), content.locator)
    lines = [line for segment in segments for line in _x12_lines(segment.split(element))]
    sink.add("\n".join(lines), content.place("fields"))


def _x12_lines(elements: list[str]) -> Iterator[str]:
    padded = [*elements, *[""] * 10]
    match padded[0]:
        case "NM1":
            party = _X12_PARTIES.get(padded[1], "Party")
            name = " ".join(part for part in (padded[4], padded[5], padded[3]) if part)
            yield f"{party} name: {name}"
            if padded[9]:
                yield f"{party} identifier: {padded[9]}"
        case "DMG" if padded[2]:
            yield f"Date of birth: {padded[2]}"
        case "N3":
            yield "Address: " + " ".join(part for part in padded[1:3] if part)
        case "N4":
            yield "City: " + " ".join(part for part in padded[1:4] if part)
        case "PER":
            yield "Contact: " + " ".join(part for part in (padded[2], padded[4], padded[6]) if part)
        case "REF" if padded[1] == "SY":
            yield f"SSN: {padded[2]}"
        case "REF":
            yield f"Reference number: {padded[2]}"


# Plain text, and directories (LDIF) and pedigrees (GEDCOM) with their values whole.

_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08")  # colours of a terminal, letters struck over


def read_plain_text(content: Content, sink: Sink) -> None:
    """Add the whole text as one segment."""
    text, encoding = decode(sink.bound(content.data, content.locator))
    data = text.encode() if encoding.startswith("utf-") else content.data
    lifted, members = lift_encoded(data, content, sink)
    if lifted is not data:
        text = lifted.decode("utf-8", "replace") if encoding.startswith("utf-") else decode(lifted)[0]
    text = unfolded(text)
    sink.add(_TERMINAL.sub("", text) if "\x1b[" in text or "\b" in text else text, content.locator)
    read_lifted(members, sink)


_LDIF = re.compile(r"(?:version: ?\d+\s+|#[^\n]*\n)*dn::? ", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n (?=\S)")
_GEDCOM = re.compile(r"\ufeff?0 HEAD\r?\n")
_CONTINUED = re.compile(r"\r?\n *\d{1,2} CON([CT])(?: ([^\r\n]*))?")
_SURNAME = re.compile(r"^( *\d{1,2} NAME [^/\r\n]*)/([^/\r\n]*)/", re.MULTILINE)


def unfolded(text: str) -> str:
    r"""Return the text of a directory or a pedigree with its values whole; any other text as it is.

    >>> unfolded("dn: cn=Roy\ndescription: dia\n betes")
    'dn: cn=Roy\ndescription: diabetes'
    >>> unfolded("0 HEAD\n1 NAME Ann /Roy/\n1 NOTE heart\n2 CONC  failure")
    '0 HEAD\n1 NAME Ann Roy\n1 NOTE heart failure'
    """
    if _LDIF.match(text):
        return _FOLD.sub("", text)
    if _GEDCOM.match(text):
        text = _CONTINUED.sub(lambda line: ("" if line[1] == "C" else "\n") + (line[2] or ""), text)
        return _SURNAME.sub(r"\1\2", text)
    return text
