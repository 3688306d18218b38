"""Change journal of local folders: which folders of a root changed since its last complete scan, by inotify.

``phiscan watch`` keeps the journal in memory, as long as it runs, and answers scans on a socket in the home
folder. A scan then neither lists nor checks folders in which nothing happened. What inotify cannot see is
listed as without a journal: everything after a lost event, a changed mount or a week, network file systems
always (refused), and everything if the journal is not running. Written pages of a memory-mapped file that
was closed before are seen by the weekly listing only. fanotify sees a whole file system with one mark, but
needs the rights of an administrator.

Source: inotify(7).
"""

from __future__ import annotations

import errno
import json
import os
import re
import selectors
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phiscan.crawl.share import optional
from phiscan.errors import InputError
from phiscan.long_paths import open_path

LISTED_EVERY_S = 7 * 86_400  # a scan at least so often lists everything
_ANSWER_S = 60.0
# Changes on other machines are not reported by the kernel of this one.
_NETWORK = ("nfs", "cifs", "smb", "fuse.", "9p", "ceph", "glusterfs", "afs")
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def socket_path(home: Path) -> Path:
    """Return where the journal of a home folder answers."""
    return home / "watch.sock"


class JournalReader:
    """The journal of one root, as a scan uses it from its begin to its end."""

    def __init__(self, home: Path, root: bytes, seed: bytes) -> None:
        self._path, self._root = socket_path(home), os.fsdecode(root)
        self._unchanged: list[str] = []
        found = self._ask({"seed": seed.hex()})
        self._is_running = found is not None
        # Of each folder without a change.
        self._subfolders = {
            os.fsencode(folder): sorted(map(os.fsencode, names)) for folder, names in (found or {}).items()
        }

    def subfolders(self, folder: bytes) -> list[bytes] | None:
        """Return the names of a folder's subfolders, sorted; None if the folder must be listed."""
        return self._subfolders.get(folder)

    def unchanged(self, folder: bytes) -> None:
        """Take a folder whose recorded results stand as long as nothing changes in it."""
        if self._is_running:
            self._unchanged.append(os.fsdecode(folder))

    def finish(self) -> None:
        """Report the end of a complete scan: what does not change after its begin is not listed again."""
        if self._is_running:
            self._ask({"unchanged": self._unchanged})

    def _ask(self, question: dict[str, Any]) -> dict[str, list[str]] | None:
        """Return the answer of the journal; None if there is none."""
        with suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_ANSWER_S)
            _at(self._path, connection.connect)
            with connection.makefile("rwb") as stream:
                stream.write(json.dumps({"root": self._root, **question}).encode() + b"\n")
                stream.flush()
                answer: dict[str, list[str]] = json.loads(stream.readline())
                return answer
        return None


@dataclass
class _Root:
    """What is known of one watched root; folders are raw paths relative to it."""

    path: bytes
    children: dict[bytes, set[bytes]] = field(default_factory=dict)  # watched folder -> its subfolders
    watches: dict[bytes, int] = field(default_factory=dict)
    changed: set[bytes] = field(default_factory=set)  # since the last scan began
    taken: set[bytes] = field(default_factory=set)  # before that: of a scan that has not ended
    unchanged: set[bytes] = field(default_factory=set)  # whose results stood at the last complete scan
    scanned: tuple[str, str] | None = None  # seed and mounts of that scan; None: everything changed
    pending: tuple[str, str] | None = None  # of the running scan
    listed: float = 0.0  # when a scan began that listed everything and was completed
    started: float = 0.0  # when the running scan began, if it lists everything; else 0

    def begin(self, seed: str, now: float) -> dict[str, list[str]]:
        """Return the folders that need not be listed, each with its subfolders."""
        self.taken |= self.changed
        self.changed = set()
        self.pending = (seed, _mounts(self.path))
        if self.scanned != self.pending or now - self.listed > LISTED_EVERY_S:
            self.started = now
            return {}
        self.started = 0.0
        folders = (self.unchanged & self.children.keys()) - self.taken
        return {os.fsdecode(one): list(map(os.fsdecode, self.children[one])) for one in folders}

    def end(self, unchanged: list[str]) -> None:
        """Take the end of a complete scan: the folders without a change at its begin."""
        if self.pending is not None:
            self.scanned, self.taken = self.pending, set()
            self.unchanged = set(map(os.fsencode, unchanged))
            self.listed = self.started or self.listed
        self.pending = None


