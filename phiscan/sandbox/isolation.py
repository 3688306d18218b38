"""Isolation of a process that reads documents, in layers; each reports whether it is on, and why not.

A layer that the kernel or a container does not allow is left out and named; the others do not depend on it.
``begin`` comes before the process loads its rules and models, ``finish`` before it sees the first document.
What each layer prevents, and the test of it: docs/explanation/worker-isolation.md.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import phiscan
from phiscan.config import data_dir
from phiscan.errors import ConfigError
from phiscan.sandbox import channel
from phiscan.sandbox.layers import kernel, landlock, namespaces, privileges, seccomp
from phiscan.sandbox.scratch_folder import make_folder, remove_folder
from phiscan.sandbox.service import program_environment

N_PROCESSES = 1024  # of one user, threads included: the filter allows no processes anyway
EXIT_REFUSED = 73  # of a process that made a system call which the filter does not know
TRIED_ON = "x86_64"  # the machine on which the attacks were run
_PROBE_S = 60
_PROBE_BYTES = 16 * 1024**2
_RECORD = "isolation.json"  # in the home: the layers that the workers of each scan lacked
_MOST_KEPT = 1_000  # scans
_PAGE_BYTES = resource.getpagesize()
# What is lost where a layer is missing.
LOST = {
    "no_new_privs": "a program with a set-user-id bit would gain rights",
    "capabilities": "workers keep the rights of an administrator",
    "user": "workers run as root: without Landlock they could read and write what root can",
    "namespaces": "workers share the network and the mounts with other processes; seccomp refuses sockets",
    "read_only": "mounts are not read-only for workers, and files that workers make in memory have no limit",
    "root_folder": "workers can learn which paths exist, their sizes and times",
    "landlock": "workers can open files by their path, as far as the rights of their user go",
    "seccomp": "workers can start programs, make sockets, signal and lock, as far as their rights go",
    "limits": "workers can start more processes than they need",
}
SYSTEM = (  # what programs read of the system
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/usr/local/share"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/magic", "/etc/mime.types"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
    *("/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu"),
)


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, whether it is on, and how or why not."""

    name: str
    is_on: bool
    detail: str = ""


def library_paths() -> list[str]:
    """Return the files and folders of Python, its packages, phiscan's own code and its word lists.

    The folder of a checkout is not among them: it may hold a database and a key.
    """
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [sysconfig.get_path(name) for name in names]
    found += [path for path in sys.path if path.endswith(("site-packages", "dist-packages", "lib-dynload"))]
    found += [str(Path(sys.base_prefix) / "lib"), str(Path(phiscan.__file__).parent)]
    for name in ("patterns", "dictionaries"):
        with suppress(ConfigError):
            found.append(str(data_dir(name)))
    return list(dict.fromkeys(found))


def begin(scratch: str, scratch_bytes: int) -> list[Layer]:
    """Take namespaces of this process's own and lay a file system in memory over its scratch folder."""
    kinds = namespaces.enter()
    layers = [Layer("namespaces", len(kinds) > 1, ", ".join(kinds) or "not allowed here")]

    def set_up() -> str:
        if "mount" not in kinds:
            raise OSError(0, "no mount namespace")
        namespaces.make_mounts_read_only()
        namespaces.mount_memory(scratch, scratch_bytes, os.geteuid())
        channel.hold_in(scratch)
        return f"scratch folder in memory, {scratch_bytes // 1024**2} MB"

    return [*layers, _tried("read_only", set_up)]


def finish(scratch: str, *, has_memory: bool, report: Callable[[int], None] | None = None) -> list[Layer]:
    """Give up all that reading documents has no use for, for good; nothing is loaded by path afterwards.

    Args:
        scratch: the folder that was given to ``begin``.
        has_memory: it is a file system in memory.
        report: called with the number of a system call that the filter does not know, before the end.
    """
    parent = os.getppid()
    libraries = library_paths()
    readable, writable = [*libraries, *SYSTEM], [scratch, "/dev/null"]

    def enclose() -> str:
        if not has_memory:
            raise OSError(0, "no mount namespace")
        namespaces.enclose(readable, scratch)
        return "the program's own files"

    layers = [
        _tried("root_folder", enclose),
        _tried("limits", lambda: lower_limit(resource.RLIMIT_NPROC, N_PROCESSES)),
    ]
    layers += restrict(readable, writable, nobody_needs=libraries, owned=(scratch,))
    privileges.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)

    def filter_calls() -> str:
        if report is not None:
            seccomp.report_calls(report, EXIT_REFUSED)
        seccomp.install(os.getpid(), seccomp.Purpose(may_hold_memory=not has_memory))
        machine = kernel.machine()
        return f"an allow list of {machine}" + ("" if machine == TRIED_ON else ", on which it was never run")

    layers.append(_tried("seccomp", filter_calls))
    return layers


