"""Mail: headers, every body, attachments to any depth; single messages and mbox files.

How messages stand in files: RFC 4155 (mbox), RFC 3676 (format=flowed), the MMDF mailbox format.
"""

from __future__ import annotations

import email
import email.errors
import email.message
import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.core.magic_numbers import by_beginning
from phiscan.extract.core.prose import words_of
from phiscan.extract.structured.html import html_text, read_inline_files, style_text
from phiscan.extract.text_codes.lifting import lift_encoded, read_lifted
from phiscan.extract.transport.decoding import decode_body, encoding_name, undecoded
from phiscan.extract.transport.header_words import (
    RAW_FIELDS,
    body_charset,
    declared_text,
    decode_words,
    file_names,
    parameter_text,
    raw_text,
    wordy_parameters,
)
from phiscan.model import FailReason

_FROM_LINE = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_DATED = re.compile(rb"From \S.*\b(?:19|20)\d\d\b")
_ENVELOPE = re.compile(
    rb"From \S{1,320}(?:[ \t]+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? .{0,60}\d:\d\d.{0,60})?\s*"
)
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,40}:")
_MMDF = re.compile(rb"^\x01\x01\x01\x01\r?\n", re.MULTILINE)
_COUNTED = re.compile(rb"(\d{1,12})[ \t]*\r?\n")
_UTF8_MARK = b"\xef\xbb\xbf"
_CUT_LINE = 900
_FRAMING_HEAD_BYTES = 4096
_QUOTES = re.compile(r">*")


def message_bytes(data: bytes) -> tuple[bytes, bytes]:
    r"""Return the message in a file, and the properties that Apple Mail writes after it.

    >>> message_bytes(b"\xef\xbb\xbfFrom: a\n\nb"), message_bytes(b"10\nFrom: a\n\nb<plist/>")
    ((b'From: a\n\nb', b''), (b'From: a\n\nb', b'<plist/>'))
    """
    head = data[:_FRAMING_HEAD_BYTES]
    if b"\0" in head:  # as the colon of a field has it in UTF-16
        text, encoding = decode(head)
        if encoding.startswith(("utf-16", "utf-32")) and ":" in text:
            data = decode(data)[0].encode()
    data = data.removeprefix(_UTF8_MARK).lstrip()
    if data.startswith(b"From "):  # one message cut out of a mailbox
        return data.partition(b"\n")[2], b""
    counted = _COUNTED.match(data)
    if counted is None:
        return data, b""
    end = counted.end() + int(counted[1])
    return data[counted.end() : end], data[end:]


