"""The seam between the dispatch and the format families."""

from __future__ import annotations

from typing import Protocol

from phiscan.extract.core.content import Content, Sink


class Extractor(Protocol):
    """Reads one format family.

    ``extract`` adds text to the sink in reading order and hands members to ``Sink.read_member``; a part
    that cannot be read is recorded with ``Sink.fail``. It raises ExtractError when nothing can be read.
    Any other exception of a library is turned into ``corrupt`` by the dispatch, without its message,
    because a library may quote the document.
    """

    @property
    def media_types(self) -> frozenset[str]:
        """The media types that this extractor reads."""

    def extract(self, content: Content, sink: Sink) -> None:
        """Read ``content`` into ``sink``."""
