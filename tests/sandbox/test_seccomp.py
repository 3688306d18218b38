"""The filter as a program: run here by a small interpreter of classic BPF, and by the kernel in a child."""

import fcntl
import json
import os
import resource
import signal
import struct
from pathlib import Path

import pytest

from phiscan.sandbox.layers import kernel, privileges, seccomp
from phiscan.sandbox.layers.seccomp import (
    ALLOW,
    KILL,
    READING,
    REFUSE,
    TRAP,
    UNKNOWN,
    Instruction,
    Machine,
    Purpose,
    assemble,
)

X86 = Machine(0, 0xC000003E)
ARM = Machine(1, 0xC00000B7)
PID = 4711
PROGRAM, SERVER = Purpose(may_execute=True), Purpose(may_accept=True)
BOTH = (READING, PROGRAM)
# Numbers on x86_64 and aarch64, from asm/unistd.h.
NUMBERS = {
    "read": (0, 63),
    "mmap": (9, 222),
    "openat": (257, 56),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "clone": (56, 220),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "rt_sigaction": (13, 134),
    "prctl": (157, 167),
    "socket": (41, 198),
    "execve": (59, 221),
    "memfd_create": (319, 279),
    "accept4": (288, 242),
    "ptrace": (101, 117),
    "chdir": (80, 49),
    "inotify_add_watch": (254, 27),
    "mount": (165, 40),
    "clone3": (435, 435),
    "file_setattr": (469, 469),
    "io_uring_setup": (425, 425),
}


def run(program: list[Instruction], number: int, *arguments: int, architecture: int = 0xC000003E) -> int:
    """Return what the kernel would do with a system call."""
    padded = (*arguments, *[0] * 6)[:6]
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *padded)
    held = at = 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return value
        else:
            is_true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += if_true if is_true else if_false


READ_WRITE, OTHERS = os.O_RDWR | os.O_CLOEXEC, (1, 0, 0xFFFFFFFF, PID + 1)
MEMORY, NEW = resource.RLIMIT_AS, 0x7F00_0000_0000
OWNING = (fcntl.F_SETOWN, 10, fcntl.F_SETLEASE, fcntl.F_NOTIFY, fcntl.F_SETLK, fcntl.F_ADD_SEALS, 1031, 38)
MARKING = (0x5412, 0x541C, 0x40086602, 0x40087602, 0x40049409, 0x401C5820)
# Calls with their arguments, for whom, and what becomes of them.
CALLS: tuple[tuple[str, tuple[int, ...], Purpose, int], ...] = (
    # What no reader calls ends a worker, and fails in a program.
    *((name, (), READING, TRAP) for name in ("ptrace", "chdir", "inotify_add_watch", "mount", "accept4")),
    *((name, (), PROGRAM, REFUSE) for name in ("ptrace", "inotify_add_watch", "mount")),
    # What a library may try on a new kernel is not known.
    *((name, (), who, UNKNOWN) for name in ("clone3", "file_setattr", "io_uring_setup") for who in BOTH),
    # What libraries try and can do without fails.
    *((name, (), READING, REFUSE) for name in ("socket", "execve", "memfd_create")),
    *((name, (), READING, ALLOW) for name in ("read", "mmap")),
    # Only threads are made.
    ("clone", (0x00010000 | 0x100,), READING, ALLOW),
    *(("clone", (0x11,), who, REFUSE) for who in BOTH),
    # A process signals itself alone.
    *((name, (PID,), who, ALLOW) for name in ("kill", "tgkill") for who in BOTH),
    *((name, (other,), who, REFUSE) for name in ("kill", "tgkill") for who in BOTH for other in OTHERS),
    # Limits are read, and none is set.
    *(("prlimit64", (whose, MEMORY, 0), READING, ALLOW) for whose in (0, PID)),
    *(("prlimit64", (0, MEMORY, new), READING, REFUSE) for new in (NEW, 8)),
    ("prlimit64", (0, resource.RLIMIT_CPU, NEW), READING, REFUSE),
    ("prlimit64", (PID - 1, MEMORY, 0), READING, REFUSE),
    ("prlimit64", (PID - 1, resource.RLIMIT_CPU, NEW), READING, REFUSE),
    # Files are read, and not made.
    ("openat", (0, 0, READ_WRITE), READING, ALLOW),
    ("openat", (0, 0, READ_WRITE | os.O_CREAT), READING, REFUSE),
    ("openat", (0, 0, READ_WRITE | os.O_CREAT), PROGRAM, ALLOW),
    # A descriptor is not locked, leased or owned; a file is not marked, and nothing typed into a terminal.
    *(("fcntl", (3, command), READING, REFUSE) for command in OWNING),
    *(("fcntl", (3, command), READING, ALLOW) for command in (fcntl.F_GETFL, fcntl.F_DUPFD_CLOEXEC)),
    *(("ioctl", (3, request), READING, REFUSE) for request in MARKING),
    ("ioctl", (3, 0x5401), READING, ALLOW),
    # The signal of refused calls and the rights of a process are not changed.
    ("rt_sigaction", (signal.SIGSYS,), READING, REFUSE),
    ("rt_sigaction", (signal.SIGINT,), READING, ALLOW),
    ("prctl", (kernel.PR_SET_DUMPABLE, 1), READING, REFUSE),
    # More is allowed where it is meant.
    ("execve", (), PROGRAM, ALLOW),
    ("accept4", (), SERVER, ALLOW),
    ("memfd_create", (), Purpose(may_hold_memory=True), ALLOW),
)


@pytest.mark.parametrize("machine", [X86, ARM], ids=["x86_64", "aarch64"])
@pytest.mark.parametrize(("name", "arguments", "purpose", "expected"), CALLS)
def test_what_becomes_of_a_call(
    machine: Machine, name: str, arguments: tuple[int, ...], purpose: Purpose, expected: int
) -> None:
    program = assemble(machine, PID, purpose)
    number = NUMBERS[name][machine.column]
    assert run(program, number, *arguments, architecture=machine.architecture) == expected


def test_another_architecture_is_killed_and_the_x32_calls_are_refused() -> None:
    assert run(assemble(X86, PID), 0, architecture=0x40000003) == KILL
    assert run(assemble(X86, PID), 0x40000000 | 59) == REFUSE


def test_the_kernel_ends_the_process_whose_call_is_not_known_and_says_its_number() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            privileges.gain_nothing_by_exec()
            seccomp.report_calls(lambda number: os.write(writer, b"%d" % number), 73)
            seccomp.install(os.getpid())
            kernel.call(NUMBERS["ptrace"][Machine.here().column], 0, 0, 0, 0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 73
    assert os.read(reader, 100) == b"%d" % NUMBERS["ptrace"][Machine.here().column]
    os.close(reader)
    os.close(writer)


def test_an_unknown_machine_is_an_error_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "machine", lambda: "m68k")
    with pytest.raises(OSError, match="m68k"):
        Machine.here()


def test_the_profile_of_the_containers_leaves_workers_what_they_isolate_themselves_with() -> None:
    written = Path(__file__).parents[2] / "compose" / "seccomp.json"
    (rule,) = json.loads(written.read_text(encoding="ascii"))["syscalls"]
    assert not {"unshare", "mount", "umount2", "pivot_root", "mount_setattr", "seccomp"} & set(rule["names"])
    assert {"bpf", "ptrace", "setns", "kexec_load", "init_module", "keyctl"} <= set(rule["names"])
