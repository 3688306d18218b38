"""Disk images (raw, E01, VMDK, VHD) with FAT, exFAT, NTFS or ext through sleuthkit, where it is installed.

mmls gives the partitions, fls the files of each, deleted ones too, icat the bytes of one by its inode.
The size that fls gives is compared with the limits before icat is started: its output is held in memory.
"""

from __future__ import annotations

import io
import os
import re
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

from phiscan.errors import ExtractError
from phiscan.extract.archives.fat_directories import impossible_files
from phiscan.extract.archives.joined_files import descriptors_of
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import OPAQUE, strings
from phiscan.extract.residue.prose import MIN_WORDS, words_of
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

_PARTITION = re.compile(r"^\d{3}:\s+\d\S*\s+(\d{10})\s+\d{10}\s+\d{10}\s", re.MULTILINE)
_MOST_PARTITIONS = 64
# Type, "*" of a deleted one, inode, name; then four times, the size and two owners.
_FILE = re.compile(
    r"^r/\S+ (?P<deleted>\* )?"
    r"(?P<inode>\d{1,20})(?P<stream>-128-\d{1,5})?(?:-\d{1,5}-\d{1,5})?(?:\(realloc\))?:"
    r"\t(?P<name>[^\t\n]*)(?:\t[^\t\n]*){4}\t(?P<size>\d{1,20})\t"
)
_MOST_ICAT_BYTES = 15 * 1024**2  # one answer of a program
_ENCASE = "application/x-ewf"
_VMWARE_MAGIC, _VMWARE_EXTENT = b"KDMV", re.compile(rb'SPARSE "[^"\n]*"')
_IMAGE_KINDS = {_ENCASE: "ewf", "application/x-vmdk": "vmdk", "application/x-vhd": "vhd"}  # others are raw
_SECTOR = 512
_MOST_DESCRIPTION_BYTES = 1024**2
_MOST_BLOCK_SHIFT = 6
_SECTION_BYTES = 76  # of an EnCase image: the last section says whether a further segment follows
_PROTECTIVE = 0xEE  # the one entry of the old table on a disk with a GPT
_EXPORT = "make one raw image of all segments (ewfexport -t disk -f raw IMAGE.E01) and scan that"
_JOIN = "join the segments of a split image (cat IMAGE.0* > disk.dd) and scan that"
_NEEDS = "needs the programs of sleuthkit, which are not installed"


@dataclass(frozen=True, slots=True)
class _File:
    partition: int
    offset: str  # of the partition, in sectors
    inode: str
    name: str
    size: int
    is_deleted: bool


class FileSystemExtractor:
    """Read the files of a disk image."""

    media_types = frozenset({"application/x-raw-disk-image", *_IMAGE_KINDS})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every file as a member ``partition1/inode45/name``, a deleted one as ``deleted-inode45``.

        Raises:
            ExtractError: unsupported (sleuthkit is missing, or it knows no file system there) or timed_out.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (imports the tables of kinds)

        media_type = sniff(content.data, content.name)
        kind, is_raw = OPAQUE[media_type], media_type not in _IMAGE_KINDS
        if not all(map(programs.is_installed, ("mmls", "fls", "icat"))):
            raise ExtractError(FailReason.UNSUPPORTED, f"{kind}: {_NEEDS}")
        held = -1 if content.stream is not None else in_memory(_with_own_name(content.data))
        segments = (held,) if content.stream is None else descriptors_of(content.stream)
        try:
            image = _Image(segments, _IMAGE_KINDS.get(media_type, "raw"), sink.limits.time_s)
            failed = []
            missing = _missing(content, segments[-1], media_type)
            partitions = _partitions(image, content, sink)
            for number, offset in enumerate(partitions, 1):
                listed = image.run("fls", offset=offset)
                if listed.status:
                    failed.append(number)
                for file in _files(listed.output, number, offset):
                    _read_file(image, file, content, sink)
                if is_raw and len(segments) == 1:
                    _list_impossible(segments[0], number, offset, content, sink)
            if len(failed) == len(partitions):
                why = missing or "no FAT, exFAT, NTFS or ext file system in it"
                raise ExtractError(FailReason.UNSUPPORTED, f"{kind}: {why}")
            if missing:
                sink.fail(content.locator, FailReason.UNSUPPORTED, missing)
            for number in failed:
                place = content.member(f"partition{number}", b"").locator
                sink.fail(
                    place, FailReason.UNSUPPORTED, "no FAT, exFAT, NTFS or ext file system that fls can list"
                )
        finally:
            if held >= 0:
                os.close(held)


def _partitions(image: _Image, content: Content, sink: Sink) -> list[str]:
    """Return the first sectors of the partitions to read; record those over the limit."""
    found = image.partitions()
    if len(found) > _MOST_PARTITIONS:
        said = f"{len(found) - _MOST_PARTITIONS} of {len(found)} partitions are not read"
        sink.fail(content.locator, FailReason.TOO_LARGE, said)
    return found[:_MOST_PARTITIONS]


def _missing(content: Content, last: int, media_type: str) -> str:
    """Return what lies in further segments that are not beside the first, and how to join them.

    ``last`` is the last segment that is open.

    Raises:
        ExtractError: unsupported; this is a later segment.
    """
    head = content.data
    if media_type == _ENCASE:
        number = int.from_bytes(head[9:11], "little")
        if number > 1:
            raise ExtractError(FailReason.UNSUPPORTED, f"segment {number} of an EnCase disk image; {_EXPORT}")
        end = max(os.fstat(last).st_size - _SECTION_BYTES, 0)
        if os.pread(last, _SECTION_BYTES, end).startswith(b"next\0"):
            return f"its further segments are not read; {_EXPORT}"
        return ""
    if media_type in _IMAGE_KINDS:
        return ""
    entries = [head[at : at + 16] for at in range(446, 510, 16)] if head[510:512] == b"\x55\xaa" else []
    ends = [sum(struct.unpack_from("<II", entry, 8)) for entry in entries if entry[4] not in (0, _PROTECTIVE)]
    n_disk = max(ends, default=0) * _SECTOR
    if is_disk_image(head) and n_disk > content.n_bytes:
        return f"{content.n_bytes} of {n_disk} bytes of a disk are in this file; {_JOIN}"
    return ""


