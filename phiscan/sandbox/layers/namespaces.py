"""Namespaces of a process's own: no network, no shared memory of others, a read-only view of the mounts."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from phiscan.sandbox.layers import kernel

_PRIVATE = kernel.CLONE_NEWNET | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
# Calls by machine: mount, pivot_root, umount2.
_MOUNT = {"x86_64": 165, "aarch64": 40}
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_UMOUNT = {"x86_64": 166, "aarch64": 39}
_MOUNT_SETATTR = 442
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20, 0x1000, 0x4000, 1 << 18
_MNT_DETACH = 2
_N_INODES = 4096  # of a file system in memory
_ROOT_BYTES = 4 * 1024**2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID = 1, 2


def enter() -> tuple[str, ...]:
    """Take namespaces of this process's own; return their kinds, in the order in which they are named.

    Root takes them directly, which keeps its rights on what belongs to others; everybody else takes a user
    namespace with them. Where not all are allowed, the network alone is tried.
    """
    is_root = os.geteuid() == 0
    uid, gid = os.geteuid(), os.getegid()
    for flags, kinds in ((_PRIVATE, ("mount", "network", "ipc", "uts")), (kernel.CLONE_NEWNET, ("network",))):
        with suppress(OSError):
            kernel.unshare(flags)
            return kinds
        if is_root:
            continue
        with suppress(OSError):
            kernel.unshare(kernel.CLONE_NEWUSER | flags)
            _map_own_ids(uid, gid)
            return ("user", *kinds)
    return ()


def make_mounts_read_only() -> None:
    """Make all mounts of this process's mount namespace read-only, also below ``/``.

    Raises:
        OSError: the kernel refused or is older than 5.12.
    """
    _mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    attributes = (ctypes.c_uint64 * 4)(_ATTR_RDONLY | _ATTR_NOSUID, 0, 0, 0)
    kernel.call(
        _MOUNT_SETATTR,
        ctypes.c_int(_AT_FDCWD),
        b"/",
        ctypes.c_uint(_AT_RECURSIVE),
        attributes,
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )


def mount_memory(folder: str, n_bytes: int, owner: int, mode: int = 0o700) -> None:
    """Lay a file system in memory over a folder; only this process's mount namespace sees it.

    Raises:
        OSError: the kernel refused.
    """
    options = f"mode={mode:o},size={n_bytes},nr_inodes={_N_INODES},uid={owner},gid={owner}".encode("ascii")
    _mount(b"tmpfs", os.fsencode(folder), b"tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)


def enclose(paths: Iterable[str], scratch: str) -> None:
    """Take a new root folder in which nothing exists but these files and folders, and the scratch folder.

    No other path can be looked at then, by ``stat`` for instance, which no other layer forbids.

    Raises:
        OSError: the kernel refused.
    """
    root = Path(scratch, "root")
    os.umask(0o022)  # whoever the process becomes then can pass through the folders of the new root
    root.mkdir()
    mount_memory(str(root), _ROOT_BYTES, os.geteuid(), mode=0o755)
    covered: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths if Path(path).exists()}):
        if any(path.startswith(f"{folder}/") for folder in covered):
            continue
        covered.append(path)
        _show(path, root, _MS_BIND | _MS_REC)
    _show(scratch, root, _MS_BIND)
    flags = _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _mount(b"none", os.fsencode(root), None, flags, None)
    os.chdir(root)
    kernel.call(_number(_PIVOT_ROOT), b".", b".")
    kernel.call(_number(_UMOUNT), b".", ctypes.c_int(_MNT_DETACH))
    os.chdir("/")


def _show(path: str, root: Path, flags: int) -> None:
    place = root / path.lstrip("/")
    if Path(path).is_dir():
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    _mount(os.fsencode(path), os.fsencode(place), None, flags, None)


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None) -> None:
    kernel.call(_number(_MOUNT), source, target, kind, ctypes.c_ulong(flags), options)


def _number(numbers: Mapping[str, int]) -> int:
    number = numbers.get(kernel.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"no system call table for {kernel.machine()}")
    return number


def _map_own_ids(uid: int, gid: int) -> None:
    """Keep the ids that this process had; an id that is not mapped cannot own a new file."""
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
