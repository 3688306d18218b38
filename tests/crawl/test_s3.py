"""A bucket, against moto's S3 server on loopback; and other stores through fsspec."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import fsspec
import pytest
import s3fs

from phiscan.config import SharesTable
from phiscan.crawl import check_roots, is_same_file
from phiscan.crawl import s3 as s3_room
from phiscan.crawl.fsspec_store import ObjectStoreShare
from phiscan.crawl.s3 import S3Share
from phiscan.crawl.share import RefusedError
from phiscan.errors import ExtractError, InputError
from phiscan.model import FailReason, SkipReason
from tests.bucket import SECRET, environment, made_bucket, running_store
from tests.crawl.fetched import NOTHING, access_of, content_of, fetched, found_at, opened_share

ROOT = "s3://research/2026"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with running_store() as address:
        yield address


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return the client of an empty bucket, and set what signs in."""
    for name, value in environment(endpoint).items():
        monkeypatch.setenv(name, value)
    with made_bucket(endpoint) as client:
        yield client


def _put(bucket: Any, name: str, data: bytes = b"x", **more: str) -> None:
    bucket.put_object(Bucket="research", Key=f"2026/{name}", Body=data, **more)


def test_yields_objects_below_the_prefix_by_key(bucket: Any) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "B.txt"):
        _put(bucket, name)
    _put(bucket, "empty", b"")
    _put(bucket, "folder marker/", b"")
    bucket.put_object(Bucket="research", Key="2026-other/x", Body=b"x")
    found = [(crawled.source.path, crawled.skip) for crawled in found_at(ROOT)]
    names = [b"B.txt", b"a.txt", b"a/b/c.txt", b"a/z.txt", b"b.txt"]
    assert found == [*((name, None) for name in names), (b"empty", SkipReason.EMPTY)]


