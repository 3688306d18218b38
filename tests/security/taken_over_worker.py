"""What a worker does that a document has taken over, to the process that reads its answers."""

import gc
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import SimpleNamespace

from phiscan.sandbox import worker_process


class Bomb:
    """What runs code of its maker's choice in whoever unpickles it."""

    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return os.open, (self.marker, os.O_CREAT | os.O_WRONLY)


def _pipe() -> Connection:
    """Return this worker's end of the pipe to its parent."""
    return next(one for one in gc.get_objects() if isinstance(one, Connection) and one.writable)


def return_a_bomb(marker: str) -> object:
    return Bomb(marker)


def send_a_bomb(marker: str) -> int:
    Connection.send(_pipe(), Bomb(marker))
    return 0


def send_a_bomb_as_pebble_does(marker: str) -> int:
    Connection.send(_pipe(), SimpleNamespace(task=0, result=Bomb(marker)))
    return 0


def send_noise(_marker: str) -> int:
    for data in (b"", b"t", b"?" * 17, b"d" + b"\xff" * 16 + b"[", b"t" + b"\0" * 16, b"t" + b"\0" * 16):
        _pipe().send_bytes(data)
    return 0


def announce_a_huge_answer(_marker: str) -> int:
    os.write(_pipe().fileno(), b"\xff\xff\xff\xff" + (2**60).to_bytes(8, "big"))
    return 0


def answer_with(text: str) -> int:
    """Have this worker answer its batch with this text, whatever it would have said."""
    worker_process.pack = lambda *_: text.encode()  # type: ignore[assignment]
    return 0


ATTACKS: tuple[Callable[[str], object], ...] = (
    return_a_bomb,
    send_a_bomb,
    send_a_bomb_as_pebble_does,
    send_noise,
    announce_a_huge_answer,
)
ANSWERS = {
    "too many": "[0.1,[[1,1],[1,2],[1,3]],[]]",
    "another type": '[0.1,[[1,"text"]],[]]',
    "no number": "[NaN,[[1,1e999]],[]]",
    "a huge number": f"[0.1,[[1,{10**30}]],[]]",
    "nested": "[" * 200_000,
    "no JSON": "\x80\x04",
    "an object": '[0.1,[[1,{"a":1}]],[]]',
}
# Answers of the right form, with lines of the worker's choice.
LIE_ABOUT_LAYERS = '[0.1,[[1,5]],["\\u001b[2Jall is well","seccomp: \\u001b[2J","seccomp"]]'
NAME = '"AmaraOkafor"'


def answer_many_values(_marker: str) -> int:
    """20 million empty lists: 60 MB, of which a parser makes more than a gigabyte."""
    return answer_with("[0.1,[[1,[" + "[]," * 20_000_000 + "[]]]],[]]")


def double(number: int) -> int:
    return 2 * number
