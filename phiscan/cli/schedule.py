"""``phiscan schedule``: named scans at given times."""

from __future__ import annotations

import getpass
import json
import os
import re
import shlex
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import click

from phiscan.cli import group_of
from phiscan.cli.output import Answer, answers, config_of, file_errors, print_message
from phiscan.config import CONFIG_NAME, Config, load_config
from phiscan.errors import ConfigError, InputError
from phiscan.schedule import Schedule, State, next_start, read_schedules
from phiscan.schedule.plan import NAME, state_path
from phiscan.schedule.running import Runner
from phiscan.schedule.units import units
from phiscan.schedule.windows import NEVER
from phiscan.stopping import EXIT_STOPPED, SIGNALS
from phiscan.visible import visible

schedule = group_of("schedule")


@schedule.command(
    epilog="Example: phiscan schedule add nightly /srv/share --cron '0 20 * * *' "
    "--window 'Mon-Fri 20:00-06:00' --window Sat,Sun --time-zone America/Toronto"
)
@click.argument("name")
@click.argument("roots", nargs=-1, required=True, type=click.Path())
@click.option("--cron", required=True, help="When to start: minute, hour, day, month, weekday.")
@click.option("--time-zone", default="UTC", show_default=True, help="Whose clock is meant.")
@click.option(
    "--window",
    "windows",
    multiple=True,
    help="When it may run: 'Mon-Fri 20:00-06:00', 'Sat,Sun'; repeat. Default: always.",
)
@click.option("--options", default="", help="Options of `phiscan scan`: '--max-files-per-s 20 --nice 10'.")
@click.pass_obj
def add(
    obj: str | None,
    name: str,
    roots: tuple[str, ...],
    cron: str,
    time_zone: str,
    windows: tuple[str, ...],
    options: str,
) -> None:
    """Write the scan NAME of the folders ROOTS into phiscan.toml, as the table [schedule.NAME]."""
    if not NAME.fullmatch(name):
        raise InputError(name, "expected a name of small letters, digits, - and _")
    path = _config_path(obj)
    before = path.read_text(encoding="utf-8")
    if name in load_config(path).schedule:
        raise InputError(
            path, f"schedule.{name}: is there already; `phiscan schedule remove {name}` takes it out"
        )
    words = _scan_options(options)
    fields = {
        "roots": [root if "://" in root else os.path.realpath(root) for root in roots],
        "cron": cron,
        "time_zone": time_zone,
        "windows": list(windows),
        "options": words,
    }
    # A JSON string or list of strings is valid TOML as well.
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items() if value]
    _rewrite(path, before, before.rstrip("\n") + "\n\n" + "\n".join([f"[schedule.{name}]", *lines]) + "\n")
    State.read(state_path(load_config(path), name), datetime.now(UTC))
    click.echo(f"{name}: written to {visible(str(path))}")


