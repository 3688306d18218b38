"""Masked text to layout features: line lengths and beginnings, each as a word such as ``labels:3``.

Detector C hashes these words. The mask ``#`` is treated as any other character, so that the layout features
hold no evidence of detectors A and B.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]

LABEL_CHARS: Final = 30  # a line with a colon within this many characters is a labelled line
MIN_CELLS: Final = 3  # separators in a line that make it a row of a table
SHARES: Final = (0.001, 0.05, 0.15, 0.35, 0.65)  # bin limits of shares
LENGTHS: Final = (16, 40, 64, 100, 200, 600)  # bin limits of line lengths, in characters
N_LINES: Final = (2, 4, 8, 16, 40, 100)
HEADERS: Final = (b"from:", b"to:", b"subject:", b"date:", b"cc:", b"de :", b"objet :", b"de:", b"objet:")
_SEPARATORS: Final = b"|;,\t^"
_BULLETS: Final = b"-*>+"
_STOPS: Final = b".!?"
_GAP: Final = b"   "  # inside a line: the space between two columns


def layout_words(codes: Codes) -> tuple[str, ...]:
    r"""Return the layout features of the lines of a masked text, each as ``name:level``.

    A piece has at most a few hundred lines: methods of ``bytes`` are faster than building arrays.

    >>> def words(text): return layout_words(np.frombuffer(text.encode("utf-32-le"), dtype="<u4"))
    >>> "labels:5" in words("name: ###\nborn: 0000\n"), "labels:0" in words("a walk.\nin the park.")
    (True, True)
    """
    raw = np.minimum(codes, 0xFF).astype(np.uint8).tobytes()
    lines = [line for line in raw.split(b"\n") if line]
    if not lines:
        return ()
    lengths = sorted([len(line) for line in lines])
    n_lines, n_chars = len(lines), len(raw)
    firsts, lasts = bytes([line[0] for line in lines]), bytes([line[-1] for line in lines])
    n_separators = _count(raw, _SEPARATORS)
    n_labels = sum([b":" in line[:LABEL_CHARS] for line in lines]) if b":" in raw else 0
    n_rows = sum([_count(line, _SEPARATORS) >= MIN_CELLS for line in lines]) if n_separators else 0
    n_columns = sum([_GAP in line.lstrip(b" ") for line in lines]) if _GAP in raw else 0
    shares = {
        "labels": n_labels / n_lines,
        "rows": n_rows / n_lines,
        "columns": n_columns / n_lines,
        "bullets": _count(firsts, _BULLETS) / n_lines,
        "numbered": firsts.count(b"0") / n_lines,
        "indented": firsts.count(b" ") / n_lines,
        "sentences": _count(lasts, _STOPS) / n_lines,
        "headers": sum([line.startswith(HEADERS) for line in lines]) / n_lines,
        "short": bisect_left(lengths, LENGTHS[1]) / n_lines,
        "digits": raw.count(b"0") / n_chars * 2,
        "marks": n_separators / n_chars * 5,
    }
    found = [f"{name}:{bisect_right(SHARES, share)}" for name, share in shares.items()]
    median = (lengths[(n_lines - 1) // 2] + lengths[n_lines // 2]) / 2
    found.append(f"length:{bisect_right(LENGTHS, median)}")
    found.append(f"longest:{bisect_right(LENGTHS, lengths[-1])}")
    found.append(f"lines:{bisect_right(N_LINES, n_lines)}")
    return tuple(found)


def _count(raw: bytes, characters: bytes) -> int:
    """Return the number of bytes that are in ``characters``."""
    return len(raw) - len(raw.translate(None, characters))
