"""What code that took over a document reader would try; each returns ``done`` or the error that it met."""

import ctypes
import os
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from phiscan.model import SourceFile
from phiscan.sandbox.delivered_files import take

_LIBC = ctypes.CDLL(None, use_errno=True)
_PTRACE_ATTACH = 16
_CLONE_NEWNET, _CLONE_NEWUSER, _CLONE_NEWNS = 0x40000000, 0x10000000, 0x20000
_PTRACE, _PROCESS_VM_READV, _SETNS, _UNSHARE, _MOUNT, _KEYCTL = 101, 310, 308, 272, 165, 250


@dataclass(frozen=True)
class Target:
    """What is attacked."""

    home: Path
    source: SourceFile
    parent: int  # the process that scans


def _call(number: int, *arguments: object) -> None:
    ctypes.set_errno(0)
    if _LIBC.syscall(ctypes.c_long(number), *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read_key(target: Target) -> None:
    (target.home / "key").read_text(encoding="ascii")


def read_passwords_of_the_system(_target: Target) -> None:
    Path("/etc/shadow").read_bytes()


def list_home(target: Target) -> None:
    list(target.home.iterdir())


def open_database(target: Target) -> None:
    with sqlite3.connect(target.home / "phiscan.db") as connection:
        connection.execute("CREATE TABLE taken (x)")


def write_database(target: Target) -> None:
    with (target.home / "phiscan.db").open("r+b") as stream:
        stream.write(b"x")


def read_share(target: Target) -> None:
    Path(os.fsdecode(target.source.absolute)).read_bytes()


def write_share(target: Target) -> None:
    with Path(os.fsdecode(target.source.absolute)).open("r+b"):
        pass


def remove_from_share(target: Target) -> None:
    path = Path(os.fsdecode(target.source.absolute)).with_name("victim")
    path.unlink()


def add_to_share(target: Target) -> None:
    (Path(os.fsdecode(target.source.root)) / "new").touch()


def change_mode_in_share(target: Target) -> None:
    path = Path(os.fsdecode(target.source.absolute))
    path.chmod(path.stat().st_mode & 0o777)


def change_time_in_share(target: Target) -> None:
    os.utime(target.source.absolute)


def execute(_target: Target) -> None:
    subprocess.run(["/bin/true"], check=True)


def replace_itself(_target: Target) -> None:
    # With no argument list the kernel would refuse it for another reason.
    arguments = (ctypes.c_char_p * 2)(b"/bin/nothing-here", None)
    ctypes.set_errno(0)
    _LIBC.execve(b"/bin/nothing-here", arguments, None)
    if ctypes.get_errno() == 2:  # it looked for the program: nothing forbade it
        return
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def fork(_target: Target) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def make_tcp_socket(_target: Target) -> None:
    socket.socket(socket.AF_INET).close()


def make_path_socket(_target: Target) -> None:
    socket.socket(socket.AF_UNIX).close()


def make_raw_netlink_socket(_target: Target) -> None:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()


def enter_namespace_of_parent(target: Target) -> None:
    descriptor = os.open(f"/proc/{target.parent}/ns/net", os.O_RDONLY)
    try:
        _call(_SETNS, ctypes.c_int(descriptor), ctypes.c_int(_CLONE_NEWNET))
    finally:
        os.close(descriptor)


def enter_any_namespace(_target: Target) -> None:
    try:
        _call(_SETNS, ctypes.c_int(0), ctypes.c_int(_CLONE_NEWNET))
    except OSError as error:
        if error.errno != 22:  # 22: it looked at the descriptor, so nothing forbade the call
            raise


def make_namespace(_target: Target) -> None:
    _call(_UNSHARE, ctypes.c_int(_CLONE_NEWUSER | _CLONE_NEWNS))


def mount(target: Target) -> None:
    _call(_MOUNT, b"none", os.fsencode(target.home), b"tmpfs", ctypes.c_ulong(0), None)


def trace_parent(target: Target) -> None:
    _call(_PTRACE, ctypes.c_long(_PTRACE_ATTACH), ctypes.c_long(target.parent), None, None)


def read_memory_of_parent(target: Target) -> None:
    # With nothing to read it succeeds wherever it is allowed.
    _call(_PROCESS_VM_READV, ctypes.c_int(target.parent), None, 0, None, 0, 0)


def read_environment_of_parent(target: Target) -> None:
    Path(f"/proc/{target.parent}/environ").read_bytes()


def see_other_processes(_target: Target) -> None:
    list(Path("/proc").iterdir())


def read_command_line_of_parent(target: Target) -> None:
    Path(f"/proc/{target.parent}/cmdline").read_bytes()


def signal_parent(target: Target) -> None:
    os.kill(target.parent, 0)


def signal_all(_target: Target) -> None:
    os.kill(0, signal.SIGCONT)


def use_keyring(_target: Target) -> None:
    _call(_KEYCTL, ctypes.c_int(0), ctypes.c_int(-3), ctypes.c_int(0))


def write_elsewhere(_target: Target) -> None:
    (Path("/var/tmp") / f"attack-{os.getpid()}").touch()  # noqa: S108 (a folder that everybody may write)


def write_through_the_handed_descriptor(target: Target) -> None:
    descriptor, _ = take(target.source)
    try:
        os.write(descriptor, b"x")
    finally:
        os.close(descriptor)


def reopen_the_handed_descriptor(target: Target) -> None:
    descriptor, _ = take(target.source)
    try:
        os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR))
    finally:
        os.close(descriptor)


def change_mode_of_the_handed_descriptor(target: Target) -> None:
    descriptor, _ = take(target.source)
    try:
        os.fchmod(descriptor, 0o666)
    finally:
        os.close(descriptor)


def regain_capabilities(_target: Target) -> None:
    held = Path("/proc/self/status").read_text(encoding="ascii")
    effective = next(line for line in held.splitlines() if line.startswith("CapEff"))
    if int(effective.split()[1], 16) == 0:
        raise PermissionError


def become_root(_target: Target) -> None:
    os.setresuid(0, 0, 0)
    os.open("/etc/shadow", os.O_RDONLY)


def make_device(_target: Target) -> None:
    os.mknod("/dev/attack", 0o600 | 0o020000, os.makedev(1, 1))


ATTACKS: dict[str, Callable[[Target], None]] = {
    function.__name__: function
    for function in (
        read_key,
        read_passwords_of_the_system,
        list_home,
        open_database,
        write_database,
        read_share,
        write_share,
        remove_from_share,
        add_to_share,
        change_mode_in_share,
        change_time_in_share,
        execute,
        replace_itself,
        fork,
        make_tcp_socket,
        make_path_socket,
        make_raw_netlink_socket,
        enter_namespace_of_parent,
        enter_any_namespace,
        make_namespace,
        mount,
        trace_parent,
        read_memory_of_parent,
        read_environment_of_parent,
        see_other_processes,
        read_command_line_of_parent,
        signal_parent,
        signal_all,
        use_keyring,
        write_elsewhere,
        write_through_the_handed_descriptor,
        reopen_the_handed_descriptor,
        change_mode_of_the_handed_descriptor,
        regain_capabilities,
        become_root,
        make_device,
    )
}


def attack(job: tuple[str, Target]) -> tuple[str, int]:
    """Try one attack; return what came of it, and this process."""
    name, target = job
    try:
        ATTACKS[name](target)
    except Exception as error:  # noqa: BLE001 (whatever stops it)
        return type(error).__name__, os.getpid()
    return "done", os.getpid()
