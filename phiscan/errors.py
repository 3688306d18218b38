"""The whole error tree of phiscan.

No message in this tree ever carries document text: it names the file, the line or field, and what
was expected there. Anything else would make the log the next leak.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

# What numpy says of a damaged file of arrays, by where the damage is.
DAMAGED_ARRAYS: Final = (
    OSError, ValueError, TypeError, KeyError, IndexError, EOFError, BadZipFile, zlib.error,
)  # fmt: skip


class PhiscanError(Exception):
    """The root of every error that phiscan raises on purpose."""


class InputError(PhiscanError):
    """A file, an argument or a number given by the user is not what was expected."""


class ConflictError(InputError):
    """What the user asked for does not fit what somebody else did meanwhile; look again, then decide."""


class ConfigError(PhiscanError):
    """The configuration (phiscan.toml, ``PHISCAN_*``) is unusable; fatal at the start."""


class RuleError(PhiscanError):
    """A pattern file is unusable; names the file and the rule id; fatal at the start."""


class DictionaryError(PhiscanError):
    """A dictionary file is unusable; names the file and the line; fatal at the start."""


class ModelError(PhiscanError):
    """A model file is missing, damaged or of another version; fatal at the start."""


class ExtractError(PhiscanError):
    """One file, or one part of it, could not be read.

    ``reason`` is a value of :class:`phiscan.model.FailReason`; ``detail`` is a short technical text
    without any of the document's content.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class ClusterError(PhiscanError):
    """The cluster went away, or one of its machines must not be used; stops the run, resumable."""


class StoreError(PhiscanError):
    """The review store cannot be opened, read or written; stops the run."""


def origin(error: BaseException) -> str:
    """Name an unexpected error by its type and the innermost line of code, never by its message.

    Libraries quote what they choke on; a message that we did not write may hold document text.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
