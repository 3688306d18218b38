"""What a crawl finds at a share that is not mounted, and its bytes, fetched as a scan fetches them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pathspec

from phiscan.config import Config
from phiscan.crawl import Crawled, IgnoreRules, check_roots, crawl
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import RemoteShare
from phiscan.crawl.shares import open_remote
from phiscan.model import SourceFile
from phiscan.pipeline.workers.delivery import fetch


def fetched(share: RemoteShare, source: SourceFile) -> bytes:
    _, held = fetch(source, share, 2**30)
    try:
        return os.pread(held.descriptor, held.size, 0)
    finally:
        held.close()


def found_at(root: str, *ignored: str) -> list[Crawled]:
    return list(crawl(check_roots([root]), IgnoreRules(pathspec.GitIgnoreSpec.from_lines(ignored))))


@contextmanager
def opened_share(root: str) -> Iterator[RemoteShare]:
    share = open_remote(root.encode(), load_settings(Config()))
    try:
        yield share
    finally:
        share.close()


def described(share: RemoteShare, source: SourceFile) -> SourceFile:
    """Return a file with its owner and readers, which are asked when it is opened."""
    with share.open(source) as opened:
        return opened.source
