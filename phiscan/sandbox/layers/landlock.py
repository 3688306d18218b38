"""Landlock: a process gives up every path of the file system but those on its allow list.

Source: the kernel's Documentation/userspace-api/landlock.rst; the numbers are those of linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from phiscan.sandbox.layers.kernel import call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_RIGHTS_OF_VERSION_1 = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_BIND_AND_CONNECT_TCP = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_VERSION_REFER, _VERSION_TRUNCATE, _VERSION_NET, _VERSION_IOCTL, _VERSION_SCOPE = 2, 3, 4, 5, 6
# What may be granted on something that is no folder.
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE


def version() -> int:
    """Return the version of the kernel's interface; 0 where there is no Landlock."""
    try:
        return call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str] = (), executable: Iterable[str] = ()) -> None:
    """Keep this process, and all that it starts, to these files and folders; called once, needs no_new_privs.

    A path that does not exist is left out. Where the kernel can, TCP, abstract sockets and signals to
    processes outside are refused as well.

    Raises:
        OSError: the kernel has no Landlock, or refused.
    """
    known = version()
    handled = _RIGHTS_OF_VERSION_1
    handled |= _REFER if known >= _VERSION_REFER else 0
    handled |= _TRUNCATE if known >= _VERSION_TRUNCATE else 0
    handled |= _IOCTL_DEVICE if known >= _VERSION_IOCTL else 0
    fields = [handled]
    if known >= _VERSION_NET:
        fields.append(_BIND_AND_CONNECT_TCP)
    if known >= _VERSION_SCOPE:
        fields.append(_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        for path in executable:
            _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in writable:
            _allow(ruleset, path, handled & ~_EXECUTE)
        call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(descriptor)
