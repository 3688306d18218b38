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


@pytest.fixture(params=[X86, ARM], ids=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


def came(machine: Machine, name: str, *arguments: int, purpose: Purpose = READING) -> int:
    program = assemble(machine, PID, purpose)
    number = NUMBERS[name][machine.column]
    return run(program, number, *arguments, architecture=machine.architecture)


@pytest.mark.parametrize("name", ["ptrace", "chdir", "inotify_add_watch", "mount"])
def test_what_no_reader_calls_ends_a_worker_and_fails_in_a_program(machine: Machine, name: str) -> None:
    assert came(machine, name) == TRAP
    if name != "chdir":
        assert came(machine, name, purpose=PROGRAM) == REFUSE


@pytest.mark.parametrize("name", ["clone3", "file_setattr", "io_uring_setup"])
def test_what_a_library_may_try_on_a_new_kernel_is_not_known(machine: Machine, name: str) -> None:
    assert came(machine, name) == came(machine, name, purpose=PROGRAM) == UNKNOWN


@pytest.mark.parametrize("name", ["socket", "execve", "memfd_create"])
def test_what_libraries_try_and_can_do_without_fails(machine: Machine, name: str) -> None:
    assert came(machine, name) == REFUSE


def test_reading_memory_and_locks_are_allowed(machine: Machine) -> None:
    assert came(machine, "read") == came(machine, "mmap") == ALLOW


def test_another_architecture_is_killed_and_the_x32_calls_are_refused() -> None:
    assert run(assemble(X86, PID), 0, architecture=0x40000003) == KILL
    assert run(assemble(X86, PID), 0x40000000 | 59) == REFUSE


def test_only_threads_are_made(machine: Machine) -> None:
    assert came(machine, "clone", 0x00010000 | 0x100) == ALLOW
    assert came(machine, "clone", 0x11) == REFUSE


@pytest.mark.parametrize("name", ["kill", "tgkill"])
@pytest.mark.parametrize("purpose", [READING, PROGRAM])
def test_a_process_signals_itself_alone(machine: Machine, name: str, purpose: Purpose) -> None:
    assert came(machine, name, PID, purpose=purpose) == ALLOW
    for other in (1, 0, 0xFFFFFFFF, PID + 1):
        assert came(machine, name, other, purpose=purpose) == REFUSE


def test_limits_are_read_and_none_is_set(machine: Machine) -> None:
    memory, new = resource.RLIMIT_AS, 0x7F00_0000_0000
    assert came(machine, "prlimit64", 0, memory, 0) == came(machine, "prlimit64", PID, memory, 0) == ALLOW
    assert came(machine, "prlimit64", 0, resource.RLIMIT_CPU, new) == REFUSE
    assert came(machine, "prlimit64", 0, memory, new) == came(machine, "prlimit64", 0, memory, 8) == REFUSE
    assert came(machine, "prlimit64", PID - 1, memory, 0) == REFUSE
    assert came(machine, "prlimit64", PID - 1, resource.RLIMIT_CPU, new) == REFUSE


def test_files_are_read_and_not_made(machine: Machine) -> None:
    flags = os.O_RDWR | os.O_CLOEXEC
    assert came(machine, "openat", 0, 0, flags) == ALLOW
    assert came(machine, "openat", 0, 0, flags | os.O_CREAT) == REFUSE
    assert came(machine, "openat", 0, 0, flags | os.O_CREAT, purpose=PROGRAM) == ALLOW


@pytest.mark.parametrize(
    "command",
    [fcntl.F_SETOWN, 10, fcntl.F_SETLEASE, fcntl.F_NOTIFY, fcntl.F_SETLK, fcntl.F_ADD_SEALS, 1031, 38],
)
def test_a_descriptor_is_not_locked_leased_or_owned(machine: Machine, command: int) -> None:
    assert came(machine, "fcntl", 3, command) == REFUSE
    assert (
        came(machine, "fcntl", 3, fcntl.F_GETFL) == came(machine, "fcntl", 3, fcntl.F_DUPFD_CLOEXEC) == ALLOW
    )


@pytest.mark.parametrize("request_", [0x5412, 0x541C, 0x40086602, 0x40087602, 0x40049409, 0x401C5820])
def test_a_file_is_not_marked_and_nothing_typed_into_a_terminal(machine: Machine, request_: int) -> None:
    assert came(machine, "ioctl", 3, request_) == REFUSE
    assert came(machine, "ioctl", 3, 0x5401) == ALLOW


def test_the_signal_of_refused_calls_and_the_rights_of_a_process_are_not_changed(machine: Machine) -> None:
    assert came(machine, "rt_sigaction", signal.SIGSYS) == REFUSE
    assert came(machine, "rt_sigaction", signal.SIGINT) == ALLOW
    assert came(machine, "prctl", kernel.PR_SET_DUMPABLE, 1) == REFUSE


def test_more_is_allowed_where_it_is_meant(machine: Machine) -> None:
    assert came(machine, "execve", purpose=PROGRAM) == ALLOW
    assert came(machine, "clone", 0x11, purpose=PROGRAM) == REFUSE
    assert came(machine, "accept4", purpose=SERVER) == ALLOW
    assert came(machine, "accept4") == TRAP
    assert came(machine, "memfd_create", purpose=Purpose(may_hold_memory=True)) == ALLOW


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
