"""The service processes of a scan: one computes keyed hashes, one runs helper programs and OCR."""

from __future__ import annotations

from collections.abc import Callable

from phiscan.config import Limits
from phiscan.sandbox import hashing, programs
from phiscan.sandbox.service import Service


def key_service(load: Callable[[], bytes]) -> Service:
    """Return the process that computes keyed hashes; it alone is given the key, which is loaded then."""
    return Service("phiscan.sandbox.key_process", hashing.NAME, secret=load)


def program_service(limits: Limits) -> Service:
    """Return the process that runs the helper programs, each in a sandbox of its own."""
    arguments = [str(limits.memory_bytes), str(max(limits.member_bytes, limits.file_bytes))]
    return Service("phiscan.sandbox.program_process", programs.NAME, arguments=arguments)
