"""Mail: headers, every body, attachments to any depth; single messages and mbox files."""

from __future__ import annotations

import email
import email.message
import email.policy
import re
from collections.abc import Iterator
from email.header import decode_header

from phiscan.extract.charset import decode
from phiscan.extract.content import Content, Sink
from phiscan.extract.webpage import html_text
from phiscan.model import FailReason

_FROM_LINE = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
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


class MailExtractor:
    """Read one RFC 5322 message."""

    media_types = frozenset({"message/rfc822"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the headers ``#headers``, each body ``#body``, and read the attachments as members."""
        data = content.data.lstrip()
        if data.startswith(b"From "):  # one message cut out of a mailbox
            data = data.partition(b"\n")[2]
        message = email.message_from_bytes(data, policy=email.policy.compat32)
        read_message(message, content, sink)


class MailboxExtractor:
    """Read an mbox file, message by message."""

    media_types = frozenset({"application/mbox"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read each message as a member, ``message3.eml``."""
        for number, data in enumerate(_messages(content.data), 1):
            sink.take_member()
            sink.read_member(content.member(f"message{number}.eml", data))


def _messages(data: bytes) -> Iterator[bytes]:
    """Split at ``From `` lines that follow a blank line, as mbox readers do."""
    begin = len(data) - len(data.lstrip())
    starts = [
        match
        for match in _FROM_LINE.finditer(data)
        if match.start() == begin
        or data[max(match.start() - 4, 0) : match.start()].endswith((b"\n\n", b"\r\n\r\n"))
    ]
    before = data[: starts[0].start()] if starts else data
    if before.strip():
        yield before  # no mailbox at all, or one that begins in the middle of a message
    for match, following in zip(starts, [*starts[1:], None] if starts else [], strict=True):
        yield data[match.end() : following.start() if following else len(data)]


def read_message(message: email.message.Message, content: Content, sink: Sink) -> None:
    """Read a parsed message into the sink."""
    sink.add("\n".join(_header_lines(message)), content.place("headers"))
    # No mail program shows what stands around the parts; whoever opens the file does.
    around = (message.preamble, message.epilogue)
    sink.add("\n".join(text.strip() for text in around if text and text.strip()), content.place("around"))
    n_bodies = n_attachments = 0
    stack: list[email.message.Message] = [message]
    while stack:
        part = stack.pop()
        if part.get_content_type() == "message/rfc822" and part is not message:
            n_attachments += 1
            _nested(part, n_attachments, content, sink)
            continue
        children = part.get_payload()
        if part.is_multipart() and isinstance(children, list):
            sink.take_member()
            stack.extend(child for child in reversed(children) if isinstance(child, email.message.Message))
            continue
        data = _payload(part)
        name = _file_name(part)
        if name or part.get_content_maintype() != "text":
            n_attachments += 1
            _attachment(part, data, content.member(name or f"attachment{n_attachments}", data), sink)
            if name:
                sink.add(f"Attachment: {name}", content.place("headers"))
        elif data:
            n_bodies += 1
            place = "body" if n_bodies == 1 else f"body{n_bodies}"
            sink.add(_body_text(part, data), content.place(place))


def _nested(part: email.message.Message, number: int, content: Content, sink: Sink) -> None:
    children = part.get_payload()
    name = _file_name(part) or f"message{number}.eml"
    sink.take_member()
    for child in children if isinstance(children, list) else []:
        if not isinstance(child, email.message.Message):
            continue
        inner = content.member(name, b"")
        if inner.depth > sink.limits.depth:
            sink.fail(inner.locator, FailReason.NESTED_TOO_DEEP)
        else:
            read_message(child, inner, sink)


def _attachment(part: email.message.Message, data: bytes, member: Content, sink: Sink) -> None:
    sink.take_member()
    if part.get_content_type() in ("application/pgp-encrypted", "application/pkcs7-mime"):
        sink.fail(member.locator, FailReason.ENCRYPTED)
    elif data:
        sink.read_member(member)


def _header_lines(message: email.message.Message) -> Iterator[str]:
    for key, value in message.items():
        if key.lower() not in _MACHINE_FIELDS:
            yield f"{key}: {_decode_words(str(value))}"


def _decode_words(value: str) -> str:
    """Decode encoded words; a bad one is left as it stands."""
    value = " ".join(value.split())
    if _ENCODED_WORD.search(value):
        try:
            return "".join(
                chunk if isinstance(chunk, str) else _decode_chunk(chunk, encoding)
                for chunk, encoding in decode_header(value)
            )
        except (ValueError, LookupError):
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
    except (ValueError, LookupError, TypeError):
        return ""


def _payload(part: email.message.Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        payload = None
    if isinstance(payload, bytes):
        return payload
    raw = part.get_payload()
    return raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else b""


def _body_text(part: email.message.Message, data: bytes) -> str:
    try:
        text = data.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError, ValueError):
        text, _ = decode(data)
    if part.get_content_subtype() in ("html", "xhtml"):
        return html_text(text)
    if part.get_content_subtype() in ("rtf", "richtext"):
        from phiscan.extract.rich_text import rtf_text  # noqa: PLC0415

        return rtf_text(data)
    return text.replace("\r\n", "\n").replace("\0", " ")
