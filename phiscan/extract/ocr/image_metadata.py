"""What cameras and people write into a picture beside its pixels: EXIF, GPS, XMP, IPTC, comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from phiscan.extract.pictures.blocks import COMMENT, EXIF, IPTC, XMP, Block, blocks, resources
from phiscan.extract.pictures.tags import EXIF_IFD, GPS_IFD, Tag, tags
from phiscan.extract.pictures.values import best_decoded, block_texts, comment_text, run_texts, text_of

_XMP = re.compile(rb"<x:xmpmeta\b.*?</x:xmpmeta>", re.DOTALL)
_RDF = re.compile(rb"<rdf:RDF\b.*</rdf:RDF>", re.DOTALL)
_EXIF_TEXT = {
    0x010E: "Description",
    0x010F: "Make",
    0x0110: "Model",
    0x0132: "Date",
    0x013B: "Artist",
    0x013C: "Host computer",
    0x010D: "Document name",
    0x011D: "Page name",
    0x8298: "Copyright",
    0x9C9B: "Title",
    0x9C9C: "Comment",
    0x9C9D: "Author",
    0x9C9E: "Keywords",
    0x9C9F: "Subject",
}
_EXIF_INNER = {
    0x9003: "Date taken",
    0x9286: "User comment",
    0xA430: "Owner name",
    0xA431: "Device serial number",
    0xA435: "Lens serial number",
    0xA420: "Image ID",
    0x927C: "Maker note",
}
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
    (2, 5): "Title",
    (2, 25): "Keywords",
    (2, 40): "Instructions",
    (2, 55): "Date created",
    (2, 80): "By-line",
    (2, 85): "By-line title",
    (2, 90): "City",
    (2, 92): "Location",
    (2, 95): "Province",
    (2, 101): "Country",
    (2, 103): "Reference",
    (2, 105): "Headline",
    (2, 110): "Credit",
    (2, 116): "Copyright",
    (2, 118): "Contact",
    (2, 120): "Caption",
    (2, 122): "Caption writer",
}
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
    if getattr(image, "format", "") == "AVIF":
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
    elif block.kind != XMP:
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
