"""A program: a home with a key and a database, a share with a file, and a worker that attacks both.

Prints one JSON object: what came of each attack in a worker as a scan starts them, and in this process, and
whether the key is in the worker's memory. Run as
``python -m tests.security.isolated_worker FOLDER [MODULE]``; the module takes a layer from workers.
"""

import json
import os
import re
import sqlite3
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from phiscan.config import Config
from phiscan.model import SourceFile
from phiscan.pipeline.workers import worker
from phiscan.pipeline.workers.acceptance import accepted
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.pipeline.workers.worker import start
from phiscan.sandbox import hashing
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.service import key_service, program_service
from phiscan.store.identity import create_key, load_key
from tests.security.attacks import (
    ATTACKS,
    SECRET,
    TOLD,
    Target,
    attack,
    descriptors,
    take_after_a_loss,
    tell_a_name,
)

# These succeed in a process that is not isolated, whoever it runs as: attacks that nothing would stop.
CONTROLS = (
    *("read_key", "list_home", "write_database", "read_share", "write_share", "add_to_share"),
    *("change_mode_in_share", "change_time_in_share", "execute", "replace_itself", "fork"),
    *("make_tcp_socket", "make_path_socket", "make_raw_netlink_socket", "make_namespace"),
    *("enter_any_namespace", "read_memory_of_parent", "signal_parent", "use_keyring", "write_elsewhere"),
    *("hold_memory_in_files", "make_a_file_in_the_scratch_folder", "lock_the_handed_file"),
    *("set_flags_of_the_handed_file", "take_a_lease_on_the_handed_file", "lock_a_range_of_the_handed_file"),
    *("have_the_kernel_signal_the_parent", "choose_the_signal_of_a_descriptor", "look_at_the_key"),
    *("go_to_the_home", "watch_the_home", "raise_the_limit_of_memory", "raise_the_limit_of_processor_time"),
    *("set_the_soft_limit_of_processor_time", "read_a_password_of_the_scan", "reopen_what_others_read"),
)

_KEPT: list[object] = []  # the connection to the hashes, which an engine would keep


def main(folder: Path, *modules: str) -> None:
    os.environ[SECRET] = "canary"
    home, share = folder / "home", folder / "share"
    for path in (home, share):
        path.mkdir()
    create_key(home / "key")
    with sqlite3.connect(home / "phiscan.db") as connection:
        connection.execute("CREATE TABLE scans (id)")
    for name in ("letter.txt", "victim"):
        (share / name).write_text("Dear Dr. Velthuis")
    status = os.lstat(share / "letter.txt")
    source = replace(SourceFile.of(os.fsencode(share), b"letter.txt", status), mode=status.st_mode)
    target = Target(home, source, os.getpid())
    config = Config(home=home)
    services = [key_service(lambda: load_key(home / "key")), program_service(config.limits)]
    with FileHandoff(services) as handoff:
        handoff.put_local(source)
        begin, arguments = start, (config.for_workers(), handoff.address)
        preload = ("phiscan.pipeline.workers.preload",)
        if modules:  # what is tested is a layer, for which no model is needed
            begin, arguments, preload = start_without_models, (handoff.address,), modules
        with Sandbox(1, config.limits, begin, arguments, preload=preload) as sandbox:
            jobs = [(name, target) for name in ATTACKS]
            answers = {name: answer for (name, _), answer in sandbox.run(attack, jobs)}
            ((_, opened),) = sandbox.run(descriptors, [target])
            losses = [answer for _, answer in sandbox.run(take_after_a_loss, [(n, target) for n in range(3)])]
            pid = next(
                answer[1] for _, answer in sandbox.run(attack, jobs[:1]) if not isinstance(answer, Fault)
            )
            told = {
                name: repr(answer if isinstance(answer, Fault) else accepted(source, answer))
                for (name, _), answer in sandbox.run(tell_a_name, [(name, source) for name in TOLD])
            }
            key = load_key(home / "key")
            held = held_of(pid, [key, key.hex().encode(), b"phiscan.pipeline.engine"])
            missing = sandbox.missing
    unhindered = {name: _aside(name, target) for name in CONTROLS}
    print(
        json.dumps(
            {
                "worker": {
                    name: answer.detail if isinstance(answer, Fault) else answer[0]
                    for name, answer in answers.items()
                },
                "descriptors": opened,
                "told": told,
                "after_a_loss": losses[-1] if isinstance(losses[-1], str) else losses[-1].detail,
                "aside": unhindered,
                "holds_key": held and (held[0] or held[1]),
                "was_searched": held and held[2],
                "missing": missing,
            }
        )
    )


def start_without_models(handoff: str) -> None:
    """Connect a worker as ``start`` does, without the engine."""
    ask_at(handoff)
    _KEPT.append(hashing.ask_at(handoff.rpartition("/")[0]))
    worker._Worker.counter = worker.ReadCounter()


def held_of(pid: int, values: list[bytes]) -> list[bool] | None:
    """Tell of each value whether it is in the memory of a process; None = it cannot be looked at."""
    held = [False] * len(values)
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for line in maps.splitlines():
                area = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
                if area is None or "[v" in line:
                    continue
                begin, end = int(area[1], 16), int(area[2], 16)
                with suppress(OSError, ValueError, OverflowError):
                    memory.seek(begin)
                    data = memory.read(end - begin)
                    held = [was or value in data for was, value in zip(held, values, strict=True)]
    except OSError:
        return None
    return held


def _aside(name: str, target: Target) -> str:
    """Try an attack in a child of this process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, attack((name, target))[0].encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as stream:
        return stream.read().decode()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
