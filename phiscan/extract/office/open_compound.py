"""An open compound file whose streams and listing are read once, however many readers ask for them."""

from __future__ import annotations

import io

import olefile

_MOST_KEPT_BYTES = 32 * 1024**2  # of all streams of a file together


class OpenCompoundFile(olefile.OleFileIO):  # type: ignore[misc] # olefile has no types
    """A compound file that keeps its streams in memory until it is closed, within a bound."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._kept: dict[tuple[str, ...], bytes] = {}
        self._n_kept = 0
        self._listings: dict[tuple[bool, bool], list[list[str]]] = {}
        super().__init__(io.BytesIO(data))

    def openstream(self, filename: str | list[str]) -> io.BytesIO:
        """Return a stream as a file.

        Raises:
            OSError: it is missing or damaged, or no stream.
        """
        key = tuple(filename.split("/") if isinstance(filename, str) else filename)
        data = self._kept.get(key)
        if data is None:
            data = self._whole(list(key))
            if self._n_kept + len(data) <= _MOST_KEPT_BYTES:
                self._kept[key] = data
                self._n_kept += len(data)
        return io.BytesIO(data)

    def listdir(self, streams: bool = True, storages: bool = False) -> list[list[str]]:
        """Return the paths of the streams, and those of the storages."""
        key = (streams, storages)
        if key not in self._listings:
            self._listings[key] = super().listdir(streams, storages)
        return list(self._listings[key])

    def close(self) -> None:
        """Close the file and forget its streams."""
        self._kept.clear()
        self._data = b""
        super().close()

    def _whole(self, path: list[str]) -> bytes:
        """Return the bytes of a stream; one of sectors in the file without olefile's checks."""
        entry = self.direntries[self._find(path)]
        if entry.entry_type == olefile.STGTY_STREAM and entry.size >= self.minisectorcutoff:
            found = self._sound_chain(entry.isectStart, entry.size)
            if found is not None:
                return found
        return bytes(super().openstream(path).read())

    def _sound_chain(self, sector: int, size: int) -> bytes | None:
        """Return the bytes of a chain of sectors; None where one of them lies outside of the file."""
        n_bytes, table, data = self.sector_size, self.fat, self._data
        n_sectors = -(-size // n_bytes)
        n_whole = min(len(data) // n_bytes - 1, len(table))
        if n_sectors > n_whole:
            return None
        pieces = []
        for _ in range(n_sectors):
            if not 0 <= sector < n_whole:
                return None
            at = (sector + 1) * n_bytes
            pieces.append(data[at : at + n_bytes])
            sector = table[sector]
        return b"".join(pieces)[:size]
