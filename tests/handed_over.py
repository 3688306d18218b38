"""A sandbox whose workers are handed the files, as those of a scan are."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from phiscan.config import Limits
from phiscan.model import SourceFile
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.service import program_service


@contextmanager
def handed_over(n_workers: int, limits: Limits, sources: Iterable[SourceFile]) -> Iterator[Sandbox]:
    """Give isolated workers that may ask for these files and for helper programs."""
    with FileHandoff([program_service(limits)]) as hatch:
        for source in sources:
            hatch.put_local(source)
        with Sandbox(n_workers, limits, ask_at, (hatch.address,)) as sandbox:
            yield sandbox
