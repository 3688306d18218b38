"""Limits of a scan's load on the file server and on its machine."""

from __future__ import annotations

import ctypes
import math
import os
import platform
from dataclasses import dataclass

from phiscan.config import Config, take_table
from phiscan.errors import ConfigError, InputError
from phiscan.pipeline.rate_limit import RateLimit

MB = 1e6
MAX_NICE = 19
# ioprio_set(2): the class is in the bits from 13 up, the level within the class below.
_IO_CLASS_SHIFT = 13
_IO_PRIORITIES = {"best-effort": (2, 7), "idle": (3, 0)}
IO_CLASSES = tuple(_IO_PRIORITIES)
_IOPRIO_WHO_PROCESS = 1
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # the C library has no function for it


@dataclass(frozen=True, slots=True)
class RateLimitTable:
    """The table ``[pace]`` of phiscan.toml; 0 = no limit."""

    max_files_per_s: float = 0.0
    max_mb_per_s: float = 0.0
    nice: int = 0
    ionice: str = ""


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """The rate limit of reading, and the priority of the process; its workers inherit it."""

    pace: RateLimit
    nice: int
    ionice: str

    def apply(self) -> None:
        """Lower the priority of this process and of its children.

        Raises:
            ConfigError: this machine does not support it.
        """
        if self.nice:
            os.nice(self.nice)
        if self.ionice:
            _set_io_class(self.ionice)


def load_settings_of(
    config: Config,
    max_files_per_s: float | None,
    max_mb_per_s: float | None,
    nice: int | None,
    ionice: str | None,
) -> LoadSettings:
    """Return the settings of the command line, else of ``[pace]``.

    Raises:
        ConfigError: a field of ``[pace]`` is invalid.
        InputError: an option is not a number.
    """
    for option, value in (("--max-files-per-s", max_files_per_s), ("--max-mb-per-s", max_mb_per_s)):
        if value is not None and not math.isfinite(value):
            message = f"{option}: expected a number above 0, got {value}"
            raise InputError(message)
    table = take_table(config, "pace", RateLimitTable)
    for name in ("max_files_per_s", "max_mb_per_s"):
        if not 0 <= getattr(table, name) < math.inf:
            message = f"{config.source}: pace.{name}: expected a number of 0 (no limit) or more"
            raise ConfigError(message)
    if not 0 <= table.nice <= MAX_NICE:
        message = f"{config.source}: pace.nice: expected 0 to {MAX_NICE}"
        raise ConfigError(message)
    if table.ionice not in {"", *IO_CLASSES}:
        message = f"{config.source}: pace.ionice: expected one of {', '.join(IO_CLASSES)}"
        raise ConfigError(message)
    n_files = max_files_per_s or table.max_files_per_s
    n_mb = max_mb_per_s or table.max_mb_per_s
    return LoadSettings(
        pace=RateLimit(n_files or math.inf, n_mb * MB or math.inf),
        nice=table.nice if nice is None else nice,
        ionice=ionice or table.ionice,
    )


def _set_io_class(name: str) -> None:
    number = _IOPRIO_SET.get(platform.machine())
    if number is None:
        message = f"ionice: not known how on this machine ({platform.machine()})"
        raise ConfigError(message)
    io_class, level = _IO_PRIORITIES[name]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, _IOPRIO_WHO_PROCESS, 0, io_class << _IO_CLASS_SHIFT | level):
        message = f"ionice: {os.strerror(ctypes.get_errno())}"
        raise ConfigError(message)
