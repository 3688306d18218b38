"""Mail: headers, every body, attachments to any depth; single messages and mbox files."""

from __future__ import annotations

import email
import email.errors
import email.message
import email.utils
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Inflating, Sink, TextFullError
from phiscan.extract.core.magic_numbers import by_beginning
from phiscan.extract.residue.prose import words_of
from phiscan.extract.structured.html import html_text, read_inline_files, style_text
from phiscan.extract.transport.charsets import declared_text
from phiscan.extract.transport.decoding import decode_body, encoding_name, undecoded
from phiscan.extract.transport.framing import mailbox_messages, message_bytes, unflowed, without_forced_breaks
from phiscan.extract.transport.header_words import (
    RAW_FIELDS,
    body_charset,
    decode_words,
    file_names,
    parameter_text,
    raw_text,
    wordy_parameters,
)
from phiscan.extract.transport.lifting import lift_encoded, read_lifted
from phiscan.model import FailReason

_ENRICHED = re.compile(r"<param>[^<]*</param>|</?[a-z][a-z0-9-]{0,59}>", re.IGNORECASE)  # RFC 1896
_HEAD_BYTES = 16 * 1024
_NAMELESS = re.compile(rb"(?m)^(?=:[^\r\n]*[A-Za-z])")
_NO_VALUE = re.compile(rb":[ \t]*;")
_NO_TYPE = re.compile(rb"(?im)^(content-type:)[ \t]*;(?=\s*boundary\s*=)")
_ENCODED_BODY = re.compile(
    rb"(?im)^content-transfer-encoding:[ \t]*(?:quoted-printable|base64)[ \t]*\r?$(?=[^\0]{0,2000}?\n\r?\n)"
)
_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,40}:[^\n]*\n|[ \t]+\S[^\n]*\n")
_IS_PAGE = re.compile(rb"\s{0,200}(?:<!doctype\s{1,20}html|<html)\b", re.IGNORECASE)
_DEFAULT_CHARSET = "utf-8"
# Fields that only machines read; everything else may name a person.
_MACHINE_FIELDS = frozenset(
    [
        "dkim-signature",
        "arc-seal",
        "arc-message-signature",
        "arc-authentication-results",
        "authentication-results",
        "content-transfer-encoding",
        "mime-version",
        "x-spam-status",
        "content-type",
    ]
)
# Fields of a part that say how it is packed.
_PART_FIELDS = frozenset({"content-disposition", "content-id", "content-location", "x-attachment-id"})


