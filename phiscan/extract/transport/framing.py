"""How messages stand in files: byte-order marks, Apple Mail's size line, mailboxes, flowed lines.

Source: RFC 4155 (mbox), RFC 3676 (format=flowed), the MMDF mailbox format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.extract.core.charset import decode

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
_HEAD_BYTES = 4096
_QUOTES = re.compile(r">*")


def message_bytes(data: bytes) -> tuple[bytes, bytes]:
    r"""Return the message in a file, and the properties that Apple Mail writes after it.

    >>> message_bytes(b"\xef\xbb\xbfFrom: a\n\nb"), message_bytes(b"10\nFrom: a\n\nb<plist/>")
    ((b'From: a\n\nb', b''), (b'From: a\n\nb', b'<plist/>'))
    """
    head = data[:_HEAD_BYTES]
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
