"""A gzip file that unpacks to itself, for ever.

A program of two kinds of blocks, each five bytes long: a stored block prints what follows it, a block of two
matches prints again what was printed last. The checksum is linear in its own bits, so it is solved for.
Source: Cox (2010), Zip Files All The Way Down.
"""

import struct
import zlib

_NAME_BYTES = 2  # together with the header 12: the distances below are then 17 to 20, which take 8 bits
_ALL = (1 << 32) - 1


def quine() -> bytes:
    """Return a gzip file whose content is the file itself."""
    for padding in range(4, 8):
        blank = _file(0, 0, padding)
        empty = _checksum_of(0, len(blank), padding)
        columns = [_checksum_of(1 << bit, len(blank), padding) ^ empty for bit in range(32)]
        checksum = _solve([column ^ (1 << bit) for bit, column in enumerate(columns)], empty)
        if checksum is not None:
            return _file(checksum, len(blank), padding)
    message = "no checksum fits"
    raise ValueError(message)


def _checksum_of(checksum: int, size: int, padding: int) -> int:
    return zlib.crc32(_file(checksum, size, padding))


def _file(checksum: int, size: int, padding: int) -> bytes:
    begin = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"a" * (_NAME_BYTES - 1) + b"\0"
    end = struct.pack("<II", checksum, size) + bytes(padding)
    prints_begin, again_begin = _stored(len(begin) + 5), _repeat(len(begin) + 5)
    prints_end, again_end = _stored(len(end) + 5), _repeat(len(end) + 5, last=True)
    none, one, four, again = _stored(0), _stored(5), _stored(20), _repeat(20)
    return b"".join(
        [
            *(begin, prints_begin, begin, prints_begin, again_begin),
            *(one, again_begin, one, one),
            *(four, again_begin, one, one, four, again),
            *(four, again, four, again, four, again),
            *(four, again, none, none, prints_end, again, none, none, prints_end),
            *(again_end, end, again_end, end),
        ]
    )


def _stored(n_bytes: int) -> bytes:
    return struct.pack("<BHH", 0, n_bytes, n_bytes ^ 0xFFFF)


def _repeat(distance: int, *, last: bool = False) -> bytes:
    """Print the last 17 to 20 bytes again: two matches of fixed Huffman codes, 40 bits."""
    first = distance // 2
    bits = (
        f"{int(last)}10"  # fixed codes; numbers stand with their lowest bit first, codes with their highest
    )
    for length in (first, distance - first):
        bits += f"{length - 2:07b}"  # codes 257 to 264 are the lengths 3 to 10
        bits += "01000" + f"{distance - 17:03b}"[::-1]  # code 8: 17 to 24
    bits += "0000000"  # the end of the block
    return int(bits[::-1], 2).to_bytes(5, "little")


def _solve(columns: list[int], wanted: int) -> int | None:
    """Return the bits whose columns add up, without carry, to ``wanted``."""
    basis: dict[int, tuple[int, int]] = {}
    for bit, start in enumerate(columns):
        column, chosen = start, 1 << bit
        while column:
            top = column.bit_length()
            if top not in basis:
                basis[top] = (column, chosen)
                break
            column, chosen = column ^ basis[top][0], chosen ^ basis[top][1]
    solution = 0
    while wanted:
        top = wanted.bit_length()
        if top not in basis:
            return None
        wanted, solution = wanted ^ basis[top][0], solution ^ basis[top][1]
    return solution
