"""Text, HTML, RTF, mail and archives from entries; which maker writes which extension."""

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage, MIMEPart

from tests.corpus.books import VERBATIM, Entry
from tests.corpus.office import MADE, blocks, cells, make_docx, make_pptx, make_xlsx
from tests.corpus.pdf import make_pdf, make_png

_TYPES = {
    "pdf": ("application", "pdf"),
    "docx": ("application", "vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "xlsx": ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "zip": ("application", "zip"),
    "png": ("image", "png"),
    "csv": ("text", "csv"),
    "rtf": ("application", "rtf"),
}


@dataclass(frozen=True)
class Gold:
    """One gold span with the way to its part."""

    locator: str
    start: int
    end: int
    type: str
    text: str


def make_text(entry: Entry) -> bytes:
    """Encode the text as the entry says; ``utf-8-sig`` and ``utf-16`` write a byte order mark."""
    text = "".join(part.text for part in entry.parts)
    encoding = entry.options.get("encoding", "utf-8")
    if encoding == "utf-16":  # little-endian on every machine
        return b"\xff\xfe" + text.encode("utf-16-le")
    return text.encode(encoding)


def make_rtf(entry: Entry) -> bytes:
    """Write RTF 1.9 by hand: a font table, paragraphs, bold headings, tab-separated rows."""
    lines = [
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman Times New Roman;}{\f1\fswiss Arial;}}",
        r"\viewkind4\pard\f0\fs22",
    ]
    for part in entry.parts:
        for kind, raw in blocks(part.raw_lines):
            for line in raw:
                if kind == "table":
                    lines.append(r"\tab ".join(_rtf(cell) for cell in cells(line)) + r"\par")
                elif kind == "heading":
                    lines.append(rf"{{\b\fs28 {_rtf(line[2:])}}}\par")
                else:
                    lines.append(_rtf(line.removeprefix("- ")) + r"\par")
    return ("\r\n".join(lines) + "\r\n}").encode("ascii")


def _rtf(text: str) -> str:
    pieces = []
    for char in text:
        if char in "\\{}":
            pieces.append("\\" + char)
        elif ord(char) < 128:
            pieces.append(char)
        elif ord(char) < 256:
            pieces.append(f"\\'{ord(char):02x}")
        else:
            pieces.append(f"\\u{ord(char)}?")
    return "".join(pieces)


def _message(entry: Entry, entries: Mapping[str, Entry]) -> EmailMessage:
    message = EmailMessage(policy=policy.SMTP)
    headers = entry.part("headers")
    body = entry.part("body")
    for line in headers.text.split("\n") if headers else []:
        name, _, value = line.partition(": ")
        message[name] = value
    message["Message-ID"] = f"<{abs(hash_of(entry.path))}@mail.valdrenne.example.ca>"
    message.set_content((body.text if body else "") + "\n", cte="quoted-printable")
    for name in entry.attachments:
        attached = entries["@" + name]
        if attached.suffix == "eml":
            message.make_mixed()
            part = MIMEPart(policy=policy.SMTP)
            part.set_content(_message(attached, entries))
            part.add_header("Content-Disposition", "attachment", filename=name)
            message.attach(part)
        else:
            kind, subtype = _TYPES[attached.suffix]
            message.add_attachment(make_file(attached, entries), kind, subtype, filename=name)
    for number, part in enumerate(message.walk()):
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            part.set_boundary(f"=-phiscan-{hash_of(entry.path)}-{number}")
    return message


def hash_of(text: str) -> int:
    """Return a small number that is the same in every process, unlike ``hash``."""
    value = 7
    for char in text:
        value = (value * 31 + ord(char)) % 1_000_003
    return value


def make_eml(entry: Entry, entries: Mapping[str, Entry]) -> bytes:
    """Write a mail with its attachments, CR LF line ends."""
    return _message(entry, entries).as_bytes()


def make_zip(entry: Entry, entries: Mapping[str, Entry]) -> bytes:
    """Write an archive of other entries with fixed times."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as out:
        for name in entry.attachments:
            info = zipfile.ZipInfo(name, MADE.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, make_file(entries["@" + name], entries))
    return target.getvalue()


_MAKERS: dict[str, Callable[[Entry], bytes]] = {
    "docx": make_docx,
    "xlsx": make_xlsx,
    "pptx": make_pptx,
    "pdf": make_pdf,
    "png": make_png,
    "rtf": make_rtf,
}


def make_file(entry: Entry, entries: Mapping[str, Entry]) -> bytes:
    """Make the bytes of one file of the share."""
    if entry.options.get("kind") == "empty":
        return b""
    if entry.suffix == "eml":
        payload = make_eml(entry, entries)
    elif entry.suffix == "zip":
        payload = make_zip(entry, entries)
    elif entry.suffix in _MAKERS:
        payload = _MAKERS[entry.suffix](entry)
    elif entry.suffix in VERBATIM:
        payload = make_text(entry)
    else:
        message = f"{entry.path}: no maker for this extension"
        raise ValueError(message)
    if entry.options.get("kind") == "corrupt":
        # The copy broke off: the directory at the end of the zip is lost.
        payload = payload[: len(payload) * 2 // 3]
    return payload


def gold(entry: Entry, entries: Mapping[str, Entry], prefix: str = "") -> list[Gold]:
    """List the gold spans of an entry and of everything in it."""
    found = []
    plain = entry.suffix in VERBATIM or entry.suffix in {"pdf", "png", "rtf"}
    for part in entry.parts:
        place = "" if plain and part.name == "body" else "#" + part.name.removeprefix("sheet ")
        found.extend(Gold(prefix + place, s.start, s.end, s.type, s.text) for s in part.spans)
    for name in entry.attachments:
        found.extend(gold(entries["@" + name], entries, f"{prefix}!/{name}" if prefix else name))
    return found
