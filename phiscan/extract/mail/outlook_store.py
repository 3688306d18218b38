"""Outlook stores (PST) through readpst, where it is installed: one mailbox per folder.

readpst writes files. They lie in the worker's private temporary folder, are removed as soon as they are
read, and again with that folder at the end of the scan.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.ocr.recognition import die_with_parent
from phiscan.model import FailReason

_ENDINGS = {"mbox": ".mbox", "contacts": ".vcf", "calendar": ".ics", "journal": ".ics"}


class OutlookStoreExtractor:
    """Read PST files."""

    media_types = frozenset({"application/vnd.ms-outlook-pst"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every folder's mailbox as a member.

        Raises:
            ExtractError: unsupported (readpst is missing), timed_out or corrupt.
        """
        program = shutil.which("readpst")
        if not program:
            raise ExtractError(FailReason.UNSUPPORTED, "needs readpst, which is not installed")
        with tempfile.TemporaryDirectory() as folder:
            if content.n_bytes > sink.limits.member_bytes:  # readpst would write that much
                detail = f"{content.n_bytes} bytes, limit {sink.limits.member_bytes}"
                raise ExtractError(FailReason.TOO_LARGE, detail)
            _unpack(program, content, folder, sink.limits.time_s)
            files = sorted(
                path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()
            )
            if not files:
                raise ExtractError(FailReason.CORRUPT, "readpst gave nothing")
            for path in files:
                sink.take_member()
                name = str(path.parent.relative_to(folder) / path.stem) + _ENDINGS.get(path.name, path.suffix)
                with path.open("rb") as stream:
                    data = sink.unpack(stream, content.n_bytes)
                path.unlink()
                sink.read_member(content.member(name, data))


def _unpack(program: str, content: Content, folder: str, seconds: float) -> None:
    descriptor = os.memfd_create("phiscan")
    try:
        if content.stream is not None:
            os.dup2(content.stream.fileno(), descriptor)
        view = memoryview(b"" if content.stream is not None else content.data)
        while view:
            view = view[os.write(descriptor, view) :]
        subprocess.run(
            [program, "-q", "-r", "-8", "-j", "0", "-o", folder, f"/proc/self/fd/{descriptor}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            timeout=seconds,
            check=False,
            preexec_fn=die_with_parent,
        )
    except subprocess.TimeoutExpired:
        raise ExtractError(FailReason.TIMED_OUT, "readpst") from None
    finally:
        os.close(descriptor)
