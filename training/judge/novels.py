"""Download six novels by Jane Austen (public domain) and split them into chapters: hard texts without PHI.

They come as data of R in a Debian package of an exact version and SHA-256; none of it is shipped or
committed.
"""

from __future__ import annotations

import io
import re
import struct
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from training.decision.ordinary_files import ar_members, unpacked_tar
from training.decision.sources import Sample, plain_document

PACKAGE: Final = "r-cran-janeaustenr=1.0.0-1"
SHA_256: Final = "df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95"
DATA: Final = "janeaustenr/data/Rdata.rdb"
MIN_CHARS: Final = 2_000  # of a chapter
_STRING: Final = re.compile(rb"\x00\x04\x00\x09(....)", re.DOTALL)  # of R, ASCII, with its length
_CHAPTER: Final = re.compile(r"\n(?=chapter [ivxlc\d]+)", re.IGNORECASE)
_MAX_LINE: Final = 400


def chapters(folder: Path) -> Iterator[Sample]:
    """Yield the chapters of all novels; the package is downloaded into ``folder`` unless it is there."""
    path = folder / f"{PACKAGE.replace('=', '_')}_all.deb"
    if not path.exists():
        subprocess.run(["apt-get", "download", "-q", PACKAGE], cwd=folder, check=True)
    data = path.read_bytes()
    if sha256(data).hexdigest() != SHA_256:
        message = f"{path}: expected the package with SHA-256 {SHA_256}"
        raise SystemExit(message)
    for name, part in ar_members(data):
        if name.startswith("data.tar"):
            for number, text in enumerate(_texts(unpacked_tar(name, part))):
                yield Sample("novels", f"novels/{number}", is_phi=False, document=plain_document(text))


def _files(tar: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(tar)) as file:
        for info in file:
            if (stream := file.extractfile(info) if info.isfile() else None) is not None:
                yield info.name, stream.read()


def _texts(tar: bytes) -> Iterator[str]:
    database = next(content for name, content in _files(tar) if name.endswith(DATA))
    while database:
        reader = zlib.decompressobj()
        found = reader.decompress(database[4:])  # after the length
        database = reader.unused_data
        lines = []
        for match in _STRING.finditer(found):
            (length,) = struct.unpack(">i", match[1])
            if 0 <= length < _MAX_LINE:
                lines.append(found[match.end() : match.end() + length].decode("latin-1"))
        yield from (text for text in _CHAPTER.split("\n".join(lines)) if len(text) > MIN_CHARS)
