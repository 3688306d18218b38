"""The worker's side of a cluster: examine batches in one sandbox per Dask worker, with local limits.

Dask loads this module into its worker processes (``preload``). The worker's own phiscan.toml, rules and key
are used, and must be the same as the scan's: every batch has the hash of the scan's versions. The secret key
itself is never sent.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from phiscan.cluster.pickling import Batch, Pickled, Reply, WorkerState, from_pickle, to_pickle
from phiscan.config import LearnedVersion, load_config
from phiscan.errors import PhiscanError, origin
from phiscan.model import SourceFile
from phiscan.pipeline.versions import versions, versions_key
from phiscan.pipeline.workers.pools import Workers, local_workers

CLOSE_S = 3.0  # longest wait of a stopping Dask worker for the file that is being read


class _Sandbox:
    """The one sandbox of this process, started by the first batch that needs it."""

    lock = threading.Lock()  # one batch at a time
    closing = threading.Event()  # the batch that is being read is abandoned
    versions_key = ""
    context: AbstractContextManager[Workers] | None = None
    workers: Workers | None = None


def read_batch(pickled: Pickled) -> Pickled:
    """Examine one batch; nothing is raised, because Dask prints exceptions with their arguments."""
    try:
        batch: Batch = from_pickle(pickled)
        with _Sandbox.lock:
            return to_pickle(_read(batch))
    except PhiscanError as error:
        return to_pickle(Reply(refusal=str(error)))
    except Exception as error:  # noqa: BLE001 (its message may quote a document)
        close_sandbox()
        return to_pickle(Reply(refusal=f"internal error: {origin(error)}"))


def worker_state(roots: tuple[bytes, ...], learned: LearnedVersion | None) -> Pickled:
    """Return this worker's versions, and the roots that it cannot see."""
    try:
        parts = tuple(versions(load_config().with_learned(learned)).items())
    except PhiscanError as error:
        return to_pickle(WorkerState((), problem=str(error)))
    except Exception as error:  # noqa: BLE001 (as above)
        return to_pickle(WorkerState((), problem=origin(error)))
    unseen = tuple(number for number, root in enumerate(roots) if _is_mounted(root) and not _sees(root))
    return to_pickle(WorkerState(parts, unseen))


def close_sandbox() -> None:
    """Stop the worker processes of this Dask worker, if they were started."""
    context, _Sandbox.context, _Sandbox.workers, _Sandbox.versions_key = _Sandbox.context, None, None, ""
    if context is not None:
        with suppress(OSError):  # a batch that is still running fails
            context.__exit__(None, None, None)


def dask_teardown(_worker: Any) -> None:
    """Stop the sandbox with its Dask worker; Dask calls this by its name."""
    _Sandbox.closing.set()
    is_idle = _Sandbox.lock.acquire(timeout=CLOSE_S)
    close_sandbox()
    if is_idle:
        _Sandbox.lock.release()


def _read(batch: Batch) -> Reply:
    devices: dict[bytes, int] = {}
    for root, _device in batch.devices:
        if not _is_mounted(root):
            continue
        if not _sees(root) or _is_bare(root):
            return Reply(refusal="a folder of the scan is not mounted here, or is empty here")
        devices[root] = Path(os.fsdecode(root)).stat().st_dev
    workers = _workers_for(batch.versions_key, batch.learned)
    here = [_as_seen_here(source, dict(batch.devices), devices) for source in batch.sources]
    found = {}  # in whatever order they come: a worker that is replaced gives its file back to the others
    for seen, answer in workers.run(iter(here)):
        if _Sandbox.closing.is_set():
            return Reply(refusal="it is being stopped")  # this result is not awaited any more
        found[seen.root, seen.path] = seen, answer
    return Reply(tuple(found[one.root, one.path] for one in here))


def _workers_for(key: str, learned: LearnedVersion | None) -> Workers:
    """Return the sandbox for these versions; other versions get a new one.

    Raises:
        PhiscanError: this machine has other versions.
    """
    if _Sandbox.workers is None or _Sandbox.versions_key != key:
        close_sandbox()
        config = load_config().with_learned(learned)
        if versions_key(versions(config)) != key:
            message = "its program, rules, models, limits or key are not those of the scan"
            raise PhiscanError(message)
        context = local_workers(config)
        _Sandbox.workers = context.__enter__()
        _Sandbox.context, _Sandbox.versions_key = context, key
    return _Sandbox.workers


def _is_mounted(root: bytes) -> bool:
    """Return whether a root is a folder of the file system, not the URL of a share."""
    return root.startswith(b"/")


def _sees(root: bytes) -> bool:
    return Path(os.fsdecode(root)).is_dir() and os.access(root, os.R_OK | os.X_OK)


def _is_bare(root: bytes) -> bool:
    """Return whether a folder in which the scan found files is empty here: an unmounted mount point."""
    with os.scandir(root) as entries:
        return next(entries, None) is None


def _as_seen_here(source: SourceFile, there: dict[bytes, int], here: dict[bytes, int]) -> SourceFile:
    """Return a file with the device number of its share on this machine.

    A file is read only if it is still the file that was crawled, which includes its device number; but each
    machine has its own numbers for its mounts.
    """
    if source.root not in here:
        return source
    if source.device == there[source.root]:
        return replace(source, device=here[source.root])
    folder = Path(os.fsdecode(source.absolute)).parent
    try:
        return replace(source, device=folder.stat().st_dev)
    except OSError:
        return source  # vanished or forbidden: reading it reports that
