"""Disk images: files and deleted files as members with their inode; unreadable ones named by kind."""

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.archives import file_systems
from phiscan.extract.archives.fat_directories import impossible_files
from phiscan.extract.core.file_type import sniff
from phiscan.model import Document, FailReason
from phiscan.sandbox import programs
from tests.needs import needs

Read = Callable[..., Document]
NOTE = "Patient: Lena Okafor, MRN 40718823, congestive heart failure"
GONE = "Patient: Marc Delisle, MRN 51120934, prostate cancer"


@pytest.fixture
def sleuthkit() -> None:
    needs("mmls", "fls", "icat")


def _made(program: str) -> str:
    return needs(program, folders=("/usr/sbin", "/sbin"))[program]


def _ext(folder: Path, *, delete: bool) -> bytes:
    tree = folder / "tree" / "notes"
    tree.mkdir(parents=True)
    (tree / "a.txt").write_text(NOTE)
    (tree / "b.txt").write_text(GONE)
    image = folder / "ext.img"
    image.write_bytes(bytes(2 * 1024**2))
    command = [_made("mke2fs"), "-q", "-F", "-t", "ext4", "-d", str(tree.parent), str(image)]
    subprocess.run(command, check=True, capture_output=True)
    if delete:
        subprocess.run(
            [_made("debugfs"), "-w", "-R", "rm notes/b.txt", str(image)],
            check=True,
            capture_output=True,
        )
    return image.read_bytes()


def _fat(note: str) -> bytes:
    """Return a diskette of FAT12 with one file, and one that was deleted."""
    boot = b"\xeb\x3c\x90MSDOS5.0" + struct.pack(
        "<HBHBHHBHHHII", 512, 1, 1, 2, 224, 2880, 0xF0, 9, 18, 2, 0, 0
    )
    boot += struct.pack("<BBBI", 0, 0, 0x29, 1) + b"NO NAME    FAT12   "
    table = (b"\xf0\xff\xff" + b"\xff\xff\xff").ljust(9 * 512, b"\0")
    entries = b"".join(
        name + bytes([0x20]) + bytes(14) + struct.pack("<HI", cluster, len(text))
        for name, cluster, text in ((b"NOTE    TXT", 2, note), (b"\xe5OLD    TXT", 3, GONE))
    )
    data = note.encode().ljust(512, b"\0") + GONE.encode().ljust(512, b"\0")
    image = boot.ljust(510, b"\0") + b"\x55\xaa" + table * 2 + entries.ljust(14 * 512, b"\0") + data
    return image.ljust(2880 * 512, b"\0")


