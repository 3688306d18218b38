"""``phiscan serve``: the review pages and the REST API."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import config_of, print_message
from phiscan.errors import InputError

MOST_AT_ONCE = 1_000  # concurrent connections and requests; beyond, the response is 503


@click.command(epilog="Example: phiscan serve --port 8470")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; another than loopback needs --open-to-network and TLS or a proxy.",
)
@click.option("--port", type=click.IntRange(1, 65535), default=8470, show_default=True, help="Port.")
@click.option("--public-url", default="", help="What browsers call this server: https://NAME.")
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of the TLS proxy before this server; no other may connect.",
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate chain, PEM.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its key, PEM.")
@click.option(
    "--open-to-network", is_flag=True, help="Listen at an address that others than this machine reach."
)
@click.pass_obj
def serve(obj: str | None, /, **given: Any) -> None:
    """Serve the review pages and the REST API, until stopped with Ctrl-C.

    Listens on this machine only. To allow other machines, put a TLS proxy in front of it, or give it a
    certificate: docs/how-to/run-the-desk.md. The first account is made by `phiscan users add`; there is no
    default account and no default password. A scan may run meanwhile.
    """
    # FastAPI and SQLAlchemy take most of a second to load: not for every --help.
    import uvicorn  # noqa: PLC0415

    from phiscan.monitoring import logs  # noqa: PLC0415
    from phiscan.review.accounts.users import Lifetime, Role  # noqa: PLC0415
    from phiscan.review.store import Store  # noqa: PLC0415
    from phiscan.web.address import ConnectionLimits, Listening, desk_table, limited, settings_of  # noqa: PLC0415  # noqa: PLC0415
    from phiscan.web.app import create_app  # noqa: PLC0415

    logs.configure("json")
    _quiet_forms()
    config = config_of(obj)
    table = desk_table(config)
    configured = {"public_url": table.public_url, "proxies": table.proxies}
    listening = Listening(**given | {name: given[name] or value for name, value in configured.items()})
    settings = replace(
        settings_of(listening, max_body_kb=table.max_body_kb),
        second_factor_roles=frozenset(map(Role, table.second_factor)),
        prepares=True,
    )
    for path in (listening.tls_cert, listening.tls_key):
        if path is not None and not path.is_file():
            raise InputError(path, "no such file")
    lifetime = Lifetime(
        idle=timedelta(minutes=table.idle_minutes), absolute=timedelta(hours=table.session_hours)
    )
    with Store.open(config.database_url, audit_key=config.audit_key_file, hash_key=config.key_file) as store:
        store.users = replace(store.users, lifetime=lifetime)
        if not store.users.everybody():
            print_message("no account yet: `phiscan users add NAME --role admin` makes one")
        app = create_app(store, config, settings)
        print_message(f"phiscan: {listening.public_url or settings.own_url}  (Ctrl-C stops it)")
        uvicorn.run(
            app,
            host=listening.host,
            port=listening.port,
            http=limited(ConnectionLimits(proxies=listening.proxies)),
            limit_concurrency=MOST_AT_ONCE,
            ssl_certfile=listening.tls_cert,
            ssl_keyfile=listening.tls_key,
            access_log=False,  # addresses of pages contain search texts
            log_level="warning",
            server_header=False,
            proxy_headers=False,  # phiscan.web.protection trusts only the configured proxies
            timeout_graceful_shutdown=5,
        )
    sys.stdout.flush()


def _quiet_forms() -> None:
    """Silence libraries that quote received data."""
    forms = logging.getLogger("python_multipart")  # quotes invalid bytes
    forms.addHandler(logging.NullHandler())
    forms.propagate = False
