"""The pipes between the pool and its workers: tasks go out pickled, only bytes of known form come back.

pebble and multiprocessing pickle in both directions. A worker reads what its parent wrote, which it may
trust; the parent must not read a pickle of a worker, because that runs code of the worker's choice. So the
parent's end takes apart messages of three fixed forms, and the payload of a result stays bytes
(``phiscan.sandbox.answers``). The pipes are sockets of one direction each: a worker cannot open them a second
time through /proc/self/fd, to write what another worker reads.
"""

from __future__ import annotations

import socket
import struct
from multiprocessing import reduction
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any, NoReturn

from pebble.common.types import Result, ResultStatus
from pebble.pool.process import Acknowledgement, TaskProblem, TaskResult

MOST_BYTES = 64 * 1024**2  # of one answer; a longer one is not sent, and not read
_HEAD = struct.Struct("<cQQ")  # kind, task, process
_TAKEN, _DONE, _FAILED = b"t", b"d", b"f"

_of_this_worker: list[Connection] = []


class LostAnswerError(Exception):
    """A worker could not send what it has."""


class _AnswerReader(Connection):
    """The parent's end for answers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._taken: set[int] = set()  # tasks that a worker has, and did not answer

    def recv(self) -> Any:
        """Return the next message.

        Raises:
            OSError: it is none; the pool is started again.
        """
        data = self.recv_bytes(MOST_BYTES)
        if len(data) < _HEAD.size:
            _refuse()
        kind, task, process = _HEAD.unpack_from(data)
        if kind == _TAKEN:
            if task in self._taken:  # said twice it would end the thread that reads here
                _refuse()
            self._taken.add(task)
            return Acknowledgement(process, task)
        self._taken.discard(task)
        if kind not in {_DONE, _FAILED}:
            _refuse()
        if kind == _DONE:
            return TaskResult(task, Result(ResultStatus.SUCCESS, data[_HEAD.size :]))
        return TaskResult(task, Result(ResultStatus.FAILURE, LostAnswerError()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Be a plain connection in a worker, which closes it."""
        return _rebuilt, (Connection, *_passed(self))


class _TaskWriter(Connection):
    """The parent's end for tasks; the worker's, of the other pipe, sends answers."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Be what sends answers in a worker."""
        return _rebuilt, (_AnswerWriter, *_passed(self))


class _AnswerWriter(Connection):
    """A worker's end for answers."""

    def send(self, obj: Any) -> None:
        """Send one of pebble's messages as bytes."""
        if isinstance(obj, Acknowledgement):
            self.send_bytes(_HEAD.pack(_TAKEN, obj.task, obj.worker))
        elif isinstance(obj, TaskResult) and isinstance(obj.result.value, bytes):
            head = _HEAD.pack(_DONE, obj.task, 0)
            fits = len(head) + len(obj.result.value) <= MOST_BYTES
            self.send_bytes(head + obj.result.value if fits else _HEAD.pack(_FAILED, obj.task, 0))
        elif isinstance(obj, TaskResult | TaskProblem):
            self.send_bytes(_HEAD.pack(_FAILED, obj.task, 0))
        else:
            raise TypeError(type(obj).__name__)


class PoolContext(ForkServerContext):
    """Processes from the fork server, with pipes over which no worker can send a pickle."""

    def Pipe(self, duplex: bool = True) -> Any:  # noqa: N802 (multiprocessing's name)
        """Return the reading and the writing end of a pipe; one for both directions is not made."""
        if duplex:
            message = "a pool has a pipe for each direction"
            raise ValueError(message)
        reader, writer = socket.socketpair()
        reader.shutdown(socket.SHUT_WR)
        writer.shutdown(socket.SHUT_RD)
        return (
            _AnswerReader(reader.detach(), writable=False),
            _TaskWriter(writer.detach(), readable=False),
        )


def _passed(connection: Connection) -> tuple[Any, bool, bool]:
    return reduction.DupFd(connection.fileno()), connection.readable, connection.writable


def _rebuilt(kind: type[Connection], descriptor: Any, readable: bool, writable: bool) -> Connection:
    connection = kind(descriptor.detach(), readable=readable, writable=writable)
    _of_this_worker.append(connection)
    return connection


def descriptors() -> set[int]:
    """Return the descriptors of the pipes that this worker uses; those of its parent are closed already."""
    return {connection.fileno() for connection in _of_this_worker if not connection.closed}


def _refuse() -> NoReturn:
    message = "not a message of a worker"
    raise OSError(message)
