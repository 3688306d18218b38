"""Where py7zr writes the members of an archive: into the budget of the file, not to a disk."""

from __future__ import annotations

import py7zr
from py7zr.exceptions import CrcError
from py7zr.io import Py7zIO, WriterFactory

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Meter, Sink, TextFullError, mishap
from phiscan.model import FailReason


class WrongPasswordError(Exception):
    """The archive needs another password."""


class RefusedError(Exception):
    """py7zr can read no member of the archive; the message says in words why."""


def unpack(content: Content, sink: Sink, password: str | None) -> None:
    """Read the members of an archive; with a wrong password, or where it is damaged, as far as they go.

    Raises:
        ExtractError: too_large.
        TextFullError: the text budget is used up.
        WrongPasswordError, RefusedError: nothing was read.
    """
    factory = _Members(content, sink)
    try:
        with py7zr.SevenZipFile(content.open(), password=password) as archive:
            if password is None and archive.needs_password():
                raise WrongPasswordError  # noqa: TRY301 (the library raises the same further down)
            archive.extractall(factory=factory)
    except (WrongPasswordError, MemoryError, TextFullError):
        raise
    except py7zr.PasswordRequired:
        raise WrongPasswordError from None
    except Exception as error:  # noqa: BLE001 (it fails on damage, and on a wrong password, in many ways)
        if factory.stopped is not None:
            raise factory.stopped from None
        if factory.n_read:
            damage = "wrong checksum" if isinstance(error, CrcError) else mishap(error)
            sink.fail(content.locator, FailReason.CORRUPT, damage)
        elif password is not None:
            raise WrongPasswordError from None
        else:
            raise RefusedError(mishap(error)) from None
    if factory.stopped is not None:
        raise factory.stopped


class _Members(WriterFactory):
    """Gives a place to each member, and remembers what ended the reading."""

    def __init__(self, content: Content, sink: Sink) -> None:
        self.content = content
        self.sink = sink
        self.n_read = 0
        self.stopped: ExtractError | TextFullError | None = None

    def create(self, filename: str) -> Py7zIO:
        """Return the place for a member."""
        return _Member(self, filename)


class _Member(Py7zIO):
    """Takes the bytes of one member as they are unpacked, and reads it when it is whole."""

    def __init__(self, owner: _Members, name: str) -> None:
        self._owner = owner
        self._place = owner.content.member(name.replace("\\", "/").replace("\0", ""), b"")
        self._meter: Meter | None = owner.sink.meter(owner.content.n_bytes)
        self._n_bytes = 0

    def write(self, s: bytes | bytearray) -> int:
        """Take some more bytes; a member over the limits is passed over, up to the limit of the file."""
        self._n_bytes += len(s)
        if self._meter is not None and self._owner.stopped is None:
            try:
                self._meter.take(bytes(s))
            except ExtractError as error:
                self._owner.sink.fail(self._place.locator, FailReason(error.reason), error.detail)
                self._meter = None
        limit = self._owner.sink.limits.member_bytes
        if self._n_bytes > limit:  # what lies after it is not reached in reasonable time
            self._owner.stopped = ExtractError(FailReason.TOO_LARGE, f"a member over {limit} bytes")
            raise self._owner.stopped
        return len(s)

    def close(self) -> None:
        """Read the member."""
        meter, self._meter = self._meter, None
        if meter is None or self._owner.stopped is not None:
            return
        self._owner.n_read += 1
        sink, content = self._owner.sink, self._owner.content
        try:
            sink.take_member()
            sink.read_member(content.member(self._place.name, meter.data()))
        except (ExtractError, TextFullError) as error:
            self._owner.stopped = error
            raise

    def read(self, size: int | None = None) -> bytes:  # noqa: ARG002 (the interface's signature)
        """Return nothing: it is written only."""
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 (the interface's signature)
        """Stay where it is: it is written only."""
        return 0

    def flush(self) -> None:
        """Do nothing: no byte is held back."""

    def size(self) -> int:
        """Return the number of bytes so far."""
        return self._n_bytes