def restrict(
    readable: list[str],
    writable: list[str],
    executable: tuple[str, ...] = (),
    *,
    nobody_needs: list[str],
    owned: tuple[str, ...] = (),
) -> list[Layer]:
    """Apply what does not depend on system calls: no_new_privs, Landlock, the user id and capabilities.

    Args:
        readable: files and folders that may be read.
        writable: those that may be changed as well.
        executable: programs that may be started.
        nobody_needs: root becomes nobody only if these can still be read then.
        owned: folders that are given to nobody with the user id.
    """

    def fence() -> str:
        landlock.restrict(readable, writable, executable)
        return f"version {landlock.version()}"

    return [
        _tried("no_new_privs", privileges.gain_nothing_by_exec),
        _tried("landlock", fence),
        _tried("user", lambda: _leave_root([*nobody_needs, *owned], owned)),
        _tried("capabilities", _drop_capabilities),
    ]


def lower_limit(limit: int, value: int) -> None:
    """Lower a limit for good: code that took the process over could raise a soft limit alone again."""
    _, hard = resource.getrlimit(limit)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))


def limit_memory(memory_bytes: int) -> None:
    """Allow ``memory_bytes`` of address space beyond what the process has now, as a hard limit."""
    with open("/proc/self/statm", encoding="ascii") as stream:  # noqa: PTH123 (not a file on a disk)
        now = int(stream.read().split()[0]) * _PAGE_BYTES
    lower_limit(resource.RLIMIT_AS, now + memory_bytes)


def fall_silent() -> None:
    """Close the process's outputs: libraries quote what they complain about, and a log is a leak."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def close_all_but(kept: Iterable[int]) -> None:
    """Close every descriptor but these and the three standard ones, whoever opened it."""
    wanted = {0, 1, 2, *kept}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 (no folder of a disk)
        if int(name) not in wanted:
            with suppress(OSError):  # the one that lists
                os.close(int(name))


def _drop_capabilities() -> None:
    privileges.drop_capabilities()
    privileges.hide_from_debuggers()


def _leave_root(needed: list[str], owned: tuple[str, ...]) -> str:
    """Become nobody if this is root; return as whom the process runs.

    Raises:
        OSError: it stays root.
    """
    if os.geteuid() != 0:
        return f"runs as user {os.geteuid()}"
    for folder in owned:
        os.chown(folder, privileges.UNPRIVILEGED_UID, privileges.UNPRIVILEGED_UID)
    became = False
    try:
        became = privileges.become_unprivileged([path for path in needed if os.path.lexists(path)])
    finally:
        if not became:
            for folder in owned:
                os.chown(folder, 0, 0)
    if not became:
        raise OSError(0, "stays root: only root can read the program's files or the scratch folder")
    return f"root became user {privileges.UNPRIVILEGED_UID}"


def _tried(name: str, action: Callable[[], str | None]) -> Layer:
    try:
        return Layer(name, is_on=True, detail=action() or "")
    except OSError as error:
        return Layer(name, is_on=False, detail=error.strerror or type(error).__name__)


def missing(layers: list[Layer]) -> list[str]:
    """Return one line for each layer that is not on: its name, why, and what is lost.

    >>> missing([Layer("limits", False, "not permitted"), Layer("seccomp", True)])
    ['limits: not permitted; workers can start more processes than they need']
    """
    return [f"{layer.name}: {layer.detail}; {LOST[layer.name]}" for layer in layers if not layer.is_on]


def probe() -> list[Layer]:
    """Return the layers that a worker would have here, tried in a process of its own."""
    folder = make_folder(passable=True)
    try:
        scratch = folder / "scratch"
        scratch.mkdir(mode=0o700)
        code = f"from phiscan.sandbox.isolation import show; show({str(scratch)!r})"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
            env=program_environment(),
            stdin=subprocess.DEVNULL,
        )
        return [Layer(str(name), bool(is_on), str(why)) for name, is_on, why in json.loads(done.stdout)]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return [Layer(name, is_on=False, detail="could not be tried") for name in LOST]
    finally:
        remove_folder(folder)


def show(scratch: str) -> None:
    """Isolate this process and print its layers as JSON; the other side of ``probe``."""
    layers = begin(scratch, _PROBE_BYTES)
    layers += finish(scratch, has_memory=layers[-1].is_on)
    sys.stdout.write(json.dumps([[layer.name, layer.is_on, layer.detail] for layer in layers]))


def write_missing(home: Path, scan: int, missing: Sequence[str] | None) -> None:
    """Store the missing layers of a scan; nothing where they are not known or the home is read-only."""
    if missing is None:
        return
    kept = _recorded(home)
    kept[str(scan)] = list(missing)
    latest = dict(list(kept.items())[-_MOST_KEPT:])
    draft = home / f"{_RECORD}.{os.getpid()}.new"
    with suppress(OSError):
        draft.write_text(json.dumps(latest), encoding="utf-8")
        draft.replace(home / _RECORD)


def read_missing(home: Path, scan: int) -> tuple[str, ...] | None:
    """Return the missing layers of a scan, one line each; None = not known."""
    found = _recorded(home).get(str(scan))
    return None if found is None else tuple(found)


def _recorded(home: Path) -> dict[str, list[str]]:
    try:
        found = json.loads((home / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {scan: [str(line) for line in lines] for scan, lines in found.items() if isinstance(lines, list)}
