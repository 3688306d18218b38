"""What is new since last time: the identity of a file without opening it."""

from __future__ import annotations

from typing import Protocol

from phiscan.model import SourceFile


class FileIdentity(Protocol):
    """The four numbers by which the file system tells that a file is the same as before."""

    @property
    def size(self) -> int: ...  # noqa: D102 (named by the class)
    @property
    def mtime_ns(self) -> int: ...  # noqa: D102
    @property
    def ctime_ns(self) -> int: ...  # noqa: D102
    @property
    def inode(self) -> int: ...  # noqa: D102


def is_same_file(source: SourceFile, before: FileIdentity) -> bool:
    """Tell whether nothing about the file changed since ``before`` was recorded.

    The change time is part of it on purpose: a program can set the modification time back after
    writing, but not the change time. The device number is not compared: network mounts get a new one
    at each mount, and would look changed as a whole.
    """
    return (
        source.size == before.size
        and source.mtime_ns == before.mtime_ns
        and source.ctime_ns == before.ctime_ns
        and source.inode == before.inode
    )
