"""Pictures to text through tesseract, within the file's own OCR budget."""

from __future__ import annotations

import ctypes
import io
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from phiscan.extract.content import Sink
from phiscan.model import FailReason

_PR_SET_PDEATHSIG = 1
_MIN_SECONDS = 0.5  # less is not worth a start


@lru_cache(maxsize=1)
def languages() -> str:
    """Return the tesseract languages to use, ``eng+fra``; empty without tesseract."""
    program = shutil.which("tesseract")
    if not program:
        return ""
    try:
        listed = subprocess.run([program, "--list-langs"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    installed = listed.stdout.decode("ascii", "ignore").split()
    return "+".join(name for name in ("eng", "fra") if name in installed)


def read_picture(render: Callable[[], Any], place: str, sink: Sink) -> bool:
    """Read one picture (a PIL image made by ``render``); tell whether it could be looked at.

    Without tesseract, or when the budget is used up, the place is recorded as unread.
    """
    if not languages():
        sink.fail(place, FailReason.NEEDS_OCR, "tesseract is not installed")
        return False
    seconds = sink.ocr_seconds_left()
    if seconds < _MIN_SECONDS:
        sink.fail(place, FailReason.TIMED_OUT, f"OCR budget of {sink.limits.ocr_s} s used up")
        return False
    try:
        text = picture_text(render(), seconds)
    except subprocess.TimeoutExpired:
        sink.fail(place, FailReason.TIMED_OUT, f"OCR budget of {sink.limits.ocr_s} s used up")
        return False
    except (OSError, ValueError, RuntimeError, SyntaxError) as error:
        sink.fail(place, FailReason.CORRUPT, type(error).__name__)
        return False
    sink.add(text, place)
    return True


def picture_text(image: Any, seconds: float) -> str:
    """Return the text in a PIL image, upright or turned by a quarter; nothing touches the disk.

    Raises:
        subprocess.TimeoutExpired: it took longer than ``seconds``.
    """
    stream = io.BytesIO()
    if image.mode not in ("L", "RGB", "1"):
        image = image.convert("RGB")
    # PNM costs nothing to write; tesseract reads it from its standard input.
    image.convert("L").save(stream, "PPM")
    # Page segmentation 1: automatic, with orientation and script detection where osd is installed.
    command = ["tesseract", "stdin", "stdout", "-l", languages(), "--psm", "1", "--dpi", "200"]
    done = subprocess.run(
        command,
        input=stream.getvalue(),
        capture_output=True,
        timeout=seconds,
        check=False,
        env=os.environ | {"OMP_THREAD_LIMIT": "1"},
        preexec_fn=die_with_parent,
    )
    if done.returncode:
        message = "tesseract failed"
        raise RuntimeError(message)
    return done.stdout.decode("utf-8", "replace").replace("\f", "\n")


def die_with_parent() -> None:
    """Make the calling process die when its parent does; for a child between fork and exec."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
