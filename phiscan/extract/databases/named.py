"""Formats without a reader, known by their kind: the runs of text in them are read, the rest is recorded.

A file of records that no reader takes apart still holds its names and notes as runs of letters.
"""

from __future__ import annotations

import re

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

# Media type: what it is called.
KINDS = {
    "application/x-msaccess": "Access database",
    "application/onenote": "OneNote section",
    "application/vnd.wordperfect": "WordPerfect document",
    "application/vnd.lotus-1-2-3": "Lotus 1-2-3 workbook",
    "application/vnd.apache.parquet": "Parquet table",
    "application/vnd.apache.arrow.file": "Arrow or Feather table",
    "application/vnd.apache.avro": "Avro table",
    "application/vnd.apache.orc": "ORC table",
    "application/x-sas-data": "SAS data set",
    "application/x-sas-transport": "SAS transport file",
    "application/x-spss-sav": "SPSS data file",
    "application/x-spss-por": "SPSS portable file",
    "application/x-stata-dta": "Stata data file",
    "application/x-outlook-express": "Outlook Express folder (DBX)",
    "application/vnd.lotus-notes": "Lotus Notes database",
    "application/x-hdf5": "HDF5 file",
    "application/x-matlab-data": "MATLAB data file",
    "application/x-quattro-pro": "Quattro Pro workbook",
    "application/vnd.ms-works": "Microsoft Works document",
    "application/x-mswrite": "Windows Write document",
    "application/x-mobipocket-ebook": "Mobipocket book",
    "application/x-indesign": "InDesign document",
    "image/vnd.djvu": "DjVu document",
    "application/x-chm": "compiled HTML help",
    "application/x-ms-shortcut": "Windows shortcut",
    "application/x-windows-registry": "Windows registry hive",
    "application/x-windows-event-log": "Windows event log",
    "application/x-filemaker": "FileMaker database",
    "application/x-paradox": "Paradox table",
    "image/vnd.adobe.photoshop": "Photoshop picture",
    "image/nifti": "NIfTI image",
    "application/x-bplist": "binary property list",
    "application/x-r-data": "R data file",
    "application/x-netcdf": "NetCDF file",
    "application/x-numpy": "NumPy array",
    "application/x-mssql-backup": "SQL Server backup",
    "application/x-excel-data-model": "data model of Excel (Power Pivot)",
}
# Those that a library or a program takes apart where it is installed; their readers come here without it.
WITH_READER = frozenset(
    {
        "application/x-spss-sav",
        "application/x-spss-por",
        "application/x-sas-data",
        "application/x-sas-transport",
        "application/x-stata-dta",
        "application/x-msaccess",
        "application/vnd.wordperfect",
        "application/vnd.ms-works",
        "application/x-mswrite",
        "application/vnd.lotus-1-2-3",
        "application/x-quattro-pro",
        "application/x-outlook-express",
        "application/onenote",
        "application/vnd.apache.parquet",
        "application/vnd.apache.arrow.file",
        "application/vnd.apache.orc",
    }
)
# What an officer can do so that the whole of it is read.
HELP = {
    "application/x-msaccess": "export its tables to CSV or XLSX",
    "application/onenote": "export the section to PDF or DOCX",
    "application/vnd.lotus-1-2-3": "save it as XLSX or CSV",
    "application/x-quattro-pro": "save it as XLSX or CSV",
    "application/x-outlook-express": "export its messages to EML",
    "application/vnd.wordperfect": "save it as DOCX or PDF",
    "application/vnd.ms-works": "save it as DOCX or PDF",
    "application/vnd.apache.parquet": "export it to CSV",
    "application/vnd.apache.arrow.file": "export it to CSV",
    "application/vnd.apache.avro": "export it to JSON or CSV",
    "application/vnd.apache.orc": "export it to CSV",
    "application/x-sas-data": "export it to CSV",
    "application/x-excel-data-model": "copy its tables to sheets",
    "application/x-sas-transport": "export it to CSV",
    "application/x-r-data": "export it to CSV",
    "application/x-spss-sav": "export it to CSV",
    "application/x-spss-por": "export it to CSV",
    "application/x-stata-dta": "export it to CSV",
    "application/vnd.lotus-notes": "export its documents to EML or PDF",
}
MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (4, b"Standard Jet DB", "application/x-msaccess"),
    (4, b"Standard ACE DB", "application/x-msaccess"),
    (0, b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d", "application/onenote"),
    (0, b"\xff\x57\x50\x43", "application/vnd.wordperfect"),
    (0, b"\x00\x00\x02\x00\x06\x04\x06\x00", "application/vnd.lotus-1-2-3"),
    (0, b"\x00\x00\x1a\x00\x00\x10\x04\x00", "application/vnd.lotus-1-2-3"),
    (0, b"\x00\x00\x1a\x00\x02\x10\x04\x00", "application/vnd.lotus-1-2-3"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"ARROW1", "application/vnd.apache.arrow.file"),
    (0, b"FEA1", "application/vnd.apache.arrow.file"),
    (0, b"Obj\x01", "application/vnd.apache.avro"),
    (
        0,
        bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c",
        "application/x-sas-data",
    ),
    (0, b"HEADER RECORD*******LIB", "application/x-sas-transport"),
    (0, b"$FL2", "application/x-spss-sav"),
    (0, b"$FL3", "application/x-spss-sav"),
    (0, b"<stata_dta>", "application/x-stata-dta"),
    (40, b"ASCII SPSS PORT FILE", "application/x-spss-por"),
    *(
        (0, bytes([release, order, 1, 0]), "application/x-stata-dta")
        for release in range(104, 116)
        for order in (1, 2)
    ),
    (0, b"\xcf\xad\x12\xfe", "application/x-outlook-express"),
    (0, b"\x1a\x00\x00\x04\x00\x00", "application/vnd.lotus-notes"),
    (0, b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    (0, b"MATLAB 5.0 MAT-file", "application/x-matlab-data"),
    (0, b"\x00\x00\x02\x00\x20\x51", "application/x-quattro-pro"),
    (0, b"\x31\xbe\x00\x00\x00\xab", "application/x-mswrite"),
    (60, b"BOOKMOBI", "application/x-mobipocket-ebook"),
    (0, b"\x06\x06\xed\xf5\xd8\x1d\x46\xe5", "application/x-indesign"),
    (0, b"AT&TFORM", "image/vnd.djvu"),
    (0, b"ITSF\x03", "application/x-chm"),
    (0, b"L\0\0\0\x01\x14\x02\0\0\0\0\0\xc0\0\0\0", "application/x-ms-shortcut"),
    (0, b"regf", "application/x-windows-registry"),
    (0, b"ElfFile\0", "application/x-windows-event-log"),
    (0, b"\x00\x01\x00\x00\x00\x02\x00\x01\x00\x05\x00\x02\x00\x02\xc0HBAM7", "application/x-filemaker"),
    (0, b"8BPS\0\x01", "image/vnd.adobe.photoshop"),
    (344, b"n+1\0", "image/nifti"),
    (344, b"ni1\0", "image/nifti"),
    (0, b"bplist00", "application/x-bplist"),
    (0, b"RDX2\n", "application/x-r-data"),
    (0, b"RDX3\n", "application/x-r-data"),
    (0, b"X\n\0\0\0", "application/x-r-data"),
    (0, b"\x93NUMPY", "application/x-numpy"),
    (0, b"TAPE\0\0\x03\0", "application/x-mssql-backup"),
    (0, b"CDF\x01\0", "application/x-netcdf"),
    (0, b"CDF\x02\0", "application/x-netcdf"),
    (2, b"S\0T\0R\0E\0A\0M\0_\0S\0T\0O\0R\0A\0G\0E\0", "application/x-excel-data-model"),
)
# Disk images and media hold no runs of text that are worth reading as such.
OPAQUE = {
    "application/x-ewf": "EnCase disk image (E01)",
    "application/x-vmdk": "VMware disk image",
    "application/x-qcow": "QEMU disk image",
    "application/x-raw-disk-image": "disk image",
    "image/heic": "HEIC or AVIF picture",
    "video/x-matroska": "video",
    "audio/flac": "sound",
    "application/x-ace": "ACE archive",
    "application/x-stuffit": "StuffIt archive",
    "application/x-ms-wim": "Windows disk image (WIM)",
    "application/x-vhd": "virtual disk image (VHD)",
    "application/x-vhdx": "virtual disk image (VHDX)",
    "application/x-vdi": "VirtualBox disk image",
    "application/x-vmdk-descriptor": "description of a VMware disk, whose data lies in other files",
    "application/x-squashfs": "compressed file system (SquashFS)",
    "application/java-vm": "program",
    "application/wasm": "program",
    "font/sfnt": "font",
}
OPAQUE |= {
    "application/x-arj": "ARJ archive",
    "application/x-zoo": "ZOO archive",
    "application/x-alz": "ALZip archive",
    "application/x-egg": "ALZip archive (EGG)",
    "application/x-freearc": "FreeArc archive",
    "application/x-zpaq": "ZPAQ archive",
    "application/x-bzip3": "file compressed with bzip3",
    "application/x-rzip": "file compressed with rzip",
    "application/x-rpm": "program package (RPM)",
    "application/x-lzop": "file compressed with lzop",
    "application/x-lrzip": "file compressed with lrzip",
    "application/x-bitlocker": "disk encrypted with BitLocker",
    "application/x-luks": "disk encrypted with LUKS",
    "application/x-aff": "AFF disk image",
    "application/x-ad1": "FTK disk image (AD1)",
    "application/x-vmdk-cow": "VMware disk image of an old server",
    "application/x-apfs": "disk image of a Mac (APFS)",
    "application/x-xfs": "disk image with XFS",
    "application/x-btrfs": "disk image with Btrfs",
    "application/x-keepass": "encrypted password safe",
}
OPAQUE_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x60\xea", "application/x-arj"),
    (20, b"\xdc\xa7\xc4\xfd", "application/x-zoo"),
    (0, b"ALZ\x01", "application/x-alz"),
    (0, b"EGGA\0", "application/x-egg"),
    (0, b"\x89LZO\0\r\n", "application/x-lzop"),
    (0, b"ArC\x01", "application/x-freearc"),
    (0, b"zPQ\x01", "application/x-zpaq"),
    (0, b"7kSt", "application/x-zpaq"),
    (0, b"BZ3v1", "application/x-bzip3"),
    (0, b"RZIP\2", "application/x-rzip"),
    (0, b"\xed\xab\xee\xdb", "application/x-rpm"),
    (0, b"LRZI\0", "application/x-lrzip"),
    (3, b"-FVE-FS-", "application/x-bitlocker"),
    (0, b"LUKS\xba\xbe", "application/x-luks"),
    (0, b"AFF10\r\n\0", "application/x-aff"),
    (0, b"ADSEGMENTEDFILE\0", "application/x-ad1"),
    (0, b"COWD\x01\0", "application/x-vmdk-cow"),
    (32, b"NXSB", "application/x-apfs"),
    (0, b"XFSB\0\0", "application/x-xfs"),
    (65600, b"_BHRfS_M", "application/x-btrfs"),
    (1024, b"H+\0\x04", "application/x-raw-disk-image"),
    (1024, b"HX\0\x05", "application/x-raw-disk-image"),
    (0, b"\x03\xd9\xa2\x9a", "application/x-keepass"),
    (0, b"EVF\t\r\n\xff\0", "application/x-ewf"),
    (0, b"EVF2\r\n\x81\0", "application/x-ewf"),
    (0, b"KDMV", "application/x-vmdk"),
    (0, b"QFI\xfb", "application/x-qcow"),
    (3, b"NTFS    ", "application/x-raw-disk-image"),
    (3, b"EXFAT   ", "application/x-raw-disk-image"),
    (64, b"\x7f\x10\xda\xbe", "application/x-vdi"),
    (0, b"vhdxfile", "application/x-vhdx"),
    (0, b"# Disk DescriptorFile", "application/x-vmdk-descriptor"),
    (54, b"FAT1", "application/x-raw-disk-image"),
    (82, b"FAT32   ", "application/x-raw-disk-image"),
    (512, b"EFI PART", "application/x-raw-disk-image"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypmif1", "image/heic"),
    (4, b"ftypheix", "image/heic"),
    (4, b"ftypavif", "image/heic"),
    (7, b"**ACE**", "application/x-ace"),
    (0, b"SIT!\0", "application/x-stuffit"),
    (0, b"StuffIt (c)1997", "application/x-stuffit"),
    (0, b"MSWIM\0\0\0", "application/x-ms-wim"),
    (0, b"conectix\0", "application/x-vhd"),
    (0, b"hsqs", "application/x-squashfs"),
    (0, b"\x1aE\xdf\xa3", "video/x-matroska"),
    (0, b"fLaC\0", "audio/flac"),
    (0, b"\xca\xfe\xba\xbe\0\0", "application/java-vm"),
    (0, b"\0asm\x01", "application/wasm"),
    (0, b"\0\x01\0\0\0", "font/sfnt"),
    (0, b"OTTO\0", "font/sfnt"),
    (0, b"wOF2", "font/sfnt"),
)
_NARROW = re.compile(rb"[\x20-\x7e\xc0-\xff\t]{5,}")
_WIDE = re.compile(rb"(?:[\x20-\x7e\xc0-\xff]\x00){5,}")
_WORD = re.compile(r"[^\W\d_]{3,}")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_BYTES = 32 * 1024**2
_MOST_CHARS = 2_000_000


def is_orc(data: bytes) -> bool:
    """Tell whether data is an ORC table: the letters at its beginning alone may begin a text, too.

    The postscript at its end repeats them; where the end is lost, the first stripe has control characters.
    """
    return data.startswith(b"ORC") and (data[-4:-1] == b"ORC" or bool(_CONTROL.search(data, 3, 64)))


class NamedExtractor:
    """Read the runs of text in files of a known kind without a reader of their own."""

    media_types = frozenset(KINDS) - WITH_READER

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the runs, ``#strings``, and record that the rest is not read.

        Raises:
            ExtractError: unsupported, with the kind and what would help; there is no text in it.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (imports this table)

        read_strings(content, sniff(content.data, content.name), sink)


def read_strings(content: Content, media_type: str, sink: Sink, why: str = "") -> None:
    """Add the runs of text in a file, ``#strings``; record why the rest is not read, and what would help.

    Raises:
        ExtractError: unsupported; there is no text in it.
    """
    parts = (KINDS.get(media_type, ""), why)
    said = ": ".join(part for part in parts if part)
    advice = f"; {HELP[media_type]}" if media_type in HELP else ""
    text = "\n".join(strings(content.data))[:_MOST_CHARS]
    if not text:
        raise ExtractError(FailReason.UNSUPPORTED, f"{said}{advice}")
    sink.add(text, content.place("strings"))
    detail = f"{said}: only the runs of text in it are read{advice}"
    sink.fail(content.locator, FailReason.UNSUPPORTED, detail)


def strings(data: bytes) -> list[str]:
    r"""Return the runs of text in binary data, in one byte or two for each character, that hold a word.

    >>> strings(b"\x00\x01Okafor Lena\x00\x02\x9f4xy\x00")
    ['Okafor Lena']
    """
    found: dict[str, None] = {}
    n_chars = 0
    for pattern, encoding in ((_NARROW, "cp1252"), (_WIDE, "utf-16-le")):
        for match in pattern.finditer(data, 0, _MOST_BYTES):
            text = match.group().decode(encoding, "replace").strip()
            if _WORD.search(text) or (text.isdecimal() and len(text) > 5):  # noqa: PLR2004 (a number that names)
                found[text] = None
                n_chars += len(text)
                if n_chars > _MOST_CHARS:
                    break
    return list(found)
