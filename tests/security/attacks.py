"""What code that took over a document reader would try; each returns ``done`` or the error that it met."""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from phiscan.errors import ExtractError
from phiscan.model import (
    EntityType,
    FailReason,
    FileResult,
    Outcome,
    PatientCheck,
    SourceFile,
    Span,
    StoredFinding,
    StoredTerm,
    UnreadPart,
    WindowBag,
)
from phiscan.sandbox import delivered_files
from phiscan.sandbox.delivered_files import is_handed_over, take

_LIBC = ctypes.CDLL(None, use_errno=True)
_PTRACE_ATTACH = 16
_CLONE_NEWNET, _CLONE_NEWUSER, _CLONE_NEWNS = 0x40000000, 0x10000000, 0x20000
_PTRACE, _PROCESS_VM_READV, _SETNS, _UNSHARE, _MOUNT, _KEYCTL = 101, 310, 308, 272, 165, 250
_INOTIFY_INIT, _INOTIFY_ADD_WATCH, _FILE_SETATTR = 253, 254, 469
_FS_IOC_GETFLAGS, _FS_IOC_SETFLAGS, _FS_IOC_SETVERSION = 0x80086601, 0x40086602, 0x40087602
_F_SETSIG = 10
SECRET = "PHISCAN_SMTP_PASSWORD"  # a variable of the scan


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


@contextmanager
def _handed(target: Target) -> Iterator[int]:
    # Outside a worker, where nothing is handed over, the file is opened by its path.
    is_worker = is_handed_over()
    descriptor = take(target.source)[0] if is_worker else os.open(target.source.absolute, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_database(target: Target) -> None:
    with sqlite3.connect(target.home / "phiscan.db") as connection:
        connection.execute("CREATE TABLE taken (x)")


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


def see_other_processes(_target: Target) -> None:
    if not any(entry.name.isdigit() for entry in Path("/proc").iterdir()):
        raise FileNotFoundError


def regain_capabilities(_target: Target) -> None:
    held = Path("/proc/self/status").read_text(encoding="ascii")
    effective = next(line for line in held.splitlines() if line.startswith("CapEff"))
    if int(effective.split()[1], 16) == 0:
        raise PermissionError


def become_root(_target: Target) -> None:
    os.setresuid(0, 0, 0)
    os.open("/etc/shadow", os.O_RDONLY)


def write_to_the_resource_tracker(_target: Target) -> None:
    """Have the scan's own helper delete a file in /dev/shm, through a pipe that nobody closed."""
    found = False
    for descriptor in range(3, 256):
        with suppress(OSError):
            is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
            if is_pipe and os.write(descriptor, b"REGISTER:/no-such:shared_memory\n"):
                found = True
    if not found:
        raise PermissionError


def reopen_what_others_read(_target: Target) -> None:
    """Open a pipe or socket of this process a second time, to write where it may only read."""
    found = [one for one in range(3, 256) if _is_connection(one)]
    for descriptor in found:
        with suppress(OSError):
            os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK))
            return
    raise PermissionError


def _is_connection(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def shut_what_others_use(_target: Target) -> None:
    """End the socket of tasks, which all workers share."""
    found = [one for one in range(3, 256) if _is_connection(one)]
    for descriptor in found:
        with socket.socket(fileno=os.dup(descriptor)) as shared:
            shared.shutdown(socket.SHUT_RDWR)


def make_a_file_in_the_scratch_folder(_target: Target) -> None:
    descriptor, name = tempfile.mkstemp()
    os.close(descriptor)
    Path(name).unlink()


def set_flags_of_the_handed_file(target: Target) -> None:
    with _handed(target) as descriptor:
        flags = bytearray(8)
        with suppress(OSError):
            fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, flags)
        fcntl.ioctl(descriptor, _FS_IOC_SETFLAGS, bytes(flags))


def set_attributes_of_the_handed_file(target: Target) -> None:
    with _handed(target) as descriptor:
        size = ctypes.c_size_t(24)
        _call(_FILE_SETATTR, ctypes.c_int(descriptor), b"", ctypes.create_string_buffer(24), size, 0x1000)


def go_to_the_home(target: Target) -> None:
    before = Path.cwd()
    os.chdir(target.home)
    os.chdir(before)


def watch_the_home(target: Target) -> None:
    watcher = _LIBC.syscall(ctypes.c_long(_INOTIFY_INIT))
    if watcher < 0:
        raise PermissionError
    _call(_INOTIFY_ADD_WATCH, ctypes.c_int(watcher), os.fsencode(target.home), ctypes.c_uint(0x100))


