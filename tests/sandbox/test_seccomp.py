"""The filter as a program: run here by a small interpreter of classic BPF, and by the kernel in a child."""

import errno
import json
import os
import struct
from pathlib import Path

import pytest

from phiscan.sandbox.layers import kernel, privileges, seccomp
from phiscan.sandbox.layers.container_profile import profile
from phiscan.sandbox.layers.seccomp import Instruction, Machine, assemble, refused

X86 = Machine(0, 0xC000003E)
ARM = Machine(1, 0xC00000B7)
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE = 0x00050000 | errno.EPERM
PID = 4711


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


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize("name", refused())
def test_what_is_on_the_list_is_refused(machine: Machine, name: str) -> None:
    number = machine.number(name)
    if number < 0:
        pytest.skip("not on this machine")
    assert run(assemble(machine, PID), number, architecture=machine.architecture) == REFUSE


@pytest.mark.parametrize("number", [0, 1, 3, 9, 11, 12, 47, 46, 202, 257, 318, 334])
def test_reading_memory_and_locks_are_allowed(number: int) -> None:
    assert run(assemble(X86, PID), number) == ALLOW


def test_another_architecture_is_killed_and_the_x32_calls_are_refused() -> None:
    assert run(assemble(X86, PID), 0, architecture=0x40000003) == KILL
    assert run(assemble(X86, PID), 0x40000000 | 59) == REFUSE


def test_only_threads_are_made() -> None:
    program = assemble(X86, PID)
    assert run(program, 56, 0x00010000 | 0x100) == ALLOW
    assert run(program, 56, 0x11) == REFUSE
    assert run(program, 435, 0) == 0x00050000 | errno.ENOSYS


@pytest.mark.parametrize("name", ["kill", "tgkill"])
def test_a_process_signals_itself_alone(name: str) -> None:
    program, number = assemble(X86, PID), X86.number(name)
    assert run(program, number, PID) == ALLOW
    for other in (1, 0, 0xFFFFFFFF, PID + 1):
        assert run(program, number, other) == REFUSE


def test_limits_of_others_are_left_alone() -> None:
    program, number = assemble(X86, PID), X86.number("prlimit64")
    assert run(program, number, 0) == run(program, number, PID) == ALLOW
    assert run(program, number, PID - 1) == REFUSE


def test_nothing_is_typed_into_a_terminal() -> None:
    program, number = assemble(X86, PID), X86.number("ioctl")
    assert run(program, number, 0, 0x5401) == ALLOW
    assert run(program, number, 0, 0x5412) == run(program, number, 0, 0x541C) == REFUSE


def test_programs_may_be_started_where_that_is_meant_and_nothing_else_changes() -> None:
    program = assemble(X86, PID, may_execute=True)
    assert run(program, X86.number("execve")) == run(program, X86.number("clone"), 0x11) == ALLOW
    for name in ("socket", "ptrace", "setns", "mount", "unshare", "bpf", "accept"):
        assert run(program, X86.number(name)) == REFUSE
    assert run(assemble(X86, PID, may_accept=True), X86.number("accept4")) == ALLOW


def test_the_kernel_takes_the_filter() -> None:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            privileges.gain_nothing_by_exec()
            seccomp.install(os.getpid())
            try:
                kernel.unshare(kernel.CLONE_NEWUTS)
            except PermissionError:
                status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_unknown_machine_is_an_error_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "machine", lambda: "m68k")
    with pytest.raises(OSError, match="m68k"):
        Machine.here()


def test_the_profile_of_the_containers_is_the_one_that_is_made() -> None:
    written = Path(__file__).parents[2] / "compose" / "seccomp.json"
    assert json.loads(written.read_text(encoding="ascii")) == profile()


def test_the_profile_leaves_workers_what_they_isolate_themselves_with() -> None:
    (rule,) = profile()["syscalls"]  # type: ignore[misc]
    assert not {"unshare", "mount", "mount_setattr", "seccomp", "prctl"} & set(rule["names"])
    assert {"bpf", "ptrace", "setns", "kexec_load", "init_module", "keyctl"} <= set(rule["names"])
