"""``phiscan cluster``: the scheduler and the workers of a scan on many machines."""

from __future__ import annotations

import os
from pathlib import Path

import click

from phiscan.cli import group_of
from phiscan.cli.output import Answer, answers, cluster_module, config_of, print_message
from phiscan.config import MAX_WORKERS
from phiscan.crawl import check_roots
from phiscan.errors import ConfigError, InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
cluster = group_of("cluster")


@cluster.command(epilog="Example: phiscan cluster scheduler --host 10.0.0.5 --tls")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="0 = any free.")
@click.option("--tls", is_flag=True, help="Use TLS with client certificates, as [cluster] names them.")
@click.option("--address-file", type=click.Path(), help="Write the address here once it listens.")
@click.pass_obj
def scheduler(obj: str | None, host: str, port: int, tls: bool, address_file: str | None) -> None:
    """Run the scheduler that passes batches of files to the workers; Ctrl-C or SIGTERM ends it.

    Anyone who can connect to a scheduler without TLS can run programs on its workers: use a separate network.
    """
    serving = cluster_module("phiscan.cluster.serving")
    if not tls and host not in LOOPBACK:
        print_message(
            "phiscan: without --tls, anyone who can connect to this address can run programs on the workers"
        )
    serving.serve_scheduler(
        config_of(obj),
        host=host,
        port=port,
        tls=tls,
        address_file=Path(address_file) if address_file else None,
    )


@cluster.command(epilog="Example: phiscan cluster worker tls://10.0.0.5:8786 --workers 8")
@click.argument("address")
@click.option("--workers", type=click.IntRange(1, MAX_WORKERS), help="Default: one per core.")
@click.option("--host", default="", help="The address that the workers listen on; default: found out.")
@click.option(
    "--give-up-s",
    type=click.FloatRange(1),
    default=60.0,
    show_default=True,
    help="End when the scheduler cannot be reached for so long.",
)
@click.pass_obj
def worker(obj: str | None, address: str, workers: int | None, host: str, give_up_s: float) -> None:
    """Run workers for the scheduler at ADDRESS (tcp://HOST:PORT or tls://HOST:PORT).

    They read with this machine's phiscan.toml, rules and key, which must be those of the scan: otherwise the
    scan refuses them by name. The shares must be mounted at the same paths as where the scan runs.
    """
    serving = cluster_module("phiscan.cluster.serving")
    config = config_of(obj)
    if not address.startswith(("tcp://", "tls://")):
        raise InputError(address, "expected tcp://HOST:PORT or tls://HOST:PORT")
    if not config.key_file.exists():
        raise ConfigError(config.key_file, "a worker needs the key of the scan; copy it here (mode 0600)")
    serving.serve_workers(
        config,
        address,
        n_workers=workers or len(os.sched_getaffinity(0)),
        host=host,
        death_timeout_s=give_up_s,
    )


@cluster.command(epilog="Example: phiscan cluster check tls://10.0.0.5:8786")
@click.argument("address")
@click.argument("roots", nargs=-1, type=click.Path())
@answers
def check(obj: str | None, address: str, roots: tuple[str, ...]) -> Answer:
    """Check whether every worker at ADDRESS is fit for a scan of ROOTS: same versions, same folders.

    Exit status 2 when one would be refused (it is named), or when there is none.
    """
    serving = cluster_module("phiscan.cluster.serving")
    config = config_of(obj)
    n_workers = serving.check_cluster(config, address, check_roots(roots, config) if roots else ())
    return {"address": address, "workers": n_workers}, [f"{n_workers:,} workers, all fit for this scan"]