def set_the_soft_limit_of_processor_time(_target: Target) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft == hard:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def read_a_password_of_the_scan(_target: Target) -> None:
    with suppress(OSError):
        if SECRET.encode() in Path("/proc/self/environ").read_bytes():
            return
    if SECRET not in os.environ:
        raise PermissionError


def _with_handed(act: Callable[[int], object]) -> Callable[[Target], None]:
    """Return an attack on the descriptor of the file that this worker was handed."""

    def attack_it(target: Target) -> None:
        with _handed(target) as descriptor:
            act(descriptor)

    return attack_it


def _raise_hard_limit(kind: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        resource.setrlimit(kind, (soft, hard + 1))


def _file(target: Target) -> Path:
    return Path(os.fsdecode(target.source.absolute))


ATTACKS: dict[str, Callable[[Target], object]] = {
    "read_key": lambda target: (target.home / "key").read_bytes(),
    "read_passwords_of_the_system": lambda _: Path("/etc/shadow").read_bytes(),
    "list_home": lambda target: list(target.home.iterdir()),
    "look_at_the_key": lambda target: (target.home / "key").stat(),
    "write_database": lambda target: (target.home / "phiscan.db").write_bytes(b"x"),
    "read_share": lambda target: _file(target).read_bytes(),
    "write_share": lambda target: _file(target).open("r+b").close(),
    "remove_from_share": lambda target: _file(target).with_name("victim").unlink(),
    "add_to_share": lambda target: (Path(os.fsdecode(target.source.root)) / "new").touch(),
    "change_mode_in_share": lambda target: _file(target).chmod(_file(target).stat().st_mode & 0o777),
    "change_time_in_share": lambda target: os.utime(target.source.absolute),
    "execute": lambda _: subprocess.run(["/bin/true"], check=True),
    "make_tcp_socket": lambda _: socket.socket(socket.AF_INET).close(),
    "make_path_socket": lambda _: socket.socket(socket.AF_UNIX).close(),
    "make_raw_netlink_socket": lambda _: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
    "make_namespace": lambda _: _call(_UNSHARE, ctypes.c_int(_CLONE_NEWUSER | _CLONE_NEWNS)),
    "mount": lambda target: _call(
        _MOUNT, b"none", os.fsencode(target.home), b"tmpfs", ctypes.c_ulong(0), None
    ),
    "trace_parent": lambda target: _call(
        _PTRACE, ctypes.c_long(_PTRACE_ATTACH), ctypes.c_long(target.parent), None, None
    ),
    # With nothing to read it succeeds wherever it is allowed.
    "read_memory_of_parent": lambda target: _call(
        _PROCESS_VM_READV, ctypes.c_int(target.parent), None, 0, None, 0, 0
    ),
    "read_environment_of_parent": lambda target: Path(f"/proc/{target.parent}/environ").read_bytes(),
    "read_command_line_of_parent": lambda target: Path(f"/proc/{target.parent}/cmdline").read_bytes(),
    "signal_parent": lambda target: os.kill(target.parent, 0),
    "signal_all": lambda _: os.kill(0, signal.SIGCONT),
    "use_keyring": lambda _: _call(_KEYCTL, ctypes.c_int(0), ctypes.c_int(-3), ctypes.c_int(0)),
    "write_elsewhere": lambda _: (Path("/var/tmp") / f"attack-{os.getpid()}").touch(),  # noqa: S108 (a folder that everybody may write)
    "make_device": lambda _: os.mknod("/dev/attack", 0o600 | 0o020000, os.makedev(1, 1)),
    "hold_memory_in_files": lambda _: os.close(os.memfd_create("attack")),
    "raise_the_limit_of_memory": lambda _: _raise_hard_limit(resource.RLIMIT_AS),
    "raise_the_limit_of_processor_time": lambda _: _raise_hard_limit(resource.RLIMIT_CPU),
    "write_through_the_handed_descriptor": _with_handed(lambda one: os.write(one, b"x")),
    "reopen_the_handed_descriptor": _with_handed(
        lambda one: os.close(os.open(f"/proc/self/fd/{one}", os.O_RDWR))
    ),
    "change_mode_of_the_handed_descriptor": _with_handed(lambda one: os.fchmod(one, 0o666)),
    "set_version_of_the_handed_file": _with_handed(
        lambda one: fcntl.ioctl(one, _FS_IOC_SETVERSION, bytes(8))
    ),
    "take_a_lease_on_the_handed_file": _with_handed(
        lambda one: fcntl.fcntl(one, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    ),
    "lock_the_handed_file": _with_handed(lambda one: fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "lock_a_range_of_the_handed_file": _with_handed(
        lambda one: fcntl.lockf(one, fcntl.LOCK_SH | fcntl.LOCK_NB)
    ),
    "have_the_kernel_signal_the_parent": lambda target: _with_handed(
        lambda one: fcntl.fcntl(one, fcntl.F_SETOWN, target.parent)
    )(target),
    "choose_the_signal_of_a_descriptor": _with_handed(
        lambda one: fcntl.fcntl(one, _F_SETSIG, signal.SIGKILL)
    ),
    **{
        one.__name__: one
        for one in (
            *(open_database, replace_itself, fork, enter_namespace_of_parent, enter_any_namespace),
            *(see_other_processes, regain_capabilities, become_root, write_to_the_resource_tracker),
            *(reopen_what_others_read, shut_what_others_use, make_a_file_in_the_scratch_folder),
            *(set_flags_of_the_handed_file, set_attributes_of_the_handed_file, go_to_the_home),
            *(watch_the_home, set_the_soft_limit_of_processor_time, read_a_password_of_the_scan),
        )
    },
}


def descriptors(_target: Target) -> list[str]:
    """Return the kind of every open descriptor: no attack, but what the allow list is compared with."""
    kinds = []
    for descriptor in range(256):
        with suppress(OSError):
            status = os.fstat(descriptor)
            kind = stat.S_IFMT(status.st_mode)
            null = Path("/dev/null").stat().st_rdev
            is_null = kind == stat.S_IFCHR and status.st_rdev == null
            kinds.append(
                "null" if is_null else {stat.S_IFSOCK: "socket", stat.S_IFREG: "file"}.get(kind, oct(kind))
            )
    return kinds


def take_after_a_loss(job: tuple[int, Target]) -> str:
    """Take the file; the first item closes the connection afterwards, which a worker cannot make again."""
    number, target = job
    os.close(take(target.source)[0])
    if number == 0 and delivered_files._Worker.connection is not None:
        delivered_files._Worker.connection.close()
    return "done"


def attack(job: tuple[str, Target]) -> tuple[str, int]:
    """Try one attack; return what came of it, and this process. A call that readers do not make ends it."""
    name, target = job
    try:
        ATTACKS[name](target)
    except Exception as error:  # noqa: BLE001 (whatever stops it)
        return type(error).__name__, os.getpid()
    return "done", os.getpid()


NAME = "Amara Okafor, 1961-02-03"


def tell_a_name(job: tuple[str, SourceFile]) -> FileResult:
    """Put a patient's name into every text of a result, or of the failure of the file."""
    what, source = job
    if what == "failure":
        raise ExtractError(FailReason.CORRUPT, NAME)
    if what == "unreadable":
        failed = FileResult(source, Outcome.FAILED, FailReason.CORRUPT, detail=NAME)
        return replace(failed, case=NAME, health_prototype=NAME)
    finding = StoredFinding(Span(0, 5), "", EntityType.PERSON, "names", 0.9, (), "Xxxxx", "ab" * 32)
    of_one = {
        "type": {"media_type": NAME},
        "stages": {"seconds": ((NAME, 1.0),)},
        "language": {"language": NAME},
        "source": {"findings": (replace(finding, source=NAME),)},
        "preview": {"findings": (replace(finding, preview=NAME),)},
        "identity": {"findings": (replace(finding, identity=NAME),)},
        "reason": {"reason": NAME},
        "concept": {"terms": (StoredTerm(NAME, 1, Span(0, 5), ""),)},
        "window": {"window": WindowBag(5, ((NAME, 1),))},
        "index": {"patients": PatientCheck(NAME)},
        "all": {
            "detail": NAME,
            "case": NAME,
            "nearest_prototype": NAME,
            "health_prototype": NAME,
            "reasons": ((NAME, 1.0),),
            "evidence": ((NAME, 1),),
            "detectors": ((NAME, True),),
            "detector_probabilities": ((NAME, 0.5),),
            "finding_counts": ((NAME, 1),),
            "unread": (UnreadPart("a.pdf", FailReason.CORRUPT, NAME),),
        },
    }[what]
    result = FileResult(source, Outcome.SCREENED, media_type="text/plain", content_hash="ab" * 32)
    return replace(result, **of_one)  # type: ignore[arg-type]


TOLD = (
    *("failure", "unreadable", "type", "stages", "language", "source", "preview", "identity", "reason"),
    *("concept", "window", "index", "all"),
)
