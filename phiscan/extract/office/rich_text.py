"""RTF: the text of every group that a reader sees, also headers, notes, annotations and embedded files.

A tokeniser of our own: the library at hand (striprtf) lost whole documents and all code pages but one.
Source: Rich Text Format Specification 1.9.1.
"""

from __future__ import annotations

import html
import re
import sys
from dataclasses import dataclass, replace

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.prose import words_of
from phiscan.extract.office.compound_file import codec
from phiscan.extract.office.storage import is_typed
from phiscan.extract.text_codes.digits import from_hex
from phiscan.model import FailReason

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?"  # a control word
    rb"|\\'([0-9a-fA-F]{2})"  # a byte
    rb"|\\([^a-zA-Z'])"  # a control symbol
    rb"|([{}])"
    rb"|[\r\n]+"
    rb"|([^\\{}\r\n]+)"
)
# Groups without text for a reader. Document information is read under its labels.
_SKIPPED = frozenset(
    b"""fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl generator filetbl themedata
    colorschememapping latentstyles datastore xmlnstbl mmathPr fldinst pgdsctbl listtext pntext pntxta
    pntxtb bkmkstart bkmkend template blipuid panose falt wgrffmtfilter datafield operator creatim revtim
    printim buptim nextfile xe tc rxe private1 picprop defchp defpap pnseclvl fontemb fontfile
    hlinkbase""".split()
)
# Of these, what only a program reads; what is in the others, or in a group that no program knows, is
# read as hidden text.
_MACHINE = frozenset(
    b"""fonttbl colortbl stylesheet listtable listname listoverridetable rsidtbl generator filetbl themedata
    pict colorschememapping latentstyles datastore xmlnstbl mmathPr pgdsctbl pntxta
    pntxtb bkmkend blipuid panose falt wgrffmtfilter datafield creatim revtim printim
    buptim picprop defchp defpap pnseclvl fontemb fontfile objclass objname objtime oldcprops
    oldpprops oldsprops oldtprops passwordhash protusertbl""".split()
)
_LIST_TEXTS = frozenset((b"listtext", b"pntext"))  # numbers and bullets, mostly
_SHOWN_IGNORABLE = frozenset(
    b"""shptxt shpinst annotation atnauthor atnid footnote nonshppict fldrslt company manager sp txe
    htmltag""".split()
)
_INFO = frozenset(b"title subject author manager company keywords comment doccomm category".split())
_BREAKS = frozenset(b"par line sect page row nestrow softline column".split())
_SYMBOLS = {
    b"tab": "\t", b"cell": "\t", b"nestcell": "\t", b"emdash": "\u2014", b"endash": "\u2013",
    b"lquote": "\u2018", b"rquote": "\u2019", b"ldblquote": "\u201c", b"rdblquote": "\u201d",
    b"bullet": "\u2022", b"emspace": " ", b"enspace": " ", b"qmspace": " ",
}  # fmt: skip
_SYMBOL_TEXTS = {b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\r": "\n", b"\n": "\n"}
_OLD_CHARSETS = {b"mac": "mac-roman", b"pc": "cp437", b"pca": "cp850"}
# The shape properties that a reader sees: alternative text, name, WordArt.
_SHAPE_TEXTS = frozenset({"wzDescription", "gtextUNICODE", "wzTooltip"})
_PRINTABLE = bytes({*range(0x20, 0x7F), *b"\t\r\n"})
_AUTOMATIC_BOOKMARK = re.compile(r"_?(?:Toc|Ref|Hlt|Hlk|GoBack|OLE_LINK)[\w.]*$")
_HTML_VALUE = re.compile(r"<!--(.*?)-->|\s(?:alt|title|content|value)\s*=\s*\"([^\"]+)\"", re.DOTALL)
_HTML_TAG = re.compile(r"<!--.*?(?:-->|$)|<[^>]*(?:>|$)", re.DOTALL)
_MAX_DEPTH = 10_000


def read_rich_text(content: Content, sink: Sink) -> None:
    """Add the text, what follows the document, its information, and embedded objects as members.

    What cannot be read as RTF to its end is recorded, and added as it is.
    """
    reader = _Reader(content.data)
    sink.add(reader.read(), content.locator)
    if reader.damage is not None:
        sink.fail(content.locator, FailReason(reader.damage.reason), reader.damage.detail)
    rest = sink.bound(reader.rest.strip(b"\0 \t\r\n"), content.locator)
    sink.add(decode(rest)[0], content.place("rest"))
    sink.add(_tidy("".join(reader.hidden)), content.place("hidden"))
    sink.add("\n".join(reader.info), content.place("properties"))
    for number, data in enumerate(reader.objects, 1):
        sink.add_member(content, f"object{number}", data)
    for number, data in enumerate(reader.pictures, 1):
        if sniff(data).startswith("image/"):
            sink.add_member(content, f"picture{number}", data)


def rtf_text(data: bytes) -> str:
    r"""Return the text of an RTF document.

    >>> rtf_text(rb"{\rtf1\ansi Montr\'e9al\par {\b Dr.} Roy}")
    'Montréal\nDr. Roy'

    Raises:
        ExtractError: corrupt; it is no RTF.
    """
    reader = _Reader(data)
    text = reader.read()
    rest = decode(reader.rest.strip(b"\0 \t\r\n"))[0]
    lines = _tidy("".join(reader.hidden)).split("\n")
    hidden = [line for line in lines if len(words_of(line)) > 1 and not line.startswith(("[if ", "[endif"))]
    return "\n".join([text, *([rest] if rest else []), *hidden])


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits from the one around it."""

    encoding: str = "cp1252"
    skip_chars: int = 1  # characters that stand for a Unicode one, for old readers
    destination: bytes = b""
    hidden: bool = False


class _Reader:
    """Walks the tokens of one document, once."""

    def __init__(self, data: bytes) -> None:
        start = data.find(b"{\\rtf")
        if start < 0:
            raise ExtractError(FailReason.CORRUPT, "no RTF header")
        self.data = data[start:]
        self.rest = b""  # what is no part of the RTF, or cannot be read as such
        self.damage: ExtractError | None = None
        self.info: list[str] = []
        self.objects: list[bytes] = []
        self.pictures: list[bytes] = []
        self.hidden: list[str] = []
        self._state = _State()
        self._stack: list[_State] = []
        self._fresh = self._ignorable = False  # at the beginning of a group; after its asterisk
        self._to_skip = 0
        self._pieces: list[str] = []
        self._pending = bytearray()
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._field: list[str] = []
        self._object = bytearray()
        self._property = ""  # the name of the shape property being read

    def read(self) -> str:
        """Return the text; document information, objects, damage and the rest are in the attributes."""
        at = 0
        while at < len(self.data):
            match = _TOKEN.match(self.data, at)
            if match is None:  # a lone backslash, a byte without its digits
                at += 1
                continue
            at = match.end()
            if match[5]:
                if not self._group(match[5], at):
                    break
            elif match[1] == b"bin" and match[2] and int(match[2]) > 0:
                skip = self._binary(int(match[2]), at)
                if skip < 0:
                    break
                at += skip
            else:
                self._token(match)
        else:
            if self._stack:
                self.damage = ExtractError(FailReason.CORRUPT, "RTF cut short")
        self._flush()
        return _tidy("".join(self._pieces))

    def _token(self, match: re.Match[bytes]) -> None:
        word, number, byte, symbol, _, text = match.groups()
        if word:
            self._control(word, int(number) if number else None)
        elif byte:
            self._literal(bytes([int(byte, 16)]))
        elif text:
            self._literal(text)
        elif symbol:
            self._symbol(symbol)

    def _group(self, brace: bytes, at: int) -> bool:
        """Begin or end a group; False where the document ends, or groups are nested too deep."""
        if len(self._stack) > _MAX_DEPTH:
            self._give_up(at, FailReason.NESTED_TOO_DEEP, "RTF groups")
            return False
        if not self._brace(brace):
            self.rest = self.data[at:]
            return False
        return True

    def _binary(self, n_bytes: int, at: int) -> int:
        """Return how many bytes to pass over as binary; -1 where there are not that many."""
        if n_bytes > len(self.data) - at:
            self._give_up(at, FailReason.CORRUPT, "RTF binary data longer than the file")
            return -1
        # The data of a picture or an object; anywhere else the bytes are text.
        if self._state.destination == b"pict":
            self._object[:] = self.data[at : at + n_bytes].hex().encode()
        if self._state.destination == b"objdata" or self._state.destination in _MACHINE:
            return n_bytes
        data = self.data[at : at + n_bytes]
        return n_bytes if self._state.hidden and data.translate(None, _PRINTABLE) else 0

    def _give_up(self, at: int, reason: FailReason, detail: str) -> None:
        self.damage = ExtractError(reason, detail)
        self.rest = self.data[at:]

    def _brace(self, brace: bytes) -> bool:
        """Begin or end a group; False after the end of the document."""
        self._flush()
        self._to_skip, self._ignorable = 0, False
        self._fresh = brace == b"{"
        if self._fresh:
            self._stack.append(self._state)
            return True
        self._close()
        if self._stack:
            self._state = self._stack.pop()
        return bool(self._stack)

    def _control(self, word: bytes, value: int | None) -> None:
        self._flush()
        if self._fresh:
            self._fresh = False
            self._enter(word)
        if word == b"u" and value is not None:
            self._put(character(value))
            self._to_skip = self._state.skip_chars
        elif self._to_skip and word in _SYMBOLS:
            self._to_skip -= 1
        else:
            self._word(word, value)

    def _literal(self, data: bytes) -> None:
        self._fresh = False
        if self._to_skip:
            cut = min(self._to_skip, len(data))
            self._to_skip -= cut
            data = data[cut:]
        if self._state.destination in (b"objdata", b"pict"):
            self._object += data
        elif not self._state.hidden or self._state.destination not in _MACHINE:
            self._pending += data

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*" and self._fresh:
            self._ignorable = True
            return
        self._fresh = False
        self._flush()
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._put(_SYMBOL_TEXTS.get(symbol, ""))

    def _enter(self, word: bytes) -> None:
        """Begin a group whose first word is ``word``."""
        hidden = self._state.hidden
        if word in _INFO or word in (b"sn", b"sv"):
            self._field = []
            hidden = False
        elif word == b"pict":
            self._object = bytearray()
            hidden = True
        elif word == b"objdata":
            self._object = bytearray()
            hidden = False
        elif word in _SHOWN_IGNORABLE:
            hidden = False
        elif hidden and self._state.destination in _MACHINE:
            return  # a style within the style sheet, a font within the table
        elif word in _SKIPPED or word in _MACHINE or self._ignorable:
            hidden = True
        else:
            return
        self._state = replace(self._state, destination=word, hidden=hidden)

    def _word(self, word: bytes, value: int | None) -> None:
        if word in _BREAKS:
            self._put("\n")
        elif word in _SYMBOLS:
            self._put(_SYMBOLS[word])
        elif word in _OLD_CHARSETS:
            self._state = replace(self._state, encoding=_OLD_CHARSETS[word])
        elif value is not None:
            self._number(word, value)

    def _number(self, word: bytes, value: int) -> None:
        """Apply a word with a number: code pages, fonts."""
        if word == b"ansicpg":
            self._state = replace(self._state, encoding=codec(value))
        elif word == b"uc":
            self._state = replace(self._state, skip_chars=max(value, 0))
        elif word == b"f":
            self._font = value
            if self._state.destination != b"fonttbl" and value in self._fonts:
                self._state = replace(self._state, encoding=self._fonts[value])
        elif word == b"fcharset":
            self._fonts[self._font] = codec(CHARSETS[value]) if value in CHARSETS else self._state.encoding

    def _flush(self) -> None:
        """Decode the bytes gathered so far; multi-byte characters come as several escapes."""
        if self._pending:
            data, self._pending = bytes(self._pending), bytearray()
            self._put(data.decode(self._state.encoding, "replace"))

    def _put(self, text: str) -> None:
        destination = self._state.destination
        if self._state.hidden:
            if destination == b"bkmkstart":
                text = "" if _AUTOMATIC_BOOKMARK.match(text) else text.replace("_", " ")
            is_number = destination in _LIST_TEXTS and not is_typed(text.strip())
            if destination and destination not in _MACHINE and not is_number:
                self.hidden.append(text)
            return
        if destination == b"objdata":
            return
        if destination in _INFO or destination in (b"sn", b"sv"):
            self._field.append(text)
        elif destination == b"htmltag" and "<" in text:
            self._html(text)
        else:
            self._pieces.append(text)

    def _html(self, source: str) -> None:
        """Take tags of a page within RTF: comments and values are hidden text; the rest is shown."""
        self.hidden += [f"{''.join(found)}\n" for found in _HTML_VALUE.findall(source)]
        self._pieces.append(html.unescape(_HTML_TAG.sub("", source)))

    def _shape_value(self, value: str) -> None:
        """Take a property of a shape that a person may have written."""
        if self._property in _SHAPE_TEXTS:
            self._pieces.append(f" {value} ")
        elif self._property == "wzName" and " " in value and is_typed(value):
            self.hidden.append(f"{value}\n")

    def _close(self) -> None:
        """End a group: hand over what it gathered."""
        destination = self._state.destination
        value = "".join(self._field).strip()
        if destination == b"sn":
            self._property = value
        elif destination == b"sv":
            self._shape_value(value)
        elif destination in _INFO and value:
            self.info.append(f"{destination.decode('ascii')}: {value}")
        elif destination == b"objdata" and self._object:
            data = object_bytes(bytes(self._object))
            self._object = bytearray()
            if data:
                self.objects.append(data)
        elif destination == b"pict" and self._object:
            self.pictures.append(hex_bytes(bytes(self._object)))
            self._object = bytearray()
        elif self._state.hidden and self.hidden:
            self.hidden.append("\n")
        elif destination in (b"footnote", b"annotation", b"shptxt"):
            self._pieces.append("\n")
        self._field = []


def _tidy(text: str) -> str:
    """Join surrogate pairs; no NUL, no empty lines at the ends."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = (line.strip(" \t\xa0") for line in text.replace("\0", " ").split("\n"))
    return "\n".join(line for line in lines if line)


CHARSETS = {
    77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255,
    178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250,
}  # fmt: skip


def character(value: int) -> str:
    r"""Return the character of ``\u``: a signed 16-bit number; half of a pair stays a half."""
    code = value + 0x10000 if value < 0 else value
    return chr(code) if 0 < code <= sys.maxunicode else ""


_HEX = re.compile(rb"[0-9a-fA-F\s]+")


def object_bytes(data: bytes) -> bytes:
    """Return the compound file within an object's hexadecimal data; empty where there is none."""
    raw = hex_bytes(data)
    at = raw.find(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    return raw[at:] if at >= 0 else b""


def hex_bytes(data: bytes) -> bytes:
    """Return the bytes after hexadecimal digits, up to the first other character."""
    match = _HEX.match(data)
    return from_hex(match.group()) if match else b""
