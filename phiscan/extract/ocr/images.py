"""Pictures: their text through OCR, and the metadata that cameras and scanners write.

A picture within a document or a container is skipped when it is too small or too even for text: an icon, a
rule, a patch of one colour. The same picture is read once per file.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.prose import MIN_WORDS, words_of
from phiscan.extract.core.unsupported import strings
from phiscan.extract.ocr.picture_values import (
    COMMENT,
    EXIF,
    IPTC,
    REST,
    XMP,
    Block,
    best_decoded,
    block_texts,
    blocks,
    comment_text,
    resources,
    run_texts,
    text_of,
)
from phiscan.extract.ocr.recognition import read_picture
from phiscan.model import FailReason

# What cameras and people write into a picture beside its pixels: EXIF, GPS, XMP, IPTC, comments.

_XMP = re.compile(rb"<x:xmpmeta\b.*?</x:xmpmeta>", re.DOTALL)
_RDF = re.compile(rb"<rdf:RDF\b.*</rdf:RDF>", re.DOTALL)
_EXIF_TEXT = {
    0x010E: "Description", 0x010F: "Make", 0x0110: "Model", 0x0132: "Date", 0x013B: "Artist",
    0x013C: "Host computer", 0x010D: "Document name", 0x011D: "Page name", 0x8298: "Copyright",
    0x9C9B: "Title", 0x9C9C: "Comment", 0x9C9D: "Author", 0x9C9E: "Keywords", 0x9C9F: "Subject",
}  # fmt: skip
_EXIF_INNER = {
    0x9003: "Date taken", 0x9286: "User comment", 0xA430: "Owner name", 0xA431: "Device serial number",
    0xA435: "Lens serial number", 0xA420: "Image ID", 0x927C: "Maker note",
}  # fmt: skip
EXIF_IFD, GPS_IFD, INTEROP_IFD, SUB_IFDS = 0x8769, 0x8825, 0xA005, 0x014A
_GPS_TEXT = {0x1B: "GPS method", 0x1C: "GPS area"}
_COMMENTS = frozenset({(EXIF_IFD, 0x9286), (GPS_IFD, 0x1B), (GPS_IFD, 0x1C)})
_WINDOWS_TAGS = range(0x9C9B, 0x9CA0)  # UTF-16
_XMP_TAG, _IPTC_TAG, _RESOURCES_TAG, _MAKER_NOTE = 0x02BC, 0x83BB, 0x8649, 0x927C
# Software, dates, versions, colours, tables of a codec, Photoshop's layers, make and model of parts.
_MACHINE_TAGS = frozenset(
    (
        *(0x0001, 0x0002, 0x001D, 0x00FE, 0x010F, 0x0110, 0x0131, 0x0132, 0x013D, 0x015B, 0x8773, 0x9000),
        *(0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9101, 0x9290, 0x9291, 0x9292, 0x935C, 0xA000, 0xA300),
        *(0xA301, 0xA302, 0xA40B, 0xC4A5),
    )
)
_BYTES, _ASCII, _UNDEFINED, _UTF8 = 1, 2, 7, 129
_IPTC = {
    (2, 5): "Title", (2, 25): "Keywords", (2, 40): "Instructions", (2, 55): "Date created",
    (2, 80): "By-line", (2, 85): "By-line title", (2, 90): "City", (2, 92): "Location", (2, 95): "Province",
    (2, 101): "Country", (2, 103): "Reference", (2, 105): "Headline", (2, 110): "Credit",
    (2, 116): "Copyright", (2, 118): "Contact", (2, 120): "Caption", (2, 122): "Caption writer",
}  # fmt: skip
_MOST_PACKETS = 50  # of XMP
_MOST_PACKET_BYTES = 4 * 1024**2
_MOST_LINES = 5_000
_IPTC_HEAD = 5
_MIN_BYTES_TEXT = 6  # characters of a text in a tag of bytes
_UNWALKED = frozenset({"BMP", "PPM", "PCX", "TGA", "ICO", "DDS", "AVIF"})  # formats whose blocks are not read


def metadata_text(image: Any, data: bytes) -> str:
    """Return the metadata of an opened picture as ``label: value`` lines; damaged parts are left out."""
    lines: dict[str, None] = {}
    packets: list[bytes] = []
    for block in chain(blocks(data), _decoded(image)):
        if block.kind == XMP:
            packets.append(block.data)
        for line in _lines(block, packets):
            lines[line] = None
        if len(lines) > _MOST_LINES:
            break
    for read in (_position, _info):
        try:
            lines.update(dict.fromkeys(read(image)))
        except Exception:  # noqa: BLE001, S112 (metadata is damaged in many ways; the picture is still read)
            continue
    if not packets:
        packets += (match.group() for match in _XMP.finditer(data))
    for text in dict.fromkeys(_xmp_text(packet) for packet in dict.fromkeys(packets[:_MOST_PACKETS])):
        lines[text] = None
    return "\n".join(line for line in lines if line)


def _decoded(image: Any) -> Iterator[Block]:
    """Yield the blocks that the decoder has, of a format whose blocks are not walked."""
    if getattr(image, "format", "") == "GIF" and (comment := image.info.get("comment")):
        yield Block(COMMENT, "comment", bytes(comment))
    if getattr(image, "format", "") in ("AVIF", "WEBP"):
        for key, kind in (("exif", EXIF), ("xmp", XMP)):
            if data := image.info.get(key):
                yield Block(kind, "", bytes(data).removeprefix(b"Exif\0\0"))


def _lines(block: Block, packets: list[bytes]) -> Iterator[str]:
    """Yield the lines of one block; XMP within it is added to the packets."""
    if block.kind == EXIF:
        for tag in tags(block.data):
            yield from _tag_lines(tag, packets)
    elif block.kind == IPTC:
        yield from _iptc(block.data)
    elif block.kind == COMMENT:
        text = text_of(block.data)
        if text or " " in block.name:  # a text may be in the place of a keyword
            yield f"{block.name}: {text}".removesuffix(": ")
    elif block.kind not in (XMP, REST):
        yield from (f"{block.name}: {text}" for text in block_texts(block.data))


def _tag_lines(tag: Tag, packets: list[bytes]) -> Iterator[str]:
    if tag.number == _XMP_TAG:
        packets.append(tag.data)
    elif tag.number == _IPTC_TAG:
        yield from _iptc(tag.data)
    elif tag.number == _RESOURCES_TAG:
        for block in resources(tag.data):
            yield from _lines(block, packets)
    else:
        for text in _tag_texts(tag):
            yield from _labelled(tag, text)


def _tag_texts(tag: Tag) -> Iterable[str]:
    if (tag.directory, tag.number) in _COMMENTS:
        return (comment_text(tag.data),)
    if tag.number in _WINDOWS_TAGS and tag.directory == 0:
        return (best_decoded(tag.data, ("utf-16-le", "utf-8")),)
    if tag.number == _MAKER_NOTE:
        return run_texts(tag.data)
    is_labelled = tag.number in _EXIF_TEXT or tag.number in _EXIF_INNER
    if is_labelled or (tag.number not in _MACHINE_TAGS and tag.kind in (_ASCII, _UTF8)):
        return (text_of(tag.data),)
    if tag.number not in _MACHINE_TAGS and tag.kind in (_BYTES, _UNDEFINED):
        return (text for text in block_texts(tag.data) if len(text) >= _MIN_BYTES_TEXT)
    return ()


def _labelled(tag: Tag, text: str) -> Iterator[str]:
    labels = _GPS_TEXT if tag.directory == GPS_IFD else _EXIF_TEXT | _EXIF_INNER
    if len(text) > 1:
        yield f"{labels.get(tag.number, f'Tag {tag.number}')}: {text}"


def _position(image: Any) -> Iterator[str]:
    """Yield where a photograph was taken, in degrees, as a map would take it."""
    gps = image.getexif().get_ifd(GPS_IFD)
    degrees = []
    for side, parts in ((gps.get(1), gps.get(2)), (gps.get(3), gps.get(4))):
        if side and parts:
            value = sum(float(part) / 60**power for power, part in enumerate(parts))
            degrees.append(f"{-value if side in ('S', 'W') else value:.5f}")
    if len(degrees) == 2:  # noqa: PLR2004 (latitude and longitude)
        yield f"GPS position: {', '.join(degrees)}"


def _iptc(data: bytes) -> Iterator[str]:
    """Yield the texts of IPTC data sets: a mark, record, number and length before each."""
    at = data.find(b"\x1c")
    is_utf8 = b"\x1c\x01\x5a\x00\x03\x1b%G" in data
    while at >= 0 and at + _IPTC_HEAD <= len(data) and data[at] == 0x1C:  # noqa: PLR2004 (the mark)
        record, number = data[at + 1], data[at + 2]
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        value = data[at + _IPTC_HEAD : at + _IPTC_HEAD + length]
        at += _IPTC_HEAD + length
        label = _IPTC.get((record, number), f"IPTC {record}:{number}")
        text = value.decode("utf-8", "replace").strip("\0 ") if is_utf8 else text_of(value)
        if len(text) > 1 and record > 1:
            yield f"{label}: {text}"


def _info(image: Any) -> Iterator[str]:
    """Yield the texts that the decoder found, of formats whose blocks are not walked."""
    if image.format in _UNWALKED:
        for key, value in image.info.items():
            if isinstance(value, str):
                yield f"{key}: {value}"


def _xmp_text(packet: bytes) -> str:
    """Return the fields of an XMP packet, in any encoding, with or without its outer element."""
    from phiscan.extract.structured.xml_markup import labelled_text  # noqa: PLC0415 (lxml)

    packet = packet[:_MOST_PACKET_BYTES]
    if b"\0" in packet[:64]:
        packet = text_of(packet).encode("utf-8", "replace")
    whole = _XMP.search(packet) or _RDF.search(packet)
    return labelled_text(whole.group()) if whole else ""


_POINTERS = frozenset({EXIF_IFD, GPS_IFD, INTEROP_IFD, SUB_IFDS})
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 129: 1}
_MOST_IFDS, _MOST_TAGS, _MOST_POINTERS = 600, 6_000, 64
_MOST_BYTES = 4 * 1024**2  # of one value
_ENTRY = 12


@dataclass(frozen=True, slots=True)
class Tag:
    """One entry: the pointer tag of its directory (0: a page), its number, its type and its bytes."""

    directory: int
    number: int
    kind: int
    data: bytes = field(repr=False)


def tags(data: bytes) -> Iterator[Tag]:
    """Yield the entries of bytes and texts of all directories, pages first; nothing of another structure."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None or len(data) < _ENTRY:
        return
    pending = [(struct.unpack_from(f"{order}I", data, 4)[0], 0)]
    seen: set[int] = set()
    n_tags = 0
    while pending and len(seen) < _MOST_IFDS:
        at, directory = pending.pop(0)
        if at in seen or not 8 <= at <= len(data) - 2:  # noqa: PLR2004 (behind the header)
            continue
        seen.add(at)
        (n_entries,) = struct.unpack_from(f"{order}H", data, at)
        n_entries = min(n_entries, (len(data) - at - 2) // _ENTRY, _MOST_TAGS - n_tags)
        n_tags += n_entries
        for entry in range(at + 2, at + 2 + n_entries * _ENTRY, _ENTRY):
            number, kind, count = struct.unpack_from(f"{order}HHI", data, entry)
            value = _value(data, order, entry, kind, count)
            if number in _POINTERS and len(value) >= 4:  # noqa: PLR2004 (one address)
                n_addresses = min(len(value) // 4, _MOST_POINTERS)
                found = struct.unpack_from(f"{order}{n_addresses}I", value)
                pending += [(place, number) for place in found]
            elif value:
                yield Tag(directory, number, kind, value)
        end = at + 2 + n_entries * _ENTRY
        if directory in (0, SUB_IFDS) and end + 4 <= len(data):
            pending.append((struct.unpack_from(f"{order}I", data, end)[0], directory))


def _value(data: bytes, order: str, entry: int, kind: int, count: int) -> bytes:
    n_bytes = _SIZES.get(kind, 0) * count
    if not 0 < n_bytes <= _MOST_BYTES:
        return b""
    if n_bytes <= 4:  # noqa: PLR2004 (within the entry)
        return data[entry + 8 : entry + 8 + n_bytes]
    (at,) = struct.unpack_from(f"{order}I", data, entry + 8)
    return data[at : at + n_bytes]


_MAX_PAGES = 500
_ANIMATED = frozenset({"GIF", "WEBP", "PNG"})  # whose frames are often alike
_MIN_SIDE = 24  # pixels; smaller pictures are icons, with no text a reader could see
_MIN_STRIP_SIDE, _MIN_STRIP_LENGTH = 12, 100  # of a line cut from a screen
# Within a document: a label of 200 x 80 pixels is read, a button or a bullet is not.
_MIN_EMBEDDED_SIDE = 40
_MIN_EMBEDDED_AREA = 16_000
_MAX_ASPECT = 20  # longer ones are rules and borders
_MOST_SQUEEZED = 4.0  # dots across to one down; the coarsest fax has 204 to 98
_BLUR_RADIUS = 0.8  # pixels
_FAINT = 64  # of 255 grey levels, below which a picture is looked at in colour
_MOST_LEVELS = 32  # of grey in a drawn picture
_MIN_CONTRAST = 24  # of 255 grey levels between the darkest and the lightest


IMAGE_TYPES = frozenset(
    {
        *("image/png", "image/jpeg", "image/tiff", "image/bmp", "image/gif", "image/webp"),
        *(
            "image/avif",
            "image/jp2",
            "image/qoi",
            "image/vnd.ms-dds",
            "image/vnd.zbrush.pcx",
            "image/sgi",
        ),
        *("image/x-portable-anymap", "image/x-tga"),
    }
)


def read_image(content: Content, sink: Sink) -> None:
    """Add the metadata ``#metadata``, then one segment per page."""
    from PIL import Image  # noqa: PLC0415 (heavy)

    if not sink.is_new_picture(content.data):
        return
    try:
        image = Image.open(io.BytesIO(content.data))
    except Image.DecompressionBombError:
        raise ExtractError(FailReason.TOO_LARGE, "too many pixels") from None
    except (OSError, ValueError, SyntaxError) as error:
        raise ExtractError(FailReason.CORRUPT, kind_of(error)) from None
    sink.add(metadata_text(image, content.data), content.place("metadata"))
    n_pages, is_whole = _count_pages(image)
    if not is_whole:
        sink.fail(content.place(f"p{n_pages + 1}"), FailReason.CORRUPT, "damaged page")
    for number in range(min(n_pages, _MAX_PAGES)):
        place = content.locator if n_pages == 1 else content.place(f"p{number + 1}")
        if number == 0 and not _has_readable_size(image.size, embedded=content.depth > 0):
            continue
        read_picture(lambda number=number: _page(image, number, content, sink), place, sink)  # type: ignore[misc]
    if n_pages > _MAX_PAGES:
        first = content.place(f"p{_MAX_PAGES + 1}")
        sink.fail(first, FailReason.TOO_LARGE, f"pages {_MAX_PAGES + 1} to {n_pages} are not read")
    read_appended(content, sink)


def _count_pages(image: Any) -> tuple[int, bool]:
    """Return the number of pages up to the first one that is damaged, and whether there is none such."""
    try:
        return int(getattr(image, "n_frames", 1)), True
    except Exception:  # noqa: BLE001 (a decoder fails on damage in many ways)
        n_pages = 1
    with suppress(Exception):
        while n_pages < _MAX_PAGES:
            image.seek(n_pages)
            n_pages += 1
    with suppress(Exception):
        image.seek(0)
    return n_pages, False


def _has_readable_size(size: tuple[int, int], *, embedded: bool) -> bool:
    """Return whether a picture is large enough for text, not an icon or a rule.

    >>> _has_readable_size((32, 32), embedded=True), _has_readable_size((200, 80), embedded=True)
    (False, True)
    """
    short, long = sorted(size)
    if not embedded:
        return short >= _MIN_SIDE or (short >= _MIN_STRIP_SIDE and long >= _MIN_STRIP_LENGTH)
    return short >= _MIN_EMBEDDED_SIDE and short * long >= _MIN_EMBEDDED_AREA and long <= _MAX_ASPECT * short


def _page(image: Any, number: int, content: Content, sink: Sink) -> Any:
    """Return one page upright, or None when there is nothing in it to read."""
    if number:
        image.seek(number)
        if image.format in _ANIMATED and not sink.is_new_picture(image.convert("L").tobytes()):
            return None  # the same frame again
    # Photographs carry their rotation as a tag.
    from PIL import ImageOps  # noqa: PLC0415

    page = grey_fax(image) if image.mode == "1" else on_white(ImageOps.exif_transpose(image))
    return page if content.depth == 0 or is_worth_reading(page) else None


def grey_fax(image: Any) -> Any:
    """Return a bilevel page (fax) in grey, with square pixels and the jagged edges of its letters smoothed.

    A fax has once or twice as many dots across as down: its resolution says.
    """
    from PIL import Image, ImageFilter, ImageOps  # noqa: PLC0415 (heavy)

    across, down = map(float, image.info.get("dpi", (1, 1)))
    page = ImageOps.exif_transpose(image).convert("L")
    if 0 < down < across <= _MOST_SQUEEZED * down:
        page = page.resize((page.width, round(page.height * across / down)), Image.Resampling.BICUBIC)
    return page.filter(ImageFilter.GaussianBlur(_BLUR_RADIUS))


def is_worth_reading(image: Any) -> bool:
    """Return whether an embedded grey picture has the size and contrast of readable text."""
    darkest, lightest = image.getextrema()
    return _has_readable_size(image.size, embedded=True) and lightest - darkest >= _MIN_CONTRAST


def on_white(image: Any) -> Any:
    """Return the picture in grey; transparent parts become white, or black under light ink."""
    from PIL import Image, ImageStat  # noqa: PLC0415 (heavy)

    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        wide = image.convert("F")
        low, high = wide.getextrema()
        scale = 255.0 / max(high - low, 1e-6)
        return wide.point(lambda value: value * scale - low * scale).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layered = image.convert("RGBA")
        mask = layered.getchannel("A")
        if mask.getextrema()[1] == 0:  # all is hidden, and still in the file
            return clear_grey(layered.convert("RGB"))
        ink = layered.convert("L")
        opaque = ImageStat.Stat(ink, mask.point(lambda value: 255 if value > 127 else 0))  # noqa: PLR2004 (half)
        is_light = bool(opaque.count[0]) and opaque.mean[0] > 160  # noqa: PLR2004 (white ink)
        ground = Image.new("L", layered.size, 0 if is_light and mask.getextrema()[0] == 0 else 255)
        ground.paste(ink, mask=mask)
        return ground
    return clear_grey(image)


def clear_grey(image: Any) -> Any:
    """Return a picture in grey; of colours of one brightness the channel with most contrast.

    Pale letters on an even ground are darkened; noise of paper, which has many levels, is left as it is.
    """
    from PIL import ImageOps  # noqa: PLC0415 (heavy)

    grey = image.convert("L")
    low, high = grey.getextrema()
    if high - low >= _FAINT:
        return grey
    if image.mode in ("RGB", "P", "CMYK"):
        channels = image.convert("RGB").split()
        best = max(channels, key=lambda channel: channel.getextrema()[1] - channel.getextrema()[0])
        darkest, lightest = best.getextrema()
        if lightest - darkest >= _FAINT:
            return best
    n_levels = sum(count > 0 for count in grey.histogram())
    return ImageOps.autocontrast(grey) if high > low and n_levels <= _MOST_LEVELS else grey


_JPEG = b"\xff\xd8\xff"
_PICTURES_WITHIN = 256 * 1024  # bytes of a JPEG within which an index of its pictures is
_MIN_BYTES, _MIN_CHARS = 16, 40  # of what follows; of a text in it
_FILLING = b"\0\r\n\t \xff"  # the last one begins a JPEG, too


def read_appended(content: Content, sink: Sink) -> None:
    """Read a file after a picture as a member, ``appended``; add other text, and list it, as films."""
    rest = after_end(content.data)
    if len(rest) < _MIN_BYTES:
        return
    member = content.member("appended", rest)
    if is_document(rest):
        sink.take_member()
        sink.read_member(member)
        return
    texts = [one for one in strings(rest) if len(one) >= _MIN_CHARS and len(words_of(one)) >= MIN_WORDS]
    sink.add("\n".join(texts), content.place("strings"))
    if texts or b"ftyp" in rest[:12]:
        sink.fail(member.locator, FailReason.UNSUPPORTED, f"{len(rest)} bytes after the picture are not read")


def after_end(data: bytes) -> bytes:
    """Return what follows the end of a picture, without filling."""
    return _after_end(data).lstrip(_FILLING[:-1]).rstrip(_FILLING)


def _after_end(data: bytes) -> bytes:
    if data.startswith((b"BM", b"RIFF")):  # with their size in the head
        n_bytes = int.from_bytes(data[2:6] if data[:1] == b"B" else data[4:8], "little")
        return data[n_bytes + (0 if data[:1] == b"B" else 8) :] if n_bytes > _MIN_BYTES else b""
    if not data.startswith(_JPEG):
        return next((block.data for block in blocks(data) if block.kind == REST), b"")
    if b"MPF\0" in data[:_PICTURES_WITHIN]:  # whose pictures are its pages
        return b""
    end = _end_of_jpeg(data)
    return data[end:] if end >= 0 else b""


def _end_of_jpeg(data: bytes) -> int:
    """Return where the first picture ends: at the first end marker outside of a segment; -1: nowhere."""
    at = 2
    while (at := data.find(b"\xff", at)) >= 0 and at + 4 <= len(data):
        marker = data[at + 1]
        if marker == 0xD9:  # noqa: PLR2004 (the end)
            return at + 2
        if marker == 0xFF:  # noqa: PLR2004 (filling)
            at += 1
        elif marker in (0, 1) or 0xD0 <= marker <= 0xD8:  # noqa: PLR2004 (within the pixels)
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return -1


# Metafiles (EMF, WMF): the texts that they draw, and the bitmaps within them.
#
# A table or a screen that is pasted from another program lies in a document as one of these.
# Source: [MS-EMF] 2.3, [MS-WMF] 2.3.

_PLACEABLE = b"\xd7\xcd\xc6\x9a"
_EMF_TEXT_W, _EMF_TEXT_A, _EMF_SMALL_TEXT, _EMF_COMMENT = 84, 83, 108, 70
# Where the bitmap's header is named within a record.
_EMF_BITMAPS = {76: 84, 77: 84, 80: 48, 81: 48}
_WMF_TEXT, _WMF_EXT_TEXT = 0x0521, 0x0A32
_WMF_BITMAPS = {0x0F43: 28, 0x0B41: 26, 0x0940: 22}
_NO_RECTANGLE, _ONE_BYTE = 0x100, 0x200
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
_MAX_RECORDS = 2_000_000
_CORE_HEADER_BYTES = 12
_MAX_PALETTE_BITS = 8

_Piece = tuple[int, str]  # how far down it stands, and the text


def read_metafile(content: Content, sink: Sink) -> None:
    """Add the drawn texts, those of one line together, and read the bitmaps as members."""
    if not sink.is_new_picture(content.data):
        return
    is_wmf, records = _records(content.data)
    if len(records) >= _MAX_RECORDS:
        said = f"records after the first {_MAX_RECORDS} are not read"
        sink.fail(content.locator, FailReason.TOO_LARGE, said)
    sink.add(_drawn_lines(_wmf_texts(records) if is_wmf else _emf_texts(records)), content.locator)
    pictures = _wmf_pictures(records) if is_wmf else _emf_pictures(records)
    for number, picture in enumerate(pictures, 1):
        sink.add_member(content, f"bitmap{number}", picture)


def metafile_text(data: bytes) -> str:
    """Return the texts that a metafile draws, those of one line together."""
    is_wmf, records = _records(data)
    return _drawn_lines(_wmf_texts(records) if is_wmf else _emf_texts(records))


def _records(data: bytes) -> tuple[bool, list[tuple[int, bytes]]]:
    """Return whether it is a WMF, and the records."""
    is_wmf = data.startswith(_PLACEABLE) or not data.startswith(b"\x01\0\0\0")
    return is_wmf, list(_wmf_records(data) if is_wmf else _emf_records(data))


def _drawn_lines(pieces: Iterator[_Piece]) -> str:
    lines: list[list[str]] = []
    last: int | None = None
    for height, text in pieces:
        if height != last or not lines:
            lines.append([])
        last = height
        lines[-1].append(text.strip("\0"))
    return "\n".join(" ".join(line) for line in lines)


def _emf_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for _ in range(_MAX_RECORDS):
        if at + 8 > len(data):
            return
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at : at + max(size, 8)]
        at += max(size, 8)


def _emf_texts(records: list[tuple[int, bytes]]) -> Iterator[_Piece]:
    for kind, record in records:
        if kind in (_EMF_TEXT_W, _EMF_TEXT_A) and len(record) >= 52:  # noqa: PLR2004 (up to the string's offset)
            height, n_chars, at = struct.unpack_from("<iII", record, 40)
            raw = record[at : at + n_chars * (2 if kind == _EMF_TEXT_W else 1)]
            yield height, raw.decode("utf-16-le" if kind == _EMF_TEXT_W else "cp1252", "replace")
        elif kind == _EMF_SMALL_TEXT and len(record) >= 36:  # noqa: PLR2004 (up to the text)
            height, n_chars, options = struct.unpack_from("<iII", record, 12)
            at = 36 if options & _NO_RECTANGLE else 52
            width = 1 if options & _ONE_BYTE else 2
            raw = record[at : at + n_chars * width]
            yield height, raw.decode("cp1252" if width == 1 else "utf-16-le", "replace")


def _emf_pictures(records: list[tuple[int, bytes]]) -> Iterator[bytes]:
    for kind, record in records:
        if kind in _EMF_BITMAPS and len(record) >= _EMF_BITMAPS[kind] + 16:
            head_at, n_head, bits_at, n_bits = struct.unpack_from("<IIII", record, _EMF_BITMAPS[kind])
            if n_head and n_bits:
                yield bitmap_file(record[head_at : head_at + n_head] + record[bits_at : bits_at + n_bits])
        elif kind == _EMF_COMMENT:
            starts = [at for magic in _PICTURES if (at := record.find(magic)) >= 0]
            if starts:
                yield record[min(starts) :]


def _wmf_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = (22 if data.startswith(_PLACEABLE) else 0) + 18
    for _ in range(_MAX_RECORDS):
        if at + 6 > len(data):
            return
        n_words, kind = struct.unpack_from("<IH", data, at)
        size = max(2 * n_words, 6)
        yield kind, data[at : at + size]
        at += size


def _wmf_texts(records: list[tuple[int, bytes]]) -> Iterator[_Piece]:
    for kind, record in records:
        if kind == _WMF_TEXT and len(record) >= 8:  # noqa: PLR2004 (up to the string)
            n_chars = struct.unpack_from("<H", record, 6)[0]
            end = 8 + n_chars + n_chars % 2
            height = struct.unpack_from("<h", record, end)[0] if len(record) >= end + 2 else 0
            yield height, record[8 : 8 + n_chars].decode("cp1252", "replace")
        elif kind == _WMF_EXT_TEXT and len(record) >= 14:  # noqa: PLR2004 (up to the string)
            height, _, n_chars, options = struct.unpack_from("<hhHH", record, 6)
            at = 22 if options & 6 else 14
            yield height, record[at : at + n_chars].decode("cp1252", "replace")


def _wmf_pictures(records: list[tuple[int, bytes]]) -> Iterator[bytes]:
    for kind, record in records:
        if kind in _WMF_BITMAPS and len(record) > _WMF_BITMAPS[kind] + 40:
            yield bitmap_file(record[_WMF_BITMAPS[kind] :])


def bitmap_file(dib: bytes) -> bytes:
    """Put the file header of a BMP before a bitmap that has none."""
    if len(dib) < 40:  # noqa: PLR2004 (the header that all but the oldest have)
        return b""
    n_head = struct.unpack_from("<I", dib)[0]
    n_palette = 0
    if n_head >= 40:  # noqa: PLR2004 (see above)
        n_bits, compression = struct.unpack_from("<HI", dib, 14)
        n_used = struct.unpack_from("<I", dib, 32)[0]
        n_palette = 4 * (n_used or (1 << n_bits if n_bits <= _MAX_PALETTE_BITS else 0))
        if compression == 3 and n_head == 40:  # noqa: PLR2004 (bit fields stand after the header)
            n_palette += 12
    elif n_head == _CORE_HEADER_BYTES:
        n_bits = struct.unpack_from("<H", dib, 10)[0]
        n_palette = 3 << n_bits if n_bits <= _MAX_PALETTE_BITS else 0
    return b"BM" + struct.pack("<IHHI", 14 + len(dib), 0, 0, 14 + n_head + n_palette) + dib
