"""A grey picture to the table of its words by tesserocr, with the input and output of the program tesseract.

``programs`` starts it as ``python -ISB ocr_program.py PACKAGES MODELS LANGUAGES`` for one picture on standard
input, in the sandbox of any helper program; with the languages ``osd`` the orientation is written instead.
"""

from __future__ import annotations

import re
import sys

_GREYMAP = re.compile(rb"P5\s(\d{1,6})\s(\d{1,6})\s255\s")
_HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
_DPI = 200
_AUTOMATIC, _ORIENTATION_ONLY = 3, 0  # page segmentation modes
_FULL_TURN = 360
NOT_READ, NO_MEMORY = 1, 12  # exit statuses


def main(packages: str, models: str, languages: str) -> int:
    """Read the picture on standard input, write what is found to standard output; return the exit status."""
    sys.path.append(packages)
    from tesserocr import PyTessBaseAPI  # noqa: PLC0415 (found by the argument alone)

    data = sys.stdin.buffer.read()
    head = _GREYMAP.match(data)
    if head is None:
        return NOT_READ
    width, height = int(head[1]), int(head[2])
    if not width * height or len(data) - head.end() != width * height:
        return NOT_READ
    is_orientation = languages == "osd"
    mode = _ORIENTATION_ONLY if is_orientation else _AUTOMATIC
    with PyTessBaseAPI(path=models, lang=languages, psm=mode) as page:
        page.SetImageBytes(data[head.end() :], width, height, 1, width)
        page.SetSourceResolution(_DPI)
        if is_orientation:
            found = page.DetectOrientationScript()
            text = f"Rotate: {-found['orient_deg'] % _FULL_TURN}\n" if found else ""
        else:
            text = _HEADER + page.GetTSVText(0)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0 if text else NOT_READ


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:4]))
    except MemoryError:
        sys.exit(NO_MEMORY)
