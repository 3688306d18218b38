"""Loaded by the server that forks workers: a kernel without Landlock."""

import errno

from phiscan.sandbox.layers import landlock


def refuse(*_: object) -> None:
    raise OSError(errno.ENOSYS, "Function not implemented")


landlock.restrict = refuse
