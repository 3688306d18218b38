"""Isolation of a process that reads documents, in layers; each reports whether it is on, and why not.

A layer that the kernel or a container does not allow is left out and named; the others do not depend on it.
``begin`` comes before the process loads its rules and models, ``finish`` before it sees the first document.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import phiscan
from phiscan.config import data_dir
from phiscan.errors import ConfigError
from phiscan.sandbox.layers import landlock, namespaces, privileges, seccomp

SCRATCH_BYTES = 64 * 1024**2
N_PROCESSES = 1024  # of one user, threads included: the filter allows no processes anyway
_PROBE_S = 60
_MOST_PROCESSOR_S = 10**8
# What is lost where a layer is missing.
LOST = {
    "no_new_privs": "a program with a set-user-id bit would gain rights",
    "capabilities": "workers keep the rights of an administrator",
    "user": "workers run as root: without Landlock they could read and write what root can",
    "namespaces": "workers share the network and the mounts with other processes; seccomp refuses sockets",
    "read_only": "mounts are not read-only for workers; Landlock alone refuses writing",
    "landlock": "workers can open files by their path, as far as the rights of their user go",
    "seccomp": "workers can start programs, make sockets and send signals, as far as their rights go",
    "limits": "workers can start more processes than they need",
}
_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/usr/local/share"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/magic", "/etc/mime.types"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/proc/self", "/proc/meminfo"),
    *("/proc/cpuinfo", "/sys/devices/system/cpu"),
)


@dataclass(frozen=True, slots=True)
class Isolation:
    """What a worker may open by its path besides the program's own libraries and word lists: nothing."""

    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()


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


def begin(scratch: str, *, with_mounts: bool = True) -> list[Layer]:
    """Take namespaces of this process's own and lay a file system in memory over its scratch folder."""
    kinds = namespaces.enter()
    layers = [Layer("namespaces", len(kinds) > 1, ", ".join(kinds) or "not allowed here")]
    if "mount" not in kinds:
        return [*layers, Layer("read_only", is_on=False, detail="no mount namespace")]
    if not with_mounts:
        return layers

    def set_up() -> str:
        namespaces.make_mounts_read_only()
        namespaces.mount_memory(scratch, SCRATCH_BYTES, os.geteuid())
        return "scratch folder in memory"

    return [*layers, _tried("read_only", set_up)]


def finish(isolation: Isolation, scratch: str) -> list[Layer]:
    """Give up all that reading documents has no use for, for good; nothing is loaded by path afterwards."""
    parent = os.getppid()
    libraries = library_paths()
    readable = [*libraries, *_SYSTEM, *isolation.readable]
    writable = [scratch, "/dev/null", *isolation.writable]
    layers = [_tried("limits", _limit_processes)]
    layers += restrict(readable, writable, nobody_needs=[*libraries, *isolation.readable], owned=(scratch,))
    privileges.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    layers.append(_tried("seccomp", _filter))
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
        _tried("no_new_privs", _gain_nothing),
        _tried("landlock", fence),
        _tried("user", lambda: _leave_root([*nobody_needs, *owned], owned)),
        _tried("capabilities", _drop_capabilities),
    ]


def _gain_nothing() -> str:
    privileges.gain_nothing_by_exec()
    return ""


def _filter() -> str:
    seccomp.install(os.getpid())
    return f"{len(seccomp.refused())} system calls refused"


def _limit_processes() -> str:
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = N_PROCESSES if hard == resource.RLIM_INFINITY else min(N_PROCESSES, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    return ""


def allow_processor(seconds: float) -> None:
    """End this process by SIGXCPU, whatever its timers say, when it has used so much more processor time.

    Twice the seconds and two: the timer that a worker is ended by comes first, unless it was switched off.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = min(int(used.ru_utime + used.ru_stime + 2 * seconds) + 2, _MOST_PROCESSOR_S)
    resource.setrlimit(
        resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
    )


def _drop_capabilities() -> str:
    privileges.drop_capabilities()
    privileges.hide_from_debuggers()
    return ""


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


def _tried(name: str, action: Callable[[], str]) -> Layer:
    try:
        return Layer(name, is_on=True, detail=action())
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
    with tempfile.TemporaryDirectory(prefix="phiscan-probe-") as folder:
        if os.geteuid() == 0:
            Path(folder).chmod(0o711)
        scratch = Path(folder) / "scratch"
        scratch.mkdir(mode=0o700)
        code = f"from phiscan.sandbox.isolation import show; show({str(scratch)!r})"
        environment = os.environ | {"PYTHONPATH": str(Path(phiscan.__file__).parents[1])}
        try:
            done = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                timeout=_PROBE_S,
                check=False,
                env=environment,
                stdin=subprocess.DEVNULL,
            )
            return list(_read_layers(done.stdout))
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
            return [Layer(name, is_on=False, detail="could not be tried") for name in LOST]


def show(scratch: str) -> None:
    """Isolate this process and print its layers as JSON; the other side of ``probe``."""
    layers = [*begin(scratch), *finish(Isolation(), scratch)]
    sys.stdout.write(json.dumps([[layer.name, layer.is_on, layer.detail] for layer in layers]))


def _read_layers(output: bytes) -> Iterator[Layer]:
    for name, is_on, detail in json.loads(output):
        yield Layer(str(name), bool(is_on), str(detail))
