"""Run a Dask scheduler and Dask workers for phiscan."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
from distributed import Nanny, Scheduler

from phiscan.cluster import joining
from phiscan.config import Config
from phiscan.errors import ClusterError, origin
from phiscan.stopping import SIGNALS


def serve_scheduler(config: Config, *, host: str, port: int, tls: bool, address_file: Path | None) -> None:
    """Run a scheduler until SIGTERM or Ctrl-C; its address goes to ``address_file`` once it listens.

    Raises:
        ConfigError: TLS is wanted, but a certificate is missing.
        ClusterError: it cannot listen there.
    """
    protocol = "tls" if tls else "tcp"
    security = joining.security_for(config, f"{protocol}://")

    async def serve() -> None:
        scheduler = Scheduler(
            host=host,
            port=port,
            protocol=f"{protocol}://",
            security=security,
            dashboard=False,
            dashboard_address=joining.NO_PAGES,
        )
        async with scheduler:
            _announce(address_file, scheduler.address)
            await _until_stopped([scheduler])

    _run(serve(), f"{host}:{port}")


def serve_workers(config: Config, address: str, *, n_workers: int, host: str, death_timeout_s: float) -> None:
    """Run Dask workers until SIGTERM, Ctrl-C, or until their scheduler is unreachable for too long.

    Each has one sandbox process; a nanny restarts a worker that died.

    Raises:
        ConfigError: TLS is wanted, but a certificate is missing.
        ClusterError: the scheduler cannot be reached.
    """
    security = joining.security_for(config, address)

    async def serve() -> None:
        with TemporaryDirectory(prefix="phiscan-cluster-") as folder:
            nannies = [
                Nanny(
                    address,
                    nthreads=1,
                    host=host or None,
                    security=security,
                    memory_limit=0,
                    local_directory=folder,
                    preload=list(joining.PRELOAD),
                    env=joining.environment_of(config),
                    death_timeout=death_timeout_s,
                    dashboard=False,
                    dashboard_address=joining.NO_PAGES,
                )
                for _ in range(n_workers)
            ]
            try:
                await asyncio.gather(*nannies)
                await _until_stopped(nannies)
            finally:
                await asyncio.gather(*(nanny.close(timeout=5) for nanny in nannies), return_exceptions=True)

    _run(serve(), address)


def check_cluster(config: Config, address: str, roots: Sequence[bytes]) -> int:
    """Check every worker as a scan of these roots would; return their number.

    Raises:
        ConfigError: a worker would be refused; it is named.
        ClusterError: the cluster cannot be reached, or has no worker.
    """
    with (
        dask.config.set(dict(joining.SETTINGS)),
        joining.join(config, joining.check_address(address)) as client,
    ):
        return joining.check_workers(client, config, roots)


def _announce(address_file: Path | None, address: str) -> None:
    """Write the address atomically, because the waiting process reads the file as soon as it exists."""
    if address_file is None:
        return
    partial = address_file.with_name(address_file.name + ".part")
    partial.write_text(address + "\n", encoding="ascii")
    partial.replace(address_file)


async def _until_stopped(servers: Sequence[Any]) -> None:
    """Wait for a signal, or until all of these are closed."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    waits: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(stopped.wait()),
        asyncio.gather(*(server.finished() for server in servers)),
    ]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in waits:
        task.cancel()


def _run(serving: Coroutine[Any, Any, None], place: str) -> None:
    os.umask(0o077)
    with dask.config.set(dict(joining.SETTINGS)):
        try:
            asyncio.run(serving)
        except Exception as error:  # noqa: BLE001 (Dask raises what its transport raises)
            raise ClusterError(place, f"cannot serve there ({origin(error)})") from None
