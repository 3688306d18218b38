"""The pools that examine the files of a scan: the confined processes of this machine, or a cluster's.

The scan uses only the protocol ``Workers``: files in, results out as they come, and no more files are
taken than are being worked on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from phiscan.config import Config
from phiscan.model import FileResult, SourceFile
from phiscan.pipeline.workers.delivery import Delivery
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.pipeline.workers.worker import start, work
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.service import key_service, program_service
from phiscan.store.identity import load_key

# Imported once by the server that workers are forked from, so that a new worker is there at once.
_PRELOAD = ("phiscan.pipeline.workers.preload",)


class Workers(Protocol):
    """A pool that examines files: local processes or a cluster."""

    @property
    def missing_isolation(self) -> tuple[str, ...] | None:
        """Layers of isolation that are missing on this machine, one line each; None = not known."""
        ...  # pragma: no cover

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult | Fault]]:
        """Yield each file with its result or fault, as they come or in the order of the files."""
        ...  # pragma: no cover


@dataclass(frozen=True, slots=True)
class SandboxWorkers:
    """The confined worker processes of this machine."""

    sandbox: Sandbox
    delivery: Delivery

    @property
    def missing_isolation(self) -> tuple[str, ...] | None:
        """Layers of isolation that are missing on this machine, one line each; None = none has started."""
        return self.sandbox.missing

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult | Fault]]:
        """Yield each file, with its owner and readers, and its result or fault, as they come."""
        return self.delivery.run(self.sandbox, work, sources)


@contextmanager
def local_workers(config: Config, *, largest_batch: int | None = None) -> Iterator[SandboxWorkers]:
    """Start the worker processes of this machine, and stop them at the end.

    ``largest_batch``: so many files at most are given to one process at a time.
    """
    services = [key_service(lambda: load_key(config.key_file)), program_service(config.limits)]
    with FileHandoff(services) as handoff, Delivery(config, handoff) as delivery:
        arguments = (config.for_workers(), handoff.address)
        sandbox = Sandbox(config.n_workers, config.limits, start, arguments, preload=_PRELOAD)
        sandbox.in_order = False  # one slow file must not hold up the others
        if largest_batch is not None:
            sandbox.largest_batch = largest_batch
        with sandbox:
            yield SandboxWorkers(sandbox, delivery)
