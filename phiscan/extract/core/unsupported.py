"""What phiscan knows but cannot read, each with the reason that an officer can act on."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.archives.file_systems import FileSystemExtractor
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import OPAQUE
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
    """Refuse, saying what it is."""

    media_types = frozenset(DETAILS)

    def extract(self, content: Content, sink: Sink) -> None:  # noqa: ARG002 (the protocol's signature)
        """Raise always."""
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (circular only in name)

        raise ExtractError(FailReason.UNSUPPORTED, DETAILS.get(sniff(content.data, content.name), ""))
