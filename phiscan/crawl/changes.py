"""Detect unchanged files by size, times and inode, without opening them."""

from __future__ import annotations

from typing import Protocol

from phiscan.model import SourceFile


class FileIdentity(Protocol):
    """The four numbers of the file system that identify an unchanged file."""

    @property
    def size(self) -> int: ...  # noqa: D102 (named by the class)
    @property
    def mtime_ns(self) -> int: ...  # noqa: D102
    @property
    def ctime_ns(self) -> int: ...  # noqa: D102
    @property
    def inode(self) -> int: ...  # noqa: D102


def is_same_file(source: SourceFile, before: FileIdentity) -> bool:
    """Return whether the file is unchanged since ``before`` was recorded.

    The change time (ctime) is compared because a program can reset the modification time after writing, but
    not the change time. The device number is not compared: network mounts get a new one at each mount, so
    that all their files would seem changed.
    """
    return (
        source.size == before.size
        and source.mtime_ns == before.mtime_ns
        and source.ctime_ns == before.ctime_ns
        and source.inode == before.inode
    )
