"""Batches, addresses and parcels: what needs no cluster."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.cluster import check_address, reading
from phiscan.cluster.client import BATCH_BYTES, LARGEST_BATCH, _batches, _paired
from phiscan.cluster.pickling import Batch, Reply, from_pickle, to_pickle
from phiscan.cluster.reading import _as_seen_here, worker_state
from phiscan.errors import InputError
from phiscan.model import FailReason, FileResult, Outcome, SourceFile
from phiscan.sandbox.answers import Fault


def _source(number: int, size: int = 100, root: bytes = b"/share", device: int = 7) -> SourceFile:
    return SourceFile(root, b"Karrowick/%d.txt" % number, size, 1, 1, number, device)


def test_batches_keep_the_order_and_grow_to_the_largest() -> None:
    sources = [_source(number) for number in range(5_000)]
    batches = list(_batches(iter(sources), LARGEST_BATCH))
    assert [source for batch in batches for source in batch] == sources
    assert len(batches[0]) == 20
    assert max(map(len, batches)) == LARGEST_BATCH


def test_batch_of_large_files_is_cut() -> None:
    batches = list(_batches((_source(n, BATCH_BYTES // 2) for n in range(6)), LARGEST_BATCH))
    assert [len(batch) for batch in batches] == [2, 2, 2]


@pytest.mark.parametrize("address", ["tcp://10.0.0.5:8786", "tls://scheduler:8786"])
def test_takes_an_address(address: str) -> None:
    assert check_address(address) == address


@pytest.mark.parametrize(
    "address",
    ["", "scheduler", "tcp://host", "http://host:1", "local:4", "tcp://h:99999"],
)
def test_refuses_what_is_no_address(address: str) -> None:
    with pytest.raises(InputError, match="expected"):
        check_address(address)


def test_parcel_does_not_show_what_is_in_it() -> None:
    batch = Batch("key", None, ((b"/share", 7),), (_source(1),))
    parcel = to_pickle(batch)
    assert from_pickle(parcel) == batch
    assert "Karrowick" not in repr(parcel)
    assert "Karrowick" not in repr(batch)


def test_worker_without_a_key_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHISCAN_HOME", str(tmp_path / "none"))
    standing = from_pickle(worker_state((b"/srv",), None))
    assert standing.versions == ()
    assert "key" in standing.problem


def test_a_file_gets_the_device_that_its_share_has_here(tmp_path: Path) -> None:
    (tmp_path / "Karrowick").mkdir()
    root = bytes(tmp_path)
    here = tmp_path.stat().st_dev
    assert _as_seen_here(_source(1, root=root, device=7), {root: 7}, {root: here}).device == here
    # A file system mounted inside the share has a number of its own, there and here.
    assert _as_seen_here(_source(1, root=root, device=8), {root: 7}, {root: here + 1}).device == here
    assert _as_seen_here(_source(1, device=7), {b"/share": 7}, {}).device == 7


def test_an_answer_brings_the_owner_and_readers_that_its_worker_saw() -> None:
    there = replace(_source(1, device=9), owner="ward7", readers=("user ward7", "everyone"))
    examined, fault = FileResult(there, Outcome.SCREENED), Fault(FailReason.CRASHED, "")
    reply = Reply(((there, examined), (replace(_source(2), owner="root"), fault)))
    (first, answer), (second, _) = _paired((_source(1), _source(2)), reply)
    assert answer is examined
    # The device number is that of this machine's mount, not of the worker's.
    assert (first.device, first.owner, first.readers) == (7, "ward7", ("user ward7", "everyone"))
    assert second.owner == "root"


class Shuffled:
    """Workers whose answers come in reverse order."""

    def run(self, sources: Iterator[SourceFile]) -> Iterator[tuple[SourceFile, FileResult]]:
        for source in reversed(list(sources)):
            yield source, FileResult(source, Outcome.SCREENED, detail=source.display)


@pytest.mark.parametrize("n_files", [0, 1, 7])
def test_results_are_in_the_order_of_the_batch(n_files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_workers_for", lambda *_: Shuffled())
    sources = tuple(
        SourceFile(b"smb://srv/share", f"{number}.txt".encode(), 1, 0, 0, 0, 0, owner=f"owner {number}")
        for number in range(n_files)
    )
    reply = reading._read(Batch("key", None, ((b"smb://srv/share", 0),), sources))
    assert [one.detail for _, one in reply.answers] == [one.display for one in sources]
    assert [seen.owner for seen, _ in reply.answers] == [one.owner for one in sources]
