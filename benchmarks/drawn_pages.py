"""Texts drawn as the pages that offices scan, fax and copy: six styles, the same page for the same seed.

A page is US Letter. Lines wrap where the paper ends; what follows two spaces or more, or a tab, stands
in its column in proportional type too, and a page with a wide table is set smaller. Fonts are those that
matplotlib carries, so every machine draws alike.
"""

from __future__ import annotations

import io
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

_FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"
_SHEET = (8.5, 11.0)  # inches
_MARGIN = 0.8  # inches
_LEADING = 1.3  # of the size of the type
_SMALLEST = 0.6  # of its size, to which a table that is too wide is set
_LONG_CELL = 45  # letters of one that runs over the next column
_GAP = re.compile(r"\S {2,}(?=\S)")
_WORD = re.compile(r"( *)([^ ]+)")


@dataclass(frozen=True, slots=True)
class Style:
    """How a page is printed and what became of it; sizes in points, resolutions in dots per inch."""

    font: str
    size: float
    dpi: int
    kind: str  # the file: TIFF, or PDF, in which pages are JPEG pictures
    worn: Callable[[Any, random.Random], tuple[Any, tuple[int, int]]]  # a grey page, to it and its dpi

    def file(self, text: str, seed: str) -> tuple[bytes, str, int]:
        """Return the bytes of a file with a text's pages, its name, and how many pages there are."""
        chance = random.Random(seed)
        worn = [self.worn(page, chance) for page in self._pages(text)]
        pages, dpi = [page for page, _ in worn], worn[0][1]
        stream = io.BytesIO()
        if self.kind == "PDF":
            pages[0].save(
                stream,
                "PDF",
                resolution=dpi[0],
                save_all=True,
                append_images=pages[1:],
                quality=60,
                creationDate=time.gmtime(0),
                modDate=time.gmtime(0),
            )
        else:
            packing = "group4" if pages[0].mode == "1" else "tiff_lzw"
            pages[0].save(
                stream, "TIFF", dpi=dpi, compression=packing, save_all=True, append_images=pages[1:]
            )
        return stream.getvalue(), f"scan.{self.kind.lower()}", len(pages)

    def _pages(self, text: str) -> Iterator[Any]:
        width, height = (round(side * self.dpi) for side in _SHEET)
        margin = round(_MARGIN * self.dpi)
        printed = "".join(sign if sign.isprintable() or sign in "\n\t" else "\n" for sign in text)
        rows = list(_in_columns(printed))
        pixels = self.size * self.dpi / 72
        most = (width - 2 * margin) / _font(self.font, round(pixels)).getlength("n")
        widest = max((len(row) for row in rows if len(_GAP.findall(row)) > 1), default=0)
        pixels *= min(1.0, max(most / max(widest, 1), _SMALLEST))
        font, step = _font(self.font, round(pixels)), round(pixels * _LEADING)
        lines = [part for line in rows for part in _set(line, font, width - 2 * margin)]
        per_page = (height - 2 * margin) // step
        for first in range(0, len(lines), per_page):
            page = Image.new("L", (width, height), 255)
            pen = ImageDraw.Draw(page)
            for number, line in enumerate(lines[first : first + per_page]):
                for x, word in line:
                    pen.text((margin + x, margin + number * step), word, fill=0, font=font)
            yield page


@lru_cache(maxsize=8)
def _font(name: str, pixels: int) -> Any:
    return ImageFont.truetype(_FONTS / f"{name}.ttf", pixels)


def _in_columns(text: str) -> Iterator[str]:
    """Yield the lines of a text; of those with tabs that follow each other, the cells stand in columns."""
    for has_tabs, lines in groupby(text.split("\n"), lambda line: "\t" in line):
        if not has_tabs:
            yield from lines
            continue
        rows = [line.split("\t") for line in lines]
        columns = zip_longest(*rows, fillvalue="")
        widths = [max(len(cell) * (len(cell) < _LONG_CELL) for cell in cells) + 2 for cells in columns]
        for row in rows:
            yield "".join(f"{cell}  ".ljust(width) for cell, width in zip(row, widths, strict=False))


def _set(line: str, font: Any, width: int) -> Iterator[list[tuple[float, str]]]:
    """Yield the lines that a line takes on paper of this width, its words with where they begin."""
    column, space = font.getlength("n"), font.getlength(" ")
    words: list[tuple[float, str]] = []
    x, wrapped = 0.0, 0
    for match in _WORD.finditer(line):
        gap, word = len(match[1]), match[2]
        if gap > 1 or not match.start():
            x = max(x + (space if x else 0), (match.start(2) - wrapped) * column)
        elif x:
            x += space
        while x + font.getlength(word) > width:
            if words:
                yield words
            n_fitting = next(n for n in range(len(word), 0, -1) if font.getlength(word[:n]) <= width)
            words, x, wrapped = [], 0.0, match.start(2)
            if n_fitting < len(word):
                yield [(0.0, word[:n_fitting])]
                word = word[n_fitting:]
        words.append((x, word))
        x += font.getlength(word)
    yield words


def _clean(page: Any, _: random.Random, dpi: int = 200) -> tuple[Any, tuple[int, int]]:
    return page, (dpi, dpi)


def _noise(chance: random.Random) -> np.random.Generator:
    return np.random.default_rng(chance.getrandbits(32))


def _fax(page: Any, chance: random.Random) -> tuple[Any, tuple[int, int]]:
    """Return one-bit pixels of the usual or the fine kind, with specks and dropouts."""
    lines_per_inch = chance.choice([98, 196])
    small = page.resize((round(8.5 * 204), round(11 * lines_per_inch)), Image.Resampling.BOX)
    grey = np.asarray(small).astype(np.int16) + _noise(chance).normal(0, 30, small.size[::-1]).astype(
        np.int16
    )
    ink = grey < 150
    speckle = _noise(chance).random(ink.shape)
    ink = (ink | (speckle < 0.0008)) & (speckle < 0.98)
    return Image.fromarray(~ink), (204, lines_per_inch)


def _photocopy(page: Any, chance: random.Random) -> tuple[Any, tuple[int, int]]:
    """Return grey paper in uneven light, slightly turned and blurred."""
    page = page.rotate(chance.uniform(-1.6, 1.6), fillcolor=255, resample=Image.Resampling.BICUBIC)
    page = page.filter(ImageFilter.GaussianBlur(chance.uniform(0.8, 1.3)))
    ink = (255 - np.asarray(page).astype(np.float32)) / 255
    height, width = ink.shape
    slope = (
        np.linspace(0, chance.uniform(20, 60), width)[None, :]
        + np.linspace(0, chance.uniform(10, 40), height)[:, None]
    )
    paper = 225 - slope
    grey = paper * (1 - ink * chance.uniform(0.6, 0.8)) + _noise(chance).normal(0, 7, ink.shape)
    return Image.fromarray(grey.clip(0, 255).astype(np.uint8)), (200, 200)


STYLES = {
    "clean sans, 200 dpi": Style("DejaVuSans", 11, 200, "TIFF", _clean),
    "serif, 300 dpi": Style("STIXGeneral", 11.5, 300, "TIFF", lambda page, chance: _clean(page, chance, 300)),
    "monospaced, PDF": Style("DejaVuSansMono", 10, 200, "PDF", _clean),
    "fax": Style("DejaVuSans", 11, 204, "TIFF", _fax),
    "photocopy, PDF": Style("STIXGeneral", 12, 200, "PDF", _photocopy),
    "small print": Style("DejaVuSans", 6, 200, "TIFF", _clean),
}
