"""Join a cluster: parse its address, set up TLS, and check every worker before it gets a file."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
from distributed import Client
from distributed.security import Security

from phiscan.cluster.client import ClusterClient
from phiscan.cluster.pickling import WorkerState, from_pickle
from phiscan.cluster.reading import worker_state
from phiscan.config import Config
from phiscan.errors import ClusterError, ConfigError, InputError, origin
from phiscan.pipeline.versions import versions, versions_key
from phiscan.visible import visible

CONNECT_S = 20
_ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:\d{1,5}")
# Dask only passes on batches: no dashboard, no spilling of results to a disk, no
# usage counters; a worker may have child processes (the sandbox); two deaths make a batch suspect.
SETTINGS: Mapping[str, Any] = {
    "distributed.worker.daemon": False,
    "distributed.scheduler.allowed-failures": 1,
    "distributed.scheduler.work-stealing": True,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.log-length": 0,
    "distributed.comm.timeouts.connect": f"{CONNECT_S}s",
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
NO_PAGES = "127.0.0.1:0"  # Dask's HTTP server cannot be switched off: it listens on loopback only
PRELOAD = ("phiscan.cluster.reading",)


def check_address(address: str) -> str:
    """Return the address of a cluster if it is valid.

    Raises:
        InputError: it is not valid.
    """
    if not _ADDRESS.fullmatch(address) or not 0 < int(address.rsplit(":", 1)[1]) <= 65535:  # noqa: PLR2004 (the highest port)
        message = f"--cluster {address}: expected tcp://HOST:PORT or tls://HOST:PORT"
        raise InputError(message)
    return address


def security_for(config: Config, address: str) -> Security | None:
    """Return Dask's security settings for an address; None without TLS.

    Raises:
        ConfigError: TLS is wanted, but a certificate is not named or cannot be read.
    """
    if not address.startswith("tls://"):
        return None
    tls = config.cluster
    if not (tls.ca_file and tls.cert_file and tls.key_file):
        raise ConfigError(config.source, "cluster: tls:// needs ca_file, cert_file and key_file")
    for name in ("ca_file", "cert_file", "key_file"):
        if not os.access(getattr(tls, name), os.R_OK):
            raise ConfigError(config.source, f"cluster.{name}: {getattr(tls, name)}: cannot be read")
    try:
        ssl.create_default_context(cafile=tls.ca_file).load_cert_chain(tls.cert_file, tls.key_file)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            config.source, f"cluster: not a certificate with its key ({type(error).__name__})"
        ) from None
    role = {"cert": tls.cert_file, "key": tls.key_file}
    return Security(
        require_encryption=True,
        tls_ca_file=tls.ca_file,
        **{
            f"tls_{who}_{part}": file
            for who in ("client", "worker", "scheduler")
            for part, file in role.items()
        },
    )


@contextmanager
def open_cluster(
    config: Config, address: str, roots: Sequence[bytes], *, largest_batch: int | None = None
) -> Iterator[ClusterClient]:
    """Join a cluster and check its workers; leave it at the end.

    Raises:
        ConfigError: a worker has other versions or cannot see a root; it is named.
        ClusterError: the cluster cannot be reached.
    """
    parts = versions(config)
    with dask.config.set(dict(SETTINGS)), join(config, check_address(address)) as client:
        check_workers(client, config, roots)
        yield ClusterClient(
            client,
            versions_key=versions_key(parts),
            learned=config.learned,
            roots=roots,
            largest_batch=largest_batch,
        )


def check_workers(client: Client, config: Config, roots: Sequence[bytes]) -> int:
    """Check every worker; return their number.

    Raises:
        ConfigError: names the worker, and the difference or the folder that it cannot see.
        ClusterError: there is no worker.
    """
    parts = versions(config)
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
        answers: dict[str, Any] = client.run(worker_state, tuple(roots), config.learned, on_error="return")
    except Exception as error:  # noqa: BLE001 (Dask raises what its transport raises)
        message = f"the cluster has no worker ({type(error).__name__})"
        raise ClusterError(message) from None
    for worker, answer in sorted(answers.items()):
        if isinstance(answer, BaseException):
            # Most likely it has no phiscan, or a version that is too old for this request.
            message = (
                f"worker {worker}: does not respond ({origin(answer)}); is the same phiscan installed there?"
            )
            raise ConfigError(message)
        state: WorkerState = from_pickle(answer)
        if problem := _unfit(state, parts, roots):
            message = f"worker {worker}: {problem}"
            raise ConfigError(message)
    return len(answers)


def _unfit(state: WorkerState, parts: Mapping[str, str], roots: Sequence[bytes]) -> str:
    if state.problem:
        return state.problem
    theirs = dict(state.versions)
    differing = [name for name in sorted({*parts, *theirs}) if parts.get(name) != theirs.get(name)]
    if differing:
        return f"not the same {', '.join(differing)} as here"
    if state.unseen:
        shown = ", ".join(
            visible(roots[number].decode("utf-8", "backslashreplace")) for number in state.unseen
        )
        return f"cannot see {shown}; a share must be mounted at the same path everywhere"
    return ""


@contextmanager
def join(config: Config, address: str) -> Iterator[Client]:
    """Connect to a cluster; leave it at the end.

    Raises:
        ConfigError: TLS is wanted, but a certificate is missing.
        ClusterError: it cannot be reached.
    """
    security = security_for(config, address)
    try:
        client = Client(address, security=security, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:  # noqa: BLE001 (Dask raises what its transport raises)
        message = f"--cluster {address}: cannot be reached ({type(error).__name__})"
        raise ClusterError(message) from None
    try:
        yield client
    finally:
        with suppress(Exception):  # an unreachable cluster cannot be left cleanly
            client.close(timeout=CONNECT_S)


def environment_of(config: Config) -> dict[str, str]:
    """Return the variables of a process that works for a cluster with this configuration."""
    found = {"PHISCAN_HOME": str(config.home.resolve()), "PHISCAN_WORKERS": "1"}
    is_file = Path(config.source).is_file()
    return {**found, "PHISCAN_CONFIG": str(Path(config.source).resolve())} if is_file else found
