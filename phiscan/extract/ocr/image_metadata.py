"""What cameras and people write into a picture beside its pixels: EXIF, GPS, XMP, IPTC, comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_XMP = re.compile(rb"<x:xmpmeta.*?</x:xmpmeta>", re.DOTALL)
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
}
_EXIF_IFD, _GPS_IFD = 0x8769, 0x8825
_WINDOWS_TAGS = range(0x9C9B, 0x9CA0)  # UTF-16
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
_NOT_COMMENTS = frozenset({"xmp", "xml:com.adobe.xmp", "raw profile type exif", "raw profile type iptc"})
_COMMENT_CODES = {b"ASCII\0\0\0": "ascii", b"UNICODE\0": "utf-16", b"JIS\0\0\0\0\0": "iso2022_jp"}


def metadata_text(image: Any, data: bytes) -> str:
    """Return the metadata of an opened picture as ``label: value`` lines; damaged parts are left out."""
    lines: list[str] = []
    for read in (_exif, _position, _iptc, _comments):
        try:
            lines += [line for line in read(image) if line]
        except Exception:  # noqa: BLE001, S112 (metadata is damaged in many ways; the picture is still read)
            continue
    packet = _XMP.search(data)
    if packet:
        from phiscan.extract.structured.xml_markup import labelled_text  # noqa: PLC0415

        lines.append(labelled_text(packet.group()))
    return "\n".join(dict.fromkeys(lines))


def _exif(image: Any) -> Iterator[str]:
    exif = image.getexif()
    inner = exif.get_ifd(_EXIF_IFD)
    for tags, labels in ((exif, _EXIF_TEXT), (inner, _EXIF_INNER)):
        for tag, label in labels.items():
            value = _plain(tag, tags.get(tag))
            if value:
                yield f"{label}: {value}"


def _plain(tag: int, value: Any) -> str:
    if isinstance(value, tuple) and tag in _WINDOWS_TAGS:
        value = bytes(value)
    if isinstance(value, bytes):
        encoding = "utf-16-le" if tag in _WINDOWS_TAGS else _COMMENT_CODES.get(value[:8], "utf-8")
        value = (value[8:] if value[:8] in _COMMENT_CODES else value).decode(encoding, "ignore")
    return str(value).strip("\0 \t\r\n") if isinstance(value, str) else ""


def _position(image: Any) -> Iterator[str]:
    """Yield where a photograph was taken, in degrees, as a map would take it."""
    gps = image.getexif().get_ifd(_GPS_IFD)
    degrees = []
    for side, parts in ((gps.get(1), gps.get(2)), (gps.get(3), gps.get(4))):
        if side and parts:
            value = sum(float(part) / 60**power for power, part in enumerate(parts))
            degrees.append(f"{-value if side in ('S', 'W') else value:.5f}")
    if len(degrees) == 2:  # noqa: PLR2004 (latitude and longitude)
        yield f"GPS position: {', '.join(degrees)}"


def _iptc(image: Any) -> Iterator[str]:
    from PIL import IptcImagePlugin  # noqa: PLC0415 (heavy)

    found = IptcImagePlugin.getiptcinfo(image) or {}
    for key, label in _IPTC.items():
        values = found.get(key, [])
        for value in values if isinstance(values, list) else [values]:
            yield f"{label}: {value.decode('utf-8', 'replace').strip(chr(0) + ' ')}"


def _comments(image: Any) -> Iterator[str]:
    for key, value in image.info.items():
        if isinstance(value, bytes) and key == "comment":
            value = value.decode("utf-8", "replace")  # noqa: PLW2901 (the same comment as text)
        if isinstance(value, str) and str(key).lower() not in _NOT_COMMENTS:
            yield f"{key}: {value}"
