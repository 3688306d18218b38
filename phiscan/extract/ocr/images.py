"""Pictures: their text through OCR, and the metadata that cameras and scanners write.

A picture within a document or a container is skipped when it is too small or too even for text: an icon, a
rule, a patch of one colour. The same picture is read once per file.
"""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.ocr.appended import read_appended
from phiscan.extract.ocr.image_metadata import metadata_text
from phiscan.extract.ocr.recognition import read_picture
from phiscan.model import FailReason

_MAX_PAGES = 500
_ANIMATED = frozenset({"GIF", "WEBP", "PNG"})  # whose frames are often alike
_MIN_SIDE = 24  # pixels; smaller pictures are icons, with no text a reader could see
_MIN_STRIP_SIDE, _MIN_STRIP_LENGTH = 12, 100  # of a line cut from a screen
# Within a document: a label of 200 x 80 pixels is read, a button or a bullet is not.
_MIN_EMBEDDED_SIDE = 40
_MIN_EMBEDDED_AREA = 16_000
_MOST_CHILDREN = 20
_MIN_PREVIEW_AREA = 60_000  # pixels; the usual preview of a camera, 160 x 120, repeats its photograph
_MAX_ASPECT = 20  # longer ones are rules and borders
_MOST_SQUEEZED = 4.0  # dots across to one down; the coarsest fax has 204 to 98
_BLUR_RADIUS = 0.8  # pixels
_FAINT = 64  # of 255 grey levels, below which a picture is looked at in colour
_MOST_LEVELS = 32  # of grey in a drawn picture
_MIN_CONTRAST = 24  # of 255 grey levels between the darkest and the lightest


class ImageExtractor:
    """Read PNG, JPEG, TIFF (all pages), BMP, GIF, WebP, AVIF, JPEG 2000, PNM, PCX, QOI, SGI, DDS, TGA."""

    media_types = frozenset(
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

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the metadata ``#metadata``, then one segment per page."""
        from PIL import Image  # noqa: PLC0415 (heavy)

        if not sink.is_new_picture(content.data):
            return
        try:
            image = Image.open(io.BytesIO(content.data))
        except Image.DecompressionBombError:
            raise ExtractError(FailReason.TOO_LARGE, "too many pixels") from None
        except (OSError, ValueError, SyntaxError) as error:
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
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
        _read_children(image.size, content, sink)
        read_appended(content, sink)


def _read_children(size: tuple[int, int], content: Content, sink: Sink) -> None:
    """Read the pictures in directories of a TIFF structure beside its pages: previews, and what they show."""
    from PIL import Image  # noqa: PLC0415 (heavy)

    try:
        again = Image.open(io.BytesIO(content.data))  # the first one is closed once its pixels are loaded
        children = again.get_child_images()[:_MOST_CHILDREN]
    except Exception:  # noqa: BLE001 (a decoder fails on damage in many ways; a preview is no page)
        return
    for number, child in enumerate(children, 1):
        if child.width * child.height < _MIN_PREVIEW_AREA or child.size == size:
            continue

        def render(child: Any = child) -> Any:
            page = on_white(child)
            return page if is_worth_reading(page) else None

        read_picture(render, content.place(f"preview{number}"), sink)


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