def _disk(system: bytes, kind: int = 0x83) -> bytes:
    entry = struct.pack("<B3sB3sII", 0, bytes(3), kind, bytes(3), 2048, len(system) // 512)
    return bytes(446) + entry.ljust(64, b"\0") + b"\x55\xaa" + bytes(2047 * 512) + system


@pytest.mark.usefixtures("sleuthkit")
def test_files_and_deleted_files_of_fat_are_members(read: Read) -> None:
    document = read(_fat(NOTE), "floppy.img")
    places = [segment.locator for segment in document.segments]
    assert NOTE in document.text
    assert GONE in document.text
    assert any("/inode" in place and "NOTE.TXT" in place for place in places)
    assert any("/deleted-inode" in place for place in places)


@pytest.mark.usefixtures("sleuthkit")
@pytest.mark.parametrize("partitioned", [False, True])
def test_files_of_ext_are_members(partitioned: bool, tmp_path: Path, read: Read) -> None:
    system = _ext(tmp_path, delete=True)
    document = read(_disk(system) if partitioned else system, "disk.dd")
    assert NOTE in document.text
    assert GONE in document.text
    assert any(
        segment.locator.startswith("partition1/deleted-inode") and segment.locator.endswith("notes/b.txt")
        for segment in document.segments
    )


@pytest.mark.usefixtures("sleuthkit")
def test_what_lay_in_the_last_cluster_of_a_file_before_is_read_with_its_inode(read: Read) -> None:
    image = bytearray(_fat(NOTE))
    at = image.index(NOTE.encode()) + len(NOTE)
    before = b"\x93 Anna Rossi, MRN 33817720, admitted for pneumonia in the spring"
    image[at + 3 : at + 3 + len(before)] = before
    document = read(bytes(image), "floppy.img")
    slack = [segment for segment in document.segments if segment.locator.endswith("NOTE.TXT#slack")]
    assert [document.text[part.start : part.end] for part in slack] == [before[2:].decode()]
    assert slack[0].locator.startswith("partition1/inode")
    assert not document.unread


@pytest.mark.usefixtures("sleuthkit")
def test_the_first_segment_of_a_split_image_says_what_is_missing(tmp_path: Path, read: Read) -> None:
    image = _disk(_ext(tmp_path, delete=False))
    document = read(image[: len(image) * 3 // 4], "disk.001")
    assert NOTE in document.text
    said = f"of {len(image)} bytes of a disk are in this file; join the segments"
    assert any(said in part.detail for part in document.unread)


@pytest.mark.usefixtures("sleuthkit")
def test_the_first_segment_of_an_encase_image_says_what_is_missing(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(b"EVF\t\r\n\xff\0\1\1\0\0\0" + bytes(600) + b"next".ljust(76, b"\0"), "disk.E01")
    assert "its further segments are not read; make one raw image" in caught.value.detail


@pytest.mark.usefixtures("sleuthkit")
def test_a_later_segment_of_an_encase_image_is_named(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(b"EVF\t\r\n\xff\0\1\2\0\0\0" + bytes(600), "disk.E02")
    assert caught.value.detail.startswith("segment 2 of an EnCase disk image; make one raw image")


@pytest.mark.usefixtures("sleuthkit")
@pytest.mark.parametrize("n_bytes", [1024, 5000, 12_000])
def test_a_cut_image_costs_one_file(n_bytes: int, read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(_fat(NOTE)[:n_bytes], "floppy.img")
    assert caught.value.reason in (FailReason.UNSUPPORTED, FailReason.CORRUPT)


@pytest.mark.usefixtures("sleuthkit")
def test_a_file_that_claims_to_be_huge_is_listed_and_not_unpacked(read: Read) -> None:
    image = bytearray(_fat(NOTE))
    size = image.index(b"NOTE    TXT") + 28
    image[size : size + 4] = struct.pack("<I", 1024**2)
    document = read(bytes(image), "floppy.img", Limits(member_bytes=64 * 1024))
    assert [part.reason for part in document.unread if "NOTE.TXT" in part.locator] == [FailReason.TOO_LARGE]
    assert GONE in document.text


@pytest.mark.usefixtures("sleuthkit")
@pytest.mark.parametrize("partitioned", [False, True])
def test_a_fat_file_larger_than_the_disk_is_listed(partitioned: bool, read: Read) -> None:
    image = bytearray(_fat(NOTE))
    size = image.index(b"NOTE    TXT") + 28
    image[size : size + 4] = struct.pack("<I", 3 * 1024**3)
    document = read(_disk(bytes(image), 0x01) if partitioned else bytes(image), "floppy.img")
    assert [part.reason for part in document.unread if part.locator.endswith("partition1/NOTE.TXT")] == [
        FailReason.CORRUPT
    ]
    assert GONE in document.text


def test_a_fat_file_larger_than_the_disk_is_found_in_a_folder(tmp_path: Path) -> None:
    image = bytearray(_fat(NOTE))
    root = image.index(b"NOTE    TXT")
    image[root : root + 32] = b"FOLDER     " + bytes([0x10]) + bytes(14) + struct.pack("<HI", 4, 0)
    image[512 + 6 : 512 + 9] = b"\xff\x4f\x00"  # cluster 4 is followed by 4: a loop
    data = image.index(NOTE.encode()) + 2 * 512
    image[data : data + 32] = b"BIG     DOC" + bytes([0x20]) + bytes(14) + struct.pack("<HI", 5, 2**31)
    path = tmp_path / "floppy.img"
    path.write_bytes(image)
    with path.open("rb") as stream:
        assert list(impossible_files(stream.fileno(), 0)) == [("FOLDER/BIG.DOC", 2**31)]
    for n_bytes in (0, 100, 512, 6000):
        path.write_bytes(image[:n_bytes])
        with path.open("rb") as stream:
            assert list(impossible_files(stream.fileno(), 0)) == []


@pytest.mark.usefixtures("sleuthkit")
def test_a_partition_that_cannot_be_listed_is_unread_beside_one_that_can(read: Read) -> None:
    image = bytearray(_disk(_fat(NOTE), 0x01))
    first = 2048 + 2880
    image[446 + 16 : 446 + 32] = struct.pack("<B3sB3sII", 0, bytes(3), 0x83, bytes(3), first, 2048)
    document = read(bytes(image) + b"\x5a" * (2048 * 512), "disk.dd")
    assert NOTE in document.text
    assert [part.reason for part in document.unread if part.locator.endswith("partition2")] == [
        FailReason.UNSUPPORTED
    ]


@pytest.mark.usefixtures("sleuthkit")
def test_a_table_of_clusters_that_loops_ends(read: Read) -> None:
    image = bytearray(_fat(NOTE))
    for table in (512, 512 + 9 * 512):
        image[table + 3 : table + 6] = b"\x02\x20\x00"  # cluster 2 is followed by itself
    size = image.index(b"NOTE    TXT") + 28
    image[size : size + 4] = struct.pack("<I", 1024**2)
    document = read(bytes(image), "floppy.img", Limits(time_s=20))
    assert GONE in document.text


def _encase(raw: bytes, folder: Path) -> bytes:
    (folder / "raw.img").write_bytes(raw)
    command = [
        _made("ewfacquire"),
        "-u",
        "-q",
        "-t",
        str(folder / "held"),
        "-m",
        "fixed",
        "-M",
        "logical",
    ]
    about = [part for option in "CDeEN" for part in (f"-{option}", "x")]
    subprocess.run([*command, *about, str(folder / "raw.img")], check=True, capture_output=True)
    return (folder / "held.E01").read_bytes()


@pytest.mark.usefixtures("sleuthkit")
@pytest.mark.parametrize("partitioned", [False, True])
def test_files_of_an_encase_image_are_members(partitioned: bool, tmp_path: Path, read: Read) -> None:
    image = _encase(_disk(_fat(NOTE), 0x01) if partitioned else _fat(NOTE), tmp_path)
    document = read(image, "disk.E01")
    assert NOTE in document.text
    assert GONE in document.text
    assert any("partition1/deleted-inode" in segment.locator for segment in document.segments)


@pytest.mark.usefixtures("sleuthkit")
def test_an_encase_image_is_read_in_the_sandbox_of_programs(tmp_path: Path) -> None:
    path = tmp_path / "any_name"
    path.write_bytes(_encase(_fat(NOTE), tmp_path))
    with path.open("rb") as stream:
        done = programs.run("fls", stream.fileno(), 20, kind="ewf", offset="0")
    assert done.status == 0
    assert b"NOTE.TXT" in done.output
    assert not done.files


@pytest.mark.usefixtures("sleuthkit")
def test_an_encase_image_that_is_cut_is_unsupported(tmp_path: Path, read: Read) -> None:
    image = _encase(_fat(NOTE), tmp_path)
    with pytest.raises(ExtractError) as caught:
        read(image[:2000], "disk.E01")
    assert caught.value.reason == FailReason.UNSUPPORTED
    assert "E01" in caught.value.detail


def test_without_sleuthkit_the_kind_is_named(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "is_installed", lambda _: False)
    with pytest.raises(ExtractError) as caught:
        read(_fat(NOTE), "floppy.img")
    assert caught.value.reason == FailReason.UNSUPPORTED
    assert "disk image" in caught.value.detail
    assert "sleuthkit" in caught.value.detail


def test_a_disk_with_partitions_is_told_by_its_table() -> None:
    assert sniff(_disk(bytes(4096))) == "application/x-raw-disk-image"
    assert sniff(b"\x55\xaa".rjust(512, b"x") + bytes(100)) != "application/x-raw-disk-image"


def _vhd(system: bytes) -> bytes:
    """Return a disk of one block of 2 MiB as a virtual disk that grows."""

    def sealed(head: bytes, at: int) -> bytes:
        return head[:at] + struct.pack(">I", ~sum(head) & 0xFFFFFFFF) + head[at + 4 :]

    size = 2 * 1024**2
    foot = struct.pack(
        ">8sIIQI4sI4sQQHBBII",
        b"conectix",
        2,
        0x10000,
        512,
        0,
        b"test",
        0,
        b"Wi2k",
        size,
        size,
        60,
        4,
        17,
        3,
        0,
    )
    foot = sealed(foot.ljust(512, b"\0"), 64)
    head = struct.pack(">8sQQIIII", b"cxsparse", 2**64 - 1, 1536, 0x10000, 1, size, 0)
    head = sealed(head.ljust(1024, b"\0"), 36)
    table = struct.pack(">I", 4).ljust(512, b"\xff")
    return foot + head + table + b"\xff" * 512 + system.ljust(size, b"\0") + foot


@pytest.mark.usefixtures("sleuthkit")
def test_a_virtual_disk_is_read(read: Read) -> None:
    document = read(_vhd(_fat(NOTE)), "old-server.vhd")
    assert document.media_type == "application/x-vhd"
    assert NOTE in document.text
    assert GONE in document.text


def test_a_vmware_image_is_opened_under_its_own_name() -> None:
    described = b'RW 4096 SPARSE "old server of the ward.vmdk"\n'
    head = b"KDMV".ljust(28, b"\0") + struct.pack("<QQ", 1, 1)
    data = head.ljust(512, b"\0") + described.ljust(512, b"\0") + b"grains"
    renamed = file_systems._with_own_name(data)
    assert b'SPARSE "image.vmdk"\n\0' in renamed
    assert (len(renamed), renamed[-6:]) == (len(data), b"grains")
    far = b"KDMV".ljust(28, b"\0") + struct.pack("<QQ", 1, 2**50)
    assert file_systems._with_own_name(far) == far


def test_further_streams_of_a_file_are_listed() -> None:
    times = "\t".join(["0"] * 4)
    listing = "".join(
        f"r/r 64-128-{number}:\t{name}\t{times}\t{number}\t0\t0\n"
        for number, name in ((2, "a.txt"), (4, "a.txt:note"))
    )
    found = [(file.inode, file.name) for file in file_systems._files(listing.encode(), 1, "0")]
    assert found == [("64", "a.txt"), ("64-128-4", "a.txt:note")]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"vhdxfile" + bytes(600), "VHDX"),
        (bytes(64) + b"\x7f\x10\xda\xbe" + bytes(600), "VirtualBox"),
        (b"# Disk DescriptorFile\nversion=1\n", "VMware"),
    ],
)
def test_virtual_disks_of_other_kinds_are_named(read: Read, data: bytes, kind: str) -> None:
    with pytest.raises(ExtractError, match=kind):
        read(data, "disk.bin")
