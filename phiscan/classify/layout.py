"""How a masked text is laid out, as a few words such as ``label lines:3``; detector C hashes them.

Nothing here asks where the mask ``#`` stands, only how long lines are and how they begin, so that A's and B's
evidence stays out: a masked value is one character among others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]

LABEL_CHARS: Final = 30  # a colon within so many characters of a line's start makes it a labelled line
MIN_CELLS: Final = 3  # separators in a line that make it a row of a table
SHARES: Final = (0.001, 0.05, 0.15, 0.35, 0.65)  # levels of a share: none, hardly any, ... most
LENGTHS: Final = (16, 40, 64, 100, 200, 600)  # levels of a line's length, in characters
N_LINES: Final = (2, 4, 8, 16, 40, 100)
HEADERS: Final = (b"from:", b"to:", b"subject:", b"date:", b"cc:", b"de :", b"objet :", b"de:", b"objet:")
_NEWLINE, _SPACE, _COLON, _ZERO = ord("\n"), ord(" "), ord(":"), ord("0")
_SEPARATOR, _BULLET, _STOP, _INITIAL = 1, 2, 4, 8


def _marks() -> npt.NDArray[np.uint8]:
    """Say of each character what it can be: one look-up instead of a search for each question."""
    table = np.zeros(256, dtype=np.uint8)
    for flag, characters in (
        (_SEPARATOR, "|;,\t^"),
        (_BULLET, "-*>+"),
        (_STOP, ".!?"),
        (_INITIAL, "".join({chr(word[0]) for word in HEADERS})),
    ):
        for character in characters:
            table[ord(character)] |= flag
    return table


_MARKS: Final = _marks()


def layout_words(codes: Codes) -> tuple[str, ...]:
    r"""Return what can be said of the lines of a masked text, each as ``what:level``.

    >>> def words(text): return layout_words(np.frombuffer(text.encode("utf-32-le"), dtype="<u4"))
    >>> "labels:5" in words("name: ###\nborn: 0000\n"), "labels:0" in words("a walk.\nin the park.")
    (True, True)
    """
    edges = np.concatenate(([-1], np.flatnonzero(codes == _NEWLINE), [len(codes)]))
    starts, ends = edges[:-1] + 1, edges[1:]
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    if not len(starts):
        return ()
    lengths = ends - starts
    n_lines = len(starts)
    narrow = np.minimum(codes, 0xFF).astype(np.uint8)
    marks = _MARKS[narrow]
    separators = (marks & _SEPARATOR) != 0
    firsts = codes[starts]
    shares = {
        "labels": _share(_labelled(codes, starts, ends)),
        "rows": _share(_per_line(separators, starts, ends) >= MIN_CELLS),
        "columns": _share(_per_line(_gaps(codes), starts, ends) > 0),
        "bullets": _share((marks[starts] & _BULLET) != 0),
        "numbered": _share(firsts == _ZERO),
        "indented": _share(firsts == _SPACE),
        "sentences": _share((marks[ends - 1] & _STOP) != 0),
        "headers": _headed(narrow, (marks[starts] & _INITIAL) != 0, starts, ends) / n_lines,
        "short": _share(lengths < LENGTHS[1]),
        "digits": _share(codes == _ZERO) * 2,
        "marks": _share(separators) * 5,
    }
    found = [f"{name}:{_level(share, SHARES)}" for name, share in shares.items()]
    found.append(f"length:{_level(float(np.median(lengths)), LENGTHS)}")
    found.append(f"longest:{_level(float(lengths.max()), LENGTHS)}")
    found.append(f"lines:{_level(n_lines, N_LINES)}")
    return tuple(found)


def _share(flags: npt.NDArray[np.bool_]) -> float:
    return int(np.count_nonzero(flags)) / len(flags)


def _level(value: float, bounds: tuple[float, ...]) -> int:
    return sum(value >= bound for bound in bounds)


def _per_line(
    flags: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    sums = np.concatenate(([0], np.cumsum(flags)))
    return np.asarray(sums[ends] - sums[starts], dtype=np.int64)


def _labelled(
    codes: Codes, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    colons = codes == _COLON
    return _per_line(colons, starts, np.minimum(ends, starts + LABEL_CHARS)) > 0


def _gaps(codes: Codes) -> npt.NDArray[np.bool_]:
    """Mark where three blanks begin after something else: the space between two columns."""
    space = codes == _SPACE
    found = np.zeros(len(codes), dtype=np.bool_)
    if len(codes) > MIN_CELLS:
        after = (codes[:-3] != _SPACE) & (codes[:-3] != _NEWLINE)
        found[:-3] = after & space[1:-2] & space[2:-1] & space[3:]
    return found


def _headed(
    narrow: npt.NDArray[np.uint8],
    maybe: npt.NDArray[np.bool_],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> int:
    """Count the lines that begin as a mail's header; only those with a fitting first letter are compared."""
    raw = narrow.tobytes()
    return sum(
        raw.startswith(HEADERS, start, end)
        for start, end in zip(starts[maybe].tolist(), ends[maybe].tolist(), strict=True)
    )
