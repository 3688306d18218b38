"""The scan's side: batches to the cluster and answers back in order, whatever dies on the way."""

from __future__ import annotations

import os
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed import TimeoutError as DaskTimeoutError

from phiscan.cluster.pickling import Batch, Refusal, Reply, from_pickle, to_pickle
from phiscan.cluster.reading import read_batch
from phiscan.config import LearnedVersion
from phiscan.errors import ClusterError, origin
from phiscan.model import FailReason, SourceFile
from phiscan.pipeline.processed import Processed
from phiscan.sandbox.answers import Fault

FIRST_BATCH = 20  # files; small, so that a small share is shared out too
LARGEST_BATCH = 200  # files
BATCH_BYTES = 256 * 1024**2  # a batch of large files is cut here
BATCHES_PER_WORKER = 3  # in flight: one that is read, one that waits, one on its way
LOOK_S = 2.0  # how often a wait looks whether the cluster is still there
MAX_WAIT_S = 60.0  # so long the cluster may be without any worker


@dataclass(frozen=True, slots=True)
class _Lot:
    """Files in crawl order, and the cluster's promise for them."""

    sources: tuple[SourceFile, ...]
    future: Future[Any]


class _Killed:
    """The workers died over a batch, as often as the scheduler allows."""


class ClusterClient:
    """The workers of a Dask cluster, as a scan sees them.

    Back-pressure: a few batches per worker are in flight, and answers are taken in the order of the
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
        """Not known here: `phiscan doctor` says it on each machine of the cluster."""
        return None

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, Processed | Fault]]:
        """Yield each file with its answer, in the order of the files.

        Raises:
            ClusterError: the cluster is gone, or a worker must not be used.
        """
        batches = _batches(sources, self._largest)
        lots: deque[_Lot] = deque()
        exhausted = False
        while True:
            while not exhausted and len(lots) < BATCHES_PER_WORKER * max(1, self._n_workers()):
                batch = next(batches, None)
                exhausted = batch is None
                if batch is not None:
                    lots.append(self._send(batch))
            if not lots:
                return
            lot = lots.popleft()
            answer = self._answer(lot.future)
            if isinstance(answer, _Killed):
                yield from self._divide(lot.sources)
            else:
                yield from _paired(lot.sources, answer)

    def _divide(self, sources: tuple[SourceFile, ...]) -> Iterator[tuple[SourceFile, Processed | Fault]]:
        """Find who kills the workers: the batch in ever smaller parts, one after the other.

        A part has about the square root of the files, so that a batch of 200 costs the cluster three
        rounds of deaths, not eight. A file is guilty when workers die over it alone in two rounds: in one
        it may have been waiting after another's.
        """
        size = max(1, round(len(sources) ** 0.5)) if len(sources) > 1 else 1
        for start in range(0, len(sources), size):
            part = sources[start : start + size]
            answer = self._answer(self._send(part).future)
            if isinstance(answer, Reply):
                yield from _paired(part, answer)
            elif len(part) > 1:
                yield from self._divide(part)
            else:
                answer = self._answer(self._send(part).future)
                if isinstance(answer, Reply):
                    yield from _paired(part, answer)
                else:
                    yield part[0], Fault(FailReason.CRASHED, "the cluster's workers died over it")

    def _send(self, sources: tuple[SourceFile, ...]) -> _Lot:
        parcel = to_pickle(Batch(self._versions_key, self._learned, self._devices, sources))
        # The scheduler, its logs and its dashboard know a batch by this key only.
        key = f"phiscan-{uuid.uuid4().hex}"
        try:
            return _Lot(sources, self._client.submit(read_batch, parcel, key=key, pure=False))
        except Exception as error:  # noqa: BLE001 (Dask raises what its transport raises; its message is not ours)
            raise _gone(error) from None

    def _answer(self, future: Future[Any]) -> Reply | _Killed:
        """Wait for one batch.

        Raises:
            ClusterError: the worker refused it, or the cluster is gone.
        """
        while True:
            try:
                answer: Reply | Refusal = from_pickle(future.result(timeout=LOOK_S))
            except (DaskTimeoutError, TimeoutError):
                self._look()
                continue
            except KilledWorker:
                return _Killed()
            except CancelledError as error:
                raise _gone(error) from None
            except Exception as error:  # noqa: BLE001 (as in _send)
                raise _gone(error) from None
            if isinstance(answer, Refusal):
                message = f"a worker of the cluster refused to read: {answer.message}"
                raise ClusterError(message)
            return answer

    def _look(self) -> None:
        """Give up on a cluster that has had no worker for a minute."""
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
    """Cut the files into batches that grow to ``largest``, or to what many bytes allow."""
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


def _paired(sources: tuple[SourceFile, ...], reply: Reply) -> Iterator[tuple[SourceFile, Processed | Fault]]:
    """Give each answer its file as this machine crawled it, with the owner and readers that its worker saw.

    The worker's device number is its own.
    """
    for crawled, (owner, readers), answer in zip(sources, reply.access, reply.answers, strict=True):
        source = replace(crawled, owner=owner, readers=readers)
        if isinstance(answer, Fault):
            yield source, answer
        else:
            yield source, replace(answer, result=replace(answer.result, source=source))


def _device(root: bytes) -> int:
    try:
        return Path(os.fsdecode(root)).stat().st_dev
    except OSError:  # no folder: the URL of a share
        return 0


def _gone(error: BaseException) -> ClusterError:
    return ClusterError(f"the cluster cannot be reached any more ({origin(error)})")