@schedule.command(epilog="Example: phiscan schedule remove nightly")
@click.argument("name")
@click.pass_obj
def remove(obj: str | None, name: str) -> None:
    """Remove the scan NAME from phiscan.toml; its results remain."""
    path = _config_path(obj)
    config = load_config(path)
    before = path.read_text(encoding="utf-8")
    block = re.compile(rf"^\[schedule\.{re.escape(name)}\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)
    after, n_found = block.subn("", before)
    if n_found != 1:
        raise InputError(path, f"schedule.{name}: there is no table [schedule.{name}]")
    _rewrite(path, before, after.rstrip("\n") + "\n")
    state_path(config, name).unlink(missing_ok=True)
    click.echo(f"{name}: taken out of {visible(str(path))}")


@schedule.command("list", epilog="Example: phiscan schedule list --json")
@answers
def list_schedules(obj: str | None) -> Answer:
    """List the named scans: when each starts next, and how its last one ended."""
    rows = _upcoming(config_of(obj))
    lines = [f"{row['name']:<20} {row['cron']:<18} next {row['next']}   {row['standing']}" for row in rows]
    if not rows and not click.get_current_context().params["as_json"]:
        print_message("No schedule; `phiscan schedule add` writes one.")
    return {"schedules": rows}, lines


@schedule.command("next", epilog="Example: phiscan schedule next nightly --count 5")
@click.argument("name")
@click.option("--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many starts.")
@click.pass_obj
def next_starts(obj: str | None, name: str, count: int) -> None:
    """Print when NAME starts next, if each scan ends before the next start; in its own time zone."""
    config = config_of(obj)
    one = _named(config, name)
    now = datetime.now(UTC)
    moment = next_start(one, State.read(state_path(config, name), now), now)
    for _ in range(count):
        closes = one.windows.open_until(moment)
        shown = "" if closes in {None, NEVER} else f", until {_local(one, closes or NEVER)}"
        click.echo(f"{_local(one, moment)}{shown}")
        moment = one.windows.next_open(one.next_fire(moment))


@schedule.command(epilog="Example: phiscan schedule run")
@click.argument("name", required=False)
@click.option("--due", "only_due", is_flag=True, help="With NAME: only if its time has come; for timers.")
@click.pass_context
def run(ctx: click.Context, name: str | None, only_due: bool) -> None:
    """Run every named scan when it is due, in the foreground; or NAME at once, if a window is open.

    A scan is stopped when its window closes (exit status 4) and continues in the next one. Several missed
    starts are made up for by one scan. Ctrl-C or SIGTERM stops the running scan cleanly, then ends.
    """
    config = config_of(ctx.obj)
    runner = Runner(config, say=lambda message: print_message(f"phiscan: {message}"))
    _stop_on_signals(runner.stop)
    if name is None:
        if only_due:
            message = "--due: expected the NAME of a schedule with it"
            raise InputError(message)
        if not read_schedules(config):
            raise ConfigError(config.source, "no schedule; `phiscan schedule add` writes one")
        runner.serve()
        print_message("phiscan: stopped")
        ctx.exit(EXIT_STOPPED)
    one = _named(config, name)
    status = runner.run_scheduled(one) if only_due else runner.run(one)
    ctx.exit(status or 0)


@schedule.command(epilog="Example: phiscan schedule systemd nightly --user phiscan --out /etc/systemd/system")
@click.argument("name")
@click.option("--user", default=None, help="Who runs the scan; default: you.")
@click.option(
    "--out", type=click.Path(file_okay=False), help="Write the units here instead of printing them."
)
@click.pass_obj
def systemd(obj: str | None, name: str, user: str | None, out: str | None) -> None:
    """Print or write a systemd timer and a hardened service for the scan NAME."""
    config = config_of(obj)
    path = _config_path(obj).resolve()
    made = units(
        _named(config, name),
        command=[sys.executable, "-m", "phiscan", "--config", str(path)],
        user=user or getpass.getuser(),
        folder=path.parent,
        home=config.home.resolve(),
    )
    for variable in sorted(set(os.environ) & {"PHISCAN_DATABASE", "PHISCAN_DATABASE_FILE"}):
        print_message(f"{variable}: is not known to the service; write it into {visible(str(path))}")
    for file_name, text in made.items():
        if out is None:
            click.echo(f"# {file_name}\n{text}")
        else:
            place = Path(out) / file_name
            with file_errors(place, "written"):
                place.write_text(text, encoding="utf-8")
            click.echo(f"written: {visible(str(place))}")
    if out is not None:
        click.echo(f"systemctl daemon-reload && systemctl enable --now phiscan-{name}.timer")


def _scan_options(text: str) -> list[str]:
    """Return the options of a scan as an argument list, checked by `phiscan scan` itself."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        message = f"--options: {str(error)[:1].lower()}{str(error)[1:]}"
        raise InputError(message) from None
    root = click.get_current_context().find_root()
    if not isinstance(root.command, click.Group) or (scan := root.command.get_command(root, "scan")) is None:
        return words  # pragma: no cover (the program has the command)
    try:
        scan.make_context("scan", [*words, "--", "/"], parent=root).close()
    except click.UsageError as error:
        message = f"--options: {' '.join(error.format_message().split())}"
        raise InputError(message) from None
    return words


def _config_path(obj: str | None) -> Path:
    path = Path(obj or os.environ.get("PHISCAN_CONFIG") or CONFIG_NAME)
    if not path.is_file():
        raise ConfigError(path, "no such file; `phiscan init` writes one")
    return path


def _rewrite(path: Path, before: str, after: str) -> None:
    """Replace phiscan.toml, keeping its mode; restore the old content if the new one is invalid."""
    partial = path.with_name(path.name + ".part")
    try:
        with file_errors(path, "written"):
            partial.touch(mode=path.stat().st_mode & 0o777)
            partial.write_text(after, encoding="utf-8")
            read_schedules(load_config(partial))
            if path.read_text(encoding="utf-8") != before:
                raise ConfigError(path, "was changed meanwhile; try again")  # noqa: TRY301 (as all others here)
            partial.replace(path)
    except ConfigError as error:
        raise ConfigError(str(error).replace(str(partial), str(path))) from None
    finally:
        partial.unlink(missing_ok=True)


def _named(config: Config, name: str) -> Schedule:
    for one in read_schedules(config):
        if one.name == name:
            return one
    raise ConfigError(config.source, f"schedule.{name}: there is none of this name")


def _upcoming(config: Config) -> list[dict[str, object]]:
    now = datetime.now(UTC)
    rows: list[dict[str, object]] = []
    for one in read_schedules(config):
        state = State.read(state_path(config, one.name), now)
        standing = "" if state.status is None else f"ended {state.status}"
        rows.append(
            {
                "name": one.name,
                "roots": list(one.roots),
                "cron": one.cron,
                "time_zone": one.windows.zone.key,
                "next": _local(one, next_start(one, state, now)),
                "standing": "unfinished" if state.unfinished else standing,
            }
        )
    return rows


def _local(one: Schedule, moment: datetime) -> str:
    return moment.astimezone(one.windows.zone).isoformat(timespec="minutes")


def _stop_on_signals(stop: threading.Event) -> None:
    def set_stop(_signum: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup sets SIG_IGN
            signal.signal(number, set_stop)
