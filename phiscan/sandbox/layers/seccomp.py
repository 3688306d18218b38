"""seccomp: the kernel allows the system calls and arguments that reading a document uses, and no others.

The filter is classic BPF, assembled here: the program is a list of (code, jump if true, jump if false,
value). A call that nobody here makes ends the process, and its number is reported. Calls that libraries try
and can do without fail with EPERM, and those that are newer than every C library needs with ENOSYS, as on
an older kernel. The tables were found by tracing the readers: docs/explanation/worker-isolation.md.
Source: the kernel's Documentation/userspace-api/seccomp_filter.rst; the numbers are those of asm/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from phiscan.sandbox.layers import kernel

_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they lie in struct seccomp_data
ALLOW, KILL, TRAP, _ERRNO = 0x7FFF0000, 0x80000000, 0x00030000, 0x00050000
REFUSE, UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
_X32 = 0x40000000  # x86-64 calls of the x32 kind have this bit; nobody uses them
_FIRST_NEW = 424  # all calls from here on came with Linux 5.1 or later, with the same numbers on all machines
_CLONE_THREAD = 0x00010000

Instruction = tuple[int, int, int, int]

# Calls of every process here: name, number on x86_64, number on aarch64; -1 where a machine has none.
_READING = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, ftruncate 77 46, fadvise64 221 223,
close 3 57, dup 32 23, stat 4 -1, lstat 6 -1, fstat 5 80, newfstatat 262 79, statx 332 291, access 21 -1,
faccessat 269 48, readlink 89 -1, readlinkat 267 78, getdents64 217 61, getcwd 79 17, poll 7 -1,
ppoll 271 73, select 23 -1, pselect6 270 72, sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212,
getsockname 51 204, getpeername 52 205, setsockopt 54 208, getsockopt 55 209, mmap 9 222,
mprotect 10 226, munmap 11 215, mremap 25 216, brk 12 214, madvise 28 233, rt_sigprocmask 14 135,
rt_sigreturn 15 139, sigaltstack 131 132, setitimer 38 103, getitimer 36 102, clock_gettime 228 113,
clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101, gettimeofday 96 169, time 201 -1,
times 100 153, getpid 39 172, gettid 186 178, getppid 110 173, getuid 102 174, geteuid 107 175,
getgid 104 176, getegid 108 177, getgroups 115 158, uname 63 160, sysinfo 99 179, getrlimit 97 163,
getrusage 98 165, getrandom 318 278, sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121,
sched_getscheduler 145 120, sched_get_priority_max 146 125, sched_get_priority_min 147 126, getcpu 309 168,
futex 202 98, set_robust_list 273 99, set_tid_address 218 96, rseq 334 293, membarrier 324 283,
arch_prctl 158 -1, restart_syscall 219 128, exit 60 93, exit_group 231 94, wait4 61 260
"""
# Calls that are looked at: some values of their arguments are allowed.
_LOOKED_AT = """
open 2 -1, openat 257 56, fcntl 72 25, ioctl 16 29, prctl 157 167, clone 56 220, kill 62 129,
tgkill 234 131, prlimit64 302 261, rt_sigaction 13 134
"""
# What a server needs that was handed a listening socket.
_SERVING = "accept 43 202, accept4 288 242"
# What helper programs need besides: to be started, and to write files; the rest of what they try is refused.
_PROGRAMS = """
execve 59 221, execveat 322 281, chdir 80 49, fchdir 81 50, mkdir 83 -1, mkdirat 258 34, rmdir 84 -1,
unlink 87 -1, unlinkat 263 35, rename 82 -1, renameat 264 38, renameat2 316 276, creat 85 -1,
fallocate 285 47, truncate 76 45, fsync 74 82, fdatasync 75 83, umask 95 166, statfs 137 43, fstatfs 138 44,
dup2 33 -1, dup3 292 24, pipe 22 -1, pipe2 293 59, eventfd2 290 19, getpgrp 111 -1, getpgid 121 155,
getresuid 118 148, getresgid 120 150, sched_setaffinity 203 122, get_mempolicy 239 236, mincore 27 232,
msync 26 227, alarm 37 -1, pause 34 -1
"""
# What libraries and Python try and can do without; every other call ends a worker.
_TRIED = """
socket 41 198, connect 42 203, execve 59 221, fork 57 -1, vfork 58 -1, setrlimit 160 164,
memfd_create 319 279, mkdir 83 -1, mkdirat 258 34, rmdir 84 -1, unlink 87 -1, unlinkat 263 35, rename 82 -1,
renameat 264 38, renameat2 316 276, creat 85 -1, chmod 90 -1, fchmod 91 52, fchmodat 268 53,
utimensat 280 88, umask 95 166, statfs 137 43, fstatfs 138 44, dup2 33 -1, dup3 292 24, fsync 74 82,
pipe2 293 59, eventfd2 290 19, flock 73 32, sched_setaffinity 203 122, sched_setscheduler 144 119,
setpriority 141 140, mbind 237 235, set_mempolicy 238 237, get_mempolicy 239 236, mlock 149 228,
munlock 150 229, mincore 27 232, msync 26 227, capget 125 90, tkill 200 130, getresuid 118 148,
getresgid 120 150, getpgrp 111 -1, alarm 37 -1, shutdown 48 210
"""
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_O_CREAT = 0o100
# Duplicates, close-on-exec, flags and seals; no locks, leases, owners, signals or sizes of pipes.
_FCNTL = (0, 1, 2, 3, 4, 1030, 1034)
# TCGETS, TCGETS2 and TIOCGWINSZ (is this a terminal?), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PRCTL = (15, 16)  # names of threads


