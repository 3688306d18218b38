"""seccomp: the kernel refuses system calls that reading a document has no use for.

The filter is classic BPF, assembled here: the program is a list of (code, jump if true, jump if false,
value). Refused calls fail with EPERM, so that a library that tries one and can do without continues.
Source: the kernel's Documentation/userspace-api/seccomp_filter.rst; the numbers are those of asm/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phiscan.sandbox.layers import kernel

_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they lie in struct seccomp_data
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000  # x86-64 calls of the x32 kind have this bit; nobody uses them
_CLONE_THREAD = 0x00010000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

Instruction = tuple[int, int, int, int]

# Calls by name: (x86_64, aarch64); -1 where a machine has none.
_CALLS: dict[str, tuple[int, int]] = {
    "execve": (59, 221),
    "execveat": (322, 281),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # network
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # shared between processes by name
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    # namespaces and mounts
    "setns": (308, 268),
    "unshare": (272, 97),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # what a file says of itself: Landlock does not guard it
    "chmod": (90, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, -1),
    "fchown": (93, 55),
    "lchown": (94, -1),
    "fchownat": (260, 54),
    "utime": (132, -1),
    "utimes": (235, -1),
    "futimesat": (261, -1),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "mknod": (133, -1),
    "mknodat": (259, 33),
    # large and rarely needed parts of the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "fanotify_init": (300, 262),
    "personality": (135, 92),
    "modify_ldt": (154, -1),
    # the machine
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    # a new process; threads go through clone, which is looked at below
    "fork": (57, -1),
    "vfork": (58, -1),
    # looked at below
    "clone": (56, 220),
    "clone3": (435, 435),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "ioctl": (16, 29),
}
_LOOKED_AT = frozenset({"clone", "clone3", "kill", "tgkill", "prlimit64", "ioctl"})
# What a program such as tesseract needs besides: to be started, and processes of its own.
_OF_PROGRAMS = frozenset({"execve", "execveat", "fork", "vfork", "sched_setaffinity"})
_OF_SERVERS = frozenset({"accept", "accept4"})
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


@dataclass(frozen=True, slots=True)
class Machine:
    """What a filter depends on: which column of the table, and the number of the architecture."""

    column: int
    architecture: int

    @classmethod
    def here(cls) -> Machine:
        """Return this machine.

        Raises:
            OSError: its system calls are not in the table.
        """
        found = _MACHINES.get(kernel.machine())
        if found is None:
            raise OSError(errno.ENOSYS, f"no system call table for {kernel.machine()}")
        return cls(*found)

    def number(self, name: str) -> int:
        """Return the number of a system call, -1 if there is none."""
        return _CALLS[name][self.column]


def install(pid: int, *, may_execute: bool = False, may_accept: bool = False) -> None:
    """Let the kernel refuse what is on the list, in this process and all that it starts; needs no_new_privs.

    Args:
        pid: of this process, the only one that may be sent a signal.
        may_execute: for programs: they may be started and start processes.
        may_accept: for a server that was handed a listening socket.

    Raises:
        OSError: the kernel refused, or the machine is unknown.
    """
    program = assemble(Machine.here(), pid, may_execute=may_execute, may_accept=may_accept)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    held = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(held))
    header_held = ctypes.create_string_buffer(header, len(header))
    kernel.prctl(kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header_held))


def refused(*, may_execute: bool = False, may_accept: bool = False) -> list[str]:
    """Return the names of the calls that are refused whatever their arguments."""
    allowed = _LOOKED_AT | (_OF_PROGRAMS if may_execute else frozenset())
    allowed |= _OF_SERVERS if may_accept else frozenset()
    return [name for name in _CALLS if name not in allowed]


def assemble(
    machine: Machine, pid: int, *, may_execute: bool = False, may_accept: bool = False
) -> list[Instruction]:
    """Return the filter for a machine and a process as BPF instructions."""
    names = refused(may_execute=may_execute, may_accept=may_accept)
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        # Without clone3, whose flags a filter cannot see, the C library takes clone.
        *_when(machine.number("clone3"), [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]),
    ]
    for number in sorted({machine.number(name) for name in names} - {-1}):
        program += _when(number, [(_RETURN, 0, 0, _ERRNO | errno.EPERM)])
    if not may_execute:
        only_threads = _argument(0, [(_ANY_BIT, 1, 0, _CLONE_THREAD)])
        program += _when(machine.number("clone"), only_threads)
        own = [(_EQUAL, 1, 0, pid)]
        program += _when(machine.number("kill"), _argument(0, own))
        program += _when(machine.number("tgkill"), _argument(0, own))
        program += _when(machine.number("prlimit64"), _argument(0, [(_EQUAL, 2, 0, 0), *own]))
    no_typing = [(_EQUAL, 1, 0, _TIOCSTI), (_EQUAL, 0, 1, _TIOCLINUX)]
    program += _when(machine.number("ioctl"), _argument(1, no_typing))
    program.append((_RETURN, 0, 0, _ALLOW))
    return program


def _when(number: int, body: Sequence[Instruction]) -> list[Instruction]:
    """Run ``body``, which returns, for one call alone."""
    return [(_EQUAL, 0, len(body), number), *body]


def _argument(position: int, tests: Iterable[Instruction]) -> list[Instruction]:
    """Look at the low half of an argument: the tests jump over the refusal, or fall into it."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * position),
        *tests,
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
