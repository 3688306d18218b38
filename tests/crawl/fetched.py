"""What a crawl finds at a share that is not mounted, and its bytes, fetched as a scan fetches them."""

import os
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import Crawled, IgnoreRules, check_roots, crawl
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.settings import load_settings
from phiscan.crawl.shares import open_remote
from phiscan.errors import ExtractError, InputError
from phiscan.model import SourceFile
from phiscan.pipeline.workers.delivery import fetch

NOTHING = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))


def fetched(share: ServerShare, source: SourceFile) -> bytes:
    _, held = fetch(source, share, 2**30)
    with closing(held):
        return os.pread(held.descriptor, held.size, 0)


def found_at(root: str, *ignored: str) -> list[Crawled]:
    return list(crawl(check_roots([root]), IgnoreRules(pathspec.GitIgnoreSpec.from_lines(ignored))))


def posix_acl(*entries: tuple[int, int, int]) -> bytes:
    """Return the attribute of a list: kind, rights and number of each entry (linux/posix_acl_xattr.h)."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@contextmanager
def opened_share(root: str) -> Iterator[ServerShare]:
    share = open_remote(root.encode(), load_settings(Config()))
    try:
        yield share
    finally:
        share.close()


def described(share: ServerShare, source: SourceFile) -> SourceFile:
    """Return a file with its owner and readers, which are asked when it is opened."""
    with share.open(source) as opened:
        return opened.source


def crawled_from(root: str) -> list[Crawled]:
    """Return what a crawl of a source yields that was not asked before whether it is there."""
    with opened_share(root) as share:
        return list(share.crawl(NOTHING, set()))


def paths_from(root: str) -> list[str]:
    found = crawled_from(root)
    assert not [crawled for crawled in found if crawled.fail], found
    return [crawled.source.path.decode() for crawled in found]


def content_of(source: SourceFile) -> bytes:
    with opened_share(source.root.decode()) as share:
        return fetched(share, source)


def contents_of(root: str) -> dict[str, bytes]:
    """Return path and content of each file that a crawl yields and that is not skipped."""
    return {one.source.path.decode(): content_of(one.source) for one in crawled_from(root) if not one.skip}


def refusal_of(root: str) -> str:
    """Return in which one line, without a secret, it is said before a scan that a root cannot be opened."""
    with pytest.raises(InputError) as caught:
        check_roots([root])
    message = str(caught.value)
    assert "\n" not in message
    assert not [word for word in ("canary", "Zebra", "PRIVATE") if word in message]
    assert caught.value.__cause__ is None
    assert message.startswith(f"{root}: ")
    return message.removeprefix(f"{root}: ").removeprefix("cannot be opened: ")


def reason_of(source: SourceFile) -> str:
    """Return why a file is not read."""
    with pytest.raises(ExtractError) as caught:
        content_of(source)
    return caught.value.reason


def access_of(source: SourceFile) -> tuple[str, tuple[str, ...]]:
    with opened_share(source.root.decode()) as share:
        found = described(share, source)
    return found.owner, found.readers
