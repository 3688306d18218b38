"""Pictures: their text through OCR, and the metadata that cameras and scanners write."""

from __future__ import annotations

import io
import re
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink
from phiscan.extract.ocr import read_picture
from phiscan.model import FailReason

_MAX_PAGES = 500
_XMP = re.compile(rb"<x:xmpmeta.*?</x:xmpmeta>", re.DOTALL)
_EXIF_TEXT = {
    0x010E: "Description",
    0x013B: "Artist",
    0x8298: "Copyright",
    0x9C9B: "Title",
    0x9C9C: "Comment",
    0x9C9D: "Author",
}
_MIN_SIDE = 24  # pixels; smaller pictures are icons, with no text a reader could see


class ImageExtractor:
    """Read PNG, JPEG, TIFF (all pages), BMP, GIF, WebP."""

    media_types = frozenset({"image/png", "image/jpeg", "image/tiff", "image/bmp", "image/gif", "image/webp"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the metadata ``#metadata``, then one segment per page."""
        from PIL import Image  # noqa: PLC0415 (heavy)

        try:
            image = Image.open(io.BytesIO(content.data))
        except Image.DecompressionBombError:
            raise ExtractError(FailReason.TOO_LARGE, "too many pixels") from None
        except (OSError, ValueError, SyntaxError) as error:
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
        sink.add(_metadata(image, content.data), content.place("metadata"))
        n_pages = getattr(image, "n_frames", 1) if content.data[:3] != b"GIF" else 1
        for number in range(min(n_pages, _MAX_PAGES)):
            if min(image.size) >= _MIN_SIDE:
                place = content.locator if n_pages == 1 else content.place(f"p{number + 1}")
                read_picture(lambda number=number: _page(image, number), place, sink)  # type: ignore[misc]


def _page(image: Any, number: int) -> Any:
    if number:
        image.seek(number)
    # Photographs carry their rotation as a tag.
    from PIL import ImageOps  # noqa: PLC0415

    return ImageOps.exif_transpose(image)


def _metadata(image: Any, data: bytes) -> str:
    lines = []
    try:
        exif = image.getexif()
        for tag, label in _EXIF_TEXT.items():
            value = exif.get(tag)
            if isinstance(value, bytes):
                value = value.decode("utf-16-le", "ignore")
            if value and str(value).strip("\0 "):
                lines.append(f"{label}: {str(value).strip(chr(0) + ' ')}")
        lines += [f"{key}: {value}" for key, value in image.info.items() if _is_comment(key, value)]
    except Exception:  # noqa: BLE001, S110 (metadata is damaged in many ways; the picture is still read)
        pass
    packet = _XMP.search(data)
    if packet:
        from phiscan.extract.markup import labelled_text  # noqa: PLC0415

        lines.append(labelled_text(packet.group()))
    return "\n".join(lines)


def _is_comment(key: Any, value: Any) -> bool:
    return isinstance(value, str) and str(key).lower() not in (
        "xmp",
        "xml:com.adobe.xmp",
        "raw profile type exif",
    )