class MailExtractor:
    """Read one RFC 5322 message."""

    media_types = frozenset({"message/rfc822"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the headers ``#headers``, each body ``#body``, and read the attachments as members."""
        data, properties = message_bytes(content.data)
        sink.add(decode(properties)[0], content.place("properties"))
        try:
            message = parsed_message(_with_type(data))
        except RecursionError:
            _as_it_stands(data, content, sink, FailReason.NESTED_TOO_DEEP, "parts within parts")
        except Exception as error:  # noqa: BLE001 (the parser's own mistakes; the text is still there)
            _as_it_stands(data, content, sink, FailReason.CORRUPT, type(error).__name__)
        else:
            read_message(message, content, sink)


def parsed_message(data: bytes) -> email.message.Message:
    """Return a parsed message; parts that begin with the mark of their end are parsed all the same."""
    message = email.message_from_bytes(data, policy=RAW_FIELDS)
    damaged = [part for part in message.walk() if part.defects]
    if not damaged:
        return message
    if any(
        isinstance(defect, email.errors.InvalidHeaderDefect) for part in damaged for defect in part.defects
    ):
        data = _NAMELESS.sub(b"X-Nameless", data)  # a field without a name, which the parser leaves out
        message = email.message_from_bytes(data, policy=RAW_FIELDS)
        damaged = [part for part in message.walk() if part.defects]
    for part in damaged:
        boundary = str(part.get_boundary() or "")
        if part.get_payload() or not boundary:
            continue
        mark = b"--" + boundary.encode("utf-8", "surrogateescape")
        found = re.search(rb"(?m)^" + re.escape(mark) + rb"--[ \t]*\r?\n", data)
        if found and mark in data[found.end() :]:
            begin = found.start() + len(mark)
            return email.message_from_bytes(data[:begin] + data[begin + 2 :], policy=RAW_FIELDS)
    return message


def _with_type(data: bytes) -> bytes:
    """Name the type of parts, ``multipart/mixed``, where a header gives a boundary without a type."""
    if not _NO_VALUE.search(data, 0, _HEAD_BYTES) or not _NO_TYPE.search(data, 0, _HEAD_BYTES):
        return data
    head, blank, body = data.partition(b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n")
    return _NO_TYPE.sub(rb"\1 multipart/mixed;", head, count=1) + blank + body


def _as_it_stands(data: bytes, content: Content, sink: Sink, reason: FailReason, detail: str) -> None:
    """Record what cannot be taken apart, and add its bytes as text."""
    sink.fail(content.locator, reason, detail)
    sink.add(decode(sink.bound(data, content.locator))[0], content.place("raw"))


class MailboxExtractor:
    """Read an mbox file, message by message."""

    media_types = frozenset({"application/mbox"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read each message as a member, ``message3.eml``."""
        for number, data in enumerate(mailbox_messages(content.data), 1):
            sink.take_member()
            sink.read_member(content.member(f"message{number}.eml", data))


def read_message(message: email.message.Message, content: Content, sink: Sink) -> None:
    """Read a parsed message into the sink; a damaged header or part costs no other one."""
    counts = _Counts(charset=body_charset(message))
    sink.add("\n".join(_header_lines(message, content, sink, counts.charset)), content.place("headers"))
    stack: list[email.message.Message] = [message]
    while stack:
        part = stack.pop()
        if part is not message:
            lines = _header_lines(part, content, sink, counts.charset, ignored=_PART_FIELDS)
            sink.add("\n".join(lines), content.place("headers"))
        try:
            stack.extend(_read_part(part, content, sink, counts, inner=part is not message))
        except (ExtractError, TextFullError):
            raise
        except Exception as error:  # noqa: BLE001 (the library fails on damage in many ways)
            sink.fail(content.place("part"), FailReason.CORRUPT, f"damaged part: {type(error).__name__}")
            raw = part.get_payload()
            if isinstance(raw, str):
                sink.add(raw, content.place("part"))


def _read_part(
    part: email.message.Message, content: Content, sink: Sink, counts: _Counts, *, inner: bool
) -> list[email.message.Message]:
    """Read one part; return the parts within it, the first one last."""
    kind = part.get_content_type()
    if inner and kind == "message/rfc822":
        counts.attachments += 1
        _nested(part, counts.attachments, content, sink)
        return []
    children = part.get_payload()
    _say_what_lies_elsewhere(part, kind, content, sink)
    if part.is_multipart() and isinstance(children, list):
        return _parts_within(part, children, content, sink)
    declared = str(part.get("content-transfer-encoding", ""))
    data = _payload(part, children, declared)
    lost = undecoded(children, declared, data)
    if lost:
        sink.fail(content.place("part"), FailReason.UNSUPPORTED, f"{lost} bytes of base64 are not decoded")
    data = _unpacked(part, data, sink)
    names = file_names(part, counts.charset)
    name = names[0] if names else ""
    if name or not kind.startswith("text/") or _is_file(data):
        counts.attachments += 1
        _attachment(part, data, content.member(name or f"attachment{counts.attachments}", data), sink)
        if name:
            sink.add(f"Attachment: {' '.join(names)}", content.place("headers"))
    elif data:
        counts.bodies += 1
        place = "body" if counts.bodies == 1 else f"body{counts.bodies}"
        data, pasted = _without_pasted_message(data, kind)
        is_page = kind.endswith("html")  # whose files are read below
        data, members = (data, ()) if is_page else lift_encoded(data, content, sink, place)
        sink.add(_body_text(part, kind, data), content.place(place))
        read_lifted(members, sink)
        if pasted:
            sink.take_member()
            sink.read_member(content.member(f"pasted{counts.bodies}.eml", pasted))
        if is_page and b"data:" in data:
            read_inline_files(data.decode("latin-1"), content, sink)
    return []


def _without_pasted_message(data: bytes, kind: str) -> tuple[bytes, bytes]:
    """Split a plain body where the source of another message with an encoded body begins."""
    found = _ENCODED_BODY.search(data) if kind == "text/plain" else None
    if found is None:
        return data, b""
    start = found.start()
    while start > 0:
        line = data.rfind(b"\n", 0, start - 1) + 1
        if not _FIELD.match(data, line) or found.start() - line > _HEAD_BYTES:
            break
        start = line
    return data[:start], data[start:]


def _unpacked(part: email.message.Message, data: bytes, sink: Sink) -> bytes:
    """Return a body without the compression that a field of web servers declares."""
    if str(part.get("content-encoding", "")).strip().lower() != "deflate":
        return data
    for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            return sink.unpack(Inflating(data, window), len(data))
        except zlib.error:
            continue
    return data


def _is_file(data: bytes) -> bool:
    """Tell a body that is a file of a known kind, whatever its type says."""
    known = by_beginning(data) if b"\0" in data[:64] or data[:2] == b"\x1f\x8b" else ""
    return bool(known) or data.startswith((b"PK\3\4", b"%PDF-", b"\xd0\xcf\x11\xe0"))


def _say_what_lies_elsewhere(part: email.message.Message, kind: str, content: Content, sink: Sink) -> None:
    """Add the address of a body that is kept elsewhere; record that a message is one part of several."""
    if kind == "message/external-body":
        sink.add(_parameters(part), content.place("headers"))
    if kind == "message/partial":
        number, total = part.get_param("number", "?"), part.get_param("total", "?")
        detail = f"part {number} of {total} of one message; read as far as it goes alone"
        sink.fail(content.place("part"), FailReason.UNSUPPORTED, detail[:120])


def _parts_within(
    part: email.message.Message, children: list[Any], content: Content, sink: Sink
) -> list[email.message.Message]:
    """Add the text around the parts of a part; return these, the first one last."""
    sink.take_member()
    # No mail program shows what is around the parts; whoever opens the file does.
    around = (part.preamble, part.epilogue)
    outside = "\n".join(text.strip() for text in around if text and text.strip())
    outer, members = lift_encoded(outside.encode("utf-8", "surrogateescape"), content, sink, "around")
    sink.add(decode(outer)[0], content.place("around"))
    read_lifted(members, sink)
    found = [child for child in reversed(children) if isinstance(child, email.message.Message)]
    if part.get_content_maintype() == "message":
        declared = str(part.get("content-transfer-encoding", ""))
        return [_decoded_message(child, declared) for child in found]
    return found


@dataclass(slots=True)
class _Counts:
    """How many bodies and attachments of one message are read."""

    bodies: int = 0
    attachments: int = 0
    charset: str = ""  # of the bodies, for raw bytes in the header


def _parameters(part: email.message.Message) -> str:
    """Return the parameters of a part's type, such as the address of its body, one on a line."""
    found = part.get_params(failobj=[], unquote=True)
    return "\n".join(f"{key}: {email.utils.collapse_rfc2231_value(value)}" for key, value in found[1:])


def _decoded_message(child: email.message.Message, declared: str) -> email.message.Message:
    """Decode a message that was encoded as a whole, against the rules of its type."""
    payload = child.get_payload()
    raw = (
        payload.encode("utf-8", "surrogateescape")
        if isinstance(payload, str) and not child.keys()
        else child.as_bytes()
    )
    found = decode_body(raw, declared) if encoding_name(declared) in ("base64", "quoted-printable") else None
    return child if found is None else email.message_from_bytes(found, policy=RAW_FIELDS)


def _nested(part: email.message.Message, number: int, content: Content, sink: Sink) -> None:
    children = part.get_payload()
    name = next(iter(file_names(part)), f"message{number}.eml")
    sink.take_member()
    declared = str(part.get("content-transfer-encoding", ""))
    for child in children if isinstance(children, list) else []:
        if not isinstance(child, email.message.Message):
            continue
        child = _decoded_message(child, declared)  # noqa: PLW2901 (the same message, readable)
        inner = content.member(name, b"")
        if inner.depth > sink.limits.depth:
            _as_it_stands(
                child.as_bytes(), inner, sink, FailReason.NESTED_TOO_DEEP, "messages within messages"
            )
        else:
            read_message(child, inner, sink)


def _attachment(part: email.message.Message, data: bytes, member: Content, sink: Sink) -> None:
    sink.take_member()
    if part.get_content_type() == "application/pgp-encrypted":
        sink.fail(member.locator, FailReason.ENCRYPTED)
    elif data:
        sink.read_member(member)


def _header_lines(
    message: email.message.Message,
    content: Content,
    sink: Sink,
    charset: str,
    *,
    ignored: frozenset[str] = frozenset(),
) -> Iterator[str]:
    for defect in message.defects:  # lines of a header that the parser leaves out
        line = " ".join(str(getattr(defect, "line", None) or "").split())
        if line and not isinstance(defect, email.errors.InvalidHeaderDefect):
            yield decode_words(line)
    for key, value in message.items():
        name = key.strip().lower()
        if name == "content-type":
            yield from wordy_parameters(message)
        elif name == "content-location" and name in ignored:
            shown = unquote(str(value))
            if len(words_of(shown)) > 1 and " " in shown.strip():
                yield f"{key}: {shown}"
        if name in _MACHINE_FIELDS or name in ignored:
            continue
        try:
            text = str(value)
            is_plain = text.isascii() and "=?" not in text
            shown = " ".join(text.split()) if is_plain else decode_words(text, charset)
            yield f"{raw_text(key).strip()}: {shown}"
        except Exception as error:  # noqa: BLE001 (the library fails on damage in many ways)
            sink.fail(content.place("headers"), FailReason.CORRUPT, f"damaged header: {type(error).__name__}")
            yield f"{key}: {value}"


def _payload(part: email.message.Message, raw: object, declared: str) -> bytes:
    """Return the decoded bytes of a part whose payload is ``raw`` in a ``declared`` transfer encoding."""
    if isinstance(raw, str):
        if encoding_name(declared) not in ("", "7bit", "8bit", "binary"):
            decoded = decode_body(raw.encode("utf-8", "surrogateescape"), declared)
            if decoded is not None:
                return decoded
        elif raw.isascii():
            return raw.encode()
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        payload = None
    if isinstance(payload, bytes):
        return payload
    return raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else b""


def _body_text(part: email.message.Message, kind: str, data: bytes) -> str:
    text = declared_text(data, parameter_text(part.get_param("charset", "")) or _DEFAULT_CHARSET)
    if kind.endswith("html") or (kind.startswith("text/") and _IS_PAGE.match(data)):
        return html_text(text)
    if kind == "text/css":
        return style_text(text)
    if kind in ("text/enriched", "text/richtext") and not data.startswith(b"{\\rtf"):
        text = _ENRICHED.sub("", text.replace("<<", "&lt;")).replace("&lt;", "<")
    elif kind in ("text/rtf", "text/richtext"):
        from phiscan.extract.office.rich_text import rtf_text  # noqa: PLC0415

        return rtf_text(data)
    text = without_forced_breaks(text.replace("\r\n", "\n").replace("\0", " "))
    if str(part.get_param("format", "")).lower() == "flowed":
        return unflowed(text, is_delsp=str(part.get_param("delsp", "")).lower() == "yes")
    return text
