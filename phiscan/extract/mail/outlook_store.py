"""Outlook stores (PST) through readpst, where it is installed: one mailbox per folder.

readpst writes files. They lie in a private temporary folder, lose their names as soon as it has ended and are
handed over open; what a killed scan leaves is removed with that folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

_OFFLINE = b"SO"
_ENDINGS = {"mbox": ".mbox", "contacts": ".vcf", "calendar": ".ics", "journal": ".ics"}


class OutlookStoreExtractor:
    """Read PST files; OST files as far as readpst reads them."""

    media_types = frozenset({"application/vnd.ms-outlook-pst"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every folder's mailbox as a member.

        Raises:
            ExtractError: unsupported (readpst is missing), timed_out or corrupt.
        """
        if not shutil.which("readpst"):
            raise ExtractError(
                FailReason.UNSUPPORTED, f"{_kind(content)}needs readpst, which is not installed"
            )
        if content.n_bytes > sink.limits.member_bytes:  # readpst would write that much
            detail = f"{content.n_bytes} bytes, limit {sink.limits.member_bytes}"
            raise ExtractError(FailReason.TOO_LARGE, detail)
        written = _unpack(content, sink.limits.time_s)
        try:
            if not written.files:
                raise ExtractError(FailReason.CORRUPT, f"{_kind(content)}readpst gave nothing")
            for name, descriptor in written.files:
                sink.take_member()
                path = Path(name)
                shown = str(path.parent / path.stem) + _ENDINGS.get(path.name, path.suffix)
                with os.fdopen(descriptor, "rb", closefd=False) as stream:
                    data = sink.unpack(stream, content.n_bytes)
                sink.read_member(content.member(shown, data))
        finally:
            written.close()


def _kind(content: Content) -> str:
    """Return the name of an OST file, recognised by the magic number of its client, and advice.

    Source: Microsoft, [MS-PST] section 2.2.2.6, wMagicClient.
    """
    is_offline = bytes(content.data[8:10]) == _OFFLINE
    return "Outlook offline store (OST), export it to PST from Outlook; " if is_offline else ""


def _unpack(content: Content, seconds: float) -> programs.Finished:
    """Return the mailboxes of a store as open files that have no name any more."""
    held = None if content.stream is not None else in_memory(content.data)
    descriptor = content.stream.fileno() if held is None and content.stream is not None else held
    try:
        return programs.run("readpst", descriptor, seconds)
    except subprocess.TimeoutExpired:
        raise ExtractError(FailReason.TIMED_OUT, "readpst") from None
    finally:
        if held is not None:
            os.close(held)
