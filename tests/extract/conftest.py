"""Files made on the fly, and reading them as a crawled file would be."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.extract import extract, extract_bytes
from phiscan.model import Document, SourceFile


def source_of(path: Path) -> SourceFile:
    return SourceFile.of(os.fsencode(path.parent), os.fsencode(path.name), path.lstat())


@pytest.fixture
def as_source() -> Callable[[Path], SourceFile]:
    return source_of


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Document]:
    """Write bytes to a file, crawl it, extract it."""

    def read_file(
        data: bytes, name: str, limits: Limits | None = None, passwords: tuple[str, ...] = ()
    ) -> Document:
        path = tmp_path / name
        path.write_bytes(data)
        return extract(source_of(path), limits or Limits(), passwords)

    return read_file


@pytest.fixture
def read_bytes() -> Callable[..., Document]:
    """Extract bytes without a file, for names that no file system takes."""

    def read_it(
        data: bytes, name: str, limits: Limits | None = None, passwords: tuple[str, ...] = ()
    ) -> Document:
        return extract_bytes(data, name, limits or Limits(), passwords)

    return read_it