def mailbox_messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a mailbox.

    They begin at ``From`` lines that follow a blank line, as readers of mailboxes have it, or that hold a
    year and stand before a field of a header; and at the marks of MMDF.
    """
    data = data.removeprefix(_UTF8_MARK)
    if b"\n" not in data:  # as old Macintosh programs end lines
        data = data.replace(b"\r", b"\n")
    if data.startswith(b"\1\1\1\1"):
        yield from (message for message in _MMDF.split(data) if message.strip())
        return
    begin = len(data) - len(data.lstrip())
    starts = [match for match in _FROM_LINE.finditer(data) if _begins_message(data, match, begin)]
    before = data[: starts[0].start()] if starts else data
    if before.strip():
        yield before  # no mailbox at all, or one that begins in the middle of a message
    for match, following in zip(starts, [*starts[1:], None] if starts else [], strict=True):
        message = data[match.end() : following.start() if following else len(data)]
        # What is no address and date may be a sentence that happens to begin a line.
        yield message if _ENVELOPE.fullmatch(match.group()) else b"X-From-Line: " + match.group() + message


def _begins_message(data: bytes, match: re.Match[bytes], begin: int) -> bool:
    if match.start() == begin:
        return True
    is_dated = bool(_DATED.match(match.group()))
    is_header = bool(_HEADER.match(data, match.end()))
    is_after_blank = data[max(match.start() - 4, 0) : match.start()].endswith((b"\n\n", b"\r\n\r\n"))
    return (is_after_blank and (is_header or bool(_ENVELOPE.fullmatch(match.group())))) or (
        is_dated and is_header
    )


def without_forced_breaks(text: str) -> str:
    """Join the lines that a mail server cut with an exclamation mark, because they were too long."""
    if "!\n " not in text:
        return text
    pieces = text.split("!\n ")
    out = [pieces[0]]
    for piece in pieces[1:]:
        is_long = len(out[-1]) - out[-1].rfind("\n") > _CUT_LINE
        out.append(("" if is_long else "!\n ") + piece)
    return "".join(out)


def unflowed(text: str, *, is_delsp: bool) -> str:
    r"""Join the lines that a mail program broke: those that end with a blank, at one depth of quoting.

    >>> unflowed("MRN 407 \n18823\n-- \nAnn", is_delsp=True)
    'MRN 40718823\n-- \nAnn'
    """
    lines: list[str] = []
    depth = goes_on = 0
    for line in text.split("\n"):
        found = _QUOTES.match(line)
        quotes = found.end() if found else 0
        body = line[quotes:].removeprefix(" ")
        if goes_on and quotes == depth and body != "-- ":
            lines[-1] = (lines[-1][:-1] if is_delsp else lines[-1]) + body
        else:
            lines.append(f"{'>' * quotes} {body}" if quotes else body)
        depth, goes_on = quotes, int(body.endswith(" ") and body != "-- ")
    return "\n".join(lines)


_ENRICHED = re.compile(r"<param>[^<]*</param>|</?[a-z][a-z0-9-]{0,59}>", re.IGNORECASE)  # RFC 1896
_NAMELESS = re.compile(rb"(?m)^(?=:[^\r\n]*[A-Za-z])")
_IS_PAGE = re.compile(rb"\s{0,200}(?:<!doctype\s{1,20}html|<html)\b", re.IGNORECASE)
_DEFAULT_CHARSET = "utf-8"
# Fields that only machines read; everything else may name a person.
_MACHINE_FIELDS_TEXT = """
dkim-signature arc-seal arc-message-signature arc-authentication-results authentication-results
content-transfer-encoding mime-version x-spam-status content-type
"""
_MACHINE_FIELDS = frozenset(_MACHINE_FIELDS_TEXT.split())
# Fields of a part that say how it is packed.
_PART_FIELDS = frozenset({"content-disposition", "content-id", "content-location", "x-attachment-id"})


def read_mail(content: Content, sink: Sink) -> None:
    """Add the headers ``#headers``, each body ``#body``, and read the attachments as members."""
    data, properties = message_bytes(content.data)
    sink.add(decode(properties)[0], content.place("properties"))
    try:
        message = parsed_message(data)
    except RecursionError:
        _as_it_stands(data, content, sink, FailReason.NESTED_TOO_DEEP, "parts within parts")
    except Exception as error:  # noqa: BLE001 (the parser's own mistakes; the text is still there)
        _as_it_stands(data, content, sink, FailReason.CORRUPT, kind_of(error))
    else:
        read_message(message, content, sink)


def parsed_message(data: bytes) -> email.message.Message:
    """Return a parsed message, with the fields of its header that have no name."""
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
    return message


def _as_it_stands(data: bytes, content: Content, sink: Sink, reason: FailReason, detail: str) -> None:
    """Record what cannot be taken apart, and add its bytes as text."""
    sink.fail(content.locator, reason, detail)
    sink.add(decode(sink.bound(data, content.locator))[0], content.place("raw"))


def read_mailbox(content: Content, sink: Sink) -> None:
    """Read each message as a member, ``message3.eml``."""
    for number, data in enumerate(mailbox_messages(content.data), 1):
        sink.add_member(content, f"message{number}.eml", data)


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
            sink.fail(content.place("part"), FailReason.CORRUPT, f"damaged part: {kind_of(error)}")
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
        is_page = kind.endswith("html")  # whose files are read below
        data, members = (data, ()) if is_page else lift_encoded(data, content, sink, place)
        sink.add(_body_text(part, kind, data), content.place(place))
        read_lifted(members, sink)
        if is_page and b"data:" in data:
            read_inline_files(data.decode("latin-1"), content, sink)
    return []


def _is_file(data: bytes) -> bool:
    """Tell a body that is a file of a known kind, whatever its type says."""
    known = by_beginning(data) if b"\0" in data[:64] or data[:2] == b"\x1f\x8b" else ""
    return bool(known) or data.startswith((b"PK\3\4", b"%PDF-", b"\xd0\xcf\x11\xe0"))


def _say_what_lies_elsewhere(part: email.message.Message, kind: str, content: Content, sink: Sink) -> None:
    """Add the address of a body that is kept elsewhere; record that a message is one part of several."""
    if kind == "message/external-body":
        sink.add(_parameters(part), content.place("headers"))
    if kind == "message/partial":
        detail = "part of one message; read as far as it goes alone"
        sink.fail(content.place("part"), FailReason.UNSUPPORTED, detail)


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
            sink.fail(content.place("headers"), FailReason.CORRUPT, f"damaged header: {kind_of(error)}")
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
