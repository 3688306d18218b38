"""The registry of kinds of share, and the crawl over roots of any kind."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from phiscan.config import Config, SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.local import LocalShare
from phiscan.crawl.location import is_url, parse_url
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import Crawled, Folders
from phiscan.errors import InputError

# Scheme -> the class of its shares, and what is read from them; a new kind is added here. The modules are
# imported at the first URL, since most scans have none.
_KINDS = {
    **dict.fromkeys(
        ("gs", "gcs", "az", "abfs"),
        ("fsspec_store.ObjectStoreShare", "objects; owners and readers are not known"),
    ),
    **dict.fromkeys(
        ("dav", "davs"),
        ("webdav.WebDavShare", "files, with the owner and the shares of each where they are known"),
    ),
    **dict.fromkeys(
        ("mariadb", "mysql", "postgresql"),
        (
            "databases.DatabaseShare",
            "tables, of a large one a random sample of its rows, with its grants",
        ),
    ),
    **dict.fromkeys(
        ("imap", "imaps"), ("imap.ImapShare", "messages, with the access control list of each folder")
    ),
    "gdrive": (
        "google_drive.GoogleDriveShare",
        "files, documents of Google as Office files, with the owner and the permissions of each",
    ),
    "m365": (
        "microsoft365.Microsoft365Share",
        "files with owner and sharing permissions of each, or the messages of mailboxes",
    ),
    "s3": ("s3.S3Share", "objects, with the owner and the grants of each"),
    "sftp": ("sftp.SftpShare", "files, with the owner and the mode bits of each; links are skipped"),
    "smb": ("smb.SmbShare", "files, with the owner and the access control list of each"),
}
_LOCAL = "files, with the owner and the mode bits or access control list of each"


def open_share(
    root: bytes, settings: SharesTable, folders: Folders | None = None
) -> LocalShare | ServerShare:
    """Return the share of any root; no connection is made yet."""
    return open_remote(root, settings) if is_url(root) else LocalShare(root, folders)


def open_remote(root: bytes, settings: SharesTable) -> ServerShare:
    """Return the share of a URL; no connection is made yet.

    Raises:
        InputError: no kind of share has its scheme, or its optional package is missing.
    """
    scheme = root.partition(b"://")[0].decode("ascii", "replace")
    if scheme not in _KINDS:
        known = ", ".join(f"{scheme}://" for scheme in sorted(_KINDS))
        message = f"{scheme}://: expected a folder, or a URL that begins with one of {known}"
        raise InputError(message)
    module, _, name = f"phiscan.crawl.{_KINDS[scheme][0]}".rpartition(".")
    share: ServerShare = getattr(import_module(module), name)(root, settings)
    return share


def content_of(root: bytes) -> str:
    """Return what is read from a root, in words for the operator."""
    return _KINDS[root.partition(b"://")[0].decode("ascii")][1] if is_url(root) else _LOCAL


def check_roots(roots: Sequence[str | Path], config: Config | None = None) -> tuple[bytes, ...]:
    """Return the roots as absolute raw paths or URLs in their normal form, each once, sorted.

    Servers are queried for the root.

    Raises:
        InputError: a root is missing, is not a folder, cannot be listed, or lies inside another one.
        ConfigError: the settings of the shares, or a file with credentials, are unusable.
    """
    found: set[bytes] = set()
    for root in roots:
        if not str(root):
            message = "expected a folder to scan, got an empty name"
            raise InputError(message)
        found.add(parse_url(str(root)).root if is_url(str(root)) else os.path.realpath(os.fsencode(root)))
    ordered = sorted(found)
    settings = load_settings(config or Config()) if any(map(is_url, ordered)) else SharesTable()
    for raw in ordered:
        open_share(raw, settings).connect()
    for outer, inner in itertools.permutations(ordered, 2):
        folds = inner.startswith(b"smb://")  # its server compares names without regard to case
        one, other = (inner.lower(), outer.lower()) if folds else (inner, outer)
        if one.startswith(other.rstrip(b"/") + b"/"):
            raise InputError(os.fsdecode(inner), f"lies inside {os.fsdecode(outer)}; name only one of them")
    return tuple(ordered)


def crawl(
    roots: Sequence[bytes],
    ignore: IgnoreRules,
    config: Config | None = None,
    folders: Folders | None = None,
) -> Iterator[Crawled]:
    """Yield every entry below the roots that is not a folder, root by root, always in the same order.

    A folder that cannot be listed is yielded once as failed, an ignored folder once as skipped, so that
    nothing is left out without a record. ``folders`` may report local folders as unchanged; their entries are
    not yielded.
    """
    settings = load_settings(config or Config()) if any(map(is_url, roots)) else SharesTable()
    seen_inodes: set[tuple[int, int]] = set()
    for root in roots:
        yield from open_share(root, settings, folders).crawl(ignore, seen_inodes)
