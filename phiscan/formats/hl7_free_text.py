r"""Extract the free text of HL7 v2 messages: remarks, reports, reasons, with escape sequences decoded.

A report that a sender broke into lines without escaping them continues until the next segment. Source: HL7
v2.9, chapters 2 (NTE), 2A (data types FT, ST, TX; escape sequences: \T\ is "&", \.br\ a line end), 3 (PV2), 4
(OBR, RXE, RXO), 7 (OBX) and 10 (SCH).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from phiscan.formats.hl7_encoding import as_standard, is_message
from phiscan.formats.message_fields import DATED, FIELDS
from phiscan.text.passages import Passage, Piece

_AT_START = r"(?:^|(?<=[\n\r\x0b]))"
_BEGIN = re.compile(_AT_START + r"[A-Z][A-Z0-9]{2}(?=\|)")
# In other text only known segments, since tables with bars may have names of three letters.
_OTHERS = (
    "ABS|ADD|AUT|BLG|BTS|CSS|CSR|DSC|DSP|ERR|FTS|IN3|IPC|MFE|MFI|MSA|NPU|ODS|OM1|ORG|PDC|QAK|QPD|RCP|RDF|RGS"
    "|RXC|RXG|SFT|SPR|STF|TQ2|UAC"
)
_KNOWN = re.compile(rf"{_AT_START}(?:{'|'.join((*FIELDS, *DATED, _OTHERS))})(?=\|)")
_HEADER = re.compile(_AT_START + r"(?:MSH|PID|FHS|BHS)\|")
_LINE_END = re.compile(r"[\r\n]+")
_HEAD_CHARS, _LINE_CHARS = 400, 4_000
_CONTINUES = re.compile(r"NTE\||OBX\|[^|\n]{0,20}\|(?:FT|TX)\|")  # a text that may have lines
# A file embedded in a message, as lines of base64.
_ENCODED = re.compile(r"(?:[\r\n]+[A-Za-z0-9+/]{40,}+={0,2}(?=[\r\n]|\Z))*+")
_TEXT_TYPES = frozenset({"TX", "FT", "ST"})
_MAX_RESULT_WORDS = 3
_OF_A_NAME = re.compile(r"\b(?:drs?|dre|mrs?|ms|miss|mme|mlle)\b|[,^]", re.IGNORECASE)
_ASKS_FOR_PERSON = re.compile(
    r"\b(?:names?|noms?|prénoms?|contact|person(?:ne)?|who|qui|by|par|caller|to|patient|mother|father|parent|spouse"
    r"|partner|husband|wife|guardian|kin|relative|caregiver|mère|père|conjointe?|tuteur|tutrice|aidante?|provider"
    r"|physician|doctor|nurse|midwife|prescriber|pathologist|radiologist|technologist|interpreter|witness|author"
    r"|médecin|infirmi[eè]re?|signature|employer|employeur|remarks?|comments?|notes?|commentaires?|remarques?)\b",
    re.IGNORECASE,
)
# Text fields, by segment; of coded fields, the components with text are used.
_PLAIN: Mapping[str, int] = MappingProxyType({"NTE": 3, "OBX": 5})
_CODED: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"OBR": (13, 31), "PV2": (3,), "SCH": (7,), "RXE": (7,), "RXO": (6,)}
)
_ESCAPE = re.compile(  # logs may double each backslash
    r"\\{1,2}(?:[EFHNRST]|\.(?:br|sp|ce|fi|nf|in|ti|sk)[+-]?\d{0,4}|X(?:[0-9A-Fa-f]{2}){1,40}"
    r"|[CMZ][0-9A-Za-z]{1,12})\\{1,2}"
)
_SIGNS: Mapping[str, str] = MappingProxyType(
    {"E": "\\", "F": "|", "R": "~", "S": "^", "T": "&", "H": "", "N": ""}
)
_LINE_ENDS = frozenset({".br", ".sp", ".ce"})
_WORDS = re.compile(r"[^\W\d_]{2,}[ ,.]{1,2}[^\W\d_]{2}")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def holds_messages(text: str) -> bool:
    """Return whether a text contains messages, at its start or later, as in an interface log."""
    return _HEADER.search(as_standard(text)) is not None


def is_in_message(text: str, head: int, offset: int) -> bool:
    """Return whether an offset is in a message: anywhere after its header, else in a segment."""
    if is_message(text[head : head + _HEAD_CHARS]):
        return True
    start = max(text.rfind(end, max(0, offset - _LINE_CHARS), offset) for end in "\n\r\x0b") + 1
    return _KNOWN.match(text, start) is not None


def passages(text: str) -> Iterator[Passage]:
    r"""Yield the free text of messages, one passage per field, component or repetition, and other text.

    Lines after a segment that do not belong to it are other text; those of a report belong to the report.

    >>> [p.text for passage in passages("MSH|^~\\&|LAB\rNTE|1||Roy \\T\\ Fils") for p in passage]
    ['Roy ', '&', ' Fils']
    """
    text = as_standard(text)
    begin = _BEGIN if is_message(text) else _KNOWN
    starts = [(match.start(), match[0]) for match in begin.finditer(text)]
    if not starts:
        yield [Piece(0, len(text), text)]
        return
    ends = [start for start, _ in starts[1:]] + [len(text)]
    if begin is _KNOWN and starts and starts[0][0]:
        yield [Piece(0, starts[0][0], text[: starts[0][0]])]
    for (start, name), end in zip(starts, ends, strict=True):
        line = _LINE_END.search(text, start, end)
        goes_on = begin is _BEGIN and _CONTINUES.match(text, start) is not None
        if goes_on:
            line = _LINE_END.search(text, _value_end(text, start, end, name), end)
        stop = end if line is None else line.start()
        if name in _PLAIN or name in _CODED:
            yield from _of_segment(text[start:stop], start, name)
        elif name[0] == "Z":
            yield from _of_site(text[start:stop], start)
        stop = _ENCODED.match(text, stop, end).end()  # type: ignore[union-attr] # it matches nothing, too
        if stop < end and (begin is _KNOWN or not text[stop:end].isspace()):
            yield [Piece(stop, end, text[stop:end])]


def _value_end(text: str, start: int, end: int, name: str) -> int:
    """Return the end of the text of a report or remark: the next bar, if there is one."""
    for _ in range(_PLAIN[name] + 1):
        bar = text.find("|", start, end)
        if bar < 0:
            return end
        start = bar + 1
    return start


def _of_segment(segment: str, position: int, name: str) -> Iterator[Passage]:
    fields = segment.split("|")
    numbers = _CODED.get(name) or (_PLAIN[name],)
    if name == "OBX" and not _is_text(fields):
        return
    for number, field in enumerate(fields):
        if number in numbers:
            for start, value in _split(field, position, "~"):
                for inner, part in [(start, value)] if name in _PLAIN else _split(value, start, "^"):
                    if name in _PLAIN or " " in part.strip():  # one word alone is a code
                        yield _read(part, inner)
        position += len(field) + 1


def _of_site(segment: str, position: int) -> Iterator[Passage]:
    """Yield the fields of a site-defined (Z) segment with more than one word."""
    for start, field in _split(segment, position, "|"):
        if _WORDS.search(field) and "^" not in field:
            yield _read(field, start)


def _is_text(fields: list[str]) -> bool:
    """Return whether the value of an observation is free text.

    A string of a few words is a test result ("Amber", "CANDIDA ALBICANS", "Jackson Pratt"), unless the
    observation is about a person or the value has the form of a name.
    """
    if len(fields) < 6 or fields[2] not in _TEXT_TYPES:  # noqa: PLR2004 (the value is the sixth element)
        return False
    words = sum(any(map(str.isalpha, word)) for word in fields[5].split())
    return (
        fields[2] != "ST"
        or words > _MAX_RESULT_WORDS
        or _OF_A_NAME.search(fields[5]) is not None
        or _ASKS_FOR_PERSON.search(fields[3]) is not None
    )


def _split(value: str, position: int, separator: str) -> Iterator[tuple[int, str]]:
    for part in value.split(separator):
        if any(char.isalpha() for char in part):
            yield position, part
        position += len(part) + 1


def _read(value: str, position: int) -> Passage:
    pieces = []
    done = 0
    for match in _ESCAPE.finditer(value):
        if match.start() > done:
            pieces.append(Piece(position + done, position + match.start(), value[done : match.start()]))
        pieces.append(Piece(position + match.start(), position + match.end(), _decoded(match[0].strip("\\"))))
        done = match.end()
    if done < len(value):
        pieces.append(Piece(position + done, position + len(value), value[done:]))
    return pieces


def _decoded(escape: str) -> str:
    """Return the text of an escape sequence; of an unknown one a space."""
    if escape in _SIGNS:
        return _SIGNS[escape]
    if escape[0] == "X":
        raw = bytes.fromhex(escape[1:])
        try:
            shown = raw.decode("utf-8")
        except UnicodeDecodeError:
            shown = raw.decode("latin-1")
        return _CONTROL.sub(" ", shown.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n" if escape[:3] in _LINE_ENDS else " "
