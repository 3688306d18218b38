r"""Normalise HL7 v2 messages: other encoding characters and the line formats of logs to the standard ones.

The five characters after MSH are the separators of a message, and a sender may choose any; logs write the
ends of segments as escapes, or a time before the first segment. Source: HL7 v2.9, chapter 2 (2.5.4, MSH-1 and
MSH-2).
"""

from __future__ import annotations

import re

STANDARD = "|^~\\&"
_FIELD = r"[^\w\s\"'(){}<>,.:;/-]"
# MSH, the field separator and the encoding characters; logs may double the backslash.
_HEAD = re.compile(
    rf"(?<![A-Za-z0-9_])(?:MSH|FHS|BHS)(?P<field>{_FIELD})(?P<others>[^\w\s]{{3,5}})(?P=field)"
)
_ESCAPED_END = re.compile(r"\\[rn](?=[A-Z][A-Z0-9]{2}\|)")
_ENDS = "\n\r\x0b"
_N_OTHERS = 4


def is_message(text: str) -> bool:
    r"""Return whether a text is a raw HL7 v2 message (or a batch of them).

    >>> is_message("MSH|^~\\&|LAB|"), is_message("MSH#*~\\&#LAB#"), is_message("MSH is short for")
    (True, True, False)
    """
    head = text[:200].lstrip("\ufeff\x0b\r\n ")
    return head.startswith(("MSH|", "FHS|", "BHS|")) or _HEAD.match(head) is not None


def as_standard(text: str) -> str:
    r"""Return a text of equal length with the standard separators, each header at the start of a line.

    >>> as_standard("MSH#*~\\&#LAB\rPID#1##7*A|B")
    'MSH|^~\\&|LAB\rPID|1||7^A#B'
    >>> as_standard(r"MSH|A\rPID|1")
    'MSH|A\r\nPID|1'
    """
    if r"\rPID|" in text or r"\nPID|" in text:
        text = _ESCAPED_END.sub("\r\n", text)
    heads = list(_HEAD.finditer(text)) if "MSH" in text else []
    if not any(_is_nonstandard(head) or _is_within(text, head.start()) for head in heads):
        return text
    parts = [text[: heads[0].start()]]
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        if _is_within(text, head.start()):
            parts[-1] = parts[-1][:-1] + "\n"
        stop = len(text) if following is None else following.start()
        message = text[head.start() : stop]
        parts.append(_translated(message, head) if _is_nonstandard(head) else message)
    return "".join(parts)


def _is_nonstandard(head: re.Match[str]) -> bool:
    return head["field"] != "|" or head["others"].replace("\\\\", "\\")[:_N_OTHERS] != STANDARD[1:]


def _is_within(text: str, start: int) -> bool:
    """Return whether a header is within a line, after one character that is not part of a word."""
    return start > 0 and text[start - 1] not in _ENDS


def _translated(message: str, head: re.Match[str]) -> str:
    """Return a message with its separators replaced by the standard ones, one segment per line."""
    field = head["field"]
    own = field + head["others"].replace("\\\\", "\\")[:_N_OTHERS]
    if len(set(own)) < len(own):
        return message  # no valid separators
    exchange = dict(zip(own, STANDARD, strict=False))
    # The standard characters are plain text in this message; each is swapped with the separator it replaces.
    freed = [sign for sign in own if sign not in STANDARD[: len(own)]]
    exchange.update(zip([sign for sign in STANDARD[: len(own)] if sign not in own], freed, strict=True))
    table = str.maketrans(exchange)
    segment = re.compile(rf"(?:^|(?<=[{_ENDS}]))[A-Z][A-Z0-9]{{2}}{re.escape(field)}[^\n\r]*")
    return segment.sub(lambda match: match[0].translate(table), message)
