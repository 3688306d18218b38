"""The scan's client of the cluster: sends batches, returns results in order, survives dying workers."""

from __future__ import annotations

import os
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed import TimeoutError as DaskTimeoutError

from phiscan.cluster.pickling import Batch, Reply, from_pickle, to_pickle
from phiscan.cluster.reading import read_batch
from phiscan.config import LearnedVersion
from phiscan.errors import ClusterError, origin
from phiscan.model import FailReason, FileResult, SourceFile
from phiscan.sandbox.answers import Fault

FIRST_BATCH = 20  # files; small, so that a small share is distributed too
LARGEST_BATCH = 200  # files
BATCH_BYTES = 256 * 1024**2  # limit of a batch of large files
BATCHES_PER_WORKER = 3  # in flight: one being read, one waiting, one in transit
CHECK_S = 2.0  # interval at which a wait checks that the cluster has workers
MAX_WAIT_S = 60.0  # longest time that the cluster may be without any worker


class ClusterClient:
    """The workers of a Dask cluster, with the interface of local workers.

    Back-pressure: a few batches per worker are in flight, and results are received in the order of the
    files; so the memory of this process does not depend on the size of the share.
    """

    def __init__(
        self,
        client: Client,
        *,
        versions_key: str,
        learned: LearnedVersion | None,
        roots: Sequence[bytes],
        largest_batch: int | None = None,
    ) -> None:
        self._client = client
        self._learned = learned
        self._versions_key = versions_key
        self._devices = tuple((root, _device(root)) for root in roots)
        self._largest = min(largest_batch or LARGEST_BATCH, LARGEST_BATCH)
        self._alone_since = time.monotonic()

    @property
    def missing_isolation(self) -> tuple[str, ...] | None:
        """Unknown here: `phiscan doctor` reports it on each machine of the cluster."""
        return None

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult | Fault]]:
        """Yield each file with its result, in the order of the files.

        Raises:
            ClusterError: the cluster is unreachable, or a worker must not be used.
        """
        batches = _batches(sources, self._largest)
        submitted: deque[tuple[tuple[SourceFile, ...], Future[Any]]] = deque()
        exhausted = False
        while True:
            while not exhausted and len(submitted) < BATCHES_PER_WORKER * max(1, self._n_workers()):
                batch = next(batches, None)
                exhausted = batch is None
                if batch is not None:
                    submitted.append((batch, self._send(batch)))
            if not submitted:
                return
            sent, future = submitted.popleft()
            answer = self._receive(future)
            yield from self._divide(sent) if answer is None else _paired(sent, answer)

    def _divide(self, sources: tuple[SourceFile, ...]) -> Iterator[tuple[SourceFile, FileResult | Fault]]:
        """Find the file that kills the workers by sending the batch in ever smaller parts.

        A part has about the square root of the files, so that a batch of 200 costs the cluster three
        rounds of deaths, not eight. A file is the cause if workers die on it alone in two rounds: in one
        round it may only have been waiting when another file killed the worker.
        """
        size = max(1, round(len(sources) ** 0.5)) if len(sources) > 1 else 1
        for start in range(0, len(sources), size):
            part = sources[start : start + size]
            answer = self._receive(self._send(part))
            if answer is None and len(part) > 1:
                yield from self._divide(part)
                continue
            if answer is None:
                answer = self._receive(self._send(part))
            if answer is None:
                yield part[0], Fault(FailReason.CRASHED, "the cluster's workers died while reading it")
            else:
                yield from _paired(part, answer)

    def _send(self, sources: tuple[SourceFile, ...]) -> Future[Any]:
        parcel = to_pickle(Batch(self._versions_key, self._learned, self._devices, sources))
        # The scheduler, its logs and its dashboard show a batch by this key only.
        key = f"phiscan-{uuid.uuid4().hex}"
        try:
            return self._client.submit(read_batch, parcel, key=key, pure=False)
        except Exception as error:  # noqa: BLE001 (Dask raises what its transport raises; its message may quote data)
            raise _gone(error) from None

    def _receive(self, future: Future[Any]) -> Reply | None:
        """Wait for one batch; None: workers died while reading it, as often as the scheduler allows.

        Raises:
            ClusterError: the worker refused it, or the cluster is unreachable.
        """
        while True:
            try:
                answer: Reply = from_pickle(future.result(timeout=CHECK_S))
            except (DaskTimeoutError, TimeoutError):
                self._check_workers()
                continue
            except KilledWorker:
                return None
            except (CancelledError, Exception) as error:  # noqa: BLE001 (as in _send)
                raise _gone(error) from None
            if answer.refusal:
                message = f"a worker of the cluster refused to read: {answer.refusal}"
                raise ClusterError(message)
            return answer

    def _check_workers(self) -> None:
        """Raise an error if the cluster has had no worker for a minute."""
        if self._n_workers():
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > MAX_WAIT_S:
            message = f"the cluster has had no worker for {MAX_WAIT_S:.0f} s"
            raise ClusterError(message)

    def _n_workers(self) -> int:
        try:
            found: dict[str, Any] = self._client.nthreads()
        except Exception as error:  # noqa: BLE001 (as in _send)
            raise _gone(error) from None
        return len(found)


def _batches(sources: Iterable[SourceFile], largest: int) -> Iterator[tuple[SourceFile, ...]]:
    """Yield the files in batches that grow to ``largest`` files, limited by ``BATCH_BYTES``."""
    size, n_bytes = min(FIRST_BATCH, largest), 0
    batch: list[SourceFile] = []
    for n_cut, source in enumerate(sources, start=1):
        batch.append(source)
        n_bytes += source.size
        if len(batch) >= size or n_bytes >= BATCH_BYTES:
            yield tuple(batch)
            batch, n_bytes = [], 0
            size = min(largest, max(FIRST_BATCH, n_cut // 10))
    if batch:
        yield tuple(batch)


def _paired(sources: tuple[SourceFile, ...], reply: Reply) -> Iterator[tuple[SourceFile, FileResult | Fault]]:
    """Yield each file as crawled on this machine, with owner and readers from the worker, and its result."""
    for crawled, (seen, answer) in zip(sources, reply.answers, strict=True):
        rows = seen.sampled_rows
        yield replace(crawled, owner=seen.owner, readers=seen.readers, sampled_rows=rows), answer


def _device(root: bytes) -> int:
    try:
        return Path(os.fsdecode(root)).stat().st_dev
    except OSError:  # the URL of a share
        return 0


def _gone(error: BaseException) -> ClusterError:
    return ClusterError(f"the cluster cannot be reached any more ({origin(error)})")
