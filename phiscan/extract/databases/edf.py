"""EDF, EDF+ and BDF recordings (EEG, sleep, ECG): the header as a form, and the annotations.

Source: Kemp et al. 1992 (EDF), Kemp and Olivan 2003 (EDF+).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import pair
from phiscan.model import FailReason

_HEAD_BYTES, _SIGNAL_BYTES = 256, 256
_MOST_SIGNALS = 4096
_PATIENT = ("Patient ID", "Sex", "Date of birth", "Patient name")
_RECORDING = ("", "Date", "Administration code", "Technician", "Equipment")
_TEXTS = ((16, "Label"), (80, "Transducer"), (8, ""), (8, ""), (8, ""), (8, ""), (8, ""), (80, "Filter"))
_HEAD = re.compile(rb"(?:0       |\xffBIOSEMI)[ -~]{160}\d\d\.\d\d\.\d\d\d\d\.\d\d\.\d\d\d{1,5} {3,7}")
_ONSET = re.compile(rb"[+-]\d[\d.]*(?:\x15[\d.]*)?\x14([^\x00]{0,4000}?)\x14?\x00")
_MOST_BYTES = 64 * 1024**2


class EdfExtractor:
    """Read EDF, EDF+ and BDF."""

    media_types = frozenset({"application/x-edf"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add ``#header`` and ``#annotations``; samples are no text.

        Raises:
            ExtractError: corrupt; the header is cut short.
        """
        data = content.data
        if len(data) < _HEAD_BYTES:
            raise ExtractError(FailReason.CORRUPT, "cut short")
        lines = [*_subfields(_field(data, 8, 80), _PATIENT), *_subfields(_field(data, 88, 80), _RECORDING)]
        lines += [pair("Date", _field(data, 168, 8)), pair("Time", _field(data, 176, 8))]
        n_signals = _number(data, 252, 4)
        if not 0 <= n_signals <= _MOST_SIGNALS or len(data) < _HEAD_BYTES + n_signals * _SIGNAL_BYTES:
            sink.add("\n".join(lines), content.place("header"))
            sink.fail(content.place("signals"), FailReason.CORRUPT, "cut short")
            return
        lines += _signals(data, n_signals)
        sink.add("\n".join(dict.fromkeys(line for line in lines if line)), content.place("header"))
        if any("Annotations" in line for line in lines):
            sink.add("\n".join(_annotations(data, n_signals)), content.place("annotations"))
            if (n_rest := len(data) - _HEAD_BYTES - n_signals * _SIGNAL_BYTES - _MOST_BYTES) > 0:
                said = f"annotations in the last {n_rest} bytes are not read"
                sink.fail(content.place("annotations"), FailReason.TOO_LARGE, said)


def is_edf(head: bytes) -> bool:
    """Tell a recording by its version, and by the date and time at their places in the header."""
    return _HEAD.match(head) is not None


def _field(data: bytes, start: int, size: int) -> str:
    return data[start : start + size].decode("latin-1").strip()


def _number(data: bytes, start: int, size: int) -> int:
    text = _field(data, start, size)
    return int(text) if text.isdecimal() else -1


def _subfields(text: str, labels: tuple[str, ...]) -> Iterator[str]:
    """Yield the subfields of EDF+ after their names; what is written in another way as it is."""
    parts = text.split()
    is_plus = len(parts) >= len(labels) - 1 and (
        parts[0] == "Startdate" or (labels is _PATIENT and len(parts) >= len(_PATIENT))
    )
    if not is_plus:
        yield pair("Patient" if labels is _PATIENT else "Recording", text)
        return
    for label, part in zip(labels, parts, strict=False):
        if not label or part == "X":
            continue
        value = part.replace("_", " ")
        if label == "Patient name" and value.count(",") == 1:
            family, given = value.split(",")
            value = f"{given.strip()} {family.strip()}"
        yield pair(label, value)
    yield " ".join(parts[len(labels) :]).replace("_", " ")


def _signals(data: bytes, n_signals: int) -> Iterator[str]:
    at = _HEAD_BYTES
    for size, label in _TEXTS:
        if label:
            values = (_field(data, at + number * size, size) for number in range(n_signals))
            yield pair(label, ", ".join(dict.fromkeys(value for value in values if value)))
        at += size * n_signals
    at += 8 * n_signals
    reserved = (_field(data, at + number * 32, 32) for number in range(n_signals))
    yield " ".join(dict.fromkeys(value for value in reserved if value))


def _annotations(data: bytes, n_signals: int) -> Iterator[str]:
    """Yield the texts of annotations, which lie among the samples after their onset."""
    body = data[_HEAD_BYTES + n_signals * _SIGNAL_BYTES :][:_MOST_BYTES]
    for match in _ONSET.finditer(body):
        text = match[1].decode("utf-8", "replace").replace("\x14", "\n").strip()
        if (text and text.isprintable()) or "\n" in text:
            yield text
