"""Mail: headers, every body, attachments to any depth; single messages and mbox files."""

from __future__ import annotations

import email
import email.errors
import email.message
import email.policy
import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.header import decode_header
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode, decode_declared
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.extract.transport.decoding import decode_body, encoding_name, undecoded
from phiscan.extract.transport.framing import mailbox_messages, message_bytes, unflowed
from phiscan.extract.transport.lifting import lift_encoded, read_lifted
from phiscan.model import FailReason

_ENRICHED = re.compile(r"<param>[^<]*</param>|</?[a-z][a-z0-9-]{0,59}>", re.IGNORECASE)  # RFC 1896
_HEAD_BYTES = 16 * 1024
_NO_TYPE = re.compile(rb"(?im)^(content-type:)[ \t]*;(?=\s*boundary\s*=)")
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?]*\?=")
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
            message = email.message_from_bytes(_with_type(data), policy=email.policy.compat32)
        except RecursionError:
            _as_it_stands(data, content, sink, FailReason.NESTED_TOO_DEEP, "parts within parts")
        except Exception as error:  # noqa: BLE001 (the parser's own mistakes; the text is still there)
            _as_it_stands(data, content, sink, FailReason.CORRUPT, type(error).__name__)
        else:
            read_message(message, content, sink)


def _with_type(data: bytes) -> bytes:
    """Name the type of parts, ``multipart/mixed``, where a header gives a boundary without a type."""
    if not _NO_TYPE.search(data, 0, _HEAD_BYTES):
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
    sink.add("\n".join(_header_lines(message, content, sink)), content.place("headers"))
    counts = _Counts()
    stack: list[email.message.Message] = [message]
    while stack:
        part = stack.pop()
        if part is not message:
            lines = _header_lines(part, content, sink, ignored=_PART_FIELDS)
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
    data = _payload(part)
    lost = undecoded(part.get_payload(), str(part.get("content-transfer-encoding", "")), data)
    if lost:
        sink.fail(content.place("part"), FailReason.UNSUPPORTED, f"{lost} bytes of base64 are not decoded")
    name = _file_name(part)
    if name or not kind.startswith("text/"):
        counts.attachments += 1
        _attachment(part, data, content.member(name or f"attachment{counts.attachments}", data), sink)
        if name:
            sink.add(f"Attachment: {name}", content.place("headers"))
    elif data and kind != "text/css":  # a web page that was saved as mail (MHT)
        counts.bodies += 1
        place = "body" if counts.bodies == 1 else f"body{counts.bodies}"
        is_page = kind in ("text/html", "text/xhtml")  # whose files are read below
        data, members = (data, ()) if is_page else lift_encoded(data, content, sink, place)
        sink.add(_body_text(part, kind, data), content.place(place))
        read_lifted(members, sink)
        if is_page and b"data:" in data:
            read_inline_files(data.decode("latin-1"), content, sink)
    return []


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
    return child if found is None else email.message_from_bytes(found, policy=email.policy.compat32)


def _nested(part: email.message.Message, number: int, content: Content, sink: Sink) -> None:
    children = part.get_payload()
    name = _file_name(part) or f"message{number}.eml"
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
    message: email.message.Message, content: Content, sink: Sink, ignored: frozenset[str] = frozenset()
) -> Iterator[str]:
    for key, value in message.items():
        if key.lower() in _MACHINE_FIELDS or key.lower() in ignored:
            continue
        try:
            yield f"{key}: {_decode_words(str(value))}"
        except Exception as error:  # noqa: BLE001 (the library fails on damage in many ways)
            sink.fail(content.place("headers"), FailReason.CORRUPT, f"damaged header: {type(error).__name__}")
            yield f"{key}: {value}"


def _decode_words(value: str) -> str:
    """Decode encoded words; a bad one is left as it is."""
    value = " ".join(value.split())
    if _ENCODED_WORD.search(value):
        try:
            return "".join(
                chunk if isinstance(chunk, str) else _decode_chunk(chunk, encoding)
                for chunk, encoding in decode_header(value)
            )
        except (ValueError, LookupError, email.errors.MessageError):
            pass  # it is left as it is
    if value.isascii():
        return value
    # Raw bytes in a header arrive as surrogates.
    return decode(value.encode("utf-8", "surrogateescape"))[0]


def _decode_chunk(chunk: bytes, encoding: str | None) -> str:
    if encoding:
        try:
            return chunk.decode(encoding, "replace")
        except LookupError:
            pass
    return decode(chunk)[0]


def _file_name(part: email.message.Message) -> str:
    try:
        return _decode_words(part.get_filename() or "").replace("\0", "")
    except (ValueError, LookupError, TypeError, email.errors.MessageError):
        return ""


def _payload(part: email.message.Message) -> bytes:
    raw = part.get_payload()
    declared = str(part.get("content-transfer-encoding", ""))
    if isinstance(raw, str) and encoding_name(declared) not in ("", "7bit", "8bit", "binary"):
        decoded = decode_body(raw.encode("utf-8", "surrogateescape"), declared)
        if decoded is not None:
            return decoded
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        payload = None
    if isinstance(payload, bytes):
        return payload
    return raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else b""


def _body_text(part: email.message.Message, kind: str, data: bytes) -> str:
    try:
        text = decode_declared(data, part.get_content_charset() or "utf-8")
    except ValueError:  # the declaration cannot be read
        text, _ = decode(data)
    if kind in ("text/html", "text/xhtml"):
        return html_text(text)
    if kind in ("text/enriched", "text/richtext") and not data.startswith(b"{\\rtf"):
        text = _ENRICHED.sub("", text.replace("<<", "&lt;")).replace("&lt;", "<")
    elif kind in ("text/rtf", "text/richtext"):
        from phiscan.extract.office.rich_text import rtf_text  # noqa: PLC0415

        return rtf_text(data)
    text = text.replace("\r\n", "\n").replace("\0", " ")
    if str(part.get_param("format", "")).lower() == "flowed":
        return unflowed(text, is_delsp=str(part.get_param("delsp", "")).lower() == "yes")
    return text
