"""Contacts (VCF) and calendars (ICS): one line per property, after its name.

Source: RFC 6350 (vCard), RFC 5545 (iCalendar); version 2.1 with quoted-printable.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.labels import pair
from phiscan.extract.structured.html import html_text
from phiscan.extract.transport.decoding import from_base64
from phiscan.extract.transport.header_words import declared_text

_LABELS = {
    "N": "Name", "FN": "Name", "NICKNAME": "Nickname", "BDAY": "Date of birth",
    "DEATHDATE": "Date of death", "TEL": "Phone", "EMAIL": "Email", "ADR": "Address", "LABEL": "Address",
    "ORG": "Organization", "TITLE": "Title", "ROLE": "Role", "NOTE": "Note", "URL": "URL", "UID": "UID",
    "SUMMARY": "Summary", "DESCRIPTION": "Description", "LOCATION": "Location", "ATTENDEE": "Attendee",
    "ORGANIZER": "Organizer", "CONTACT": "Contact", "COMMENT": "Comment", "DTSTART": "Date",
    "RELATED": "Related",
}  # fmt: skip
_MACHINE = frozenset({"BEGIN", "END", "VERSION", "PRODID", "REV", "DTSTAMP", "SEQUENCE", "STATUS", "TRANSP"})
_MACHINE_KINDS = frozenset({"CLASS", "CALSCALE", "METHOD", "ACTION", "TRIGGER", "RRULE", "TZID", "PRIORITY"})
_ZONE = re.compile(r"TZ(?:ID|OFFSET|NAME|URL)")
_LINE = re.compile(r"(?:[\w-]+\.)?([A-Za-z-]+)((?:;[^:\"]*(?:\"[^\"]*\"[^:\"]*)*)*):(.*)", re.DOTALL)
_COMMON_NAME = re.compile(r";CN=\"?([^\";:]+)", re.IGNORECASE)
_CHARSET = re.compile(r";CHARSET=\"?([\w.:-]+)", re.IGNORECASE)
_OWN_PARAMETER = re.compile(r";X-[\w-]{1,40}=\"?([^\";:]*[^\W_][^\";:]*)", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")
_ESCAPED = re.compile(r"\\([nN,;\\:])")
_FILES = frozenset({"PHOTO", "LOGO", "ATTACH", "KEY", "SOUND"})


def read_cards(content: Content, sink: Sink) -> None:
    """Add one segment per contact or entry, ``#entry2``; files within are read as members."""
    text = decode(sink.bound(content.data, content.locator))[0].replace("\r\n", "\n").replace("\r", "\n")
    lines: list[str] = []
    entry = n_files = 0
    for line in _unfolded(text):
        match = _LINE.fullmatch(line)
        if not match:
            lines.append(line)
            continue
        name = match[1].upper()
        if name == "BEGIN":
            sink.add("\n".join(lines), content.place(f"entry{max(entry, 1)}"))
            entry, lines = entry + 1, []
        elif "base64" in match[2].lower().replace("encoding=b", "base64") and (
            name in _FILES or is_document(from_base64(match[3].encode("ascii", "ignore")) or b"")
        ):
            n_files += 1
            sink.add_member(content, f"file{n_files}", from_base64(match[3].encode("ascii", "ignore")) or b"")
        else:
            lines += _shown(name, match[2], match[3])
    sink.add("\n".join(lines), content.place(f"entry{max(entry, 1)}"))


def _unfolded(text: str) -> Iterator[str]:
    """Yield whole lines: a long one continues after a line feed and a blank, or after ``=``."""
    text = _FOLD.sub("", text)
    lines = iter(text.split("\n"))
    for line in lines:
        if "QUOTED-PRINTABLE" in line.upper():
            while line.endswith("="):
                line = line[:-1] + next(lines, "")  # noqa: PLW2901 (the line continues)
        if line.strip():
            yield line


def _shown(name: str, parameters: str, value: str) -> Iterator[str]:
    if name in _MACHINE or name in _MACHINE_KINDS or _ZONE.match(name):
        return
    if "QUOTED-PRINTABLE" in parameters.upper():
        charset = _CHARSET.search(parameters)
        data = quopri.decodestring(value.encode("utf-8", "replace"))
        value = declared_text(data, charset[1] if charset else "utf-8")
    if "TEXT/HTML" in parameters.upper():
        value = html_text(value)
    if name == "N":
        family, given, *rest = [*value.split(";"), "", ""]
        value = " ".join(part for part in (given, *rest, family) if part)
    elif name in ("ADR", "ORG"):
        value = ", ".join(part for part in value.split(";") if part)
    value = _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)
    common = _COMMON_NAME.search(parameters)
    value = value.removeprefix("mailto:").removeprefix("MAILTO:").removeprefix("tel:")
    if common:
        value = f"{common[1]} {value}"
    value = " ".join([value, *_OWN_PARAMETER.findall(parameters)])
    if value.strip():
        yield pair(_LABELS.get(name, name.removeprefix("X-").replace("-", " ").capitalize()), value.strip())