def _with_own_name(data: bytes) -> bytes:
    """Return a VMware image whose description calls its data by the name under which it is opened.

    Any other data is returned as it is.
    """
    if not data.startswith(_VMWARE_MAGIC):
        return data
    start, size = (_SECTOR * number for number in struct.unpack_from("<QQ", data.ljust(44, b"\0"), 28))
    if not 0 < size <= _MOST_DESCRIPTION_BYTES or start + size > len(data):
        return data
    described = data[start : start + size].rstrip(b"\0")
    renamed = _VMWARE_EXTENT.sub(b'SPARSE "%b"' % programs.VMWARE_LINK.encode(), described)
    return data[:start] + renamed.ljust(size, b"\0") + data[start + size :] if len(renamed) <= size else data


class _Image:
    """An open image, and the time that all programs share."""

    def __init__(self, segments: tuple[int, ...], kind: str, seconds: float) -> None:
        self._segments = segments
        self._kind = kind
        self._ends = time.monotonic() + seconds

    def run(self, job: str, **values: str) -> programs.Finished:
        """Run a program on the image.

        Raises:
            ExtractError: timed_out.
        """
        os.lseek(self._segments[0], 0, os.SEEK_SET)
        try:
            left = self._ends - time.monotonic()
            return programs.run(job, self._segments, max(left, 0.01), kind=self._kind, **values)
        except subprocess.TimeoutExpired:
            raise ExtractError(FailReason.TIMED_OUT, job) from None

    def partitions(self) -> list[str]:
        """Return the first sector of each partition; of an image of one file system only 0."""
        table = self.run("mmls").output.decode("utf-8", "replace")
        return [str(int(sector)) for sector in _PARTITION.findall(table)] or ["0"]


def _files(listing: bytes, partition: int, offset: str) -> Iterator[_File]:
    """Yield the files of a listing once each, and the further streams of a file of NTFS, ``a.txt:name``."""
    seen = set()
    for line in listing.decode("utf-8", "replace").splitlines():
        match = _FILE.match(line)
        if match is None:
            continue
        is_further = bool(match["stream"]) and ":" in match["name"]  # no other name of NTFS has a colon
        inode = match["inode"] + (match["stream"] if is_further else "")
        if (inode, match["name"]) not in seen:
            seen.add((inode, match["name"]))
            is_deleted = match["deleted"] is not None
            yield _File(partition, offset, inode, match["name"], int(match["size"]), is_deleted)


def _read_file(image: _Image, file: _File, content: Content, sink: Sink) -> None:
    if not file.size or file.name.startswith("$"):  # structures of the file system, under names of their own
        return
    sink.take_member()
    place = f"partition{file.partition}/{'deleted-' if file.is_deleted else ''}inode{file.inode}/{file.name}"
    member = content.member(place, b"")
    if file.size > min(sink.limits.member_bytes, _MOST_ICAT_BYTES):
        sink.fail(member.locator, FailReason.TOO_LARGE, f"{file.size} bytes")
        return
    done = image.run("icat", offset=file.offset, inode=file.inode)
    if done.status and not done.output:
        sink.fail(member.locator, FailReason.CORRUPT, "icat gave nothing")
        return
    sink.read_member(
        content.member(place, sink.unpack(io.BytesIO(done.output[: file.size]), content.n_bytes))
    )
    _add_slack(done.output[file.size :], member.locator, sink)


def _add_slack(slack: bytes, locator: str, sink: Sink) -> None:
    """Add the runs of text between the end of a file and that of its last cluster, ``inode45/a.txt#slack``.

    They are of a file that lay there before, and no kind of file any more.
    """
    text = "\n".join(strings(slack)) if slack.strip(b"\0\xff\xf6") else ""
    if len(words_of(text)) >= MIN_WORDS:
        sink.spend(len(slack))
        sink.add(text, f"{locator}#slack")


def _list_impossible(descriptor: int, number: int, offset: str, content: Content, sink: Sink) -> None:
    """List the files of FAT that fls leaves out because of their size."""
    for name, size in impossible_files(descriptor, int(offset)):
        sink.take_member()
        place = content.member(f"partition{number}/{name}", b"").locator
        sink.fail(place, FailReason.CORRUPT, f"{size} bytes, more than the file system holds")


def is_disk_image(data: bytes) -> bool:
    """Tell a disk with partitions of known kinds, or an ext file system, from the fields of their heads.

    >>> is_disk_image(bytes(4096))
    False
    """
    if data[510:512] == b"\x55\xaa" and len(data) > _SECTOR:
        entries = [data[at : at + 16] for at in range(446, 510, 16)]
        used = [entry for entry in entries if entry[4]]
        # Each entry: 0 or 0x80, a kind, its first sector and its length.
        if used and all(
            entry[0] in (0, 0x80) and any(entry[8:12]) and any(entry[12:16]) if entry[4] else not any(entry)
            for entry in entries
        ):
            return True
    block = data[1024:2048]
    is_ext = block[56:58] == b"\x53\xef" and block[58:60] in (b"\1\0", b"\2\0", b"\4\0", b"\0\0")
    return is_ext and int.from_bytes(block[24:28], "little") <= _MOST_BLOCK_SHIFT and any(block[:8])
