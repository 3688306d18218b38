"""libtesseract through its C interface: a grey picture in, the table of its words out, in this process.

Used only by ``ocr_process``, which has nothing else to lose. The library is the one that the optional package
``tesserocr`` carries, which is newer and faster, or the one that the system's program ``tesseract`` uses.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SYSTEM_LIBRARY = "libtesseract.so.5"
_VERSIONS = (b"4.", b"5.")  # whose C interface this is
_DATA_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tesseract-ocr/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
)
_GREYMAP = re.compile(rb"P5\s(\d{1,6})\s(\d{1,6})\s255\s")
_DPI = 200  # what the program is given, too
_AUTOMATIC, _ORIENTATION_ONLY = 3, 0  # page segmentation modes
_HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
_FULL_TURN = 360

_P, _INT, _TEXT = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
# Name, type of the result, types of the arguments.
_FUNCTIONS: tuple[tuple[str, Any, tuple[Any, ...]], ...] = (
    ("TessVersion", _TEXT, ()),
    ("TessBaseAPICreate", _P, ()),
    ("TessBaseAPIInit3", _INT, (_P, _TEXT, _TEXT)),
    ("TessBaseAPISetPageSegMode", None, (_P, _INT)),
    ("TessBaseAPISetImage", None, (_P, _TEXT, _INT, _INT, _INT, _INT)),
    ("TessBaseAPISetSourceResolution", None, (_P, _INT)),
    ("TessBaseAPIRecognize", _INT, (_P, _P)),
    ("TessBaseAPIGetTsvText", _P, (_P, _INT)),
    ("TessBaseAPIDetectOrientationScript", _INT, (_P, _P, _P, _P, _P)),
    ("TessBaseAPIClear", None, (_P,)),
    ("TessBaseAPIClearAdaptiveClassifier", None, (_P,)),
    ("TessDeleteText", None, (_P,)),
)


def library_files() -> Iterator[str]:
    """Yield the libraries to try, the fastest first; none of them is loaded here."""
    found = importlib.util.find_spec("tesserocr")
    if found is not None and found.origin:
        package = Path(found.origin).parent
        folder = package.parent / "tesserocr.libs"
        yield from sorted(map(str, folder.glob("libtesseract*.so*")))
    yield SYSTEM_LIBRARY


def data_folder(languages: str) -> str | None:
    """Return the folder that holds the models of all ``languages`` (``eng+fra``); None = there is none."""
    prefix = os.environ.get("TESSDATA_PREFIX", "")
    places = [prefix, str(Path(prefix, "tessdata"))] if prefix else []
    for place in (*places, *_DATA_FOLDERS):
        if all(Path(place, f"{name}.traineddata").is_file() for name in languages.split("+")):
            return place
    return None


@dataclass(frozen=True, slots=True)
class Greymap:
    """A picture of one byte per pixel, 0 black."""

    width: int
    height: int
    pixels: bytes = field(repr=False)

    @classmethod
    def parse(cls, data: bytes) -> Greymap:
        """Return the picture of a binary PGM file (``P5``) of 256 grey levels.

        Raises:
            ValueError: it is none.
        """
        head = _GREYMAP.match(data)
        if head is None:
            message = "not a grey PGM picture"
            raise ValueError(message)
        width, height = int(head[1]), int(head[2])
        if not width * height or len(data) - head.end() != width * height:
            message = "not as many pixels as the head of the picture says"
            raise ValueError(message)
        return cls(width, height, data[head.end() :])


class Tesseract:
    """The loaded library with the models of its languages; one page after the other."""

    def __init__(self, library: str, folder: str, languages: str) -> None:
        """Load the library and the models.

        Raises:
            OSError: the library or a model cannot be loaded, or it is another version.
        """
        self._library = _loaded(library)
        self._folder = folder
        self._words = self._models(languages)
        self._orientation: int | None = None  # the model of orientation is loaded when it is first needed

    @property
    def version(self) -> str:
        """The version of the library, ``5.3.0`` for instance."""
        return bytes(self._library.TessVersion()).decode("ascii", "replace")

    def words_table(self, picture: Greymap) -> str:
        """Return the words of a page with boxes and confidences, as the program's ``tsv`` output.

        Raises:
            ValueError: the page cannot be recognised.
        """
        self._show(self._words, picture, _AUTOMATIC)
        try:
            if self._library.TessBaseAPIRecognize(self._words, None):
                message = "not recognised"
                raise ValueError(message)
            return _HEADER + self._taken(self._library.TessBaseAPIGetTsvText(self._words, 0))
        finally:
            # What a page taught must not change the next one.
            self._library.TessBaseAPIClear(self._words)
            self._library.TessBaseAPIClearAdaptiveClassifier(self._words)

    def rotation(self, picture: Greymap) -> int:
        """Return the degrees, with the clock, to turn a page by so that its letters are upright.

        Raises:
            OSError: there is no model of orientation.
            ValueError: too few letters to tell.
        """
        if self._orientation is None:
            self._orientation = self._models("osd")
        self._show(self._orientation, picture, _ORIENTATION_ONLY)
        degrees, script = _INT(), _TEXT()
        sure = [ctypes.c_float(), ctypes.c_float()]
        places = [ctypes.byref(one) for one in (degrees, sure[0], script, sure[1])]
        try:
            if not self._library.TessBaseAPIDetectOrientationScript(self._orientation, *places):
                message = "too few letters"
                raise ValueError(message)
        finally:
            self._library.TessBaseAPIClear(self._orientation)
        return -degrees.value % _FULL_TURN

    def _models(self, languages: str) -> int:
        handle: int = self._library.TessBaseAPICreate()
        if self._library.TessBaseAPIInit3(handle, os.fsencode(self._folder), languages.encode()):
            message = f"{self._folder}: the models of {languages} cannot be loaded"
            raise OSError(message)
        return handle

    def _show(self, handle: int, picture: Greymap, mode: int) -> None:
        self._library.TessBaseAPISetPageSegMode(handle, mode)
        width, height = picture.width, picture.height
        self._library.TessBaseAPISetImage(handle, picture.pixels, width, height, 1, width)
        self._library.TessBaseAPISetSourceResolution(handle, _DPI)

    def _taken(self, text: int | None) -> str:
        if not text:
            message = "no table of words"
            raise ValueError(message)
        try:
            return ctypes.string_at(text).decode("utf-8", "replace")
        finally:
            self._library.TessDeleteText(text)


def _loaded(library: str) -> Any:
    """Return a library whose functions have their types.

    Raises:
        OSError: it cannot be loaded, or is another version.
    """
    loaded = ctypes.CDLL(library)
    try:
        for name, result, arguments in _FUNCTIONS:
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError:
        message = f"{library}: not libtesseract 4 or 5"
        raise OSError(message) from None
    if not bytes(loaded.TessVersion()).startswith(_VERSIONS):
        message = f"{library}: not libtesseract 4 or 5"
        raise OSError(message)
    return loaded