@dataclass(frozen=True, slots=True)
class Machine:
    """What a filter depends on: which column of the tables, and the number of the architecture."""

    column: int
    architecture: int

    @classmethod
    def here(cls) -> Machine:
        """Return this machine.

        Raises:
            OSError: its system calls are not in the tables.
        """
        found = _MACHINES.get(kernel.machine())
        if found is None:
            raise OSError(errno.ENOSYS, f"no system call table for {kernel.machine()}")
        return cls(*found)

    def numbers(self, text: str) -> dict[str, int]:
        """Return the calls of a table that this machine has, by name."""
        found = {name: int((x86, arm)[self.column]) for name, x86, arm in map(str.split, text.split(","))}
        return {name: number for name, number in found.items() if number >= 0}


@dataclass(frozen=True, slots=True)
class Purpose:
    """Which calls a process may make besides those that read."""

    may_execute: bool = False  # a program: it is started, and writes files; an unknown call fails, no more
    may_accept: bool = False  # a server that was handed a listening socket
    may_hold_memory: bool = False  # files in memory by memfd_create, where the scratch folder lies on a disk


READING = Purpose()


def install(pid: int, purpose: Purpose = READING) -> None:
    """Let the kernel allow no other calls in this process and all that it starts; needs no_new_privs.

    ``pid``: of this process, the only one that may be sent a signal.

    Raises:
        OSError: the kernel refused, or the machine is unknown.
    """
    program = assemble(Machine.here(), pid, purpose)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    held = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(held))
    header_held = ctypes.create_string_buffer(header, len(header))
    kernel.prctl(kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header_held))


def assemble(machine: Machine, pid: int, purpose: Purpose = READING) -> list[Instruction]:
    """Return the filter for a machine and a process as BPF instructions."""
    allowed = machine.numbers(_READING)
    if purpose.may_accept:
        allowed |= machine.numbers(_SERVING)
    if purpose.may_execute:
        allowed |= machine.numbers(_PROGRAMS)
    if purpose.may_hold_memory:
        allowed |= {"memfd_create": machine.numbers(_TRIED)["memfd_create"]}
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.architecture),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, REFUSE),
    ]
    for number in allowed.values():
        program += _when(number, [(_RETURN, 0, 0, ALLOW)])
    looked_at = machine.numbers(_LOOKED_AT)
    for name, body in _bodies(pid, may_create=purpose.may_execute).items():
        if name in looked_at:
            program += _when(looked_at[name], body)
    for name, number in machine.numbers(_TRIED).items():
        if name not in allowed:
            program += _when(number, [(_RETURN, 0, 0, REFUSE)])
    # Without clone3, whose flags a filter cannot see, the C library takes clone.
    program += [(_AT_LEAST, 0, 1, _FIRST_NEW), (_RETURN, 0, 0, UNKNOWN)]
    program.append((_RETURN, 0, 0, REFUSE if purpose.may_execute else TRAP))
    return program