def test_lists_page_by_page(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(25):
        _put(bucket, f"{number:02d}")
    asked = []
    really_call = S3Share._call

    def in_small_pages(self: Any, method: str, **arguments: Any) -> dict[str, Any]:
        asked.append(method)
        return really_call(self, method, **{"MaxKeys": 10, **arguments})

    monkeypatch.setattr(S3Share, "_call", in_small_pages)
    found = [crawled.source.path for crawled in found_at(ROOT)]
    assert found == [b"%02d" % number for number in range(25)]
    assert asked == ["list_objects_v2"] * 4  # one to see whether the root is there


@pytest.mark.parametrize(
    "name",
    ["résumé été.txt", "100% #1 [x]?&+.txt", "a//b.txt", "日本語 🦓.txt", "~'\"`$;\\.txt"],
)
def test_reads_an_object_of_any_name(bucket: Any, name: str) -> None:
    _put(bucket, name, b"the content")
    (crawled,) = found_at(ROOT)
    assert crawled.source.path == name.encode()
    assert content_of(crawled.source) == b"the content"


def test_jumps_over_an_ignored_folder_and_records_it_once(bucket: Any) -> None:
    for name in ("a/1", "cache/1", "cache/2/3", "cachet", "keep/a.tmp", "keep/a.txt"):
        _put(bucket, name)
    found = {crawled.source.path: crawled.skip for crawled in found_at(ROOT, "*.tmp", "/cache/")}
    read, ignored = (b"a/1", b"cachet", b"keep/a.txt"), (b"cache", b"keep/a.tmp")
    assert found == dict.fromkeys(read) | dict.fromkeys(ignored, SkipReason.IGNORED)


@pytest.mark.parametrize("what", ["replaced", "gone"])
def test_an_object_that_changed_since_it_was_listed_is_another_one(bucket: Any, what: str) -> None:
    _put(bucket, "a.txt", b"one")
    (first,) = found_at(ROOT)
    (again,) = found_at(ROOT)
    assert is_same_file(again.source, first.source)
    if what == "gone":
        bucket.delete_object(Bucket="research", Key="2026/a.txt")
    else:
        _put(bucket, "a.txt", b"two")
        (replaced,) = found_at(ROOT)
        assert replaced.source.inode != first.source.inode  # the ETag, were the times the same
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        content_of(first.source)


@pytest.mark.parametrize("ranges", [True, False])  # some stores return the whole object
def test_reads_in_ranges_and_notices_a_replacement_between_them(
    bucket: Any, monkeypatch: pytest.MonkeyPatch, ranges: bool
) -> None:
    really_call = s3fs.S3FileSystem._call_s3
    if not ranges:

        def call(*which: Any, **given: Any) -> Any:
            return really_call(*which, **{name: one for name, one in given.items() if name != "Range"})

        monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", call)
    monkeypatch.setattr(s3_room, "RANGE_BYTES", 1000)
    data = bytes(range(256)) * 16
    _put(bucket, "a.bin", data)
    (crawled,) = found_at(ROOT)
    assert content_of(crawled.source) == data
    with opened_share(ROOT) as share, share.open(crawled.source) as opened:
        assert opened.read(1000) == data[:1000]
        _put(bucket, "a.bin", bytes(len(data)))
        with pytest.raises(RefusedError, match=FailReason.CHANGED):
            opened.read(1000)


def test_names_owner_and_readers(bucket: Any) -> None:
    _put(bucket, "open.txt", ACL="public-read")
    _put(bucket, "own.txt", ACL="private")
    (owner, public), (_, own) = (access_of(crawled.source) for crawled in found_at(ROOT))
    assert owner
    assert "everyone" in public
    assert own
    assert "everyone" not in own


def test_says_before_it_begins_why_a_root_cannot_be_listed(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bucket.meta.endpoint_url == os.environ["PHISCAN_S3_ENDPOINT"]
    with pytest.raises(InputError, match="no such bucket"):
        check_roots(["s3://no-such-bucket/x"])
    with pytest.raises(InputError, match="the bucket has no object there"):
        check_roots(["s3://research/nothing"])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PHISCAN_S3_ENDPOINT", f"http://127.0.0.1:{probe.getsockname()[1]}")
        with pytest.raises(InputError, match="no answer from the store") as caught:
            check_roots(["s3://research"])
    assert SECRET not in str(caught.value)


def test_a_store_that_goes_away_is_said_of_the_rest_of_the_listing_and_of_each_object(bucket: Any) -> None:
    for number in range(3):
        _put(bucket, f"{number}")
    found = found_at(ROOT)
    settings = SharesTable(attempts=2, retry_s=0.01, s3_endpoint="http://127.0.0.1:9")
    share = S3Share(ROOT.encode(), settings)
    (failed,) = share.crawl(NOTHING, set())
    assert (failed.source.path, failed.fail) == (b".", FailReason.IO_ERROR)
    for crawled in found:
        with pytest.raises(ExtractError, match=FailReason.IO_ERROR):
            fetched(share, crawled.source)


@pytest.fixture
def other_store() -> Iterator[Any]:
    """Return a store in memory, as every other store looks through fsspec."""
    files = fsspec.filesystem("memory", skip_instance_cache=True)
    files.pipe({"/bucket/a/one.txt": b"first", "/bucket/a/b/two.txt": b"second", "/bucket/empty": b""})
    yield files
    files.rm("/bucket", recursive=True)


def test_crawls_and_reads_any_store_that_fsspec_reaches(other_store: Any) -> None:
    listed, share = (ObjectStoreShare(b"gs://bucket", SharesTable(attempts=1), other_store) for _ in range(2))
    found = list(listed.crawl(NOTHING, set()))
    skips = {crawled.source.path: crawled.skip for crawled in found}
    assert skips == {b"a/b/two.txt": None, b"a/one.txt": None, b"empty": SkipReason.EMPTY}
    assert [fetched(share, crawled.source) for crawled in found[:2]] == [b"second", b"first"]
    other_store.pipe({"/bucket/a/one.txt": b"FIRST"})
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        fetched(share, found[1].source)
