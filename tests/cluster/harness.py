"""A scheduler and workers as real processes on loopback, each in its own process group."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.pipeline.harness import Tool
from tests.waiting import wait_until


@dataclass
class Cluster:
    """Starts the processes of a cluster that read with one tool's home."""

    tool: Tool
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    address: str = ""

    def start(
        self, *arguments: str | Path, script: Path | None = None, **env: str
    ) -> subprocess.Popen[bytes]:
        """Start ``phiscan cluster ...``, or a script that calls it; its output goes to a log."""
        command = [sys.executable, str(script)] if script else [sys.executable, "-m", "phiscan"]
        log = (self.folder / f"{len(self.processes)}.log").open("wb")
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            env={**self.tool.environment(), "PYTHONPATH": str(Path(__file__).parents[2]), **env},
            cwd=self.tool.home.parent,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def scheduler(self, *arguments: str | Path) -> None:
        """Start the scheduler and wait until it listens."""
        place = self.folder / "address"
        process = self.start("cluster", "scheduler", "--port", "0", "--address-file", place, *arguments)
        wait_until(lambda: place.exists() or process.poll() is not None, "the scheduler listens")
        self.address = place.read_text().strip()

    def worker(self, script: Path | None = None, **env: str) -> subprocess.Popen[bytes]:
        """Start one worker."""
        return self.start("cluster", "worker", self.address, "--workers", "1", script=script, **env)

    def logs(self) -> str:
        """Return everything that the processes said."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        """End everything, the children of children too."""
        for process in self.processes:
            kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker with its nanny, as a machine that loses power would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def cluster_of(tool: Tool, folder: Path, *scheduler_arguments: str | Path) -> Iterator[Cluster]:
    """Run a scheduler; the test starts the workers."""
    folder.mkdir()
    cluster = Cluster(tool, folder)
    try:
        cluster.scheduler(*scheduler_arguments)
        yield cluster
    finally:
        cluster.stop()
