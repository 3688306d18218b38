"""Giving up what a process may do: capabilities, the user id of root, new privileges by exec."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from contextlib import suppress

from phiscan.sandbox.layers import kernel

UNPRIVILEGED_UID = 65534
_CAPABILITY_VERSION_3 = 0x20080522
_MOST_CAPABILITIES = 64
_CAPSET = {"x86_64": 126, "aarch64": 91}


def gain_nothing_by_exec() -> None:
    """Set no_new_privs: no program that this process starts has more rights than it has.

    Raises:
        OSError: the kernel refused.
    """
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up all capabilities, also those that could be inherited or regained.

    Raises:
        OSError: the kernel refused.
    """
    with suppress(OSError):  # the kernel has fewer than 64, and only who holds CAP_SETPCAP may drop them
        for capability in range(_MOST_CAPABILITIES):
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    with suppress(OSError):
        kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    number = _CAPSET.get(kernel.machine())
    if number is None:
        raise OSError(0, f"no system call table for {kernel.machine()}")
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    kernel.call(number, header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))


def become_unprivileged(needed: Iterable[str]) -> bool:
    """Take the user and group id 65534 for good if root can still read ``needed`` then; tell whether it did.

    Raises:
        OSError: the kernel refused.
    """
    if os.geteuid() != 0:
        return False
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(UNPRIVILEGED_UID)
    os.seteuid(UNPRIVILEGED_UID)
    try:
        can_read = all(_is_readable(path) for path in needed)
    finally:
        os.seteuid(0)
        os.setegid(0)
    if not can_read:
        os.setgroups(groups)
        return False
    os.setresgid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    os.setresuid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    return True


def die_with_parent(number: int) -> None:
    """Have the kernel send this signal when the parent dies; a change of the user id forgets it."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, number)


def hide_from_debuggers() -> None:
    """Let no process of the same user attach to this one or read its memory."""
    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _is_readable(path: str) -> bool:
    if not os.path.lexists(path):
        return False
    rights = os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK  # noqa: PTH112 (paths are given as text)
    return os.access(path, rights, effective_ids=True)
