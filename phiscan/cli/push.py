"""``phiscan push``: send the receivers of ``[[push]]`` what they were not sent yet."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from phiscan.cli.output import Answer, answers, config_of
from phiscan.errors import InputError
from phiscan.stopping import EXIT_STOPPED


@click.command(epilog="Example: phiscan push --dry-run   (what waits; without the option it is sent)")
@click.option("--dry-run", is_flag=True, help="Count what waits for each receiver, and send nothing.")
@answers
def push(obj: str | None, dry_run: bool) -> Answer:
    """Send events and tickets that wait to the receivers of [[push]] in phiscan.toml.

    A scan does the same at its end; this sends what a receiver that was down did not get, and what was
    decided since. Exit status 4: something waits, and the same command goes on from there.
    """
    from phiscan.monitoring.notices import read_notices  # noqa: PLC0415 (few commands pay for loading it)
    from phiscan.monitoring.push import failures, push, waiting  # noqa: PLC0415 (the same)
    from phiscan.review.store import Store  # noqa: PLC0415 (the same)
    from phiscan.store.identity import load_key  # noqa: PLC0415 (the same)

    config = config_of(obj)
    receivers = read_notices(config).receivers
    if not receivers:
        raise InputError(config.source, "push: expected at least one table [[push]]")
    with Store.open(config.database_url, audit_key=config.audit_key_file) as store:
        if dry_run:
            done = [waiting(store, one) for one in receivers]
        else:
            key = load_key(config.key_file)
            done = list(push(store, receivers, key, home=config.home, now=datetime.now(UTC)))
    lines = []
    for one in done:
        counts = one.waiting if dry_run else one.sent
        named = ", ".join(f"{n:,} {kind}" for kind, n in counts.items() if n) or "nothing"
        lines.append(f"{one.receiver}: {named} {'waiting' if dry_run else 'sent'}")
    lines += [] if dry_run else failures(done)
    is_left = not dry_run and any(one.waiting or one.problem for one in done)
    return {"receivers": [one.to_json() for one in done]}, lines, EXIT_STOPPED if is_left else 0
