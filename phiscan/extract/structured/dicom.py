"""DICOM objects through pydicom: header fields after their names, structured reports, pictures of text.

Pixel data is not looked at unless the object says that text is burned into it, or is a picture that
somebody took of a screen or a paper (secondary capture).
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink, mishap
from phiscan.extract.ocr.recognition import read_picture
from phiscan.model import FailReason

# Values for machines: unique identifiers, numbers of images, other binary data.
_SKIPPED_KINDS = frozenset(
    {"UI", "OB", "OW", "OF", "OD", "OL", "OV", "UN", "AT", "FL", "FD", "US", "SS", "UL", "SL", "DS", "CS"}
)
_SHOWN_CODES = frozenset({"PatientSex", "BodyPartExamined", "Modality", "Laterality"})
_DATES = frozenset({"DA", "DT"})
_DOCUMENT = 0x00420011  # an encapsulated PDF or CDA
_PIXELS = 0x7FE00010
_SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
_MAX_DEPTH = 32
_UNDEFINED_LENGTH = 0xFFFFFFFF
_MAX_FRAMES = 20  # of a picture of text
_DATE_DIGITS = 8
_EIGHT_BITS = 255


def read_dicom(content: Content, sink: Sink) -> None:
    """Add the header ``#header``, read an encapsulated document as a member, and burned-in text by OCR.

    Raises:
        ExtractError: corrupt.
    """
    import pydicom  # noqa: PLC0415 (heavy)

    warnings.simplefilter("ignore")  # pydicom quotes the values it doubts
    pydicom.config.settings.reading_validation_mode = pydicom.config.IGNORE
    try:
        dataset = pydicom.dcmread(io.BytesIO(content.data), force=True)
    except Exception as error:  # noqa: BLE001 (it fails on damage in many ways)
        raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
    if _is_cut(dataset):
        sink.fail(content.place("header"), FailReason.CORRUPT, "a field is longer than the file")
    lines: list[str] = []
    try:
        lines.extend(_lines(dataset, 0))
    except ExtractError as error:
        sink.fail(content.place("header"), FailReason(error.reason), error.detail)
    except Exception as error:  # noqa: BLE001 (see above; elements are decoded as they are asked for)
        sink.fail(content.place("header"), FailReason.CORRUPT, mishap(error))
    sink.add("\n".join(lines), content.place("header"))
    if not len(dataset):
        raise ExtractError(FailReason.CORRUPT, "no header fields")
    document = dataset.get(_DOCUMENT)
    if document is not None and document.value:
        sink.add_member(content, "document", bytes(document.value))
    if _PIXELS in dataset and _shows_text(dataset):
        _read_frames(dataset, content, sink)


def _is_cut(dataset: Any) -> bool:
    """Tell whether some field, not decoded yet, holds fewer bytes than it says."""
    for raw in dataset.values():
        length, value = getattr(raw, "length", 0), getattr(raw, "value", None)
        if length != _UNDEFINED_LENGTH and isinstance(value, bytes) and len(value) < length:
            return True
    return False


def _lines(dataset: Any, depth: int) -> Iterator[str]:
    """Yield ``name: value`` for every field that a person could have filled in, sequences too."""
    if depth > _MAX_DEPTH:
        raise ExtractError(FailReason.NESTED_TOO_DEEP, "DICOM sequences")
    for element in dataset:
        if element.VR == "SQ":
            for item in element.value:
                yield from _lines(item, depth + 1)
        elif element.tag != _DOCUMENT and (
            element.VR not in _SKIPPED_KINDS or element.keyword in _SHOWN_CODES or element.tag.is_private
        ):
            value = _value(element)
            if value:
                is_named = element.keyword or not element.tag.is_private
                yield f"{str(element.name).strip('[]') if is_named else 'Private field'}: {value}"


def _value(element: Any) -> str:
    value = element.value
    if value is None or value == "":
        return ""
    if isinstance(value, bytes):  # a private field of unknown kind may hold a text
        text = value.rstrip(b"\0 ").decode("utf-8", "ignore")
        return text if len(text) == len(value.rstrip(b"\0 ")) and text.isprintable() else ""
    values = value if isinstance(value, list | tuple) or type(value).__name__ == "MultiValue" else [value]
    if element.VR == "PN":
        return "; ".join(name for item in values if (name := _person(str(item))))
    if element.VR in _DATES:
        return "; ".join(_date(str(item)) for item in values)
    return "; ".join(str(item) for item in values).replace("\r\n", "\n").strip()


def _person(value: str) -> str:
    """Write a name as people do: prefix, given names, family name, suffix; each way of writing it once.

    >>> _person("Okafor^Lena^M^Dr.^")
    'Dr. Lena M Okafor'
    """
    shown = []
    for group in value.split("="):
        family, given, middle, prefix, suffix = [*(part.strip() for part in group.split("^")), *[""] * 5][:5]
        shown.append(" ".join(part for part in (prefix, given, middle, family, suffix) if part))
    return " / ".join(dict.fromkeys(name for name in shown if name))


def _date(value: str) -> str:
    """Write ``19500102`` as ``1950-01-02``."""
    digits = value.strip()
    if len(digits) >= _DATE_DIGITS and digits[:_DATE_DIGITS].isdecimal():
        return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"
    return digits


def _shows_text(dataset: Any) -> bool:
    kind = str(dataset.get("SOPClassUID", ""))
    return (
        kind.startswith(_SECONDARY_CAPTURE)
        or str(dataset.get("BurnedInAnnotation", "")).upper() == "YES"
        or str(dataset.get("ConversionType", "")) in ("WSD", "DI", "SI", "DV", "DF")
    )


def _read_frames(dataset: Any, content: Content, sink: Sink) -> None:
    n_frames = max(int(dataset.get("NumberOfFrames", 1) or 1), 1)
    for number in range(min(n_frames, _MAX_FRAMES)):
        place = content.place("picture" if n_frames == 1 else f"picture{number + 1}")
        read_picture(lambda number=number: _frame(dataset, number), place, sink)  # type: ignore[misc]
    if n_frames > _MAX_FRAMES:
        detail = f"frames {_MAX_FRAMES + 1} to {n_frames} are not read"
        sink.fail(content.place("picture"), FailReason.TOO_LARGE, detail)


def _frame(dataset: Any, number: int) -> Any:
    """Return one frame as a grey picture, stretched to the full range of grey.

    Raises:
        ExtractError: unsupported; no decoder for this compression of pixels is installed.
    """
    import numpy as np  # noqa: PLC0415 (heavy)
    from PIL import Image  # noqa: PLC0415 (heavy)
    from pydicom.pixels.utils import pixel_array  # noqa: PLC0415 (heavy)

    try:
        pixels = np.asarray(pixel_array(dataset, index=number), dtype=np.float32)
    except RuntimeError:  # of pydicom, where each decoder failed or is missing
        syntax = dataset.file_meta.get("TransferSyntaxUID")
        detail = f"pixels compressed as {getattr(syntax, 'name', 'unknown')}"
        raise ExtractError(FailReason.UNSUPPORTED, detail) from None
    if pixels.ndim == 3:  # noqa: PLR2004 (colours)
        pixels = pixels.mean(axis=2)
    pixels -= pixels.min()
    pixels *= _EIGHT_BITS / max(float(pixels.max()), 1.0)
    if str(dataset.get("PhotometricInterpretation", "")) == "MONOCHROME1":
        pixels = _EIGHT_BITS - pixels
    return Image.fromarray(pixels.astype(np.uint8), "L")
