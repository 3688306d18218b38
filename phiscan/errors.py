"""All exception classes of phiscan.

Their messages never contain document text, because they are logged: they name the file, the line or field,
and what was expected.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

# Exceptions of numpy for damaged files of arrays.
DAMAGED_ARRAYS: Final = (
    OSError, ValueError, TypeError, KeyError, IndexError, EOFError, BadZipFile, zlib.error,
)  # fmt: skip


class PhiscanError(Exception):
    """The base class of every error that phiscan raises on purpose."""


class InputError(PhiscanError):
    """A file, an argument or a number given by the user is not what was expected."""


class ConflictError(InputError):
    """The request conflicts with a change by another user in the meantime; reload, then decide."""


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
    """The cluster is unreachable, or one of its machines must not be used; stops the run, resumable."""


class StoreError(PhiscanError):
    """The review store cannot be opened, read or written; stops the run."""


def origin(error: BaseException) -> str:
    """Return the type and innermost line of code of an unexpected error, never its message.

    Libraries quote their input, so their messages may contain document text.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
