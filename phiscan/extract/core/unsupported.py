"""What phiscan knows but cannot read, each with the reason that an officer can act on."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.archives.file_systems import FileSystemExtractor
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.magic_numbers import UNKNOWN
from phiscan.extract.databases.named import OPAQUE, strings
from phiscan.extract.residue.prose import MIN_WORDS, words_of
from phiscan.model import FailReason

DETAILS = {
    "application/x-executable": "program",
    "application/octet-stream": "binary data of no known type",
    "video/mp4": "video",
    "audio/mpeg": "sound",
    "audio/x-riff": "sound or video",
    "application/ogg": "sound or video",
    **{kind: name for kind, name in OPAQUE.items() if kind not in FileSystemExtractor.media_types},
}


class UnsupportedExtractor:
    """Refuse, saying what it is; of data of no known type read the runs of text."""

    media_types = frozenset(DETAILS)

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the runs of several words in data of no known type, ``#strings``; refuse the rest.

        Raises:
            ExtractError: unsupported.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (circular only in name)

        media_type = sniff(content.data, content.name)
        detail = DETAILS.get(media_type, "")
        runs = [run for run in strings(content.data) if _has_words(run)] if media_type == UNKNOWN else []
        if len(words_of(" ".join(runs))) < MIN_WORDS:
            raise ExtractError(FailReason.UNSUPPORTED, detail)
        sink.add("\n".join(runs), content.place("strings"))
        sink.fail(content.locator, FailReason.UNSUPPORTED, f"{detail}: only the runs of text in it are read")


def _has_words(run: str) -> bool:
    return len(words_of(run)) > 1 or run.isdecimal()
