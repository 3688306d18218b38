"""7-Zip archives through py7zr: unpacked into memory within the budget, member by member."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason


class SevenZipExtractor:
    """Read the members of a 7z file; an encrypted one is tried with the operator's passwords."""

    media_types = frozenset({"application/x-7z-compressed"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every member as soon as it is unpacked; what py7zr refuses goes to libarchive.

        Raises:
            ExtractError: encrypted, corrupt or too_large.
        """
        from phiscan.extract.archives.seven_zip_members import RefusedError, WrongPasswordError, unpack  # noqa: PLC0415

        for password in (None, *sink.passwords):
            try:
                unpack(content, sink, password)
            except WrongPasswordError:
                continue
            except RefusedError as error:
                self._second_reader(content, sink, str(error))
            return
        raise ExtractError(FailReason.ENCRYPTED)

    def _second_reader(self, content: Content, sink: Sink, detail: str) -> None:
        if libarchive.library() is None or content.stream is not None:
            raise ExtractError(FailReason.CORRUPT, detail)
        from phiscan.extract.archives.other_archives import OtherArchiveExtractor  # noqa: PLC0415 (rarely needed)

        OtherArchiveExtractor().extract(content, sink)
