"""The kernel's calls that Python has no function for: numbers by machine, one way to call them."""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


@cache
def libc() -> Any:
    """Return the C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def machine() -> str:
    """Return the processor architecture as the kernel names it, ``x86_64`` for instance."""
    return platform.machine()


def call(number: int, *arguments: object) -> int:
    """Make a system call by its number and return its result.

    Raises:
        OSError: the kernel refused.
    """
    function = libc().syscall
    function.restype = ctypes.c_long
    return _checked(function, ctypes.c_long(number), *arguments)


def prctl(option: int, *arguments: int) -> int:
    """Call ``prctl`` with integers, the missing ones zero.

    Raises:
        OSError: the kernel refused.
    """
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(libc().prctl, ctypes.c_int(option), *padded)


def unshare(flags: int) -> None:
    """Move this process into new namespaces.

    Raises:
        OSError: the kernel refused.
    """
    _checked(libc().unshare, ctypes.c_int(flags))


def _checked(function: Any, *arguments: object) -> int:
    ctypes.set_errno(0)
    result = int(function(*arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