def _bodies(pid: int, *, may_create: bool) -> dict[str, list[Instruction]]:
    """Return what is done with each call that is looked at."""
    no_file = [] if may_create else [(_ANY_BIT, 0, 1, _O_CREAT), (_RETURN, 0, 0, REFUSE)]
    allowed = (_RETURN, 0, 0, ALLOW)
    own = [(_LOAD, 0, 0, _ARGUMENTS), *_one_of((pid,))]
    # Limits are read: the pointer to a new one is null, in both halves.
    reads = [(_LOAD, 0, 0, _ARGUMENTS + 16), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, REFUSE)]
    reads += [(_LOAD, 0, 0, _ARGUMENTS + 20), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, REFUSE)]
    return {
        "open": [(_LOAD, 0, 0, _ARGUMENTS + 8), *no_file, allowed],
        "openat": [(_LOAD, 0, 0, _ARGUMENTS + 16), *no_file, allowed],
        "fcntl": [(_LOAD, 0, 0, _ARGUMENTS + 8), *_one_of(_FCNTL)],
        "ioctl": [(_LOAD, 0, 0, _ARGUMENTS + 8), *_one_of(_IOCTL)],
        "prctl": [(_LOAD, 0, 0, _ARGUMENTS), *_one_of(_PRCTL)],
        "clone": [
            (_LOAD, 0, 0, _ARGUMENTS),
            (_ANY_BIT, 1, 0, _CLONE_THREAD),
            (_RETURN, 0, 0, REFUSE),
            allowed,
        ],
        "kill": own,
        "tgkill": own,
        "prlimit64": [*reads, (_LOAD, 0, 0, _ARGUMENTS), *_one_of((0, pid))],
        # What ends the process is not taken away from it.
        "rt_sigaction": [
            (_LOAD, 0, 0, _ARGUMENTS),
            (_EQUAL, 0, 1, signal.SIGSYS),
            (_RETURN, 0, 0, REFUSE),
            allowed,
        ],
    }


def _when(number: int, body: Sequence[Instruction]) -> list[Instruction]:
    """Run ``body``, which returns, for one call alone."""
    return [(_EQUAL, 0, len(body), number), *body]


def _one_of(values: Iterable[int]) -> list[Instruction]:
    """Allow what was loaded if it is one of the values, else refuse."""
    tests = [
        instruction for value in values for instruction in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, ALLOW))
    ]
    return [*tests, (_RETURN, 0, 0, REFUSE)]


_SA_SIGINFO = 4
_AT_CALL = 24  # where the number lies in siginfo_t
_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_kept: list[object] = []  # the handler must live as long as the process


def report_calls(report: Callable[[int], None], status: int) -> None:
    """Have a call that the filter does not know end this process with a status, after ``report(number)``.

    A handler of Python alone would run after the call, which would seem to have succeeded.
    """

    def handle(_signal: int, information: int, _context: int) -> None:
        try:
            report(ctypes.c_int.from_address(information + _AT_CALL).value)
        finally:
            os._exit(status)

    handler = _Handler(handle)
    _kept.append(handler)
    address = ctypes.cast(handler, ctypes.c_void_p).value
    # struct sigaction of the C library: handler, 128 bytes of signals to block meanwhile, flags, restorer.
    action = struct.pack("@P128xiP", address, _SA_SIGINFO, 0)
    if kernel.libc().sigaction(signal.SIGSYS, action, None) != 0:
        raise OSError(errno.EINVAL, "no handler for refused calls")
