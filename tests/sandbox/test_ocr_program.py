"""Pictures read by tesserocr in the sandbox of a helper program: the words that tesseract reads."""

import importlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from phiscan.config import Limits
from phiscan.extract.ocr.layout import words_of
from phiscan.extract.ocr.recognition import languages
from phiscan.sandbox import channel, programs
from phiscan.sandbox.ocr_program import NO_MEMORY, NOT_READ
from phiscan.sandbox.programs import ProgramLimits, _by_tesserocr
from phiscan.sandbox.service import program_service

SECONDS = 300.0  # on a busy machine
TEXT = "Patient Lena Okafor\nof ward nine was seen\non the fourth of May"
Execute = Callable[..., programs.Finished]

pytestmark = pytest.mark.skipif(
    not languages() or not _by_tesserocr("ocr", {"languages": languages()}),
    reason="tesseract or tesserocr is not installed",
)


def picture(text: str = TEXT, *, quarter_turns: int = 0, size: tuple[int, int] = (900, 400)) -> bytes:
    image = Image.new("L", size, 255)
    font = ImageFont.load_default(size=32)
    ImageDraw.Draw(image).multiline_text((40, 40), text, fill=0, font=font, spacing=16)
    stream = io.BytesIO()
    image.rotate(90 * quarter_turns, expand=True).save(stream, "PPM")
    return stream.getvalue()


def read(data: bytes, job: str = "ocr", limits: ProgramLimits | None = None) -> programs.Finished:
    descriptor = channel.in_memory(data)
    try:
        return programs.execute(job, {"languages": languages()}, descriptor, SECONDS, limits)
    finally:
        os.close(descriptor)


def words(output: bytes) -> list[str]:
    return [word.text for word in words_of(output.decode())]


def test_words_are_those_of_the_program_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(picture())
    monkeypatch.setattr(programs, "_by_tesserocr", lambda *_: [])
    assert words(found.output) == words(read(picture()).output) == TEXT.split()


@pytest.mark.parametrize("quarter_turns", [1, 2])
def test_orientation_is_that_of_the_program(monkeypatch: pytest.MonkeyPatch, quarter_turns: int) -> None:
    lines = "\n".join(f"The patient of ward {n} was discharged in the afternoon" for n in range(9))
    page = picture(lines, quarter_turns=quarter_turns, size=(1100, 700))
    found = read(page, "orientation")
    monkeypatch.setattr(programs, "_by_tesserocr", lambda *_: [])
    assert found.status == 0
    assert found.output.strip() in read(page, "orientation").output.splitlines()


def test_picture_with_too_few_letters_has_no_orientation() -> None:
    assert read(picture("I"), "orientation").status == NOT_READ


@pytest.mark.parametrize("data", [b"", b"P5 9 9 255\nabc", b"P5 0 0 255\n", b"P6 1 1 255\nabc", b"%PDF-1.7"])
def test_what_is_no_grey_picture_is_refused(data: bytes) -> None:
    found = read(data)
    assert (found.status, found.output) == (NOT_READ, b"")


@pytest.mark.slow
@pytest.mark.parametrize("n_megabytes", [300, 600])  # too little for the models, and for a large page
def test_page_that_needs_too_much_memory_ends_the_program(n_megabytes: int) -> None:
    noise = Image.effect_noise((9000, 9000), 90)
    found = read(b"P5\n9000 9000\n255\n" + noise.tobytes(), limits=ProgramLimits(n_megabytes * 1024**2))
    assert found.status == NO_MEMORY or found.status < 0 or found.status == NOT_READ
    assert found.output == b""


def test_without_a_model_the_program_tesseract_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_MODELS", ("/nowhere",))
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    assert _by_tesserocr("ocr", {"languages": "eng"}) == []
    assert words(read(picture()).output) == TEXT.split()


def test_worker_reads_through_the_process_that_starts_programs(tmp_path: os.PathLike[str]) -> None:
    service = program_service(Limits())
    service.open(str(tmp_path))
    programs.ask_at(str(tmp_path))
    try:
        descriptor = channel.in_memory(picture())
        found = programs.run("ocr", descriptor, SECONDS, languages=languages())
        os.close(descriptor)
    finally:
        programs._Connection.channel = None
        service.close()
    assert words(found.output) == TEXT.split()


@pytest.mark.parametrize(
    "content", ["raise ImportError", "import no_such_library", "raise OSError('libtesseract.so')"]
)
@pytest.mark.parametrize("name", ["tesserocr.py", "tesserocr/__init__.py"])
def test_a_library_that_cannot_be_imported_leaves_pictures_to_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "tesserocr", raising=False)
    assert _by_tesserocr("ocr", {"languages": languages()}) == []
    assert words(read(picture()).output) == TEXT.split()
    (tmp_path / name).write_text("x = 1")
    programs._has_tesserocr.cache_clear()
    assert _by_tesserocr("ocr", {"languages": languages()})[1] == str(tmp_path)