class Watcher:
    """Watches the folders of local roots and answers scans, until ``stop``."""

    def __init__(self, home: Path, roots: Iterable[bytes]) -> None:
        """Begin to watch.

        Raises:
            InputError: a root is on a network, or has more folders than the kernel watches; the package is
                missing; another process answers already.
        """
        with optional("watch", "inotify-simple", "watch"):
            from inotify_simple import INotify, flags  # noqa: PLC0415 (an optional part)
        self._flags = flags
        self._mask = flags.MODIFY | flags.ATTRIB | flags.ONLYDIR | flags.DONT_FOLLOW | flags.EXCL_UNLINK
        self._mask |= flags.CREATE | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO
        self._inotify = INotify(nonblocking=True)
        self._folders: dict[int, tuple[_Root, bytes]] = {}
        self._roots = {root: _Root(root) for root in roots}
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        for one in self._roots.values():
            _require_local(one.path)
            self._watch(one, b"")
        self._path = socket_path(home)
        self._listener = _listen(self._path)
        self._selector.register(self._inotify, selectors.EVENT_READ, self._read_events)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._woken, selectors.EVENT_READ, None)

    @property
    def n_folders(self) -> int:
        """The number of watched folders."""
        return len(self._folders)

    def run(self) -> None:
        """Read events and answer scans until ``stop`` is called."""
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                key.data()

    def stop(self) -> None:
        """End ``run``; may be called by another thread or a signal handler."""
        self._wake.send(b"x")

    def close(self) -> None:
        """Remove the socket, so that scans list everything."""
        self._path.unlink(missing_ok=True)
        self._listener.close()
        self._inotify.close()
        self._selector.close()

    def _watch(self, root: _Root, folder: bytes) -> None:
        """Watch a folder and those below it; all of them count as changed."""
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            root.changed.add(folder)
            absolute = root.path.rstrip(b"/") + b"/" + folder if folder else root.path
            try:
                descriptor = open_path(absolute, _OPEN_FOLDER)
            except OSError:
                continue  # gone, or not permitted: it is listed, which reports it
            try:
                watch = self._inotify.add_watch(f"/proc/self/fd/{descriptor}/.", self._mask)
                with os.scandir(descriptor) as entries:
                    names = {os.fsencode(one.name) for one in entries if one.is_dir(follow_symlinks=False)}
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    shown = root.path.decode("utf-8", "backslashreplace")
                    raise InputError(
                        shown, "more folders than fs.inotify.max_user_watches allows; raise it"
                    ) from None
                continue
            finally:
                os.close(descriptor)
            self._folders[watch] = (root, folder)
            root.watches[folder], root.children[folder] = watch, names
            waiting += [folder + b"/" + name if folder else name for name in names]

    def _forget(self, root: _Root, folder: bytes) -> None:
        """End the watches of a folder that was moved or deleted, and of those below it."""
        if folder not in root.watches:
            return
        for one in [one for one in root.watches if one == folder or one.startswith(folder + b"/")]:
            watch = root.watches.pop(one)
            root.children.pop(one, None)
            self._folders.pop(watch, None)
            with suppress(OSError):  # deleted: the kernel has ended it
                self._inotify.rm_watch(watch)

    def _read_events(self) -> None:
        while events := self._inotify.read(timeout=0):
            for event in events:
                if event.mask & self._flags.Q_OVERFLOW:
                    self._start_again()
                    break
                if event.wd not in self._folders:
                    continue
                root, folder = self._folders[event.wd]
                root.changed.add(folder)
                if event.mask & (self._flags.UNMOUNT | self._flags.IGNORED):
                    self._forget(root, folder)
                elif event.mask & self._flags.ISDIR and event.name:
                    self._follow(root, folder, os.fsencode(event.name), event.mask)
                elif event.mask & self._flags.CREATE and _has_links(root.path, folder, event.name):
                    root.scanned = root.pending = None  # nothing happened in the folder of the other name

    def _follow(self, root: _Root, folder: bytes, name: bytes, mask: int) -> None:
        """Watch a subfolder that came, and no longer one that went."""
        path = folder + b"/" + name if folder else name
        is_new = bool(mask & (self._flags.CREATE | self._flags.MOVED_TO))
        if is_new or mask & (self._flags.MOVED_FROM | self._flags.DELETE):
            self._forget(root, path)
            root.children[folder].discard(name)
        if is_new:
            root.children[folder].add(name)
            self._watch(root, path)

    def _start_again(self) -> None:
        """Watch everything anew: events were lost."""
        for root in self._roots.values():
            for folder in list(root.watches):
                self._forget(root, folder)
            root.scanned = root.pending = None
            self._watch(root, b"")

    def _accept(self) -> None:
        """Answer a scan: at its begin with what need not be listed, at its end with nothing."""
        connection, _ = self._listener.accept()
        connection.settimeout(_ANSWER_S)
        # A scan that was killed says nothing, or does not take the answer.
        with suppress(OSError, ValueError, KeyError), connection, connection.makefile("rwb") as stream:
            message, found = json.loads(stream.readline()), {}
            root = self._roots.get(os.fsencode(message["root"]))
            if root is not None and "seed" in message:
                self._read_events()  # what happened before now
                found = root.begin(message["seed"], time.monotonic())
            elif root is not None:
                root.end(message["unchanged"])
            stream.write(json.dumps(found).encode() + b"\n")


def _has_links(root: bytes, folder: bytes, name: str) -> bool:
    """Return whether a new file is another name of one that was there."""
    try:
        return os.lstat(b"/".join((root, folder, os.fsencode(name)))).st_nlink > 1
    except OSError:
        return False


def _mounts(root: bytes) -> str:
    """Return the mounts at or below a root, and that on which it lies: a change of them changes its files."""
    lines, own = [], (-1, b"")
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        point = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), line.split()[4])
        if (root.rstrip(b"/") + b"/").startswith(point.rstrip(b"/") + b"/"):
            own = max(own, (len(point), line))
        elif point.startswith(root.rstrip(b"/") + b"/"):
            lines.append(line)
    return b"\n".join([own[1], *lines]).decode("utf-8", "backslashreplace")


def _require_local(root: bytes) -> None:
    for line in _mounts(root).splitlines():
        kind = line.partition(" - ")[2].partition(" ")[0]
        if kind.startswith(_NETWORK):
            shown = root.decode("utf-8", "backslashreplace")
            raise InputError(
                shown, f"is on a network file system ({kind}), whose changes are not reported here"
            )


def _listen(path: Path) -> socket.socket:
    """Return the listening socket of the journal, which its own user alone can reach.

    Raises:
        InputError: another process answers there.
    """
    with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        _at(path, probe.connect)
        raise InputError(path, "another `phiscan watch` answers here; watch all roots with one")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    _at(path, listener.bind)
    path.chmod(0o600)
    listener.listen()
    return listener


def _at(path: Path, use: Callable[[str], None]) -> None:
    """Bind or connect a socket at a path of any length: the kernel takes 107 bytes."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        use(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
